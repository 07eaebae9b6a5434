import assert from "node:assert/strict";
import { responsesSocket } from "../../../../../src/apis/responses/socket/socket.ts";

const { newLanes, readEvent, readMessage } = responsesSocket;

function create(lane: string | null = null, type = "response.create") {
  return readMessage(JSON.stringify({ type, ...(lane === null ? {} : { stream_id: lane }) }));
}

function event(type: string, lane: string | null = null) {
  return readEvent(JSON.stringify({ type, ...(lane === null ? {} : { stream_id: lane }) }));
}

function codeOf(refusal: string | null): unknown {
  return refusal === null ? null : JSON.parse(refusal).error.code;
}

Deno.test("one lane answers in order, and lanes do not wait for each other", () => {
  const lanes = newLanes<string>();
  for (const [lane, name] of [[null, "a1"], ["b", "b1"], [null, "a2"], ["b", "b2"]] as const) {
    assert.equal(lanes.open(create(lane), name), null);
  }
  const owners = [
    lanes.take(event("response.created", "b")),
    lanes.take(event("response.created")),
    lanes.take(event("response.completed", "b")),
    lanes.take(event("response.created", "b")),
    lanes.take(event("error")),
    lanes.take(event("response.created")),
  ];
  assert.deepEqual(owners, ["b1", "a1", "b1", "b2", "a1", "a2"]);
  assert.deepEqual(lanes.requests, ["a2", "b2"]);
});

Deno.test("an event of another lane belongs to no request", () => {
  const lanes = newLanes<string>();
  lanes.open(create("a"), "a");
  assert.equal(lanes.take(event("response.created", "b")), undefined);
});

Deno.test("an event without a lane belongs to the only open request", () => {
  const lanes = newLanes<string>();
  lanes.open(create("a"), "a");
  assert.equal(lanes.take(event("error")), "a");
  lanes.open(create("a"), "a");
  lanes.open(create("b"), "b");
  assert.equal(lanes.take(event("error")), undefined);
});

Deno.test("events of a steer belong to the steer, up to its result", () => {
  const lanes = newLanes<string>();
  lanes.open(create(), "response");
  lanes.open(create(null, "response.steer"), "steer");
  const types = [
    "response.created",
    "response.steer.pending",
    "response.output_text.delta",
    "response.steer.accepted",
  ];
  const owners = types.map((type) => lanes.take(event(type)));
  assert.deepEqual(owners, ["response", "steer", "response", "steer"]);
  assert.deepEqual(lanes.requests, ["response"]);
});

Deno.test("an error belongs to an unknown message if no response is open", () => {
  const lanes = newLanes<string>();
  lanes.open(create(null, "session.update"), "unknown");
  assert.equal(lanes.take(event("error")), "unknown");
  assert.deepEqual(lanes.requests, []);
});

Deno.test("a connection takes 16 responses in flight", () => {
  const lanes = newLanes<number>();
  for (let number = 0; number < 16; number++) assert.equal(lanes.open(create(), number), null);
  assert.equal(codeOf(lanes.open(create(), 16)), "websocket_stream_limit_reached");
  lanes.take(event("response.completed"));
  assert.equal(lanes.open(create(), 16), null);
});

Deno.test("a connection takes 32 named lanes, also over time", () => {
  const lanes = newLanes<number>();
  for (let number = 0; number < 32; number++) {
    assert.equal(lanes.open(create(`lane-${number}`), number), null);
    lanes.take(event("response.completed", `lane-${number}`));
  }
  assert.equal(codeOf(lanes.open(create("lane-32"), 32)), "websocket_stream_limit_reached");
  assert.equal(lanes.open(create("lane-7"), 7), null);
  assert.equal(lanes.open(create(), 0), null);
});

Deno.test("an id of a lane has its own grammar", () => {
  for (const id of ["", "a b", "é", "x".repeat(257), 5]) {
    const message = readMessage(JSON.stringify({ type: "response.create", stream_id: id }));
    assert.equal(codeOf(newLanes<number>().open(message, 1)), "invalid_stream_id", JSON.stringify(id));
  }
  assert.equal(newLanes<number>().open(create("A-z_0.9"), 1), null);
});
