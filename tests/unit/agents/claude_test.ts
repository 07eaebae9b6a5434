/** Transcripts of Claude Code become sessions: the tree, joined answers, results at once, compactions, damaged lines. */
import assert from "node:assert/strict";
import { readClaude } from "../../../src/agents/claude/read.ts";
import { sessionOf, summaryOf } from "./support.ts";
import { test } from "../../support/test.ts";

let last: string | null = null;
let count = 0;

/** A line after the one before; `parent` for another place in the tree. */
function line(type: string, message: unknown, more: Record<string, unknown> = {}) {
  const parentUuid = "parentUuid" in more ? more.parentUuid : last;
  const uuid = String(more.uuid ?? `u${++count}`);
  last = uuid;
  return {
    ...{
      parentUuid,
      isSidechain: false,
      type,
      message,
      uuid,
      sessionId: "one",
      version: "2.1.197",
      cwd: "/srv/code",
    },
    ...more,
  };
}
const user = (text: string, more = {}) => line("user", { role: "user", content: text }, more);
const answer = (id: string, block: unknown, more: Record<string, unknown> = {}) =>
  line("assistant", {
    ...{ id, role: "assistant", model: "claude-opus-4-8", content: [block], stop_reason: "end_turn" },
    usage: { input_tokens: 5, output_tokens: 3 },
    ...(more.message as object ?? {}),
  }, Object.fromEntries(Object.entries(more).filter(([name]) => name !== "message")));
const thinking = (signature: string) => ({ type: "thinking", thinking: "Hm", signature });
const text = (body: string) => ({ type: "text", text: body });
const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } });
const result = (id: string, output: unknown, more = {}) =>
  line("user", {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: id, content: output, is_error: true }],
  }, more);

function begin<T>(lines: () => T): T {
  [last, count] = [null, 0];
  return lines();
}

Deno.test("an answer over several lines is one response, and results of calls at once are all kept", () => {
  const lines = begin(() => [
    { type: "queue-operation", sessionId: "one" },
    user("Look"),
    answer("msg_1", thinking("s1")),
    answer("msg_1", call("t1"), { uuid: "call-1" }),
    answer("msg_1", call("t2"), { uuid: "call-2" }),
    // The results follow their own calls, in the order in which they end.
    result("t2", [{ type: "text", text: "two" }], { parentUuid: "call-2" }),
    result("t1", "one", { parentUuid: "call-1", uuid: "result-1" }),
    answer("msg_2", text("Done"), { parentUuid: "result-1" }),
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    "user Look",
    "response msg_1 thinking tool_use tool_use",
    "result t2 two",
    "result t1 one",
    "response msg_2 text",
  ]);
  assert.deepEqual([session.others, session.lost], [[], []]);
  assert.deepEqual([session.id, session.version], ["one", "2.1.197"]);
  const [first] = session.main.filter((entry) => entry.kind === "response");
  assert.deepEqual(first?.usage, { input_tokens: 5, output_tokens: 3 });
  assert.ok(session.main.every((entry) => entry.kind !== "result" || entry.isError));
});

Deno.test("the path to the last message is the main one; other branches and sidechains are kept beside it", () => {
  const lines = begin(() => [
    user("One", { uuid: "a" }),
    answer("msg_1", text("1"), { uuid: "b" }),
    user("Abandoned", { uuid: "c" }),
    answer("msg_2", text("2"), { uuid: "d" }),
    user("Aside", { uuid: "s", parentUuid: null, isSidechain: true }),
    answer("msg_3", text("3"), { uuid: "s2", isSidechain: true }),
    user("Two", { uuid: "e", parentUuid: "b" }),
    answer("msg_4", text("4")),
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    "user One",
    "response msg_1 text",
    "user Two",
    "response msg_4 text",
  ]);
  assert.deepEqual(session.others.map(({ name, shared, entries }) => [name, shared, summaryOf(entries)]), [
    ["branch at line 3", 2, ["user Abandoned", "response msg_2 text"]],
    ["sidechain at line 5", 0, ["user Aside", "response msg_3 text"]],
  ]);
});

Deno.test("a compaction becomes its summary, and the lines before it stay on the path", () => {
  const lines = begin(() => [
    user("One"),
    answer("msg_1", text("1"), { uuid: "b" }),
    line("system", null, { subtype: "compact_boundary", parentUuid: null, logicalParentUuid: "b" }),
    user("The summary", { isCompactSummary: true }),
    user("<command-name>/compact</command-name>"),
    user("Caveat", { isMeta: true }),
    answer("made-up", text("No response"), { message: { model: "<synthetic>" } }),
    user("Two"),
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    "user One",
    "response msg_1 text",
    "compaction The summary",
    "user Two",
  ]);
  assert.deepEqual(session.lost.map(({ line }) => line), [5, 6, 7]);
});

