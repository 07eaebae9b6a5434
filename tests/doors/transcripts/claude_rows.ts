/** Transcripts of Claude Code: the tree, joined answers, results at once, compactions, damaged lines. */
import type { Json } from "../../support/files.ts";
import type { Rows } from "./transcripts.ts";

/** Lines that follow one another, but for those that name another parent. */
function chain(...lines: readonly Json[]): Json[] {
  let last: string | null = null;
  return lines.map((line, index) => {
    if (line.role === undefined && line.subtype === undefined) return line;
    const { role, more = {}, ...message } = line;
    const uuid: string = more.uuid ?? `u${index}`;
    const whole = {
      ...{ parentUuid: last, isSidechain: false, type: role ?? "system", uuid, sessionId: "one" },
      ...{ version: "2.1.197", cwd: "/srv/code", ...more },
      ...(role === undefined ? line : { message: { role, ...message } }),
    };
    last = uuid;
    return whole;
  });
}
const user = (content: Json, more = {}) => ({ role: "user", content, more });
const answer = (id: string | undefined, block: Json, more: Json = {}, message = {}) => ({
  ...{ role: "assistant", id, model: "claude-opus-4-8", content: [block], stop_reason: "end_turn" },
  ...{ usage: { input_tokens: 5, output_tokens: 3 }, more, ...message },
});
const thinking = (signature: string) => ({ type: "thinking", thinking: "Hm", signature });
const text = (body: string) => ({ type: "text", text: body });
const call = (id: string) => ({ type: "tool_use", id, name: "Bash", input: { command: "ls" } });
const result = (id: string, content: Json, more = {}) =>
  user([{ type: "tool_result", tool_use_id: id, content, is_error: true }], more);
const image = { type: "image", source: { type: "base64", media_type: "image/png", data: "AAAA" } };
const boundary = (members: Json) => ({ subtype: "compact_boundary", parentUuid: null, ...members });
const preserving = (compactMetadata: Json) =>
  chain(
    user("One", { uuid: "a" }),
    answer("msg_1", thinking("s"), { uuid: "b" }),
    answer("msg_1", text("1"), { uuid: "c" }),
    boundary({ logicalParentUuid: "c", compactMetadata }),
    user("The summary", { isCompactSummary: true }),
    user("Two"),
  );
const PRESERVED = ["user One", "response msg_1 thinking text"];
const aside = { isSidechain: true, agentId: "a1" };

