/** Limits of sources: nesting, compressed bytes, and entries that no turn can hold. */
import assert from "node:assert/strict";
import { readCodex } from "../../../src/agents/codex/read.ts";
import { splitLines } from "../../../src/agents/lines.ts";
import { readPi } from "../../../src/agents/pi/read.ts";
import { buildTurns } from "../../../src/agents/turns.ts";
import { decompressed } from "../../../src/agents/zstd.ts";
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

/** A frame of zstd whose blocks each repeat one byte 128 KiB long. */
function bomb(blocks: number): Uint8Array {
  const size = 128 * 1024 * blocks;
  const header = [0x28, 0xb5, 0x2f, 0xfd, 0x80, 0x38, ...[0, 8, 16, 24].map((shift) => size >> shift & 0xff)];
  const block = (isLast: boolean) => {
    const bits = 128 * 1024 << 3 | 1 << 1 | (isLast ? 1 : 0);
    return [bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff, 0x78];
  };
  return new Uint8Array([
    ...header,
    ...Array.from({ length: blocks }, (_, index) => block(index === blocks - 1)).flat(),
  ]);
}

Deno.test("a compressed source over the cap is refused before more of it is kept", () => {
  const small = decompressed(bomb(2), 1024 * 1024);
  assert.deepEqual([small?.bytes.length, small?.isCut], [256 * 1024, false]);
  const { slice } = Uint8Array.prototype;
  let copied = 0;
  Uint8Array.prototype.slice = function (...range) {
    const copy = slice.apply(this, range);
    copied += copy.length;
    return copy;
  };
  try {
    assert.equal(decompressed(bomb(100), 1024 * 1024), null);
  } finally {
    Uint8Array.prototype.slice = slice;
  }
  assert.ok(copied < 2 * 1024 * 1024, `${copied} bytes were copied`);
});

Deno.test("a frame that names a huge window is not decompressed, wherever it is", () => {
  const last = [1000 << 3 & 0xff | 1 << 1 | 1, 1000 >> 5, 0, 0x78];
  const framed = (flags: number, ...header: readonly number[]) => [
    ...[0x28, 0xb5, 0x2f, 0xfd, flags, ...header, ...last],
  ];
  const [small, large] = [framed(0, 10 << 3), framed(0, 18 << 3)];
  const sized = (bytes: number) =>
    framed(0xe0, ...[0, 8, 16, 24].map((shift) => bytes >> shift & 0xff), 0, 0, 0, 0);
  const skipped = [0x50, 0x2a, 0x4d, 0x18, 2, 0, 0, 0, 9, 9];
  const bytesIn = (...frames: readonly (readonly number[])[]) =>
    decompressed(new Uint8Array(frames.flat()), 1024 * 1024)?.bytes.length;
  assert.equal(bytesIn(small, skipped, sized(1000), small), 3000);
  for (const huge of [large, sized(2 ** 30)]) {
    for (const before of [[], skipped, small, sized(1000)]) {
      assert.deepEqual([bytesIn(before, huge), bytesIn(before, huge, small)], [0, 0]);
    }
  }
});
