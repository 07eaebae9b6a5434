/** Rollouts of Codex CLI become sessions: what is kept, what is lost, and damaged sources. */
import assert from "node:assert/strict";
import { readCodex } from "../../../src/agents/codex/read.ts";
import { splitLines } from "../../../src/agents/lines.ts";
import { buildTurns } from "../../../src/agents/turns.ts";
import { encodeUtf8 } from "../../../src/domain/bytes.ts";
import { RepriseError } from "../../../src/domain/errors.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { parseTurn } from "../../../src/store/read/turn.ts";
import { HistoryValidator } from "../../../src/store/read/validate.ts";
import { bytesOf, sessionOf, summaryOf } from "./support.ts";
import { test } from "../../support/test.ts";

const ID = parseSessionId("imported");
const PINS = { instructions: "a".repeat(64), tools: "b".repeat(64), permissions: [], workspace: "/srv/code" };

const item = (payload: unknown) => ({ type: "response_item", payload });
const user = (text: string) =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const reasoning = (id: string) =>
  item({ type: "reasoning", id, summary: [], content: null, encrypted_content: "gAAAA" });
const call = (id: string) =>
  item({ type: "function_call", id: `fc_${id}`, call_id: id, name: "exec_command", arguments: "{}" });
const result = (id: string, output = "hi") => item({ type: "function_call_output", call_id: id, output });
const answer = (text: string) =>
  item({ type: "message", role: "assistant", id: `msg_${text}`, content: [{ type: "output_text", text }] });
const end = (response_id: string) => ({
  type: "token_usage_record",
  payload: { response_id, usage: { input_tokens: 7, cached_input_tokens: 2, output_tokens: 3 } },
});

const ROLLOUT = [
  { type: "session_meta", payload: { id: "one", cli_version: "0.169.0", model_provider: "openai" } },
  { type: "turn_context", payload: { model: "gpt-5.2" } },
  item({ type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] }),
  user("<environment_context>\n</environment_context>"),
  user("Fix the tést"),
  reasoning("rs_1"),
  call("c1"),
  call("c2"),
  end("resp_1"),
  result("c1"),
  result("c2"),
  reasoning("rs_2"),
  answer("Done"),
  end("resp_2"),
  { type: "later_kind", payload: {} },
  { type: "compacted", payload: { message: "The test is fixed." } },
  user("And now?"),
  call("c3"),
];

function imported(bytes: Uint8Array, trusted: string | null = null) {
  const { lines, lost, torn, times } = splitLines(bytes, { name: "x.jsonl", isRecord: () => false });
  const session = readCodex(lines);
  const built = buildTurns({ ...session, entries: session.main }, {
    id: ID,
    at: "2026-11-24T12:00:00.000Z",
    times,
    pins: PINS,
    trusted: trusted === null ? null : { endpoint: trusted },
  });
  return { session, lost: [...lost, ...session.lost], torn, built, turns: built.map(({ turn }) => turn) };
}

Deno.test("a rollout is kept: one answer over several lines is one turn, and calls have their results", () => {
  const { turns, session, lost } = imported(bytesOf(ROLLOUT));
  assert.deepEqual(
    turns.map(({ kind, events }) => `${kind}: ${events.map(({ type }) => type).join(" ")}`),
    [
      "user: user_message",
      "model: reasoning tool_call tool_call provider_usage",
      "tools: tool_result",
      "tools: tool_result",
      "model: reasoning assistant_message provider_usage",
      "compaction: history_compaction",
      "harness: run_ended",
      "user: user_message",
      "model: tool_call",
      "harness: tool_result",
      "harness: run_ended",
    ],
  );
  assert.equal(session.version, "0.169.0");
  assert.deepEqual(lost.map(({ line, what }) => [line, what]), [
    [3, 'message of "developer"'],
    [4, 'message of "user"'],
    [15, 'type "later_kind"'],
  ]);
  const [first] = turns.filter(({ kind }) => kind === "model");
  assert.ok(first?.kind === "model");
  assert.equal(first.response.id, "resp_1");
  assert.deepEqual(first.request.imported, { agent: "codex", version: "0.169.0", line: 6 });
  assert.equal(
    JSON.stringify(first.events[0]).includes("null"),
    false,
    "members without a value are left out",
  );
});

