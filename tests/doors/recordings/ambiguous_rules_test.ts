/** Match rules that would give a request the answer of another. */
import type { Json } from "../../support/files.ts";
import { type Row, rows, sent } from "./served.ts";
import { ask, call, output, responseStream, talk, user } from "./shapes.ts";

const answers = (first: Json, second: Json) => [
  sent(ask("Add 1 and 1"), first),
  sent(ask("Add 2 and 2"), second),
];
const text = (text: string, id = "msg_1") => ({
  answer: responseStream({
    id,
    type: "message",
    role: "assistant",
    content: [{ type: "output_text", text }],
  }),
});
const calling = (name: string, call_id = "call_1") => ({
  answer: responseStream({ id: "fc_1", type: "function_call", call_id, name, arguments: "{}" }),
});
const failing = (message: string) => ({ answer: `data: ${JSON.stringify({ type: "error", message })}\n\n` });
const PLAYED = "1 exact";
const BAD = "turned_away bad_fixture";
const ambiguous = (recorded: readonly Json[], outcome: string): Row => ({
  ...{
    header: { match: { replace: [{ pattern: "\\d+", with: "N" }] } },
    recorded,
    asked: [[recorded[0].body, outcome]],
  },
});
rows("rules that hide a difference between answers are refused; ids, times and retried failures are none", {
  "other texts": ambiguous(answers(text("2"), text("4")), BAD),
  "other ids of messages": ambiguous(answers(text("Yes", "msg_1"), text("Yes", "msg_2")), PLAYED),
  "other times": ambiguous(
    answers({ answer: { id: "a", created_at: 1, n: 1 } }, { answer: { id: "b", created_at: 2, n: 1 } }),
    PLAYED,
  ),
  "other calls": ambiguous(answers(calling("add"), calling("drop")), BAD),
  "other errors": ambiguous(answers(failing("one"), failing("two")), BAD),
  "a failure that clients retry": ambiguous(
    answers({ answer: { error: {} }, response: { status: 429 } }, text("Yes")),
    PLAYED,
  ),
  "requests that are equal without rules": ambiguous([
    sent(ask("Add 1"), text("Yes")),
    sent(ask("Add 1"), text("No")),
  ], PLAYED),
  "conversations with other call ids": ambiguous(
    ["1", "2"].map((n) => sent(talk(user("Add"), call(`call_${n}`), output(`call_${n}`, n)), text(n))),
    PLAYED,
  ),
}, { flags: ["--rules", "none"] });
