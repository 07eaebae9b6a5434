/** Rollouts of Codex CLI: answers over several lines, texts that the user did not write, rollbacks, compactions. */
import type { Json } from "../../support/files.ts";
import type { Rows } from "./transcripts.ts";

const item = (payload: Json) => ({ type: "response_item", payload });
const said = (text: string) => ({ type: "message", role: "user", content: [{ type: "input_text", text }] });
const user = (text: string) => item(said(text));
const reasoning = (id: string) =>
  item({ type: "reasoning", id, summary: [], content: null, encrypted_content: "gAAAA" });
const call = (id: string) =>
  item({ type: "function_call", id: `fc_${id}`, call_id: id, name: "exec_command", arguments: "{}" });
const result = (id: string, output: Json = "hi") =>
  item({ type: "function_call_output", call_id: id, output });
const answer = (text: string) =>
  item({ type: "message", role: "assistant", id: `msg_${text}`, content: [{ type: "output_text", text }] });
const end = (response_id: string) => ({
  type: "token_usage_record",
  payload: { response_id, usage: { input_tokens: 7, cached_input_tokens: 2, output_tokens: 3 } },
});
const event = (message: string, more: Json = {}) => ({
  type: "event_msg",
  payload: { type: "user_message", message, ...more },
});
const back = (num_turns: Json) => ({ type: "event_msg", payload: { type: "thread_rolled_back", num_turns } });
const compacted = (message: string, replacement_history?: Json) => ({
  type: "compacted",
  payload: { message, ...replacement_history === undefined ? {} : { replacement_history } },
});
const run = (prompt: string, text: string) => [user(prompt), answer(text), end(`resp_${text}`)];
const context = "# AGENTS.md instructions for /srv/code\n\n<INSTRUCTIONS>\nRhyme\n</INSTRUCTIONS>";
const environment = "<environment_context>\n</environment_context>";
/** A message with parts; each has a text and perhaps a kind. */
const parts = (...given: readonly (readonly [text: string, kind?: string])[]) =>
  item({
    ...{ type: "message", role: "user", content: given.map(([text]) => ({ type: "input_text", text })) },
    ...given.some(([, kind]) => kind !== undefined) && {
      internal_chat_message_metadata_passthrough: { content_item_kinds: given.map(([, kind]) => kind) },
    },
  });
const nested = (levels: number): Json => levels === 0 ? 1 : [nested(levels - 1)];

/** A rollout with most kinds of lines. */
export const ROLLOUT: readonly Json[] = [
  { type: "session_meta", payload: { id: "one", cli_version: "0.169.0", model_provider: "openai" } },
  { type: "turn_context", payload: { model: "gpt-5.2" } },
  item({ type: "message", role: "developer", content: [{ type: "input_text", text: "rules" }] }),
  user(environment),
  user("Fix the tést"),
  ...[reasoning("rs_1"), call("c1"), call("c2"), end("resp_1"), result("c1"), result("c2")],
  ...[reasoning("rs_2"), answer("Done"), end("resp_2")],
  { type: "later_kind", payload: {} },
  compacted("The test is fixed."),
  user("And now?"),
  call("c3"),
];

