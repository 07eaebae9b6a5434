/**
 * Sessions of several steps: killed and resumed, compacted, forked, moved from provider to provider.
 *
 * @module
 */
import { says, text, thinking, toolUse } from "../../tests/support/messages_server/script.ts";
import { answer, message, reasoning } from "../../tests/support/responses_server.ts";
import { functionCall } from "../../tests/support/responses_server/script.ts";
import { HELLO, READS_A } from "./ends.ts";
import { beginReading, goOn, type Scenario } from "./scenario.ts";

const A = { "a.txt": "alpha\n" };
const READING = ["--deny", "list_files,search_text"];
const AGAIN = answer([reasoning("Thinking again"), message("Hello again.")]);
const READ_ARGS = { path: "a.txt", offset: null, limit: null };
/** Every file is sound, and every request is what the turns fold to. */
const SOUND = [{ args: ["fsck", "--all"], exit: 0 }, { args: ["verify", "--all"], exit: 0 }];
const READ_A = {
  args: beginReading("What is in a.txt?"),
  answers: [READS_A, HELLO],
  exit: 0,
  state: "completed",
} as const;

/** A run that is killed behind a turn, and the one that goes on with it. */
function killed(turn: number, note: string, answers: number): Scenario {
  return {
    name: `kill-behind-turn-${turn}`,
    note,
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?"),
        answers: [READS_A, HELLO].slice(0, answers),
        kill: { after: "turn.saved", turn },
        exit: 137,
      },
      {
        args: goOn(...READING),
        answers: answers === 0 ? [READS_A, HELLO] : [HELLO],
        exit: 0,
        state: "completed",
      },
    ],
  };
}

/** Them. */
export const SHAPES: readonly Scenario[] = [
  killed(2, "Killed with a call open: the next run answers it as interrupted, and goes on", 1),
  killed(3, "Killed behind the results of calls: the next run sends them", 1),
  {
    name: "kill-then-interrupt",
    note: "The verb interrupt closes a run that was killed",
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?"),
        answers: [READS_A],
        kill: { after: "turn.saved", turn: 2 },
        exit: 137,
      },
      { args: ["interrupt", "s"], exit: 0 },
    ],
  },
  {
    name: "kill-sigterm",
    note: "SIGTERM ends a run in order: state interrupted, exit code 143",
    workspace: A,
    steps: [{
      args: beginReading("What is in a.txt?"),
      answers: [READS_A],
      kill: { after: "turn.saved", turn: 2, signal: "SIGTERM" },
      exit: 143,
      state: "interrupted",
    }],
  },
  {
    name: "compact-by-rule",
    note: "A checkpoint by rule stands for the older events in the next request",
    workspace: A,
    steps: [
      READ_A,
      { args: ["compact", "s", "--tail-events", "0"], exit: 0 },
      { args: goOn(...READING, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
      ...SOUND,
    ],
  },
  {
    name: "compact-withdrawn",
    note: "What a checkpoint stood for is sent again once it is withdrawn",
    workspace: A,
    steps: [
      READ_A,
      { args: ["compact", "s", "--tail-events", "0"], exit: 0 },
      { args: ["uncompact", "s"], exit: 0 },
      { args: goOn(...READING, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
    ],
  },
  {
    name: "compact-on-the-way",
    note: "--auto-compact makes a checkpoint before the request that would be too large",
    workspace: A,
    steps: [{
      ...READ_A,
      args: beginReading("What is in a.txt?", "--auto-compact", "1"),
    }],
  },
  {
    name: "fork",
    note: "A fork goes on by itself; the session that it came from stays as it was",
    workspace: A,
    steps: [
      READ_A,
      { args: ["fork", "s"], exit: 0 },
      {
        args: ["run", "-s", "s-", ...READING, "And here?"],
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
      { args: goOn(...READING, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
      ...SOUND,
    ],
  },
  {
    name: "fork-in-run",
    note: "A fork from inside a run closes that run, and goes on with it without a prompt",
    workspace: A,
    steps: [
      READ_A,
      { args: ["fork", "s", "--to-seq", "1"], exit: 0 },
      { args: ["run", "-s", "s-", ...READING], answers: [READS_A, HELLO], exit: 0, state: "completed" },
      ...SOUND,
    ],
  },
  {
    name: "fork-summarized",
    note: "A fork from before an answer is told what the other session went on to do",
    workspace: A,
    steps: [
      READ_A,
      { args: goOn(...READING, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
      { args: ["fork", "s", "--to-seq", "1", "--summarize"], exit: 0 },
      {
        args: ["run", "-s", "s-", ...READING, "And here?"],
        answers: [AGAIN],
        exit: 0,
        state: "completed",
      },
      ...SOUND,
    ],
  },
  {
    name: "provider-switch",
    note: "Words, calls and results go to the other provider and back; reasoning never does",
    workspace: A,
    steps: [
      // An id that Anthropic does not take.
      {
        ...READ_A,
        answers: [
          answer([
            reasoning("Looking"),
            functionCall("read_file", READ_ARGS, { callId: "call.one|1" }),
          ]),
          HELLO,
        ],
      },
      {
        args: goOn(...READING, "Look yourself"),
        says: [
          says([thinking("My own look"), toolUse("read_file", READ_ARGS)]),
          says([thinking("Done"), text("alpha")]),
        ],
        model: "claude-fable-5-1",
        exit: 0,
        state: "completed",
      },
      { args: goOn(...READING, "Sure?"), answers: [AGAIN], exit: 0, state: "completed" },
      {
        args: goOn(...READING, "And you?"),
        says: [says([thinking("And again"), text("alpha, once more")])],
        model: "claude-fable-5-1",
        exit: 0,
        state: "completed",
      },
      ...SOUND,
    ],
  },
  {
    name: "resume-after-failure",
    note: "A run that failed goes on without a second user message",
    workspace: A,
    steps: [
      {
        args: beginReading("What is in a.txt?"),
        answers: [READS_A, HELLO],
        faults: { 2: "cut after 3 events" },
        exit: 10,
        state: "failed",
      },
      { args: goOn(...READING), answers: [HELLO], exit: 0, state: "completed" },
    ],
  },
  {
    name: "two-runs",
    note: "The second run sends everything of the first, its reasoning included",
    workspace: A,
    steps: [
      READ_A,
      { args: goOn(...READING, "And now?"), answers: [AGAIN], exit: 0, state: "completed" },
    ],
  },
];
