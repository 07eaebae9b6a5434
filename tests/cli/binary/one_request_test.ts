/** An attempt is one request, also if the server takes it and closes the connection without a word. */
import assert from "node:assert/strict";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { events, said } from "../../support/reprise.ts";
import { HELLO, KEY, Place } from "../harness.ts";
import { AZURE_VERSION, KEYS } from "../any_api.ts";
import { running } from "./wrapping.ts";

/** Takes each request whole, counts it, and closes. */
const silent = () => new RawUpstream(() => Promise.resolve());

/** The body's own length, and none of a coding that a server without HTTP/1.1 would not know. */
function assertOnce({ requests }: RawUpstream, times: number): void {
  assert.equal(requests.length, times);
  for (const { head, body } of requests) {
    assert.match(head, new RegExp(`\r\ncontent-length: ${body.length}(\r\n|$)`, "i"));
    assert.doesNotMatch(head, /transfer-encoding/i);
  }
}

/** Provider, and the prompt: a request that goes in one piece, and one in several. */
const RUNS: readonly (readonly [provider: string, prompt: string])[] = [
  ["openai", "Hi"],
  ["openai", "long ".repeat(200_000)],
  ["azure", "Hi"],
  ["anthropic", "Hi"],
  ["compatible", "Hi"],
];

for (const [provider, prompt] of RUNS) {
  Deno.test(`run sends a request of ${prompt.length} letters to ${provider} once in each of its three attempts`, async () => {
    await using place = new Place([]);
    await using upstream = silent();
    const args = ["run", "--json", "--new", "-p", provider, "--base-url", `${upstream.origin}/v1`];
    const env = { ...KEYS, AZURE_OPENAI_API_VERSION: AZURE_VERSION };
    const called = await place.call([...args, "-"], { env, stdin: prompt });
    assert.equal(called.code, 10, said(called));
    assert.equal(events(called).filter(({ kind }) => kind === "retry").length, 2);
    assertOnce(upstream, 3);
  });
}

/** Requests of a client to a recorder. Only one without a body has no length that the runtime keeps. */
const FORWARDED: Readonly<Record<string, readonly [init: string, body: string]>> = {
  "a request": [`{ method: "POST", body: "{}" }`, "{}"],
  "a long request": [`{ method: "POST", body: "x".repeat(1_000_000) }`, "x".repeat(1_000_000)],
  "a change": [`{ method: "PATCH", body: "{}" }`, "{}"],
  "a request without a body": [`{ method: "POST" }`, ""],
};

for (const [name, [init, body]] of Object.entries(FORWARDED)) {
  Deno.test(`record forwards ${name} once`, async () => {
    await using place = new Place([]);
    await using upstream = silent();
    const client = running(`
      const answer = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", ${init});
      console.log(answer.status, (await answer.json()).error.code);`);
    const env = { OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${upstream.origin}/v1` };
    const called = await place.call(["record", "--out", `${place.sandbox.directory}/f`, "--", ...client], {
      env,
    });
    assert.match(called.stdout, /502 upstream_failed/, said(called));
    assert.equal(new TextDecoder().decode(upstream.requests[0]?.body), body);
    if (body === "") assert.equal(upstream.requests.length, 1);
    else assertOnce(upstream, 1);
  });
}

/** The pause of the program itself between two puts is 100 ms at least; the runtime's, 15 ms at most. */
const PAUSE_MS = 60;

Deno.test("a turn is put once in each attempt", async () => {
  await using place = new Place([HELLO]);
  const puts = new Map<string, number[]>();
  await using store = new RawUpstream(async (connection, request) => {
    if (!request.head.startsWith("PUT ")) {
      return await answering("404 Not Found\r\ncontent-length: 0")(connection, request);
    }
    const [, path = ""] = request.head.split(" ");
    puts.set(path, [...puts.get(path) ?? [], performance.now()]);
  });
  const env = {
    AWS_ENDPOINT_URL_S3: store.origin,
    ...{ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key", REPRISE_REMOTE: "s3://sessions" },
  };
  const called = await place.call(["run", "--json", "--new", "-s", "s", "--timeout", "1", "Hi"], { env });
  assert.match(called.stdout, /"code":"remote_unreachable"/);
  assert.ok(puts.size > 0, said(called));
  const pauses = [...puts.values()].flatMap((times) =>
    times.slice(1).map((at, index) => at - (times[index] as number))
  );
  assert.ok(pauses.every((pause) => pause > PAUSE_MS), `pauses of ${pauses} ms`);
});
