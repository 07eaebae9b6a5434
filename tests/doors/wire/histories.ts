/** Histories of sessions with the Responses API. */
import { type Json, sha256 } from "../../support/files.ts";
import { call, type GivenTurn, message, reasoning } from "../sessions/session_files.ts";
import { asks, type Beat, endpointOf, ends, type Facts, gets, neverRan, notes, says, tell } from "./story.ts";

/** The target of a request. */
export interface Target {
  readonly provider?: string;
  readonly model?: string;
  readonly flags?: readonly string[];
  readonly isPaused?: true;
}

/** Turns, and the request that they give. */
export interface History {
  readonly turns: readonly GivenTurn[];
  readonly to?: Target;
  /** The next prompt; `null` continues an unfinished run. @default {"Go on"} */
  readonly prompt?: string | null;
  /** The history as `historyOf` writes it, without the prompt. */
  readonly sent: string;
  /** Why items stay out, and how calls are repaired, in order. */
  readonly left?: string;
}

export const item = (type: string, id: string, members: Json = {}): Json => ({ type, id, ...members });
export const SEARCH = item("web_search_call", "ws_1", {
  status: "completed",
  action: { type: "search", query: "q" },
});
const shell = (type: string, call_id = "call_s") =>
  item(type, type === "shell_call" ? "sh_1" : "sho_1", { call_id });
export const SHELL = shell("shell_call");
export const SHELL_OUTPUT = { ...shell("shell_call_output"), output: [] };
const OWN_KEY = sha256("fix-ci-7k2m\nsk-1").slice(0, 16);
export const [A, B] = ["a".repeat(16), "b".repeat(16)] as const;
const NO_RESULT =
  "No result was recorded: the process ended while this call was open. The call may or may not have run.";

/** A prompt and an answer with reasoning. */
export const one = (facts: Facts = {}): Beat[] => [asks("x"), says(["rs_1", "msg_1: a"], facts)];
export const WHOLE = "user: x | rs_1 | says msg_1: a";
export const BARE = "user: x | says: a";
/** A run with a call, and a run with an answer. */
export const TWO: readonly Beat[] = [
  asks("first"),
  says(["rs_1", "call_1"]),
  gets("call_1"),
  says(["rs_2", "msg_1: one"]),
  asks("second"),
  says(["rs_3", "msg_2: two"]),
];
export const [FIRST_RUN, SECOND_RUN] = [
  "user: first | rs_1 | call call_1 | output call_1: got call_1 | rs_2 | says msg_1: one",
  "user: second | rs_3 | says msg_2: two",
];
export const CALLS = "call call_1 | output call_1: got call_1";

/** Mode, model now, and whether it gets reasoning of `latest` that answered as gpt-5.6-2026-08-01. */
const MODELS: readonly (readonly [string, string, boolean])[] = [
  ["exact", "gpt-5.6-2026-08-01", true],
  ["exact", "gpt-5.6", false],
  ["family", "gpt-5.6", true],
];

const OF_MODELS = Object.fromEntries(
  MODELS.map(([mode, model, isSent]): [string, History] => [
    `--replay ${mode}: ${model} ${isSent ? "gets" : "does not get"} reasoning of the model that answered`,
    {
      turns: tell(...one({ asked: "latest", answered: "gpt-5.6-2026-08-01" })),
      to: { model, flags: ["--replay", mode] },
      ...(isSent ? { sent: WHOLE } : { sent: BARE, left: "other_model" }),
    },
  ]),
);

export const known = (account: string): Facts => ({ at: { account, key: OWN_KEY } });
const HERE = "http://127.0.0.1:4000/v1";
export const PORTLESS = endpointOf("http://127.0.0.1/v1");
export const LOOPBACK: Target = { flags: ["--base-url", HERE] };

