import assert from "node:assert/strict";
import { blockLine, folded } from "../../../../../src/cli/inspection/transcript/blocks.ts";
import { BlockReader } from "../../../../../src/cli/inspection/transcript/session.ts";
import type { JsonObject } from "../../../../../src/domain/json.ts";
import { shownTurn } from "../../../../../src/store/read/show.ts";

/** An event in a line, as `show --events` has it. */
function lineOf(event: JsonObject, turn: JsonObject = {}): string {
  const shown = shownTurn(3, { ...turn, events: [{ seq: 1, ...event }] }, false);
  return new BlockReader().blocksOf(shown).map(blockLine).join(" ");
}

const error = { code: "request_refused", message: "No such item" };

const WORDS: readonly (readonly [JsonObject, string, JsonObject?])[] = [
  [
    { type: "replay_notice", reason: "reasoning_refused", items: [{ seq: 4, action: "quarantined" }], error },
    "(the API refused reasoning: seq 4 is not sent again: No such item)",
  ],
  [
    {
      type: "replay_notice",
      reason: "unknown_field",
      items: [{ seq: 4, action: "stripped", field: "phase" }],
      member: { item_type: "message", field: "phase" },
    },
    "(the API does not know a field: seq 4 is sent without phase, later items of the type message are sent without phase)",
  ],
  [
    { type: "replay_notice", reason: "quarantine_lifted", items: [{ seq: 4, action: "lifted" }] },
    "(quarantine lifted: seq 4 is sent again)",
  ],
  [
    { type: "endpoint_notice", endpoint: "1f3a9c02", model: "m", without: "include" },
    "(the endpoint refuses the field include for m: later requests leave it out)",
  ],
  [{ type: "compaction_withdrawn", checkpoint: 9, restored: null }, "(checkpoint of seq 9 withdrawn)"],
  [
    { type: "history_compaction", to_seq: 9, summary: "We fixed it." },
    "(checkpoint up to seq 9: later requests hold this summary instead) We fixed it.",
  ],
  [
    { type: "turn_replaced" },
    "(turn 3 is lost, with events 5 to 7: its file was missing. Repair put this turn in its place)",
    {
      replaces: { sum: null, seq: [5, 7], reason: "missing_turn" },
    },
  ],
  [
    { type: "run_continued", run: 2 },
    "(run 2 continues without a prompt; turn 3 is lost, with event 5: its file was not JSON. Repair put this turn in its place)",
    { replaces: { sum: null, seq: [5, 5], reason: "bad_json" } },
  ],
  [{ type: "turn_replaced" }, "(turn 3 is lost: ?. Repair put this turn in its place)"],
  [
    { type: "permission_decision", tool: "shell", decision: "denied", reason: "asked_no" },
    "(shell denied: answered no)",
  ],
  [
    { type: "tool_result", tool: "shell", status: "orphaned", output: "" },
    "← shell: no result was recorded, it may or may not have run",
  ],
  [
    { type: "run_ended", run: 1, state: "over_budget", error },
    "(run 1 ended: over budget: No such item)",
  ],
  [
    {
      type: "provider_usage",
      usage: {
        input_tokens: 5,
        cache_read_input_tokens: 7,
        cache_creation_input_tokens: 2,
        output_tokens: 3,
      },
    },
    "(14 tokens in, 7 of them cached, 3 out)",
  ],
  [{ type: "provider_usage", usage: {} }, "(no token counts)"],
  [
    { type: "reasoning", item: { type: "thinking", thinking: "Hm.", signature: "c2ln" } },
    "(reasoning, 4 bytes encrypted) Hm.",
  ],
  [
    {
      type: "tool_call",
      item: { type: "tool_use", id: "t", name: "shell", input: { argv: ["ls", "-l"], command: null } },
    },
    "→ shell ls -l",
  ],
  [
    {
      type: "tool_call",
      item: { type: "custom_tool_call", call_id: "c", name: "apply", input: "*** Begin\nend" },
    },
    "→ apply *** Begin end",
  ],
  [{ type: "assistant_message", item: { type: "text", text: "Hello" } }, "Hello"],
  [
    { type: "later_kind", secret: { a: 1 } },
    "(event of the kind later_kind, which this version does not know)",
  ],
];

for (const [event, words, turn] of WORDS) {
  Deno.test(`the event ${JSON.stringify(event)} reads ${words}`, () => {
    assert.equal(lineOf(event, turn), words);
  });
}

Deno.test("no event makes show fail, whatever its members are", () => {
  const values = [undefined, null, 1, "text", [], {}, [{}], { seq: {} }];
  const members = [
    "item",
    "items",
    "usage",
    "content",
    "blob",
    "error",
    "member",
    "summary",
    "reason",
    "status",
    "output",
  ];
  for (const [{ type }] of WORDS) {
    for (const name of members) {
      for (const value of values) {
        const line = lineOf({ type, ...(value === undefined ? {} : { [name]: value }) } as JsonObject);
        assert.doesNotMatch(line, /undefined|\[object/);
      }
    }
  }
});

Deno.test("a text is folded when it has many lines or characters, and not for two lines more", () => {
  const lines = (count: number) => Array.from({ length: count }, (_, line) => `${line}`).join("\n");
  const limits = { lines: 10, characters: 100 };
  assert.deepEqual(folded(lines(12), limits), { text: lines(12), lines: 0, characters: 0 });
  assert.deepEqual(folded(lines(13), limits), { text: lines(10), lines: 3, characters: 9 });
  assert.deepEqual(folded("x".repeat(150), limits), { text: "x".repeat(100), lines: 0, characters: 50 });
  assert.deepEqual(folded(`${"x".repeat(99)}😀`, limits), { text: "x".repeat(99), lines: 0, characters: 2 });
});
