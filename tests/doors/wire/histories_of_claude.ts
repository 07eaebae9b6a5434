/** Histories of sessions with the Messages API, and of sessions that change providers. */
import type { Json } from "../../support/files.ts";
import { call, message, reasoning } from "../sessions/session_files.ts";
import type { History } from "./histories.ts";
import {
  asks,
  type Beat,
  claude,
  compacts,
  ends,
  type Facts,
  found,
  gets,
  omits,
  says,
  search,
  shortens,
  tell,
  text,
  thinking,
  undoes,
  use,
} from "./story.ts";

const TO = { provider: "anthropic" };
/** A model whose thinking is bound to what precedes it. */
const BOUND = { provider: "anthropic", model: "claude-fable-5-1" };
const of = (model: string): Facts => ({ asked: model });
const one = (
  facts: Facts = {},
  block: Json = thinking("t1"),
): Beat[] => [asks("x"), claude([block, text("a")], facts)];
const [WHOLE, BARE] = ["user: x | thinks t1 | says: a", "user: x | says: a"];
const SO_FAR = "user: <session_checkpoint>\nSo far\n</session_checkpoint>";
const GO_ON = "Continue from where you stopped.";

const ANY_MODEL = Object.fromEntries(
  ["claude-opus-5", "claude-sonnet-4-5", "claude-fable-5-1", "some-other"].map((model): [string, History] => [
    `${model} gets the thinking of any Claude: the server drops what it cannot read`,
    { turns: tell(...one(of("claude-haiku-4-5"))), to: { ...TO, model }, sent: WHOLE },
  ]),
);

/** Two runs of a bound model; `between` comes before the second one. */
const bound = (...between: readonly Beat[]): Beat[] => [
  ...one(of(BOUND.model)),
  ...between,
  asks("y"),
  claude([thinking("t2"), text("b")], of(BOUND.model)),
  ends(),
];
const called = (...after: readonly Beat[]): Beat[] => [
  asks("x"),
  claude([thinking("t1"), use("u1")], of(BOUND.model)),
  gets("u1"),
  claude([thinking("t2"), use("u2")], of(BOUND.model)),
  gets("u2"),
  ends(),
  ...after,
];
const LATER: readonly Beat[] = [asks("z"), claude([thinking("t3"), text("c")], of(BOUND.model)), ends()];

/** By a sentence that a request must fit. */
export const CLAUDE_HISTORIES: Readonly<Record<string, History>> = {
  ...ANY_MODEL,
  "thinking without a signature, and redacted thinking without data, stay out": {
    turns: tell(
      ...one({}, thinking("")),
      asks("y"),
      claude([{ type: "redacted_thinking", data: "" }, text("b")]),
    ),
    to: TO,
    sent: `${BARE} | user: y | says: b`,
    left: "unsigned, unsigned",
  },
  "reasoning of OpenAI that looks like thinking stays out, whatever its turn says": {
    turns: tell(...one({}, { ...reasoning("rs_1"), signature: "s", thinking: "t1" })),
    to: TO,
    sent: BARE,
    left: "other_provider",
  },
  "thinking that looks like reasoning of OpenAI stays out, whatever its turn says": {
    turns: tell(
      asks("x"),
      says([{ ...thinking("t1"), encrypted_content: "gAAA", summary: [] }, message("msg_1", "a")]),
    ),
    sent: "user: x | says: a",
    left: "other_provider",
  },
  "bound thinking from before a checkpoint was added stays out; later thinking goes": {
    turns: tell(...bound(), compacts("t1"), ...LATER),
    to: BOUND,
    sent: `${SO_FAR} | user: y | says: b | user: z | thinks t3 | says: c`,
    left: "before_checkpoint, prefix_changed",
  },
  "bound thinking from after a withdrawn checkpoint stays out; earlier thinking goes": {
    turns: tell(...bound(), compacts("t1"), ...LATER, undoes(4)),
    to: BOUND,
    sent: `${WHOLE} | user: y | thinks t2 | says: b | user: z | says: c`,
    left: "prefix_changed",
  },
  "thinking of a model that binds nothing survives a checkpoint": {
    turns: tell(...one(), asks("y"), claude([thinking("t2"), text("b")]), ends(), compacts("t1")),
    to: BOUND,
    sent: `${SO_FAR} | user: y | thinks t2 | says: b`,
    left: "before_checkpoint",
  },
  "bound thinking after a result that was shortened since stays out": {
    turns: tell(...called(shortens("u1", "kept"))),
    to: BOUND,
    sent: "user: x | thinks t1 | call u1 | output u1: kept | call u2 | output u2: got u2",
    left: "prefix_changed, result_elided",
  },
  "bound thinking after an omitted item stays out": {
    turns: tell(...bound(), omits("t1")),
    to: BOUND,
    sent: "user: x | user: y | says: b",
    left: "omitted, omitted, prefix_changed",
  },
  "a server's call and its result are omitted together": {
    turns: tell(
      asks("x"),
      claude([search("srvtoolu_1"), found("srvtoolu_1"), text("a")]),
      ends(),
      omits("srvtoolu_1"),
    ),
    to: TO,
    sent: BARE,
    left: "omitted, omitted",
  },
  "a history that ends with the assistant asks it to continue": {
    turns: tell(asks("x"), claude([text("half an ans")], { status: "incomplete" })),
    to: TO,
    prompt: null,
    sent: `user: x | says: half an ans | user: ${GO_ON}`,
  },
  "that request to continue stays where it was": {
    turns: tell(asks("x"), claude([text("half an ans")], { status: "incomplete" }), claude([text("wer.")])),
    to: TO,
    sent: `user: x | says: half an ans | user: ${GO_ON} | says: wer.`,
  },
  "a response that its server paused goes back unchanged, with nothing after it": {
    turns: tell(asks("x"), claude([text("looking"), search("srvtoolu_1")], { paused: true })),
    to: { ...TO, isPaused: true },
    prompt: null,
    sent: "user: x | says: looking | server_tool_use",
  },
  "a server's call that nothing answers stays out": {
    turns: tell(asks("x"), claude([text("looking"), search("srvtoolu_1")], { status: "cut" })),
    to: TO,
    sent: "user: x | says: looking",
    left: "unanswered_call",
  },
  "calls and results of every provider go to Claude, and an unanswered one says so": {
    turns: tell(
      asks("x"),
      claude([thinking("t1"), use("u1")]),
      gets("u1"),
      says([call("c2")]),
      says([message("m", "a")]),
    ),
    to: TO,
    sent: "user: x | thinks t1 | call u1 | output u1: got u1 | call c2 | error c2: No result was recorded: " +
      "the process ended while this call was open. The call may or may not have run. | says: a",
    left: "orphan_answered",
  },
  "calls and results of every provider go to OpenAI": {
    turns: tell(asks("x"), claude([thinking("t1"), use("u1")]), gets("u1"), claude([text("a")])),
    sent: "user: x | call u1 | output u1: got u1 | says: a",
    left: "other_provider",
  },
};
