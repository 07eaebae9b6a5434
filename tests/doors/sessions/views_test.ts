/** Views of sessions on disk: words for each event, whatever its members are, and pages that texts do not change. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { spoilt } from "../../support/hostile_json.ts";
import { test } from "../../support/test.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import { checkpoint, ended, type GivenTurn, model, reasoning, user, withdrawal } from "./session_files.ts";
import { EVENTS, TURNS, variantsOf } from "./shapes.ts";

const error = { code: "request_refused", message: "No such item" };
const usage = {
  input_tokens: 5,
  cache_read_input_tokens: 7,
  cache_creation_input_tokens: 2,
  output_tokens: 3,
};
const harness = (event: Json, members: Json = {}): GivenTurn => ({
  kind: "harness",
  events: [event],
  ...members,
});

/** Events, each with its line in `show --events`; the first one has the number 2, in turn 2. */
const WORDS: readonly (readonly [event: Json, words: string, turn?: Json])[] = [
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
    "(turn 8 is lost, with events 5 to 7: its file was missing. Repair put this turn in its place)",
    { replaces: { sum: null, seq: [5, 7], reason: "missing_turn" } },
  ],
  [
    { type: "run_continued", run: 2 },
    "(run 2 continues without a prompt; turn 9 is lost, with event 5: its file was not JSON. Repair put this turn in its place)",
    { replaces: { sum: null, seq: [5, 5], reason: "bad_json" } },
  ],
  [
    { type: "permission_decision", tool: "shell", decision: "denied", reason: "asked_no" },
    "(shell denied: answered no)",
  ],
  [
    { type: "tool_result", tool: "shell", status: "orphaned", output: "" },
    "← shell: no result was recorded, it may or may not have run",
  ],
  [{ type: "run_ended", run: 1, state: "over_budget", error }, "(run 1 ended: over budget: No such item)"],
  [{ type: "provider_usage", usage }, "(14 tokens in, 7 of them cached, 3 out)"],
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
    { type: "later_kind", secret: { a: 1 } },
    "(event of the kind later_kind, which this version does not know)",
  ],
];

/** Writes a session whose manifest, which a cache is, holds the first turn only. */
function begin(home: SessionHome, turns: readonly GivenTurn[]): void {
  const session = home.session([user("Hi")]);
  for (const turn of turns) session.add(turn);
}

withHome("each event has words", async (home) => {
  begin(home, WORDS.map(([event, _, turn]) => harness(event, turn)));
  const { code, stdout } = await home.call(["show", ID, "--events"]);
  assert.equal(code, 0);
  const lines = stdout.trimEnd().split("\n").slice(1).map((line) => line.replace(/^ +\d+ +\w+ +/, ""));
  assert.deepEqual(lines, WORDS.map(([, words]) => words));
});

/** All that a shape may turn into: members that are absent or of another type, or that `String` cannot show. */
function* spoiltShapes(shape: Json): Generator<Json> {
  const [whole, ...others] = variantsOf(shape).map(({ value }) => value);
  yield* others;
  for (const hostile of [{ toString: 0, valueOf: 0 }, "constructor"]) {
    for (const value of spoilt(whole, hostile)) if (value !== hostile) yield value;
  }
}

withHome("each view shows turns of later versions, with any value at any place or none", async (home) => {
  const events = Object.entries(EVENTS).flatMap(([type, shape]) =>
    [...spoiltShapes(shape)].map((event) => ({ type, ...event }))
  );
  const turns = Object.entries(TURNS).flatMap((
    [kind, { session: _, run: _run, seq: _seq, "prev~": _prev, at: _at, ...shape }],
  ) =>
    [...spoiltShapes(shape)].map((turn): GivenTurn => ({
      ...turn,
      kind,
      events: [{ type: "blob_lost" }, { type: "reasoning", item: { type: "reasoning" } }],
    }))
  );
  assert.ok(events.length > 400 && turns.length > 300, `${events.length} events, ${turns.length} turns`);
  begin(home, [{ kind: "harness", events }, ...turns]);
  for (const view of [["--no-pager"], ["--full"], ["--events"], ["--turns"], ["--markdown"], ["--html=-"]]) {
    const { code, stdout, stderr } = await home.call(["show", ID, ...view]);
    assert.equal(code, 0, `${view}: ${stderr}`);
    assert.doesNotMatch(stdout.replaceAll(/<(style|script)>[^]*?<\/\1>/g, ""), /undefined|\[object/);
  }
}, test.long);

/** A response whose request left items out. */
const left = (dropped: Readonly<Record<number, string>>, ...items: readonly Json[]) => {
  const turn = model(items);
  const listed = Object.entries(dropped).map(([seq, reason]) => ({ seq: Number(seq), reason }));
  return { ...turn, request: { ...turn.request, guard: { sent: 0, dropped: listed } } };
};

withHome(
  "a page says for each reasoning item which requests held it, and why others did not",
  async (home) => {
    home.session([
      user("Go"),
      left({}, reasoning("rs_2")),
      left({}, reasoning("rs_4")),
      left({ 2: "other_model" }),
      left({ 2: "other_model", 4: "quarantined" }),
      checkpoint({ turn: 2, seq: 3 }, null, { run: 1 }),
      left({ 4: "quarantined" }, reasoning("rs_9")),
      withdrawal(8, null, 1),
      left({ 4: "quarantined" }),
    ]);
    const { stdout } = await home.call(["show", ID, "--html=-"]);
    const fates = [...stdout.matchAll(/\b(?:not )?sent in turns? \d[^<]*/g)].map(([fate]) => fate);
    assert.deepEqual(fates.map((fate) => fate.replaceAll(/: [^·]*[^· ]| · seq \d+$/g, "")), [
      "sent in turn 3 · not sent in turns 4 to 5 · not sent in turn 7 · sent in turn 9",
      "sent in turn 4 · not sent in turns 5 to 9",
      "sent in turn 9",
    ]);
  },
);

withHome("a page shows an image that is data, and loads none from elsewhere", async (home) => {
  const png = "data:image/png;base64,AAAA";
  const others = [
    "https://a.example/x.png",
    "data:image/svg+xml;base64,AAAA",
    "data:text/html,x",
    "javascript:x",
  ];
  const content = [png, ...others, `${png}" onload="x`].map((image_url) => ({
    type: "input_image",
    image_url,
  }));
  home.session([{ ...user(""), events: [{ type: "user_message", content }] }, ended()]);
  const { stdout } = await home.call(["show", ID, "--html=-"]);
  assert.deepEqual(stdout.match(/<img [^>]*>/g), [`<img src="${png}" alt="">`]);
});

withHome(
  "an edit of thousands of different lines is shown in a moment, and one of the last line's end",
  async (home) => {
    const lines = (letter: string) =>
      Array.from({ length: 5000 }, (_, line) => `${letter}${line}\n`).join("");
    const edits = [[lines("a"), lines("b")], ["a", "a\n"]].map(([old_text, new_text], at): Json => ({
      ...{ id: `fc_${at}`, type: "function_call", call_id: `c${at}`, name: "edit_file" },
      arguments: JSON.stringify({ path: "a.txt", old_text, new_text }),
    }));
    home.session([user("Edit"), model(edits)]);
    const { stdout } = await home.call(["show", ID, "--full"]);
    const changed = stdout.match(/^ +[-+] .*$/gm)?.map((line) => line.trim()) ?? [];
    assert.deepEqual([changed.length, changed[0], changed[5000]], [10_002, "- a0", "+ b0"]);
    assert.deepEqual(changed.slice(-2), ["- a", "+ a"]);
  },
  test.long,
);
