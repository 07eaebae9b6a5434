/**
 * Runs against an Anthropic server that refuses: each completes or ends with the right exit code, and none breaks the
 * next.
 *
 * @module
 */
import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../../src/domain/json.ts";
import { invalidRequest, rawBlock, says, thinking, toolUse } from "../../support/messages_server/script.ts";
import { type MessagesScript, type RecordedMessages, stop, text } from "../../support/messages_server.ts";
import { DONE, promise, sentIn, UNBOUND } from "./messages_runs.ts";

const FORGED = rawBlock({ type: "thinking", thinking: "Not mine.", signature: "Zm9yZ2Vk" });

/** An answer whose thinking is refused in the next step of its own run. */
const FORGED_CALL = says([FORGED, toolUse("echo", { text: "a" })]);

const thoughtsOf = ({ blocks }: RecordedMessages) =>
  blocks.filter(({ type }) => type === "thinking").map(({ thinking }) => thinking);

const dropsBlocks = ({ body, headers }: RecordedMessages) => {
  const config = isJsonObject(body) && isJsonObject(body.thinking) ? body.thinking : {};
  const asked = JSON.stringify(config.block_binding) === '{"prefix_mismatch_behavior":"drop_block"}';
  assert.equal(headers["anthropic-beta"]?.includes("thinking-binding-controls") ?? false, asked);
  return asked;
};

promise(
  "a forged signature is quarantined, the run completes without thinking, and the next run sends the rest",
  { script: [says([thinking("First."), text("One.")]), FORGED_CALL, DONE, DONE] },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.state, second.ended.exit_code], ["completed", 0]);
    assert.deepEqual(sentIn(session, second).map(thoughtsOf), [["First."], ["First.", "Not mine."], []]);
    assert.deepEqual(session.server.refusals.map(({ rule }) => rule), ["signature"]);
    const [notice] = session.notices();
    assert.deepEqual(notice?.items.map(({ action }) => action), ["left_out", "quarantined"]);
    const third = await session.run("Three");
    assert.equal(third.ended.state, "completed");
    assert.deepEqual(sentIn(session, third).map(thoughtsOf), [["First."]]);
  },
  { model: UNBOUND },
);

promise(
  "a signature that is refused inside the stream is quarantined alike",
  {
    script: (request) =>
      thoughtsOf(request).length === 0 ? says([thinking("Hm."), text("Done.")]) : says([], {
        end: {
          kind: "error",
          error: {
            type: "invalid_request_error",
            message: "messages.1.content.0: Invalid `signature` in `thinking` block",
          },
        },
      }),
  },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 2]);
    assert.deepEqual(session.notices().map(({ items }) => items[0]?.action), ["quarantined"]);
  },
);

const OTHER_WORDS = [
  "The signature of a thinking block has expired",
  "messages.1.content: thinking cannot be read any more",
  "Request cannot be processed",
];
for (const words of OTHER_WORDS) {
  promise(
    `after another refusal of thinking, the request is sent once more without any (${words})`,
    {
      script: (request) =>
        thoughtsOf(request).length === 0 || request.number > 4
          ? says([thinking("Hm."), text("Done.")])
          : invalidRequest(words),
    },
    async (session) => {
      await session.run("One");
      const second = await session.run("Two");
      assert.equal(second.ended.state, "completed");
      assert.deepEqual(sentIn(session, second).map((request) => thoughtsOf(request).length), [1, 0]);
      assert.deepEqual(session.notices().map(({ items }) => items[0]?.action), ["left_out"]);
      const third = await session.run("Three");
      assert.deepEqual([third.ended.state, session.notices().length], ["completed", 2]);
    },
    { model: UNBOUND },
  );
}

promise(
  "a refused thinking block that is named by its place is quarantined, and the next run does not meet the refusal",
  {
    script: (request) => {
      const at = request.blocks.findIndex(({ thinking }) => thinking === "First.");
      return at < 0 || request.number === 1
        ? says([thinking(request.number === 1 ? "First." : "Later."), text("Done.")])
        : invalidRequest(
          "messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified",
        );
    },
  },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 2]);
    const third = await session.run("Three");
    assert.deepEqual([third.ended.state, third.requests[1] - third.requests[0]], ["completed", 1]);
    assert.deepEqual(sentIn(session, third).map(thoughtsOf), [["Later."]]);
  },
  { model: UNBOUND },
);

