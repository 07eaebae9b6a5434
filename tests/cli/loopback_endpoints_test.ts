/** Endpoints on loopback: ports tell them apart, and the servers of `serve` and `record` represent others. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { type Json, sha256 } from "../support/files.ts";
import { startResponsesServer } from "../support/scripted_api/responses.ts";
import { reasoningIds } from "../support/scripted_api/responses_script.ts";
import { events, PROGRAM } from "../support/reprise.ts";
import { HELLO, json, KEY, ok, Place } from "./harness.ts";

/** The hash of an endpoint, as docs/format.md says. */
const endpoint = (url: string) => sha256(url).slice(0, 8);

/** The endpoints of a session's responses. */
function endpointsOf(place: Place, session: string): string[] {
  const turns = place.sandbox.turns(session).filter(({ kind }) => kind === "model");
  return turns.map(({ fingerprint }) => fingerprint.endpoint);
}

/** The number of reasoning items in the newest request of a server. */
const sentTo = ({ requests }: Pick<Place["server"], "requests">) =>
  reasoningIds(requests.at(-1) ?? { input: [] }).length;

test("two servers at two loopback ports are two endpoints: reasoning of the one never goes to the other", async () => {
  await using place = new Place(() => HELLO);
  await using other = startResponsesServer({ script: () => HELLO, key: KEY, rules: "none", idsFrom: 500 });
  await place.session("s");
  const called = await place.call(["run", "--json", "-s", "s", "--base-url", other.baseUrl, "Go"]);
  const started: Json = events(called).find(({ type }) => type === "run.started");
  assert.deepEqual(started.drift.map(({ pin }: Json) => pin), ["endpoint"]);
  assert.deepEqual([other.requests.length, sentTo(other)], [1, 0]);
  assert.deepEqual(endpointsOf(place, "s"), [place.server.baseUrl, other.baseUrl].map(endpoint));
  await ok(place, ["run", "--json", "-s", "s", "Go"]);
  assert.equal(sentTo(place.server), 1, "back there, its own goes again");
});

test.process("commands of serve and record use the endpoint that these represent, on any port", async () => {
  await using place = new Place(() => HELLO);
  const upstream = endpoint(place.server.baseUrl);
  const run = [...PROGRAM, "run", "--json", "--new", "-s", "s", "Look at a.txt"];
  const fixture = `${place.sandbox.directory}/fixture`;
  const verbs = [["record", "--out", fixture], ["serve", fixture], ["record", "--out", `${fixture}-2`]];
  for (const verb of verbs) {
    await Deno.remove(place.path("s"), { recursive: true }).catch(() => {});
    await ok(place, [...verb, "--", ...run]);
    assert.deepEqual(endpointsOf(place, "s"), [upstream], verb[0]);
  }
  // Reasoning that came through the recorder is the upstream's own.
  await ok(place, ["run", "--json", "-s", "s", "Go"]);
  assert.equal(sentTo(place.server), 1);
});

test("REPRISE_REPRESENTS decides fingerprints only, and only of the loopback URL that it names", async () => {
  await using place = new Place(() => HELLO);
  const { baseUrl } = place.server;
  const { port } = new URL(baseUrl);
  const planned = (named: string, ...args: readonly string[]) =>
    json(place, ["run", "--dry-run", ...args, "Go"], {
      REPRISE_REPRESENTS: JSON.stringify({ [named]: "https://api.openai.com/v1" }),
    });
  const { fingerprint, url } = await planned(baseUrl);
  assert.equal(fingerprint.split(":")[2], endpoint("https://api.openai.com/v1"));
  assert.equal(url, `${baseUrl}/responses`, "the request goes where it would go");
  const others = [
    `http://127.0.0.1:${Number(port) - 1}/v1`,
    `http://127.0.0.1:${port}/v2`,
    "http://127.0.0.1/v1",
  ];
  for (const other of others) {
    assert.equal((await planned(other)).fingerprint.split(":")[2], endpoint(baseUrl), other);
  }
  const remote = "https://gateway.example/v1";
  const elsewhere = await planned(remote, "--base-url", remote);
  assert.equal(elsewhere.fingerprint.split(":")[2], endpoint(remote));
});