Deno.test("of a message of the user, only what the user wrote is kept: neither AGENTS.md nor the environment", () => {
  const instructions = "# AGENTS.md instructions for /srv/code\n\n<INSTRUCTIONS>\nRhyme\n</INSTRUCTIONS>";
  const messageOf = (parts: readonly (readonly [text: string, kind?: string])[]) =>
    item({
      ...{ type: "message", role: "user" },
      content: parts.map(([text]) => ({ type: "input_text", text })),
      ...(parts.some(([, kind]) => kind !== undefined) && {
        internal_chat_message_metadata_passthrough: { content_item_kinds: parts.map(([, kind]) => kind) },
      }),
    });
  const environment = "<environment_context>\n</environment_context>";
  const { session, lost } = imported(bytesOf([
    messageOf([[instructions, "agents_md.instructions"], [environment, "environments.environment_context"]]),
    messageOf([[instructions], [environment]]),
    messageOf([["<user_instructions>\nRhyme\n</user_instructions>"]]),
    messageOf([["<turn_aborted>\nThe user interrupted this turn\n</turn_aborted>"]]),
    messageOf([["Fix it", "user.text"], ["A later kind", "plugins.list"]]),
    messageOf([[environment], ["And now?"]]),
    messageOf([["<environment_context> as text", "user.text"]]),
    answer("Done"),
  ]));
  const texts = session.main.flatMap((entry) =>
    entry.kind === "user" ? entry.content.map(({ text }) => text) : []
  );
  assert.deepEqual(texts, ["Fix it", "And now?", "<environment_context> as text"]);
  assert.deepEqual(lost.map(({ line, what }) => [line, what]), [
    ...[1, 2, 3, 4].map((line) => [line, 'message of "user"']),
    ...[5, 6].map((line) => [line, 'part of a message of "user"']),
  ]);
});

Deno.test("reasoning has the trusted endpoint only if it is named and the file proves provider and model", () => {
  const endpoints = (lines: readonly unknown[], trusted: string | null) =>
    imported(bytesOf(lines), trusted).turns.flatMap((turn) =>
      turn.kind === "model" ? [turn.fingerprint.endpoint] : []
    );
  assert.deepEqual(new Set(endpoints(ROLLOUT, null)), new Set(["imported"]));
  assert.deepEqual(new Set(endpoints(ROLLOUT, "1f3a9c02")), new Set(["1f3a9c02"]));
  assert.deepEqual(new Set(endpoints(ROLLOUT.toSpliced(1, 1), "1f3a9c02")), new Set(["imported"]));
  assert.deepEqual(new Set(endpoints(ROLLOUT.toSpliced(0, 1), "1f3a9c02")), new Set(["imported"]));
});

Deno.test("each run has the model of its own answers, and the last one that is known without an answer", () => {
  const model = (name: string) => ({ type: "turn_context", payload: { model: name } });
  const { turns } = imported(bytesOf([
    ...[
      ROLLOUT[0],
      model("a"),
      user("One"),
      answer("1"),
      model("b"),
      user("Two"),
      answer("2"),
      user("Three"),
    ],
  ]));
  assert.deepEqual(turns.flatMap((turn) => turn.kind === "user" ? [turn.pins.model] : []), ["a", "b", "b"]);
});

