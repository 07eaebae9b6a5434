/** Endpoints on loopback: ports tell them apart, and the servers of `serve` and `record` represent others. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { endpointHashes, parseBaseUrl, portlessEndpoint } from "../../src/domain/fingerprint.ts";
import type { ModelTurn } from "../../src/domain/turn.ts";
import { type ResponsesServer, startResponsesServer } from "../support/scripted_api/responses.ts";
import { reasoningIds } from "../support/scripted_api/responses_script.ts";
import { type Called, events, PROGRAM } from "../support/reprise.ts";
import { HELLO, KEY, Place, reseal } from "./harness.ts";

function ok(called: Called): Called {
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  return called;
}

const endpoint = (url: string) => endpointHashes(parseBaseUrl(url)).endpoint;

/** The endpoints of a session's responses. */
function endpointsOf(place: Place, session: string): string[] {
  const turns = place.sandbox.turns(session).filter(({ kind }) => kind === "model") as ModelTurn[];
  return turns.map(({ fingerprint }) => fingerprint.endpoint);
}

/** The reasoning ids in the newest request of a server. */
function newestOf({ requests }: ResponsesServer): string[] {
  const request = requests.at(-1);
  assert.ok(request !== undefined, "a request came");
  return reasoningIds(request);
}

const otherServer = () =>
  startResponsesServer({ script: () => HELLO, key: KEY, rules: "none", idsFrom: 500 });

test("two servers at two loopback ports are two endpoints: reasoning of the one never goes to the other", async () => {
  await using place = new Place(() => HELLO);
  await using other = otherServer();
  await place.session("s");
  const called = ok(await place.call(["run", "--json", "-s", "s", "--base-url", other.baseUrl, "Go"]));
  assert.deepEqual(newestOf(other), []);
  const drift = events(called).find((event) => event.type === "run.started")?.drift ?? [];
  assert.deepEqual(drift.map(({ pin }) => pin), ["endpoint"]);
  assert.deepEqual(endpointsOf(place, "s"), [endpoint(place.server.baseUrl), endpoint(other.baseUrl)]);
  ok(await place.call(["run", "--json", "-s", "s", "Go"]));
  assert.equal(newestOf(place.server).length, 1, "back there, its own goes again");
});

test("two servers at two loopback ports are two endpoints: an older turn without the port is no mismatch, and its requests still verify", async () => {
  await using place = new Place(() => HELLO);
  await place.session("s");
  const url = parseBaseUrl(place.server.baseUrl);
  withoutPort(place, "s", portlessEndpoint(url) as string);
  const called = ok(await place.call(["run", "--json", "-s", "s", "Go"]));
  assert.equal(newestOf(place.server).length, 1);
  assert.deepEqual(events(called).find((event) => event.type === "run.started")?.drift, []);
  const explained = JSON.parse(ok(await place.call(["explain", "s", "--json"])).stdout);
  const [older, newer] = explained.reasoning;
  assert.match(older.why, /^provider, account and model fit; unknown: the loopback port/);
  assert.match(newer.why, /^provider, endpoint, account and model fit$/);
  assert.doesNotMatch(ok(await place.call(["fsck", "s", "--requests"])).stdout, /differs/);
});

/** Rewrites a session as a version before this one wrote it, which left out loopback ports. */
function withoutPort(place: Place, session: string, portless: string): void {
  let prev: string | null = null;
  for (const name of place.sandbox.turnNames(session)) {
    const path = `${place.path(session)}/turns/${name}`;
    reseal(path, (text) =>
      text.replaceAll(/"endpoint":"[0-9a-f]{8}"/g, `"endpoint":"${portless}"`)
        .replaceAll(/,"portless":"[0-9a-f]{8}"|,"key":"[0-9a-f]{16}"/g, "")
        .replace(/"prev":"[0-9a-f]{64}"/, () => `"prev":"${prev}"`)
        // A turn that names no endpoint, and no turn before it, is sealed again all the same.
        .replace(/,\n $/, ", \n "));
    prev = JSON.parse(Deno.readTextFileSync(path)).sum;
  }
  Deno.removeSync(`${place.path(session)}/manifest.json`);
}

test.process("commands of serve and record use the endpoint that these represent, on any port: record -- CMD: its upstream; serve -- CMD: where the fixture was recorded", async () => {
  await using place = new Place(() => HELLO);
  const upstream = endpoint(place.server.baseUrl);
  const run = (session: string) => [...PROGRAM, "run", "--json", "--new", "-s", session, "Look at a.txt"];
  const fixture = `${place.sandbox.directory}/fixture`;
  ok(await place.call(["record", "--out", fixture, "--", ...run("s")]));
  assert.deepEqual(endpointsOf(place, "s"), [upstream]);
  await Deno.remove(place.path("s"), { recursive: true });
  for (let time = 1; time <= 2; time++) {
    ok(await place.call(["serve", fixture, "--", ...run("s")]));
    assert.deepEqual(endpointsOf(place, "s"), [upstream], `play ${time}`);
    await Deno.remove(place.path("s"), { recursive: true });
  }
  // Reasoning that came through the recorder is the upstream's own.
  const again = `${place.sandbox.directory}/again`;
  ok(await place.call(["record", "--out", again, "--", ...run("t")]));
  ok(await place.call(["run", "--json", "-s", "t", "Go"]));
  assert.equal(newestOf(place.server).length, 1);
});

test("REPRISE_REPRESENTS decides fingerprints only, and only of the loopback URL that it names: neither another port nor another path nor another host", async () => {
  await using place = new Place(() => HELLO);
  const { port } = new URL(place.server.baseUrl);
  const names = (url: string) => ({
    env: { REPRISE_REPRESENTS: JSON.stringify({ [url]: "https://api.openai.com/v1" }) },
  });
  const planned = async (args: readonly string[], options: { env: Record<string, string> }) =>
    JSON.parse(ok(await place.call(["run", "--dry-run", "--json", ...args, "Go"], options)).stdout);
  const own = endpoint(place.server.baseUrl);
  const openai = endpoint("https://api.openai.com/v1");
  const named = await planned([], names(place.server.baseUrl));
  assert.equal(named.fingerprint.split(":")[2], openai);
  assert.equal(named.url, `${place.server.baseUrl}/responses`, "the request goes where it would go");
  for (
    const url of [
      `http://127.0.0.1:${Number(port) - 1}/v1`,
      `http://127.0.0.1:${port}/v2`,
      "http://127.0.0.1/v1",
    ]
  ) {
    assert.equal((await planned([], names(url))).fingerprint.split(":")[2], own, url);
  }
  const remote = "https://gateway.example/v1";
  const elsewhere = await planned(["--base-url", remote], names(remote));
  assert.equal(elsewhere.fingerprint.split(":")[2], endpoint(remote));
});