promise(
  "billing and policy refusals of a request with thinking are not tried again",
  {
    script: ({ number }) =>
      number === 1 ? says([thinking("Hm."), text("Done.")]) : invalidRequest(
        number === 2 ? "Your credit balance is too low" : "Blocked by content filtering policy",
      ),
  },
  async (session) => {
    await session.run("One");
    for (const words of ["Two", "Three"]) {
      const { ended, requests } = await session.run(words);
      assert.deepEqual([ended.exit_code, requests[1] - requests[0]], [13, 1]);
    }
    assert.deepEqual(session.notices(), []);
  },
  { model: UNBOUND },
);

promise(
  "on a prefix-bound model a quarantined thought takes no later run down: the server drops what it was part of",
  {
    script: [
      says([thinking("First."), text("One.")]),
      FORGED_CALL,
      says([thinking("Third."), text("Two.")]),
      DONE,
      DONE,
    ],
  },
  async (session) => {
    for (const words of ["One", "Two", "Three", "Four"]) {
      const { ended } = await session.run(words);
      assert.equal(ended.state, "completed", words);
    }
    const { server } = session;
    assert.deepEqual(server.refusals.map(({ rule }) => rule), ["signature", "signature_bound"]);
    assert.deepEqual(server.requests.map(thoughtsOf).at(-1), ["First.", "Third."]);
    assert.deepEqual(server.requests.map(dropsBlocks).slice(-3), [false, true, true]);
  },
);

promise(
  "thinking bound to another conversation is dropped by the server, asked once and from then on at once",
  { script: () => says([thinking("Hm."), text("Done.")]) },
  async (session) => {
    await session.run("One");
    const changed = { instructions: "Be thorough." };
    const second = await session.run("Two", changed);
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 2]);
    assert.deepEqual(sentIn(session, second).map(dropsBlocks), [false, true]);
    assert.deepEqual(session.server.refusals.map(({ rule }) => rule), ["signature_bound"]);
    const [last] = session.turns().flatMap((turn) => turn.kind === "model" ? [turn] : []).slice(-1);
    assert.deepEqual(last?.response.input_transformations, [
      { type: "thinking_dropped", path: "messages.1.content.0", reason: "prefix_binding_mismatch" },
    ]);
    assert(second.events.some((event) => event.type === "notice" && event.kind === "replay_stripped"));
    const third = await session.run("Three", changed);
    assert.deepEqual(sentIn(session, third).map(dropsBlocks), [true]);
    assert.deepEqual(sentIn(session, third).map(thoughtsOf), [["Hm.", "Hm."]], "the server decides, not we");
    assert.equal(session.server.refusals.length, 1);
    // The server's demand holds for the model that it named.
    const other = await session.run("Four", { ...changed, model: UNBOUND });
    assert.deepEqual(sentIn(session, other).map(dropsBlocks), [false]);
  },
);

promise(
  "if the server knows no drop_block, bound thinking is stripped once and for good",
  { script: () => says([thinking("Hm."), text("Done.")]), legacyBinding: true },
  async (session) => {
    await session.run("One");
    const changed = { instructions: "Be thorough." };
    const second = await session.run("Two", changed);
    assert.equal(second.ended.state, "completed");
    assert.deepEqual(
      sentIn(session, second).map((request) => [dropsBlocks(request), thoughtsOf(request).length]),
      [
        [false, 1],
        [true, 1],
        [false, 1],
        [false, 0],
      ],
    );
    const third = await session.run("Three", changed);
    assert.deepEqual([third.ended.state, third.requests[1] - third.requests[0]], ["completed", 1]);
    assert.deepEqual(sentIn(session, third).map(thoughtsOf), [["Hm."]], "only what came since");
  },
);

const CALLING = says([
  thinking("Call."),
  text("I call."),
  toolUse("echo", { text: "a" }),
  toolUse("echo", { text: "b" }),
]);
const resultsOf = ({ blocks }: RecordedMessages) => blocks.filter(({ type }) => type === "tool_result");

promise(
  "a result that is lost is answered and recorded, so that the server sees every call answered",
  { script: [CALLING, DONE, DONE, DONE] },
  async (session) => {
    await session.run("One");
    await session.lose("tool_result");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 1]);
    const [request] = sentIn(session, second);
    assert.deepEqual(request === undefined ? [] : resultsOf(request).map(({ is_error }) => is_error), [
      true,
      true,
    ]);
    assert.deepEqual(
      second.events.flatMap((event) => event.type === "notice" ? [event.kind] : []),
      ["orphan_repaired"],
    );
    assert.equal((await session.run("Three")).ended.state, "completed");
    assert.deepEqual(session.server.refusals, []);
  },
  // The request that was made with what is lost now.
  { differing: 1 },
);

