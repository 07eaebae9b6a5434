/**
 * Sessions of several runs: stopped and resumed, out of budget, compacted, forked.
 *
 * @module
 */
import {
  A,
  AGAIN,
  greets,
  HELLO,
  killed,
  next,
  READ_A,
  READING,
  reads,
  READS_A,
  SOUND,
  START,
  type Story,
} from "./story.ts";

/** The stories. */
export const LIFECYCLE: readonly Story[] = [
  {
    name: "read",
    note: "A call gets its recorded result, and nothing is executed",
    workspace: A,
    steps: [READ_A],
  },
  {
    name: "resume-after-failure",
    note: "A run that failed resumes without a second user message",
    workspace: A,
    steps: [
      { ...READ_A, faults: { 2: "cut after 3 events" }, exit: 10, state: "failed" },
      reads(null, [HELLO]),
    ],
  },
  {
    name: "kill-and-resume",
    note: "Killed with an open call, then after results: the next run answers the call and sends the results",
    workspace: A,
    steps: [
      killed({ ...READ_A, answers: [READS_A] }, 2),
      killed(reads(null, [READS_A]), 5),
      reads(null, [HELLO]),
      ...SOUND,
    ],
  },
  {
    name: "stop",
    note: "SIGINT ends a run as interrupted; the verb interrupt closes one that was killed",
    workspace: A,
    steps: [
      {
        ...READ_A,
        answers: [READS_A],
        kill: { after: "turn.saved", turn: 2, signal: "SIGINT" },
        exit: 130,
        state: "interrupted",
      },
      killed(reads("And now?", [READS_A]), 6),
      { args: ["interrupt", "s"], exit: 0 },
      reads("And then?", [HELLO]),
    ],
  },
  {
    name: "budgets",
    note: "A run ends at its bound of time or requests, and the next one resumes it",
    workspace: A,
    steps: [
      {
        ...READ_A,
        extra: ["--timeout", "1"],
        answers: [HELLO],
        faults: { 1: "stall after 2 events" },
        exit: 124,
        state: "timed_out",
      },
      { ...reads(null, [READS_A], "--max-steps", "1"), exit: 4, state: "over_budget" },
      reads(null, [HELLO]),
    ],
  },
  {
    name: "compact",
    note: "A checkpoint by rule replaces the older events in the next request, until it is withdrawn",
    workspace: A,
    steps: [
      READ_A,
      { args: ["compact", "s", "--tail-events", "0"], exit: 0 },
      reads("And now?", [AGAIN]),
      { args: ["compact", "s", "--undo"], exit: 0 },
      reads("And then?", [AGAIN]),
      ...SOUND,
    ],
  },
  {
    name: "compact-in-run",
    note: "--auto-compact makes a checkpoint before the request that would be too large",
    workspace: A,
    steps: [{ ...READ_A, args: [...START, ...READING, "--auto-compact", "1", "What is in a.txt?"] }],
  },
  {
    name: "fork",
    note: "A fork goes its own way; the session that it came from stays unchanged",
    workspace: A,
    steps: [
      READ_A,
      { args: ["fork", "s"], exit: 0 },
      { ...reads("And here?", [AGAIN]), args: ["run", "-s", "s-", ...READING, "And here?"] },
      ...SOUND,
    ],
  },
  {
    name: "fork-in-run",
    note: "A fork from inside a run closes that run, and resumes it without a prompt",
    workspace: A,
    steps: [
      READ_A,
      { args: ["fork", "s", "--to-seq", "1"], exit: 0 },
      { ...reads(null), args: ["run", "-s", "s-", ...READING] },
      ...SOUND,
    ],
  },
  {
    name: "fork-summarized",
    note: "A fork from before an answer gets a summary of what the other session did next",
    steps: [
      greets(),
      next("And now?", AGAIN),
      { args: ["fork", "s", "--to-seq", "1", "--summarize"], exit: 0 },
      { ...next("And here?", AGAIN), args: ["run", "-s", "s-", ...greets().args.slice(6, -1), "And here?"] },
      ...SOUND,
    ],
  },
];
