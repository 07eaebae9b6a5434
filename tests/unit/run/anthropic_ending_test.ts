/**
 * Runs whose Anthropic server breaks off, stops short, pauses or begins again: each ends well, and so does the next.
 *
 * @module
 */
import assert from "node:assert/strict";
import { declined, says, serverTool, thinking, toolUse } from "../../support/messages_server/script.ts";
import { stop, text, unfinished } from "../../support/messages_server.ts";
import { DONE, promise, sentIn } from "./messages_runs.ts";

promise(
  "an error in the middle of a stream ends the run, keeps the whole blocks, and the next run continues from them",
  {
    script: [
      says([thinking("Hm."), text("Half."), unfinished(text("lost, all of it"))], {
        end: { kind: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      }),
      DONE,
    ],
  },
  async (session) => {
    const first = await session.run("One");
    assert.equal(first.ended.state, "failed");
    assert.notEqual(first.ended.exit_code, 0);
    const second = await session.run("Two");
    assert.equal(second.ended.state, "completed");
    assert.deepEqual(
      sentIn(session, second)[0]?.blocks.map(({ type, text, thinking }) => [type, text ?? thinking]),
      [
        ["text", "One"],
        ["thinking", "Hm."],
        ["text", "Half."],
        ["text", "Two"],
      ],
    );
    assert.deepEqual(session.server.refusals, []);
  },
);

promise(
  "a turn that the server paused goes back unchanged, without tools run, until it ends",
  {
    script: [
      says([thinking("Search."), serverTool("web_search", { query: "a" }, [])], { end: stop("pause_turn") }),
      says([serverTool("web_search", { query: "b" }, [])], { end: stop("pause_turn") }),
      says([thinking("Found."), text("Here.")]),
      DONE,
    ],
  },
  async (session) => {
    const first = await session.run("One");
    assert.deepEqual([first.ended.state, first.ended.text], ["completed", "Here."]);
    assert.equal(first.requests[1], 3);
    assert(session.turns().every(({ kind }) => kind !== "tools"));
    assert.equal((await session.run("Two")).ended.state, "completed");
    assert.deepEqual(session.server.requests[3]?.blocks.map(({ type }) => type), [
      "text",
      "thinking",
      ...["server_tool_use", "web_search_tool_result", "server_tool_use", "web_search_tool_result"],
      "thinking",
      "text",
      "text",
    ]);
    assert.deepEqual(session.server.refusals, []);
  },
);

promise(
  "a refusal without content ends the run as refused with 6, and the next run is not broken",
  { script: [declined("I will not."), DONE] },
  async (session) => {
    const { ended } = await session.run("One");
    assert.deepEqual([ended.state, ended.exit_code], ["refused", 6]);
    assert.equal((await session.run("Two")).ended.state, "completed");
    assert.deepEqual(session.server.refusals, []);
  },
);

for (
  const [name, blocks] of Object.entries({
    "whole text": [thinking("Hm."), text("Half.")],
    "nothing but thinking": [thinking("Hm.")],
    "text cut short": [thinking("Hm."), unfinished(text("half of what was to be said"))],
    "a call cut short": [thinking("Hm."), unfinished(toolUse("echo", { text: "half of the words" }))],
  })
) {
  promise(
    `a response that ran out of tokens is incomplete with 6, and can be continued (${name})`,
    { script: [says(blocks, { end: stop("max_tokens") }), DONE, DONE] },
    async (session) => {
      const { ended } = await session.run("One");
      assert.deepEqual([ended.state, ended.exit_code], ["incomplete", 6]);
      assert.equal((await session.run(null)).ended.state, "completed");
      assert.equal((await session.run("Two")).ended.state, "completed");
      assert.deepEqual(session.server.refusals, []);
    },
  );
}

promise(
  "of an answer that the server began twice only the second is kept",
  {
    script: [
      says([thinking("Again."), toolUse("echo", { text: "right" })], {
        abandoned: [
          thinking("Lost."),
          toolUse("echo", { text: "wrong" }),
          unfinished(text("lost, all of it")),
        ],
      }),
      DONE,
      DONE,
    ],
  },
  async (session) => {
    assert.equal((await session.run("One")).ended.state, "completed");
    assert.equal((await session.run("Two")).ended.state, "completed");
    const [, second] = session.server.requests;
    assert.deepEqual(second?.blocks.map(({ type }) => type), ["text", "thinking", "tool_use", "tool_result"]);
    assert.deepEqual(second?.blocks[2]?.input, { text: "right" });
    assert.deepEqual(session.server.refusals, []);
  },
);