for (
  const [said, of] of Object.entries({
    "`tool_use` ids were found without `tool_result` blocks immediately after": "tool_use",
    "unexpected `tool_use_id` found in `tool_result` blocks": "tool_result",
  })
) {
  /** Wants one of the two calls gone, once the loop is over. */
  const script: MessagesScript = ({ number, blocks }) => {
    if (number === 1) return CALLING;
    if (blocks.at(-1)?.type === "tool_result" || resultCount(blocks) < 2) return DONE;
    const refused = blocks.find(({ type }) => type === of);
    const id = refused?.id ?? refused?.tool_use_id;
    return invalidRequest(`messages.1: ${said}: ${id}. Each one must have its other one.`);
  };
  promise(
    `a call that the server still refuses is left out with its result, and the next run is not broken (${of})`,
    { script },
    async (session) => {
      await session.run("One");
      const second = await session.run("Two");
      assert.equal(second.ended.state, "completed");
      assert.deepEqual(sentIn(session, second).map(({ blocks }) => resultCount(blocks)), [2, 1]);
      assert.deepEqual(session.notices().map(({ reason }) => reason), ["call_refused"]);
      const third = await session.run("Three");
      assert.equal(third.ended.state, "completed");
      assert.deepEqual(session.server.refusals, [], "the rules accept what is left");
    },
    { model: UNBOUND },
  );
}

function resultCount(blocks: readonly JsonObject[]): number {
  return blocks.filter(({ type }) => type === "tool_result").length;
}

promise(
  "a server that refuses calls whatever is left out ends the run with 13, and the next run asks again",
  {
    script: ({ number, blocks }) => {
      if (number === 1) return CALLING;
      if (blocks.at(-1)?.type === "tool_result" || number > 4) return DONE;
      const id = blocks.find(({ type }) => type === "tool_use")?.id;
      return invalidRequest(
        `messages.1: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${id}.`,
      );
    },
  },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.exit_code, second.requests[1] - second.requests[0]], [13, 2]);
    assert.equal((await session.run("Three")).ended.state, "completed");
    assert.deepEqual(session.server.refusals, []);
  },
  { model: UNBOUND },
);

promise(
  "a member that the API does not take back is stripped from its block, and stays stripped",
  {
    script: [
      says([rawBlock({ type: "container_upload", file_id: "file_1", extra: 1 }), text("Up.")]),
      DONE,
      DONE,
    ],
  },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 2]);
    assert.deepEqual(session.server.refusals.map(({ body }) => body.error.message), [
      "messages.1.content.0.container_upload.extra: Extra inputs are not permitted",
    ]);
    assert.deepEqual(
      session.notices().map(({ reason, items }) => [reason, items[0]?.action, items[0]?.field]),
      [
        ["unknown_field", "stripped", "extra"],
      ],
    );
    const third = await session.run("Three");
    assert.deepEqual(sentIn(session, third)[0]?.blocks[1], { type: "container_upload", file_id: "file_1" });
    assert.equal(session.server.refusals.length, 1);
  },
);

promise(
  "members that the API does not take back on text, thinking and calls never go",
  {
    script: [
      says([
        rawBlock({ type: "thinking", thinking: "Hm.", signature: "Zm9yZ2Vk", extra: 1 }),
        rawBlock({ type: "text", text: "I call.", citations: null, extra: 1 }),
        rawBlock({ type: "tool_use", id: "toolu_1", name: "echo", input: { text: "a" }, extra: 1 }),
      ], { end: stop("tool_use") }),
      DONE,
    ],
  },
  async (session) => {
    assert.equal((await session.run("One")).ended.state, "completed");
    assert.deepEqual(session.server.refusals.map(({ rule }) => rule), ["signature"]);
  },
);

promise(
  "an unknown field that no block can be blamed for ends the run with 13, and the next run is not broken",
  { script: ({ number }) => number === 2 ? invalidRequest("stream: Extra inputs are not permitted") : DONE },
  async (session) => {
    await session.run("One");
    const second = await session.run("Two");
    assert.deepEqual([second.ended.exit_code, second.requests[1] - second.requests[0]], [13, 1]);
    assert.equal((await session.run("Three")).ended.state, "completed");
    assert.deepEqual(session.server.refusals, []);
  },
);
