import assert from "node:assert/strict";
import { parseExact } from "../../../../../src/domain/exact_json.ts";
import type { JsonObject } from "../../../../../src/domain/json.ts";
import { responsesSocket } from "../../../../../src/apis/responses/socket/socket.ts";

const {
  createMessage,
  errorMessage,
  eventMessage,
  inLane,
  previousNotFound,
  readEvent,
  readMessage,
  sseEvent,
} = responsesSocket;

function bodyOf(text: string): JsonObject {
  return parseExact(text) as JsonObject;
}

Deno.test("a message asks for what the body asks for, member by member and number by number", () => {
  const body =
    '{"model":"m","temperature":1.0,"stream":true,"10":1,"background":false,"input":[{"role":"user"}]}';
  const message = createMessage(bodyOf(body));
  assert.equal(
    message,
    '{"type":"response.create","model":"m","temperature":1.0,"10":1,"input":[{"role":"user"}]}',
  );
  const read = readMessage(message);
  assert.ok(read.kind === "create");
  assert.equal(
    JSON.stringify(read.body),
    '{"model":"m","temperature":1.0,"10":1,"input":[{"role":"user"}],"stream":true}',
  );
});

Deno.test("a continuation has its id and only the new items", () => {
  const body = bodyOf('{"model":"m","input":[1,2,3],"stream":true}');
  const message = createMessage(body, { continuation: { responseId: "resp_1", from: 2 }, lane: "a" });
  assert.equal(
    message,
    '{"type":"response.create","stream_id":"a","model":"m","previous_response_id":"resp_1","input":[3]}',
  );
  const read = readMessage(message);
  assert.ok(read.kind === "create");
  assert.deepEqual([read.lane, read.previous, read.warmUp], ["a", "resp_1", false]);
});

Deno.test("messages of other types, and texts that are no object, ask for no response", () => {
  assert.deepEqual(readMessage('{"type":"response.steer","stream_id":"a"}'), {
    kind: "other",
    type: "response.steer",
    lane: "a",
  });
  for (const text of ["", "[]", "null", "{", '"response.create"', "{}", '{"type":1}']) {
    assert.deepEqual(readMessage(text), { kind: "other", type: null, lane: null }, text);
  }
});

Deno.test("an event holds the bytes of its message", () => {
  const text = '{"type":"response.created",  "n":1.0}';
  const event = sseEvent(readEvent(text));
  assert.equal(event, `event: response.created\ndata: ${text}\n\n`);
  assert.equal(eventMessage(text), text);
});

Deno.test("line ends in a message stay inside its event", () => {
  assert.equal(
    sseEvent(readEvent('{\n"type":"error"\r\n}')),
    'event: error\ndata: {\ndata: "type":"error"\ndata: }\n\n',
  );
  assert.equal(sseEvent(readEvent('{"type":"a\\nb"}')), 'data: {"type":"a\\nb"}\n\n');
  assert.equal(sseEvent(readEvent("no JSON")), "data: no JSON\n\n");
});

Deno.test("events over HTTP have no stream_id, and messages that of their lane", () => {
  const message = readEvent('{"type":"x","stream_id":"a","n":1.0}');
  assert.equal(message.lane, "a");
  assert.equal(sseEvent(message), 'event: x\ndata: {"type":"x","n":1.0}\n\n');
  assert.equal(inLane(message.text, "a"), message.text);
  assert.equal(inLane(message.text, "b"), '{"type":"x","n":1.0,"stream_id":"b"}');
  assert.equal(eventMessage('{"type":"x"}', "b"), '{"type":"x","stream_id":"b"}');
  assert.equal(eventMessage("[DONE]"), null);
});

Deno.test("an error with a status is an HTTP answer, nested or flat", () => {
  const error = { type: "invalid_request_error", code: "c", message: "no", param: "input" };
  const body = JSON.stringify({ error });
  const nested = readEvent(JSON.stringify({ type: "error", status: 400, error, sequence_number: 0 }));
  assert.deepEqual([nested.refusal, nested.ends], [{ status: 400, body }, true]);
  const flat = readEvent(
    '{"type":"error","status":429,"code":"c","message":"no","param":null,"sequence_number":3}',
  );
  assert.deepEqual(flat.refusal, { status: 429, body: '{"error":{"code":"c","message":"no","param":null}}' });
  assert.equal(readEvent('{"type":"error","code":"c","message":"no"}').refusal, null);
  assert.deepEqual(JSON.parse(errorMessage({ status: 400, body }, "a")), {
    type: "error",
    status: 400,
    error,
    stream_id: "a",
  });
});

Deno.test("a body that is no error of the API becomes the message of one", () => {
  const { status, error } = JSON.parse(errorMessage({ status: 502, body: "<html>" }));
  assert.deepEqual([status, error], [502, {
    type: "server_error",
    code: null,
    message: "<html>",
    param: null,
  }]);
});

Deno.test("an unknown previous response is refused as the API does", () => {
  const { status, body } = previousNotFound("resp_1");
  assert.equal(status, 400);
  assert.deepEqual(JSON.parse(body).error, {
    type: "invalid_request_error",
    code: "previous_response_not_found",
    message: "Previous response with id 'resp_1' not found.",
    param: "previous_response_id",
  });
});

Deno.test("a text that nests too deep is no object", () => {
  const deep = `{"type":"response.create","input":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
  assert.deepEqual(readMessage(deep), { kind: "other", type: null, lane: null });
  assert.equal(readEvent(deep).json, undefined);
  assert.equal(inLane(deep, "a"), deep);
});

Deno.test("only a warm-up keeps the member generate, which HTTP does not have", () => {
  for (
    const [generate, body] of [[true, { stream: true }], [false, { generate: false, stream: true }]] as const
  ) {
    const read = readMessage(JSON.stringify({ type: "response.create", generate }));
    assert.ok(read.kind === "create");
    assert.deepEqual([read.warmUp, read.body], [!generate, body]);
  }
});
