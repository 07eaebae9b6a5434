/** Events about the end of each answer: its times, whether the client hung up, and the faults that are still to come. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { SocketClient } from "../../support/socket_client.ts";
import { AGENT_FIELDS, agentLoop, PROMPT } from "../../support/socket_fixture.ts";
import { test } from "../../support/test.ts";
import { answerEvents, framed } from "./answers.ts";
import { withHome } from "./home.ts";
import { askRaw, converse, rawBytes } from "./raw_http.ts";
import { exchangeOf, sent, Served } from "./served.ts";
import { ask } from "./shapes.ts";

const [A, B] = [ask("Hi"), ask("Yo")];
const ANSWER = framed(answerEvents("m"));
const SIZE = new TextEncoder().encode(ANSWER).length;
/** Time between the two chunks of an answer, in milliseconds. */
const GAP = 60;
const chunks = [[0, 0], [Math.floor(SIZE / 2), GAP]];
const raw = (body: Json) =>
  `POST /v1/responses HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Type: application/json\nContent-Length: ${
    JSON.stringify(body).length
  }\n\n${JSON.stringify(body)}`;

/** Waits for the end of an answer, and checks what all such events have. */
async function endOf(server: Served, count: number): Promise<Json> {
  for (let n = 0; server.answered.length < count; n++) {
    assert.ok(n < 5000, JSON.stringify(server.events.slice(1)));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const event = server.answered[count - 1];
  const { at_ms: at, first_byte_at_ms: first, last_byte_at_ms: last } = event;
  assert.ok(
    at >= 0 && (first === null ? last === null : at <= first && first <= last),
    JSON.stringify(event),
  );
  const about = server.events.filter(({ request }) => request === event.request);
  assert.deepEqual(new Set(about.map(({ at_ms }) => at_ms)), new Set([at]));
  return event;
}

withHome("the end of an answer has its times, of every kind of answer", async (home) => {
  home.fixture("a", [
    exchangeOf(sent(A, { answer: ANSWER, response: { chunks } })),
    exchangeOf(sent(B, { answer: { id: "resp_1", object: "response", output: [] } })),
  ]);
  const flags = ["--pace", "real"];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  await server.ask(A);
  const streamed = await endOf(server, 1);
  const { type, request, first_byte_at_ms: first, last_byte_at_ms: last, ...more } = streamed;
  assert.deepEqual([type, request, Object.keys(more)], ["answered", 1, ["at_ms"]]);
  // Under load the first byte may be late, but never the last one early.
  assert.ok(first < last && last - streamed.at_ms >= GAP - 1, JSON.stringify(streamed));
  for (const [n, body] of [B, ask("Never recorded"), B].entries()) {
    await server.ask(body);
    const event = await endOf(server, n + 2);
    assert.equal(event.request, n + 2);
    assert.ok(event.at_ms >= last && event.first_byte_at_ms !== null && !("hung_up" in event));
  }
}, test.long);

withHome("a client that hangs up is known, and the server that stops is no such client", async (home) => {
  home.fixture("a", [A, A, A, A].map((body) => exchangeOf(sent(body, { answer: ANSWER }))));
  const faults = [
    "stall after 2 events",
    "stall before the head",
    "drop",
    "reset after 2 events",
    "stall after 1 event",
  ];
  const flags = ["--fault", faults.join(", ")];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  const { port } = server;
  // Unread bytes make the end of this connection a reset, which shows at once.
  const silent = await Deno.connect({ hostname: "127.0.0.1", port });
  await silent.write(rawBytes(port, raw(A)));
  while (server.events.length < 2) await new Promise((resolve) => setTimeout(resolve, 2));
  await new Promise((resolve) => setTimeout(resolve, 30));
  assert.equal(server.answered.length, 0);
  silent.close();
  const left = await endOf(server, 1);
  assert.deepEqual([left.hung_up, left.first_byte_at_ms === null], [true, false]);
  assert.deepEqual(left.unmet_faults, [
    "2: stall before the head",
    "3: drop",
    "4: reset after 2 events",
    "5: stall after 1 event",
  ]);
  // A client that only ends its side is waited for: it may still read.
  const late = await Deno.connect({ hostname: "127.0.0.1", port });
  await late.write(rawBytes(port, raw(A)));
  while (server.events.length < 3) await new Promise((resolve) => setTimeout(resolve, 2));
  late.close();
  const unanswered = await endOf(server, 2);
  assert.deepEqual([unanswered.hung_up, unanswered.first_byte_at_ms], [true, null]);
  assert.equal((await askRaw(port, raw(A))).text, "");
  const dropped = await endOf(server, 3);
  assert.deepEqual([dropped.hung_up, dropped.last_byte_at_ms], [undefined, null]);
  assert.equal((await askRaw(port, raw(A))).statuses[0], 200);
  const broken = await endOf(server, 4);
  assert.deepEqual([broken.hung_up, broken.unmet_faults], [undefined, ["5: stall after 1 event"]]);
  const stalled = converse(port, [rawBytes(port, raw(A))]);
  while (server.events.length < 6) await new Promise((resolve) => setTimeout(resolve, 2));
  await server.end();
  await stalled;
  const stopped = await endOf(server, 5);
  assert.deepEqual([stopped.hung_up, stopped.unmet_faults], [undefined, []]);
}, test.long);

withHome("messages of a WebSocket have the times of their answers", async (home) => {
  home.fixture("a", agentLoop());
  const flags = ["--pace", "real", "--fault", "2: stall after 1 event"];
  await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
  await using client = await SocketClient.open(`${server.origin}/v1`);
  const create = { type: "response.create", ...AGENT_FIELDS };
  await client.ask({ ...create, generate: false, input: [] });
  const { request, first_byte_at_ms: first, last_byte_at_ms: last, ...more } = await endOf(server, 1);
  assert.deepEqual([request, "hung_up" in more, more.unmet_faults], [1, false, ["2: stall after 1 event"]]);
  assert.ok(first < last, "one message each 10 ms");
  client.send({ ...create, previous_response_id: "resp_0", input: [PROMPT] });
  await client.until(() => client.events.length === 3);
  await client[Symbol.asyncDispose]();
  const left = await endOf(server, 2);
  assert.deepEqual([left.hung_up, left.first_byte_at_ms, left.unmet_faults], [
    true,
    left.last_byte_at_ms,
    [],
  ]);
  // A server that stops closes the connection itself.
  await using other = await Served.start(home, ["a"], {
    cwd: home.directory,
    flags: ["--fault", "stall after 1 event"],
  });
  await using waiting = await SocketClient.open(`${other.origin}/v1`);
  waiting.send({ ...create, generate: false, input: [] });
  await waiting.until(() => waiting.events.length === 1);
  await other.end();
  assert.equal((await endOf(other, 1)).hung_up, undefined);
});