/** See the module. */
export const CODEX: Rows = {
  "one answer over several lines is one turn, and every call has a result": {
    lines: ROLLOUT,
    turns: [
      ...["user Fix the tést", "response resp_1 reasoning function_call function_call", "result c1 hi"],
      ...["result c2 hi", "response resp_2 reasoning message"],
      "compaction of turns 1 to 5: The test is fixed.",
      ...["user And now?", "response  function_call interrupted", "no result c3"],
    ],
    lost: ['3 message of "developer"', '4 message of "user"', '15 type "later_kind"'],
  },
  "of a message of the user, only what the user wrote is kept": {
    lines: [
      parts([context, "agents_md.instructions"], [environment, "environments.environment_context"]),
      parts([context], [environment]),
      parts(["<user_instructions>\nRhyme\n</user_instructions>"]),
      parts(["<turn_aborted>\nThe user interrupted this turn\n</turn_aborted>"]),
      parts(["Fix it", "user.text"], ["A later kind", "plugins.list"]),
      parts([environment], ["And now?"]),
      parts(["<environment_context> as text", "user.text"]),
      answer("Done"),
    ],
    turns: ["user Fix it", "user And now?", "user <environment_context> as text", "response  message"],
    lost: [
      ...[1, 2, 3, 4].map((line) => `${line} message of "user"`),
      ...[5, 6].map((line) => `${line} part of a message of "user"`),
    ],
  },
  "prompts that are only in events are read, if no message of the user is kept": {
    lines: [
      user(environment),
      event("<environment_context>", { kind: "environment_context" }),
      event("One"),
      answer("1"),
      event("", { images: ["data:image/png;base64,AAAA"] }),
      event(environment),
      answer("2"),
    ],
    turns: ["user One", "response  message", "user input_image", "response  message"],
    lost: ['1 message of "user"', '6 message of "user"'],
  },
  "an event repeats a message of the user": {
    lines: [user("One"), event("One"), answer("1"), event("Two"), answer("2")],
    turns: ["user One", "response  message message"],
    lost: ['4 message of "user"'],
  },
  "texts for the parts of messages and outputs are read": {
    lines: [
      ...[item({ ...said(""), content: "One" }), item({ type: "message", role: "assistant", content: "1" })],
      ...[call("c1"), call("c2"), call("c3"), call("c4")],
      result("c1", [{ type: "input_text", text: "a" }, "b", { type: "input_image" }, { type: "odd" }, 5]),
      result("c2", { content: "a" }),
      item({ type: "function_call_output", call_id: "c3" }),
      result("c4", null),
    ],
    turns: [
      ...["user One", "response  message function_call function_call function_call function_call"],
      ...["result c1 ab", 'result c2 {"content":"a"}', "result c3 ", "result c4 "],
    ],
    lost: ["7 image", '7 part "odd"', "7 part null", "9 output"],
  },
  "runs that a rollback removed are a branch, also if a later rollback removes more": {
    lines: [
      ...[
        ...run("One", "1"),
        ...run("Two", "2"),
        ...run("Three", "3"),
        back(1),
        ...run("Four", "4"),
        back(2),
      ],
      ...[...run("Five", "5"), back(0)],
    ],
    turns: ["user One", "response resp_1 message", "user Five", "response resp_5 message"],
    lost: ["18 rollback"],
    forks: {
      "branch at line 4": [
        ...["user One", "response resp_1 message", "user Two", "response resp_2 message"],
        ...["user Four", "response resp_4 message"],
      ],
      "branch at line 7": [
        ...["user One", "response resp_1 message", "user Two", "response resp_2 message"],
        ...["user Three", "response resp_3 message"],
      ],
    },
  },
  "a beginning in another file, unknown items and encrypted compactions are named as lost": {
    lines: [
      { type: "session_meta", payload: { id: "one", history_base: { thread_id: "zero" } } },
      ...[user("One"), item({ type: "ghost_snapshot" }), answer("1")],
      compacted("", [said("One"), { type: "compaction" }]),
    ],
    turns: ["user One", "response  message", "compaction of turns 1 to 2: One"],
    lost: ["1 beginning", '3 item "ghost_snapshot"', '5 part "compaction" of a compaction'],
  },
  "a summary before the first message becomes a message, and answers before it are lost": {
    lines: [answer("0"), compacted("So far"), answer("1"), compacted("Later")],
    turns: [
      "user This is a summary of the conversation so far:\n\nSo far",
      ...["response  message", "compaction of turns 1 to 2: Later"],
    ],
    lost: ["1 answer"],
  },
  "the prompt stays if its run continues after the checkpoint": {
    lines: [user("One"), answer("1"), compacted("So far"), answer("2")],
    turns: [
      ...["user One", "response  message", "compaction of turns 1 to 2, keeps the prompt of turn 1: So far"],
      "response  message",
    ],
  },
  "a rollout of September 2025, whose items have no envelope, is read as a later one": {
    lines: [
      { id: "one", timestamp: "2025-09-10T18:58:38.331Z", instructions: null, git: {} },
      { record_type: "state" },
      { ...said("List them"), id: null },
      ...[
        reasoning("rs_1").payload,
        call("c1").payload,
        { record_type: "state" },
        result("c1", "a.txt").payload,
      ],
      { ...answer("One").payload, id: null },
    ],
    turns: ["user List them", "response  reasoning function_call", "result c1 a.txt", "response  message"],
  },
  "a result without a call, an empty type, a line that nests too deep and odd roles are lost": {
    lines: [
      user("One"),
      result("none"),
      item({ type: "", role: "assistant" }),
      item({ type: "web_search_call", id: "ws_1", action: nested(600) }),
      item({ type: "message", role: "\u001b[31m\n", content: [{ type: "input_text", text: "rules" }] }),
    ],
    turns: ["user One"],
    lost: ['2 result of "none"', '3 item ""', "4 line", '5 message of "\\u001b[31m\\n"'],
  },
};
