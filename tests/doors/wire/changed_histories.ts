/** Histories that checkpoints, windows, shortened results, omitted items and refusals change. */
import {
  A,
  B,
  BARE,
  CALLS,
  FIRST_RUN,
  type History,
  item,
  known,
  LOOPBACK,
  one,
  PORTLESS,
  SEARCH,
  SECOND_RUN,
  SHELL,
  SHELL_OUTPUT,
  TWO,
  WHOLE,
} from "./histories.ts";
import { asks, compacts, ends, gets, notes, omits, says, shortens, tell, tells, undoes } from "./story.ts";

const SO_FAR = "user: <session_checkpoint>\nSo far\n</session_checkpoint>";

/** By checkpoints, windows, shortened results and omitted items. */
export const SHORTER: Readonly<Record<string, History>> = {
  "a checkpoint replaces everything up to it, and later items keep their ids": {
    turns: tell(...TWO, compacts("msg_1")),
    sent: `${SO_FAR} | ${SECOND_RUN}`,
    left: "before_checkpoint, before_checkpoint",
  },
  "a checkpoint may keep nothing, and what comes next stays whole": {
    turns: tell(...TWO, ends(), compacts(), asks("third"), says(["rs_4", "call_1"]), gets("call_1")),
    sent: `${SO_FAR} | user: third | rs_4 | ${CALLS}`,
    left: "before_checkpoint, before_checkpoint, before_checkpoint",
  },
  "an unfinished run keeps its prompt after a checkpoint": {
    turns: tell(asks("the task"), says(["rs_1", "call_1"]), gets("call_1"), compacts(undefined, "the task")),
    prompt: null,
    sent: `${SO_FAR} | user: the task`,
    left: "before_checkpoint",
  },
  "a result before a checkpoint answers no call after it": {
    turns: tell(
      asks("first"),
      says([SHELL, SHELL_OUTPUT]),
      ends(),
      compacts(),
      asks("second"),
      says([SHELL, "msg_1: none"]),
    ),
    sent: `${SO_FAR} | user: second | says: none`,
    left: "unanswered_call",
  },
  "--replay last:1 counts back from the prompt, and what came since goes": {
    turns: tell(...TWO, asks("third"), says(["rs_4", "call_2"]), gets("call_2")),
    to: { flags: ["--replay", "last:1"] },
    prompt: null,
    sent:
      `user: first | ${CALLS} | says: one | ${SECOND_RUN} | user: third | rs_4 | call call_2 | output call_2: got call_2`,
    left: "outside_window, outside_window",
  },
  "an item that stays out anyway takes no place in the window": {
    turns: tell(...one(), says(["rs_2", "msg_2: b"], { asked: "gpt-5.5" })),
    to: { flags: ["--replay", "last:1"] },
    sent: `${WHOLE} | says: b`,
    left: "other_model",
  },
  "the newest shortening counts, unless it was withdrawn": {
    turns: tell(...TWO, ends(), shortens("call_1", "first"), shortens("call_1", "second"), undoes()),
    sent: `${FIRST_RUN.replace("got call_1", "first")} | ${SECOND_RUN}`,
    left: "result_elided",
  },
  "an omitted call takes its result and its reasoning along": {
    turns: tell(...TWO, ends(), omits("call_1")),
    sent: `user: first | rs_2 | says msg_1: one | ${SECOND_RUN}`,
    left: "omitted, omitted, omitted",
  },
  "an omitted result leaves a note, and its call and reasoning stay": {
    turns: tell(
      asks("x"),
      says(["rs_1", "call_1", "call_2"]),
      gets("call_1", "call_2"),
      ends(),
      omits("out call_1"),
    ),
    sent: "user: x | rs_1 | call call_1 | call call_2 | output call_1: [omitted result, 10 bytes] | " +
      "output call_2: got call_2",
    left: "content_omitted",
  },
  "an omitted result leaves the note also if it was shortened": {
    turns: tell(...TWO, ends(), shortens("call_1", "first"), omits("out call_1")),
    sent: `${FIRST_RUN.replace("got call_1", "[omitted result, 10 bytes]")} | ${SECOND_RUN}`,
    left: "content_omitted",
  },
  "an omitted result whose call is omitted too leaves nothing": {
    turns: tell(...TWO, ends(), omits("out call_1"), omits("call_1")),
    sent: `user: first | rs_2 | says msg_1: one | ${SECOND_RUN}`,
    left: "omitted, omitted, omitted",
  },
  "omitted reasoning takes the item after it along": {
    turns: tell(...TWO, ends(), omits("rs_2")),
    sent: `user: first | rs_1 | ${CALLS} | ${SECOND_RUN}`,
    left: "omitted, omitted",
  },
  "an omitted prompt leaves a note": {
    turns: tell(...TWO, ends(), omits("second")),
    sent: `${FIRST_RUN} | ${SECOND_RUN.replace("second", "[omitted message]")}`,
    left: "content_omitted",
  },
};

const TOLD = "user: You called read_file with {}; it returned:\n<tool_result>\ngot call_1\n</tool_result>";