Deno.test("messages that a compaction preserves stay, from the first line of their answer on", () => {
  const compacted = (compactMetadata: unknown) =>
    begin(() => [
      user("One", { uuid: "a" }),
      answer("msg_1", thinking("s"), { uuid: "b" }),
      answer("msg_1", text("1"), { uuid: "c" }),
      line("system", null, {
        subtype: "compact_boundary",
        parentUuid: null,
        logicalParentUuid: "c",
        compactMetadata,
      }),
      user("The summary", { isCompactSummary: true }),
      user("Two"),
    ]);
  const compactionOf = (metadata: unknown) => summaryOf(sessionOf(readClaude, compacted(metadata)).main)[2];
  assert.equal(
    compactionOf({ preservedMessages: { uuids: ["c"] } }),
    "compaction The summary from line 2",
  );
  assert.equal(compactionOf({ preservedSegment: { headUuid: "b" } }), "compaction The summary from line 2");
  for (
    const odd of [undefined, 5, { preservedMessages: { uuids: [] } }, { preservedSegment: { headUuid: "z" } }]
  ) {
    assert.equal(compactionOf(odd), "compaction The summary");
  }
});

Deno.test("an answer without its end is cut only if nothing follows it", () => {
  const unended = { message: { stop_reason: null } };
  const cut = begin(() => [user("One"), answer("msg_1", text("1"), unended)]);
  const old = begin(() => [user("One"), answer("msg_1", text("1"), unended), user("Two")]);
  const statusOf = (lines: readonly unknown[]) =>
    sessionOf(readClaude, lines).main.flatMap((entry) => entry.kind === "response" ? [entry.status] : []);
  assert.deepEqual([statusOf(cut), statusOf(old)], [["interrupted"], ["completed"]]);
});

Deno.test("an answer without the id of its message is joined by the id of its request, or is a line", () => {
  const plain = { message: { id: undefined, model: undefined, stop_reason: undefined } };
  const lines = begin(() => [
    user("One"),
    answer("", thinking("s"), { ...plain, requestId: "req_1" }),
    answer("", text("1"), { ...plain, requestId: "req_1" }),
    user("Two"),
    answer("", text("2"), plain),
    answer("", text("3"), plain),
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    ...["user One", "response null thinking text", "user Two", "response null text", "response null text"],
  ]);
  const states = session.main.flatMap((entry) => entry.kind === "response" ? [entry.status] : []);
  assert.deepEqual([new Set(states), session.lost], [new Set(["completed"]), []]);
});

Deno.test("images are kept in messages and named where they are lost; no line is fatal", () => {
  const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
  const lines = begin(() => [
    line("user", { role: "user", content: [text("See"), image, { type: "document" }] }),
    answer("msg_1", call("t1")),
    result("t1", [image, { type: "text", text: "seen" }]),
    result("t9", "?"),
    line("user", null),
    line("assistant", 5),
    line("odd", {}),
    { type: "assistant", sessionId: "one", message: {} },
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    "user See input_image",
    "response msg_1 tool_use",
    "result t1 seen",
  ]);
  const lost = session.lost.toSorted((a, b) => a.line - b.line);
  assert.deepEqual(lost.map(({ what }) => what), [
    'part "document"',
    "image",
    'result of "t9"',
    'message of "user"',
    "answer",
    'type "odd"',
    'type "assistant"',
  ]);
});

test.long("circles and long chains of lines end", () => {
  const circle = begin(
    () => [user("One", { uuid: "a", parentUuid: "b" }), user("Two", { uuid: "b", parentUuid: "a" })],
  );
  assert.deepEqual(summaryOf(sessionOf(readClaude, circle).main), ["user One", "user Two"]);
  const long = begin(() => Array.from({ length: 50_000 }, (_, index) => user(`${index}`)));
  assert.equal(sessionOf(readClaude, long).main.length, 50_000);
  const wide = begin(
    () => [
      user("Root", { uuid: "r" }),
      ...Array.from({ length: 300 }, (_, index) => user(`${index}`, { parentUuid: "r" })),
    ],
  );
  const { others, lost } = sessionOf(readClaude, wide);
  assert.deepEqual([others.length, lost.length], [100, 199], "the main branch is the 300th");
});

Deno.test("the lines before a damaged one stay on the path, and a repeated line is lost", () => {
  const lines = begin(() => [
    user("One", { uuid: "a" }),
    answer("msg_1", text("1"), { uuid: "b" }),
    // The line between was damaged.
    user("Two", { uuid: "d", parentUuid: "c" }),
    answer("msg_1", text("1"), { uuid: "b", parentUuid: "a" }),
    user("Aside", { uuid: "s", parentUuid: "x", isSidechain: true }),
    answer("msg_2", text("2"), { parentUuid: "d" }),
  ]);
  const session = sessionOf(readClaude, lines);
  assert.deepEqual(summaryOf(session.main), [
    "user One",
    "response msg_1 text",
    "user Two",
    "response msg_2 text",
  ]);
  assert.deepEqual(session.others.map(({ name, shared }) => [name, shared]), [["sidechain at line 5", 0]]);
  assert.deepEqual(session.lost, [{ line: 4, what: "line", why: "a line before it has the same id" }]);
});

Deno.test("a transcript of a subagent has nothing but a sidechain, which is its main branch", () => {
  const aside = { isSidechain: true, agentId: "a1" };
  const lines = begin(() => [user("Look", aside), answer("msg_1", text("Seen"), aside)]);
  const { main, others } = sessionOf(readClaude, lines);
  assert.deepEqual([summaryOf(main), others], [["user Look", "response msg_1 text"], []]);
});
