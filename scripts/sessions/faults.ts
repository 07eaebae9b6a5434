/**
 * Answers that break, by family. tests/unit/cli/run/faults_test.ts has a row for each fault.
 *
 * @module
 */
import { answer, message } from "../../tests/support/responses_server.ts";
import { serverError } from "../../tests/support/responses_server/faults.ts";
import { A, greets, HELLO, next, READ_A, READS_A, type Story, type StoryStep } from "./story.ts";

const ANSWER = answer([message("Grüß dich.")]);

/** Runs that fail with these faults, each resuming the one before, and a last one that completes. */
function breaking(...faults: readonly (readonly [fault: string, exit: number])[]): readonly StoryStep[] {
  const steps = faults.map(([fault, exit], index) => ({
    ...index === 0 ? greets(ANSWER) : next(null, ANSWER),
    faults: { 1: fault },
    exit,
    state: "failed",
  }));
  return [...steps, next(null, ANSWER)];
}

/** The stories. */
export const FAULTS: readonly Story[] = [
  {
    name: "faults-cut",
    note: "A body that ends inside a character or without its last event is exit code 10; the run resumes",
    steps: breaking(["cut mid-utf8", 10], ["no terminal event", 10]),
  },
  {
    name: "faults-errors",
    note: "An error event in the stream and a web page each end a run with their exit code",
    steps: breaking(["error nested insufficient_quota", 9], ["html", 10]),
  },
  {
    name: "faults-retried",
    note: "A rate limit and server errors are retried before the stream begins",
    workspace: A,
    steps: [{
      ...READ_A,
      answers: [serverError(), READS_A, serverError(), serverError(), HELLO],
      faults: { 1: "429 retry-after 1", 3: "503 retry-after-ms 900", 4: "529" },
    }],
  },
  {
    name: "faults-harmless",
    note: "Duplicate and unknown events and slow chunks give the same turns",
    workspace: A,
    steps: [{
      ...READ_A,
      answers: [READS_A, READS_A, HELLO],
      faults: { 1: "duplicate events", 2: "unknown events", 3: "drip 7 bytes every 1ms" },
    }],
  },
];