/** By what decides whether an item fits its target. */
const ORIGINS: Readonly<Record<string, History>> = {
  ...OF_MODELS,
  "reasoning of another endpoint stays out, whatever the model": {
    turns: tell(...one({ at: { endpoint: "ffffffff" }, asked: "gpt-5.5" })),
    to: { flags: ["--replay", "family"] },
    sent: BARE,
    left: "other_endpoint",
  },
  "reasoning of another provider is named so before any other difference": {
    turns: tell(...one({ at: { provider: "azure", endpoint: "ffffffff" }, asked: "m" })),
    sent: BARE,
    left: "other_provider",
  },
  "reasoning of another account stays out once the account of the key is known": {
    turns: tell(...one({ at: { account: A } }), asks("y"), says(["msg_2: b"], known(B))),
    sent: `${BARE} | user: y | says: b`,
    left: "other_account",
  },
  "the newest response decides which account a key has": {
    turns: tell(
      ...one(known(A)),
      asks("y"),
      says(["msg_2: b"], known(B)),
      ...[asks("z")],
      says(["msg_3: c"], known(A)),
    ),
    sent: `${WHOLE} | user: y | says: b | user: z | says: c`,
  },
  "an account that is not known, then or now, is no difference": {
    turns: tell(
      ...one({ at: { account: A } }),
      asks("y"),
      says(["rs_2", "msg_2: b"], { at: { account: null } }),
    ),
    sent: `${WHOLE} | user: y | rs_2 | says msg_2: b`,
  },
  "a hosted item of another endpoint stays out": {
    turns: tell(asks("x"), says([SEARCH, "msg_1: a"], { at: { endpoint: "ffffffff" } })),
    sent: BARE,
    left: "other_endpoint",
  },
  "a hosted item of another model goes": {
    turns: tell(asks("x"), says([SEARCH, "msg_1: a"], { asked: "gpt-5.5" })),
    sent: "user: x | web_search_call ws_1 | says: a",
  },
  "the text of reasoning goes to the endpoint that showed it": {
    turns: tell(
      asks("x"),
      says([{ ...reasoning("rs_1"), content: [{ type: "reasoning_text", text: "Hm." }] }, "msg_1: a"]),
    ),
    sent: "user: x | rs_1 shown | says msg_1: a",
  },
  "a compatible server gets shown reasoning back without a blob": {
    turns: tell(
      asks("x"),
      says([
        item("reasoning", "r1", { summary: [], content: [{ type: "reasoning_text", text: "Hm." }] }),
        "m: a",
      ], { at: { provider: "compatible", endpoint: endpointOf(HERE) }, asked: "m" }),
    ),
    to: { provider: "compatible", model: "m", flags: ["--base-url", HERE] },
    sent: "user: x | r1 shown | says m: a",
  },
};

const LONG = [`${"c".repeat(70)}1`, `${"c".repeat(70)}2`] as const;
/** The beginning of both that is sent: no id is longer than 64. */
const CUT = "c".repeat(56);
const repeated = (blob: string) => reasoning("rs_1", blob);

