/** Limits of sources: nesting, and entries that no turn can hold. */
import assert from "node:assert/strict";
import { readCodex } from "../../../src/agents/codex/read.ts";
import { splitLines } from "../../../src/agents/lines.ts";
import { readPi } from "../../../src/agents/pi/read.ts";
import { buildTurns } from "../../../src/agents/turns.ts";
import type { AgentEntry, AgentSession } from "../../../src/agents/agent_session.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { bytesOf, sessionOf } from "./support.ts";

const PINS = { instructions: "a".repeat(64), tools: "b".repeat(64), permissions: [], workspace: "/srv/code" };

function built({ agent, version }: Pick<AgentSession, "agent" | "version">, entries: readonly AgentEntry[]) {
  return buildTurns({ agent, version, entries }, {
    ...{
      id: parseSessionId("imported"),
      at: "2026-11-24T12:00:00.000Z",
      pins: PINS,
      trusted: null,
      times: new Map(),
    },
  });
}

/** Arrays in arrays. */
function nested(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = [value];
  return value;
}

const item = (payload: unknown) => ({ type: "response_item", payload });
const PROMPT = item({ type: "message", role: "user", content: [{ type: "input_text", text: "One" }] });

Deno.test("a line is kept or lost at every depth, and never makes a turn that nests too deep", () => {
  let kept = 0;
  for (let levels = 500; levels < 515; levels++) {
    const { lines, lost } = splitLines(
      bytesOf([PROMPT, item({ type: "web_search_call", id: "ws_1", action: nested(levels) })]),
      { name: "x.jsonl", isRecord: () => false },
    );
    const session = readCodex(lines);
    assert.equal(built(session, session.main).length + lost.length, 3);
    kept += 1 - lost.length;
  }
  assert.ok(kept > 0 && kept < 15, `${kept}`);
});

Deno.test("an item in a text of pi is kept or lost at every depth", () => {
  for (let levels = 500; levels < 515; levels++) {
    const thinkingSignature = JSON.stringify({ type: "reasoning", summary: [], more: nested(levels) });
    const content = [{ type: "thinking", thinkingSignature }, { type: "text", text: "1" }];
    const session = sessionOf(readPi, [
      { type: "message", id: "a", parentId: null, message: { role: "user", content: "One" } },
      { type: "message", id: "b", parentId: "a", message: { role: "assistant", api: "x", content } },
    ]);
    assert.equal(built(session, session.main).length, 3);
  }
});

Deno.test("an item with an empty type is lost, and an entry that no turn can hold is refused", () => {
  const session = sessionOf(readCodex, [PROMPT, item({ type: "", role: "assistant" })]);
  assert.deepEqual(session.lost.map(({ line, what }) => [line, what]), [[2, 'item ""']]);
  const odd: AgentEntry = {
    ...{ kind: "response", line: 2, provider: null, model: null, responseId: null },
    ...{ status: "completed", items: [{ type: "" }], usage: null },
  };
  assert.throws(() => built(session, [...session.main, odd]), { code: "bad_import" });
});

Deno.test("roles of messages are named with their control characters escaped", () => {
  const role = "\u001b[31m\n";
  const content = [{ type: "input_text", text: "rules" }];
  const codex = sessionOf(readCodex, [item({ type: "message", role, content })]);
  const pi = sessionOf(readPi, [{ type: "message", id: "a", parentId: null, message: { role, content } }]);
  for (const { lost } of [codex, pi]) {
    assert.deepEqual(lost.map(({ what }) => what), ['message of "\\u001b[31m\\n"']);
  }
});