/** See the module. */
export const CLAUDE: Rows = {
  "an answer over several lines is one response, and results of calls at once are all kept": {
    lines: chain(
      { type: "queue-operation", sessionId: "one" },
      user("Look"),
      answer("msg_1", thinking("s1")),
      answer("msg_1", call("t1"), { uuid: "call-1" }),
      answer("msg_1", call("t2"), { uuid: "call-2" }),
      // The results follow their own calls, in the order in which they end.
      result("t2", [text("two")], { parentUuid: "call-2" }),
      result("t1", "one", { parentUuid: "call-1", uuid: "result-1" }),
      answer("msg_2", text("Done"), { parentUuid: "result-1" }),
    ),
    turns: [
      ...["user Look", "response msg_1 thinking tool_use tool_use", "result t2 two", "result t1 one"],
      "response msg_2 text",
    ],
  },
  "the path to the last message is the main one; other branches and sidechains are beside it": {
    lines: chain(
      user("One", { uuid: "a" }),
      answer("msg_1", text("1"), { uuid: "b" }),
      user("Abandoned", { uuid: "c" }),
      answer("msg_2", text("2"), { uuid: "d" }),
      user("Aside", { uuid: "s", parentUuid: null, isSidechain: true }),
      answer("msg_3", text("3"), { uuid: "s2", isSidechain: true }),
      user("Two", { uuid: "e", parentUuid: "b" }),
      answer("msg_4", text("4")),
    ),
    turns: ["user One", "response msg_1 text", "user Two", "response msg_4 text"],
    forks: {
      "branch at line 3": ["user One", "response msg_1 text", "user Abandoned", "response msg_2 text"],
      "sidechain at line 5": ["user Aside", "response msg_3 text"],
    },
  },
  "a compaction becomes its summary, and the lines before it stay on the path": {
    lines: chain(
      user("One"),
      answer("msg_1", text("1"), { uuid: "b" }),
      boundary({ logicalParentUuid: "b" }),
      user("The summary", { isCompactSummary: true }),
      user("<command-name>/compact</command-name>"),
      user("Caveat", { isMeta: true }),
      answer("made-up", text("No response"), {}, { model: "<synthetic>" }),
      user("Two"),
    ),
    turns: ["user One", "response msg_1 text", "compaction of turns 1 to 2: The summary", "user Two"],
    lost: ['5 message of "user"', '6 message of "user"', "7 answer"],
  },
  "messages that a compaction preserves stay, from the first line of their answer on": {
    lines: preserving({ preservedMessages: { uuids: ["c"] } }),
    turns: [...PRESERVED, "compaction of turns 1 to 1, keeps the prompt of turn 1: The summary", "user Two"],
  },
  "a segment that a compaction preserves stays": {
    lines: preserving({ preservedSegment: { headUuid: "b" } }),
    turns: [...PRESERVED, "compaction of turns 1 to 1, keeps the prompt of turn 1: The summary", "user Two"],
  },
  "a compaction that preserves the first line replaces nothing": {
    lines: preserving({ preservedSegment: { headUuid: "a" } }),
    turns: [...PRESERVED, "user Two"],
    lost: ["5 compaction"],
  },
  "a compaction that preserves the line after the first replaces that one alone": {
    lines: preserving({ preservedMessages: { uuids: ["b", "c"] } }),
    turns: [...PRESERVED, "compaction of turns 1 to 1, keeps the prompt of turn 1: The summary", "user Two"],
  },
  "a compaction that preserves an unknown line preserves nothing": {
    lines: preserving({ preservedSegment: { headUuid: "z" } }),
    turns: [...PRESERVED, "compaction of turns 1 to 2: The summary", "user Two"],
  },
  "an answer without its end is cut if nothing follows it": {
    lines: chain(user("One"), answer("msg_1", text("1"), {}, { stop_reason: null })),
    turns: ["user One", "response msg_1 text interrupted"],
  },
  "an answer without its end is whole if something follows it": {
    lines: chain(user("One"), answer("msg_1", text("1"), {}, { stop_reason: null }), user("Two")),
    turns: ["user One", "response msg_1 text", "user Two"],
  },
  "an answer without the id of its message is joined by the id of its request, or is a line": {
    lines: chain(
      user("One"),
      answer(undefined, thinking("s"), { requestId: "req_1" }),
      answer(undefined, text("1"), { requestId: "req_1" }),
      user("Two"),
      answer(undefined, text("2")),
      answer(undefined, text("3")),
    ),
    turns: ["user One", "response  thinking text", "user Two", "response  text", "response  text"],
  },
  "images are kept in messages and named where they are lost; no line is fatal": {
    lines: [
      ...chain(
        user([text("See"), image, { type: "document" }]),
        answer("msg_1", call("t1")),
        result("t1", [image, text("seen")]),
        result("t9", "?"),
      ),
      ...["user", "assistant", "odd"].map((type) => ({
        ...{ type, uuid: type, parentUuid: "u3", sessionId: "one" },
        message: type === "user" ? null : type === "odd" ? {} : 5,
      })),
      { type: "assistant", sessionId: "one", message: {} },
    ],
    turns: ["user See input_image", "response msg_1 tool_use", "result t1 seen"],
    lost: [
      ...[
        '1 part "document"',
        "3 image",
        '4 result of "t9"',
        '5 message of "user"',
        "6 answer",
        '7 type "odd"',
      ],
      '8 type "assistant"',
    ],
  },
  "a line that is its own parent begins the path": {
    lines: chain(
      user("One"),
      user("Two", { uuid: "b", parentUuid: "b" }),
      answer("msg_1", text("2"), { uuid: "c" }),
      user("Three", { uuid: "d", parentUuid: "c" }),
    ),
    turns: ["user Two", "response msg_1 text", "user Three"],
    forks: { "branch at line 1": ["user One"] },
  },
  "a circle of lines ends": {
    lines: chain(user("One", { uuid: "a", parentUuid: "b" }), user("Two", { uuid: "b", parentUuid: "a" })),
    turns: ["user One", "user Two"],
  },
  "the lines before a damaged one stay on the path, and a repeated line is lost": {
    lines: chain(
      user("One", { uuid: "a" }),
      answer("msg_1", text("1"), { uuid: "b" }),
      // The line between was damaged.
      user("Two", { uuid: "d", parentUuid: "c" }),
      answer("msg_1", text("1"), { uuid: "b", parentUuid: "a" }),
      user("Aside", { uuid: "s", parentUuid: "x", isSidechain: true }),
      answer("msg_2", text("2"), { parentUuid: "d" }),
    ),
    turns: ["user One", "response msg_1 text", "user Two", "response msg_2 text"],
    lost: ["3 link", "4 line"],
    forks: { "sidechain at line 5": ["user Aside"] },
  },
  "a transcript of a subagent has nothing but a sidechain, which is its main branch": {
    lines: chain(user("Look", aside), answer("msg_1", text("Seen"), aside)),
    turns: ["user Look", "response msg_1 text"],
  },
  "the prompt of a slash command is the message that the program writes after it": {
    lines: chain(
      user("<command-message>init</command-message>\n<command-name>/init</command-name>"),
      user([text("Look at the files.")], { isMeta: true }),
      user([image], { isMeta: true }),
      answer("msg_1", text("1")),
      user("Two"),
      answer("msg_2", text("2")),
    ),
    turns: ["user Look at the files. input_image", "response msg_1 text", "user Two", "response msg_2 text"],
    lost: ['1 message of "user"'],
  },
  "a slash command that the model answers is the message": {
    lines: chain(
      user("<command-name>/review</command-name>\n<command-args>12 now</command-args>"),
      answer("msg_1", text("1")),
      user("<command-message>plan</command-message>"),
      answer("msg_2", text("2")),
    ),
    turns: ["user /review 12 now", "response msg_1 text", "user /plan", "response msg_2 text"],
  },
  "commands of the program itself are lost": {
    lines: chain(
      user("One"),
      answer("msg_1", text("1")),
      user("Caveat: The messages below were generated by the user while running local commands.", {
        isMeta: true,
      }),
      user("<command-name>/model</command-name>"),
      user("<local-command-stdout>Set</local-command-stdout>"),
      user("<command-name>/clear</command-name>"),
      user("<local-command-caveat>Caveat</local-command-caveat>", { isMeta: true }),
      user("Two"),
      user("<command-name>/exit</command-name>"),
    ),
    turns: ["user One", "response msg_1 text", "user Two"],
    lost: [3, 4, 5, 6, 7, 9].map((line) => `${line} message of "user"`),
  },
  "lines without the id of the session are read": {
    lines: chain(user("One", { sessionId: undefined }), answer("msg_1", text("1"), { sessionId: undefined })),
    turns: ["user One", "response msg_1 text"],
  },
  "texts for the parts of messages and results are read": {
    lines: chain(
      user("One"),
      answer("msg_1", call("t1"), {}, { content: [call("t1"), call("t2"), call("t3")] }),
      result("t1", ["a", { type: "text", text: "b" }, { type: "odd" }, image]),
      result("t2", { a: 1 }),
      result("t3", undefined),
      answer("msg_2", text(""), {}, { content: "Done" }),
    ),
    turns: [
      ...["user One", "response msg_1 tool_use tool_use tool_use"],
      ...["result t1 ab", 'result t2 {"a":1}', "result t3 ", "response msg_2 text"],
    ],
    lost: ['3 part "odd"', "3 image"],
  },
  "an answer before the first message of the user is lost": {
    lines: chain(answer("m", text("1")), user("Two")),
    turns: ["user Two"],
    lost: ["1 answer"],
  },
};