/** By notices of refusals. */
export const REFUSED: Readonly<Record<string, History>> = {
  "a call that is sent as text goes after the results of its batch, without the reasoning before it": {
    turns: tell(
      asks("x"),
      says(["rs_1", "call_1", "call_2"]),
      gets("call_1", "call_2"),
      tells("call_1"),
      says(["msg_1: one"]),
    ),
    sent: `user: x | call call_2 | output call_2: got call_2 | ${TOLD} | says: one`,
    left: "no_following_item, call_as_text",
  },
  "a call that is sent as text has its result wherever that is recorded, and shortened if it is": {
    turns: tell(
      asks("x"),
      says(["call_1"]),
      tells("call_1"),
      asks("y"),
      gets("call_1"),
      ends(),
      shortens("call_1", "got"),
    ),
    sent: `user: x | ${TOLD.replace("got call_1", "got")} | user: y`,
    left: "result_elided, call_as_text",
  },
  "an omitted result is sent as a note": {
    turns: tell(asks("x"), says(["call_1"]), gets("call_1"), tells("call_1"), ends(), omits("out call_1")),
    sent: `user: x | ${TOLD.replace("got call_1", "[omitted result, 10 bytes]")}`,
    left: "call_as_text, content_omitted",
  },
  "an omitted call is not told": {
    turns: tell(asks("x"), says(["call_1"]), gets("call_1"), tells("call_1"), ends(), omits("call_1")),
    sent: "user: x",
    left: "omitted, omitted",
  },
  "a checkpoint replaces a call that is sent as text": {
    turns: tell(asks("x"), says(["call_1"]), gets("call_1"), tells("call_1"), ends(), compacts()),
    sent: SO_FAR,
  },
  "quarantined reasoning stays out in every run, and its call goes": {
    turns: tell(...TWO, notes({ rs_1: "quarantined" }), ends(), asks("third")),
    prompt: null,
    sent: `${FIRST_RUN.replace("rs_1 | ", "")} | ${SECOND_RUN} | user: third`,
    left: "quarantined",
  },
  "a quarantine for another account holds for no other": {
    turns: tell(
      ...one({ at: { account: null } }),
      notes({ rs_1: "quarantined" }, "reasoning_refused", { endpoint: "d9617135", account: B }),
      asks("y"),
      says(["msg_2: b"], known(A)),
    ),
    sent: `${WHOLE} | user: y | says: b`,
  },
  "a quarantine for the account of the key holds": {
    turns: tell(
      ...one({ at: { account: null } }),
      notes({ rs_1: "quarantined" }, "reasoning_refused", { endpoint: "d9617135", account: A }),
      asks("y"),
      says(["msg_2: b"], known(A)),
    ),
    sent: `${BARE} | user: y | says: b`,
    left: "quarantined",
  },
  "a quarantine for another endpoint holds for no other": {
    turns: tell(
      ...one(),
      notes({ rs_1: "quarantined" }, "reasoning_refused", { endpoint: "ffffffff", account: null }),
    ),
    sent: WHOLE,
  },
  "a quarantine on one loopback port does not count on another": {
    turns: tell(
      ...one({ at: { endpoint: PORTLESS } }),
      notes({ rs_1: "quarantined" }, "reasoning_refused", {
        endpoint: "22222222",
        portless: PORTLESS,
        account: null,
      }),
    ),
    to: LOOPBACK,
    sent: WHOLE,
  },
  "a quarantine outweighs what only one run left out": {
    turns: tell(...one(), notes({ rs_1: "quarantined" }), notes({ rs_1: "left_out" }), ends()),
    sent: BARE,
    left: "quarantined",
  },
  "a stripped member stays off its item, beside those stripped before": {
    turns: tell(
      asks("x"),
      says([item("mystery", "my_1", { status: "completed", extra: 1, more: 2 })]),
      notes({ my_1: "stripped id" }, "unknown_field"),
      notes({ my_1: "stripped extra" }, "unknown_field"),
    ),
    sent: "user: x | mystery",
  },
  "reasoning goes only with the item that came right after it": {
    turns: tell(asks("x"), says(["rs_1", "rs_2", SEARCH, "msg_1: a"]), notes({ rs_2: "quarantined" })),
    sent: BARE,
    left: "no_following_item, quarantined, reasoning_dropped",
  },
  "a hosted call and its output stay together if the reasoning of one of them stays out": {
    turns: tell(
      asks("x"),
      says(["rs_1", SHELL, "rs_2", "msg_1: a", SHELL_OUTPUT]),
      notes({ rs_1: "quarantined" }),
    ),
    sent: "user: x | rs_2 | says msg_1: a",
    left: "quarantined, reasoning_dropped, reasoning_dropped",
  },
  "a compaction item goes without its id if its reasoning stays out": {
    turns: tell(
      asks("x"),
      says(["rs_1", item("compaction", "cmp_1", { encrypted_content: "gAAA" })]),
      notes({ rs_1: "quarantined" }),
    ),
    sent: "user: x | compaction",
    left: "quarantined",
  },
};
