import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { answer, functionCall, message, reasoning } from "./responses_server/script.ts";
import { eventsOf } from "./responses_server/testing.ts";
import {
  type ResponsesSocket,
  type ResponsesSocketOptions,
  startResponsesSocket,
} from "./responses_socket.ts";
import { SocketClient } from "./socket_client.ts";
import { test } from "./test.ts";

/** A test with a server and one connection of a client that shares no code with the program's. */
function socketTest(
  name: string,
  options: ResponsesSocketOptions,
  run: (client: SocketClient, server: ResponsesSocket) => Promise<void>,
): void {
  test.long(`the rules server over WebSocket ${name}`, async () => {
    await using server = await startResponsesSocket(options);
    await using client = await SocketClient.open(server.baseUrl);
    await run(client, server);
  });
}

const HELLO: JsonObject = { model: "gpt-test", store: false, input: [{ role: "user", content: "hello" }] };
const create = (extra: JsonObject = {}): JsonObject => ({ type: "response.create", ...HELLO, ...extra });
const CALLS = [
  answer([reasoning("Look"), functionCall("ls", {}, { callId: "call_1" })]),
  answer([message("done")]),
];
const OUTPUT: JsonObject = { type: "function_call_output", call_id: "call_1", output: "a.txt" };

function idOf(events: readonly JsonObject[]): string {
  const response = events.at(-1)?.response;
  assert(isJsonObject(response), JSON.stringify(events.at(-1)));
  return String(response.id);
}

function codeOf(events: readonly JsonObject[]): unknown {
  const [event] = events;
  assert(event?.type === "error" && isJsonObject(event.error), JSON.stringify(events));
  return [event.status, event.error.code, event.error.param];
}

const NOT_FOUND = [400, "previous_response_not_found", "previous_response_id"];

socketTest(
  "continues the latest response with the new items only",
  { script: CALLS },
  async (client, server) => {
    const first = await client.ask(create());
    const second = await client.ask(create({ previous_response_id: idOf(first), input: [OUTPUT] }));
    assert.equal(second.at(-1)?.type, "response.completed");
    const types = server.requests[1]?.input.map(({ type }) => type);
    assert.deepEqual(types, [undefined, "reasoning", "function_call", "function_call_output"]);
  },
);

Deno.test("the rules server sends the same events over HTTP and WebSocket", async () => {
  await using overHttp = await startResponsesSocket({ script: CALLS });
  await using overSocket = await startResponsesSocket({ script: CALLS });
  const posted = await fetch(`${overHttp.baseUrl}/responses`, {
    method: "POST",
    body: JSON.stringify({ ...HELLO, stream: true }),
  });
  await using client = await SocketClient.open(overSocket.baseUrl);
  assert.deepEqual(await client.ask(create()), await eventsOf(posted));
});

socketTest("refuses an unknown response, one before the latest, and one that an error evicted", {
  script: [...CALLS, answer([message("again")])],
}, async (client) => {
  assert.deepEqual(codeOf(await client.ask(create({ previous_response_id: "resp_unknown" }))), NOT_FOUND);
  const first = await client.ask(create());
  const second = await client.ask(create({ previous_response_id: idOf(first), input: [OUTPUT] }));
  assert.deepEqual(
    codeOf(await client.ask(create({ previous_response_id: idOf(first), input: [OUTPUT] }))),
    NOT_FOUND,
  );
  // A violation evicts the response that the request named.
  const stray = create({ previous_response_id: idOf(second), input: [{ ...OUTPUT, call_id: "call_2" }] });
  assert.deepEqual(codeOf(await client.ask(stray)), [400, null, "input"]);
  assert.deepEqual(codeOf(await client.ask(create({ previous_response_id: idOf(second) }))), NOT_FOUND);
});

socketTest("forgets responses with the connection unless they are stored", {
  script: () => answer([message("hi")]),
}, async (client, server) => {
  const kept = idOf(await client.ask(create({ store: true })));
  const lost = idOf(await client.ask(create()));
  await using other = await SocketClient.open(server.baseUrl);
  assert.deepEqual(codeOf(await other.ask(create({ previous_response_id: lost }))), NOT_FOUND);
  const continued = await other.ask(create({ previous_response_id: kept }));
  assert.equal(continued.at(-1)?.type, "response.completed");
});