test.long("every prefix of a rollout imports as a valid session or is refused, also inside a character", () => {
  const whole = bytesOf(ROLLOUT);
  let refused = 0;
  for (let length = 0; length <= whole.length; length++) {
    const prefix = whole.subarray(0, length);
    let found: ReturnType<typeof imported>;
    try {
      found = imported(prefix);
    } catch (error) {
      assert.ok(error instanceof RepriseError && error.code === "bad_import", String(error));
      refused++;
      continue;
    }
    const validator = new HistoryValidator("imported");
    for (const { bytes } of found.built) {
      const parsed = parseTurn(bytes);
      assert.ok(parsed.status === "ok");
      assert.deepEqual(validator.check(parsed.turn), [], `prefix of ${length} bytes`);
      validator.advance(parsed.turn);
    }
    assert.deepEqual(validator.openCalls(), [], `prefix of ${length} bytes`);
    assert.equal(validator.end.runEnded, true);
    // A last line is whole or torn; it never disappears.
    const lastLine = prefix.subarray(prefix.lastIndexOf(0x0a) + 1);
    const isWhole = lastLine.length === 0 || whole[length] === 0x0a;
    assert.equal(found.torn?.bytes.length ?? 0, isWhole ? 0 : lastLine.length);
  }
  const before = bytesOf(ROLLOUT.slice(0, 5)).length - 1;
  assert.equal(refused, before, "prefixes without the first prompt, and only they");
});

Deno.test("lines that are damaged in the middle are named as lost, and so are results without a call", () => {
  const text = new TextDecoder().decode(bytesOf([...ROLLOUT.slice(0, 5), result("none")]));
  const deep = `{"type":"response_item","payload":${"[".repeat(600)}${"]".repeat(600)}}`;
  const { lost, turns } = imported(new TextEncoder().encode(`${text}{"half\n[1]\n${deep}\n`));
  assert.deepEqual(lost.map(({ line }) => line), [7, 8, 9, 3, 4, 6]);
  assert.deepEqual(turns.map(({ kind }) => kind), ["user", "harness"]);
});

test.long("a line over the cap and too many lines are refused; blank lines do not count", () => {
  const split = (text: string, count: number) =>
    splitLines(encodeUtf8(text.repeat(count)), { name: "x.jsonl", isRecord: () => false });
  assert.throws(() => split(" ", 33 * 1024 * 1024), /line 1 has more than 33554432 bytes/);
  assert.throws(() => split("x\n", 1_000_001), /it has more than 1000000 lines/);
  assert.deepEqual(split(" \r\n", 1_000_001), { lines: [], lost: [], times: new Map(), torn: null });
});

Deno.test("runs that a rollback removed are a branch, also if a later rollback removes more", () => {
  const back = (num_turns: unknown) => ({
    type: "event_msg",
    payload: { type: "thread_rolled_back", num_turns },
  });
  const run = (prompt: string, text: string) => [user(prompt), answer(text), end(`resp_${text}`)];
  const session = sessionOf(readCodex, [
    ...run("One", "1"),
    ...run("Two", "2"),
    ...run("Three", "3"),
    back(1),
    ...run("Four", "4"),
    back(2),
    ...run("Five", "5"),
    back(0),
  ]);
  assert.deepEqual(summaryOf(session.main), [
    ...["user One", "response resp_1 message"],
    ...["user Five", "response resp_5 message"],
  ]);
  const two = ["user Two", "response resp_2 message"];
  assert.deepEqual(session.others.map(({ name, shared, entries }) => [name, shared, summaryOf(entries)]), [
    ["branch at line 7", 2, [...two, "user Three", "response resp_3 message"]],
    ["branch at line 4", 2, [...two, "user Four", "response resp_4 message"]],
  ]);
  assert.deepEqual(session.lost.map(({ line, what }) => [line, what]), [[18, "rollback"]]);
});

Deno.test("a beginning in another file, items of unknown types and encrypted compactions are named as lost", () => {
  const session = sessionOf(readCodex, [
    { type: "session_meta", payload: { id: "one", history_base: { thread_id: "zero" } } },
    user("One"),
    item({ type: "ghost_snapshot" }),
    answer("1"),
    {
      type: "compacted",
      payload: { message: "", replacement_history: [user("One").payload, { type: "compaction" }] },
    },
  ]);
  assert.deepEqual(summaryOf(session.main), ["user One", "response null message", "compaction One"]);
  assert.deepEqual(session.lost.map(({ line, what }) => [line, what]), [
    [1, "beginning"],
    [3, 'item "ghost_snapshot"'],
    [5, 'part "compaction" of a compaction'],
  ]);
});