/** By what one response holds. */
const RESPONSES: Readonly<Record<string, History>> = {
  "a message has its id directly after reasoning only, and keeps its phase": {
    turns: tell(
      asks("x"),
      says(["rs_1", { ...message("msg_1", "a"), phase: "commentary", status: "completed" }, "msg_2: b"]),
    ),
    sent: "user: x | rs_1 | says msg_1 (commentary): a | says: b",
  },
  "reasoning that nothing follows stays out": {
    turns: tell(asks("x"), says(["rs_1", "msg_1: a", "rs_2"])),
    sent: WHOLE,
    left: "no_following_item",
  },
  "what follows in another response follows nothing": {
    turns: tell(asks("x"), says(["rs_1"], { status: "interrupted" }), says(["msg_1: a"])),
    sent: BARE,
    left: "no_following_item",
  },
  "reasoning without a blob stays out": {
    turns: tell(asks("x"), says([item("reasoning", "rs_1", { summary: [] }), "msg_1: a"])),
    sent: BARE,
    left: "no_encrypted_content",
  },
  "a hosted item stays out without its reasoning": {
    turns: tell(asks("x"), says(["rs_1", SEARCH, "msg_1: a"])),
    to: { model: "gpt-6" },
    sent: BARE,
    left: "other_model, reasoning_dropped",
  },
  "--replay none leaves reasoning out, and the hosted item that it led to": {
    turns: tell(asks("x"), says(["rs_1", SEARCH, "msg_1: a"])),
    to: { flags: ["--replay", "none"] },
    sent: BARE,
    left: "replay_off, reasoning_dropped",
  },
  "a client-side call that nothing answers stays out, with its reasoning": {
    turns: tell(asks("x"), says(["rs_1", SHELL])),
    sent: "user: x",
    left: "no_following_item, unanswered_call",
  },
  "a client-side call that its response answers goes": {
    turns: tell(asks("x"), says(["rs_1", SHELL, SHELL_OUTPUT])),
    sent: "user: x | rs_1 | shell_call sh_1 | shell_call_output sho_1",
  },
  "the output of a hosted call is nothing that reasoning can go with": {
    turns: tell(asks("x"), says([SHELL, "rs_1", SHELL_OUTPUT, "msg_1: a"])),
    sent: BARE,
    left: "reasoning_dropped, no_following_item, reasoning_dropped",
  },
  "if a server uses an id again, the newest item keeps it": {
    turns: tell(
      asks("x"),
      says([repeated("gAAA-1"), "call_1"]),
      gets("call_1"),
      says(["rs_2", "msg_1: a", repeated("gAAA-2"), "msg_2: b"]),
    ),
    sent: `user: x | ${CALLS} | rs_2 | says msg_1: a | rs_1 | says msg_2: b`,
    left: "duplicate_id",
  },
  "an older item keeps a repeated id if the newer one is not sent": {
    turns: tell(...one(), says([repeated("gAAA-2")], { status: "interrupted" })),
    sent: WHOLE,
    left: "no_following_item",
  },
  "an older item does not replace a newer one that the API refused": {
    turns: tell(...one(), says([repeated("gAAA-2"), "msg_2: b"]), notes({ rs_1: "quarantined" })),
    sent: `${BARE} | says: b`,
    left: "duplicate_id, quarantined",
  },
  "an unanswered call gets an answer after the results of its batch": {
    turns: tell(asks("x"), says(["a", "b", "c"]), gets("b"), says(["msg_1: done"])),
    sent: "user: x | call a | call b | call c | output b: got b | " +
      `output a: ${NO_RESULT} | output c: ${NO_RESULT} | says: done`,
    left: "orphan_answered, orphan_answered",
  },
  "a repeated call id gets a suffix, and its result with it": {
    turns: tell(asks("x"), says(["a"]), gets("a"), says(["a", "a-2"]), gets("a", "a-2")),
    sent:
      "user: x | call a | output a: got a | call a-2 | call a-2-2 | output a-2: got a | output a-2-2: got a-2",
    left: "call_id_renamed, call_id_renamed",
  },
  "of call ids that are too long two alike stay two": {
    turns: tell(asks("x"), says([call(LONG[0]), call(LONG[1])]), gets(...LONG)),
    sent: `user: x | call ${CUT}-1 | call ${CUT}-2 | output ${CUT}-1: got ${LONG[0]} | output ${CUT}-2: got ${
      LONG[1]
    }`,
    left: "call_id_renamed, call_id_renamed",
  },
};

/** A response that ended like this, with calls that never ran. */
const UNFINISHED = Object.fromEntries(
  ["failed", "incomplete", "interrupted", "cut"].map((status): [string, History] => [
    `a call of a response that ended as ${status} goes nowhere, nor does what only it follows`,
    {
      turns: tell(
        asks("x"),
        says(["rs_1", "msg_1: Let me see.", "rs_2", "a"], { status }),
        neverRan("a"),
        ends("failed", 10),
      ),
      sent: "user: x | rs_1 | says msg_1: Let me see.",
      left: "no_following_item, call_not_run, call_not_run",
    },
  ]),
);

const CUT_SHORT = says(["rs_1", "call_1"], { status: "cut" });
const CALLED: Readonly<Record<string, History>> = {
  ...UNFINISHED,
  "a call of a cut response without any record goes nowhere": {
    turns: tell(asks("x"), CUT_SHORT),
    sent: "user: x",
    left: "no_following_item, call_not_run",
  },
  "a call that ran goes, however its response ended": {
    turns: tell(asks("x"), says(["rs_1", "call_1"], { status: "incomplete" }), gets("call_1")),
    sent: `user: x | rs_1 | ${CALLS}`,
  },
  "a call of a completed response that did not run is answered": {
    turns: tell(asks("x"), says(["rs_1", "call_1"]), neverRan("call_1"), ends()),
    sent: `user: x | rs_1 | ${CALLS}`,
  },
};

/** By a sentence that a request must fit. */
export const HISTORIES: Readonly<Record<string, History>> = { ...ORIGINS, ...RESPONSES, ...CALLED };