socketTest("answers a warm-up with a response that can be continued", {
  script: [answer([message("hi")])],
}, async (client, server) => {
  const warm = await client.ask(create({ generate: false, input: [] }));
  assert.deepEqual(warm.map(({ type }) => type), [
    "response.created",
    "response.in_progress",
    "response.completed",
  ]);
  const first = await client.ask(create({ previous_response_id: idOf(warm) }));
  assert.equal(first.at(-1)?.type, "response.completed");
  assert.equal(server.requests.length, 2);
});

socketTest(
  "checks the whole input: calls, outputs, blobs, and reasoning with its item",
  { script: CALLS },
  async (client) => {
    const first = await client.ask(create());
    const items = first.filter(({ type }) => type === "response.output_item.done").map(({ item }) => item);
    const [thought, call] = items;
    assert(isJsonObject(thought) && isJsonObject(call));
    const whole = (...history: JsonObject[]) =>
      create({ input: [{ role: "user", content: "hello" }, ...history] });
    assert.deepEqual(codeOf(await client.ask(whole(thought, call))), [400, null, "input"]);
    assert.deepEqual(codeOf(await client.ask(whole(OUTPUT))), [400, null, "input"]);
    assert.deepEqual(codeOf(await client.ask(whole(call, OUTPUT))), [400, null, "input"]);
    const bad = { ...thought, encrypted_content: "gAAAAbad" };
    assert.deepEqual(codeOf(await client.ask(whole(bad, call, OUTPUT))), [
      400,
      "invalid_encrypted_content",
      null,
    ]);
    assert.equal((await client.ask(whole(thought, call, OUTPUT))).at(-1)?.type, "response.completed");
  },
);

socketTest("keeps lanes apart, answers each in order, and enforces the limits", {
  script: ({ message: { input } }) => answer([message(JSON.stringify(input))], { delivery: { delayMs: 1 } }),
}, async (client) => {
  assert.deepEqual(codeOf(await client.ask(create({ stream_id: "a b" }))), [
    400,
    "invalid_stream_id",
    "stream_id",
  ]);
  for (let i = 1; i <= 17; i++) {
    client.send(create({ stream_id: `lane-${i % 4}`, input: [{ role: "user", content: `n${i}` }] }));
  }
  const events = await client.until((seen) =>
    seen.filter(({ type }) => type === "response.completed").length === 16
  );
  const refused = events.filter(({ type }) => type === "error");
  assert.deepEqual(codeOf(refused), [400, "websocket_stream_limit_reached", null]);
  for (const lane of [0, 1, 2, 3]) {
    const texts = events.filter(({ type, stream_id }) =>
      type === "response.output_text.done" && stream_id === `lane-${lane}`
    );
    const numbers = texts.map(({ text }) => Number(/n(\d+)/.exec(String(text))?.[1]));
    assert.deepEqual(numbers, numbers.toSorted((a, b) => a - b));
    assert.equal(numbers.length, 4);
  }
  for (let i = 4; i < 32; i++) await client.ask(create({ stream_id: `lane-${i}` }));
  const limit = [400, "websocket_stream_limit_reached", "stream_id"];
  assert.deepEqual(codeOf(await client.ask(create({ stream_id: "lane-32" }))), limit);
});

socketTest("reports the limit of the connection, and closes it", {
  script: () => answer([message("hi")]),
  requestsPerConnection: 1,
}, async (client) => {
  await client.ask(create());
  assert.deepEqual(codeOf(await client.ask(create())), [400, "websocket_connection_limit_reached", null]);
  assert.equal((await client.closed).code, 1000);
});

socketTest("refuses other messages, tolerates fields of HTTP, and closes for binary", {
  script: () => answer([message("hi")]),
}, async (client) => {
  assert.deepEqual(codeOf(await client.ask({ type: "response.other" })), [400, "invalid_value", "type"]);
  const steered = await client.ask({ type: "response.steer", previous_response_id: "resp_1", input: [] });
  assert.equal(steered[0]?.type, "response.steer.failed");
  const tolerated = await client.ask(
    create({ stream: true, background: false, client_metadata: { a: "b" } }),
  );
  assert.equal(tolerated.at(-1)?.type, "response.completed");
  client.sendBinary(new Uint8Array([1]));
  assert.equal((await client.closed).code, 1003);
});

socketTest("breaks a connection after any message", {
  script: () => answer([message("hi")]),
  breakAt: () => ({ afterMessages: 2, how: { code: 1012, reason: "restart" } }),
}, async (client) => {
  client.send(create());
  const { code, reason } = await client.closed;
  assert.deepEqual([code, reason, client.events.length], [1012, "restart", 2]);
});
