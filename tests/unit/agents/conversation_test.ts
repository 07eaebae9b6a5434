/** Conversations for other agents: from the checkpoint on, no reasoning, every call with a result. */
import assert from "node:assert/strict";
import type { AgentEntry } from "../../../src/agents/agent_session.ts";
import { conversationOf } from "../../../src/agents/conversation.ts";
import { buildTurns } from "../../../src/agents/turns.ts";
import { WRITERS } from "../../../src/agents/writers.ts";
import { argumentsObject, randomUuid } from "../../../src/agents/writing.ts";
import { History, message } from "../../support/history.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";

const user = (text: string): AgentEntry => ({
  kind: "user",
  line: 1,
  content: [{ type: "input_text", text }],
});
const response = (...items: readonly { readonly type: string }[]): AgentEntry => ({
  ...{
    kind: "response",
    line: 2,
    provider: "openai",
    model: "gpt-5.6",
    responseId: null,
    status: "completed",
  },
  ...{ items, usage: null },
});
const reasoning = { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "gAAAA" };
const text = (body: string) => ({
  ...{ type: "message", role: "assistant" },
  content: [{ type: "output_text", text: body, annotations: [] }],
});
const call = (id: string) => ({
  type: "function_call",
  call_id: id,
  name: "shell",
  arguments: '{"cmd":"ls"}',
});
const result = (callId: string, output: string): AgentEntry => ({
  ...{ kind: "result", line: 3, callId, isError: false, output },
});

function conversation(entries: readonly AgentEntry[]) {
  const pins = {
    instructions: "a".repeat(64),
    tools: "b".repeat(64),
    permissions: [],
    workspace: "/srv/code",
  };
  const call = {
    id: parseSessionId("one"),
    at: "2026-11-24T12:00:00.000Z",
    pins,
    trusted: null,
    times: new Map(),
  };
  const built = buildTurns({ agent: "codex", version: null, entries }, call);
  return conversationOf(built.map(({ turn }) => turn));
}

const LONG = [
  user("Old"),
  response(text("Old answer")),
  { kind: "compaction", line: 4, summary: "It was old.", keptFrom: null } as const,
  user("Look"),
  response(reasoning, text("I look."), call("c1"), call("c2")),
  result("c1", "a.txt"),
  user("And now?"),
  response(reasoning, text("Done.")),
];

Deno.test("a conversation begins with the summary of the checkpoint, has no reasoning, and answers every call", () => {
  const { spoken, lost } = conversation(LONG);
  assert.deepEqual(lost, []);
  assert.ok(!JSON.stringify(spoken).includes("gAAAA"));
  assert.deepEqual(
    spoken.map((each) => {
      switch (each.kind) {
        case "user":
          return each.text;
        case "answer":
          return each.parts.map((part) => part.kind === "text" ? part.text : part.id).join(" ");
        case "result":
          return `${each.callId} ${each.isError}`;
      }
    }),
    [
      "This is a summary of the conversation so far:\n\nIt was old.",
      "Look",
      "I look. c1 c2",
      "c1 false",
      "c2 true",
      "And now?",
      "Done.",
    ],
  );
});

Deno.test("a call id that a server issued again gets a number, and so does its result", () => {
  const { spoken } = conversation([
    user("Look"),
    ...[
      response(call("c")),
      result("c", "1"),
      response(call("c")),
      result("c", "2"),
      response(text("Done.")),
    ],
  ]);
  const ids = spoken.flatMap((each) =>
    each.kind === "result"
      ? [`${each.callId} ${each.output}`]
      : each.kind === "answer"
      ? each.parts.flatMap((part) => part.kind === "call" ? [part.id] : [])
      : []
  );
  assert.deepEqual(ids, ["c", "c 1", "c-2", "c-2 2"]);
});

Deno.test("the summary of another branch is a message", () => {
  const history = new History().user("Look").model([message("msg_1", "Done.")]).ended();
  history.add({
    kind: "harness",
    run: history.run,
    events: [{ type: "branch_summary", session: "other", from_seq: 1, to_seq: 2, summary: "It failed." }],
  });
  assert.deepEqual(
    conversationOf(history.turns).spoken.flatMap((each) => each.kind === "user" ? [each.text] : []),
    [
      "Look",
      "This is a summary of another branch:\n\nIt failed.",
    ],
  );
});

Deno.test("the files of each agent have one line for each part, linked from the first to the last", () => {
  const written = {
    ...{ conversation: conversation(LONG), id: "0b4c7f5e-0000-4000-8000-000000000000", random: () => 0.5 },
    ...{ at: "2026-11-24T12:30:00.000Z", directory: "/srv/code.d" },
  };
  const codex = WRITERS.codex(written);
  assert.equal(codex.lines.length, 1 + 9);
  assert.match(codex.place, /^\.codex\/sessions\/2026\/11\/24\/rollout-2026-11-24T12-30-00-0b4c7f5e/);
  let next = 0;
  const claude = WRITERS.claude({ ...written, random: () => (next = (next + 0.37) % 1) });
  assert.equal(claude.lines.length, 7);
  assert.ok(
    claude.lines.every(({ parentUuid }, index) => parentUuid === (claude.lines[index - 1]?.uuid ?? null)),
  );
  assert.equal(claude.place, ".claude/projects/-srv-code-d/0b4c7f5e-0000-4000-8000-000000000000.jsonl");
  const pi = WRITERS.pi(written);
  assert.ok(pi.lines.slice(2).every(({ parentId }, index) => parentId === pi.lines[index + 1]?.id));
});

Deno.test("arguments that are no object are kept, and ids are UUIDs of version 4", () => {
  assert.deepEqual(argumentsObject('{"a":1}'), { a: 1 });
  assert.deepEqual(argumentsObject("[1]"), { arguments: [1] });
  assert.deepEqual(argumentsObject("{torn"), { arguments: "{torn" });
  assert.match(
    randomUuid(Math.random),
    /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
  );
});
