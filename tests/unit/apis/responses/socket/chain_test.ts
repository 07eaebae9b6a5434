import assert from "node:assert/strict";
import type { JsonObject, JsonValue } from "../../../../../src/domain/json.ts";
import type { CreateMessage } from "../../../../../src/apis/socket.ts";
import { responsesSocket } from "../../../../../src/apis/responses/socket/socket.ts";

const { readMessage, newChain } = responsesSocket;

function create(members: JsonObject): CreateMessage {
  const message = readMessage(JSON.stringify({ type: "response.create", model: "m", ...members }));
  assert.equal(message.kind, "create");
  return message as CreateMessage;
}

function user(text: string): JsonObject {
  return { role: "user", content: text };
}

function said(text: string, id = "msg_1"): JsonObject {
  return {
    type: "message",
    id,
    status: "completed",
    role: "assistant",
    content: [{ type: "output_text", text, annotations: [] }],
  };
}

function completed(id: string, output: readonly JsonValue[]): JsonObject {
  return { type: "response.completed", response: { id, status: "completed", output } };
}

Deno.test("a request that continues a response has its whole input", () => {
  const chain = newChain();
  const first = chain.open(create({ input: "one" }));
  assert.equal(first.state, "full");
  first.take(completed("resp_1", [said("two")]));
  const second = chain.open(create({ input: [user("three")], previous_response_id: "resp_1" }));
  const { status: _, ...sent } = said("two");
  assert.deepEqual([second.state, second.body], [
    "continued",
    { model: "m", stream: true, input: [user("one"), sent, user("three")] },
  ]);
});

Deno.test("output comes from its own events if the last event lacks it, in the order of the response", () => {
  const chain = newChain();
  const request = chain.open(create({ input: [] }));
  for (const place of [1, 0]) {
    const item = { type: "function_call", call_id: `call_${place}`, name: "ls", arguments: "{}" };
    request.take({
      type: "response.output_item.added",
      output_index: place,
      item: { ...item, arguments: "" },
    });
    request.take({ type: "response.output_item.done", output_index: place, item });
  }
  request.take({ type: "response.completed", response: { id: "resp_1" } });
  const { body } = chain.open(create({ previous_response_id: "resp_1" }));
  assert.deepEqual((body.input as JsonObject[]).map(({ call_id }) => call_id), ["call_0", "call_1"]);
});

Deno.test("a warm-up can be continued", () => {
  const chain = newChain();
  const warmUp = create({ input: [user("one")], generate: false });
  assert.equal(warmUp.warmUp, true);
  chain.open(warmUp).take(completed("resp_0", []));
  const { body } = chain.open(create({ previous_response_id: "resp_0", input: [] }));
  assert.deepEqual(body.input, [user("one")]);
});

for (
  const [name, event] of [
    ["an error", { type: "error", status: 429, error: { message: "slow down" } }],
    ["a failed response", { type: "response.failed", response: { id: "resp_2", status: "failed" } }],
  ] as const
) {
  Deno.test(`after ${name}, the response that the request continued is unknown`, () => {
    const chain = newChain();
    chain.open(create({ input: [] })).take(completed("resp_1", []));
    const continuing = create({ input: [user("go")], previous_response_id: "resp_1" });
    const failing = chain.open(continuing);
    assert.equal(failing.state, "continued");
    failing.take(event);
    const again = chain.open(continuing);
    assert.equal(again.state, "unknown");
    assert.deepEqual(again.body, {
      model: "m",
      input: [user("go")],
      previous_response_id: "resp_1",
      stream: true,
    });
    assert.equal(chain.open(create({ previous_response_id: "resp_2" })).state, "unknown");
  });
}

Deno.test("any tree of continuations resolves to what a client over HTTP sends", () => {
  // The oracle keeps the whole history of each response, without sharing.
  let state = 7;
  const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 50; round++) {
    const chain = newChain();
    const histories = new Map<string, readonly JsonValue[]>();
    for (let step = 0; step < 20; step++) {
      const ids = [...histories.keys()];
      const previous = random(4) === 0 ? undefined : ids[random(ids.length + 1)];
      const input = Array.from({ length: random(3) }, (_, index) => user(`${step}.${index}`));
      const whole = [...histories.get(previous ?? "") ?? [], ...input];
      const request = chain.open(
        create({ input, ...(previous === undefined ? {} : { previous_response_id: previous }) }),
      );
      assert.deepEqual(request.body.input, whole);
      if (random(6) === 0) {
        request.take({ type: "error", status: 500, error: { message: "no" } });
        histories.delete(previous ?? "");
        continue;
      }
      const item = { type: "reasoning", id: `rs_${step}`, summary: [], encrypted_content: `blob ${step}` };
      request.take(completed(`resp_${step}`, [item]));
      histories.set(`resp_${step}`, [...whole, item]);
    }
  }
});
