/**
 * Reports of tests under `serve --suite` and `record --suite`: the requests of each test are counted by its name until it
 * ends.
 */
import type { RepriseError } from "../../domain/errors.ts";
import type { RequestEvent } from "../../fixture/event.ts";
import { Tally } from "../../fixture/tally.ts";
import { ReplayLines } from "./event_view.ts";
import type { TestReport, TestRequest } from "./test_process.ts";

/** Advice in messages about a request without a recording: the command of the tests is known to the user only. */
export const RECORD_AGAIN =
  "run the test with REPRISE_RECORD=all, or with REPRISE_RECORD=missing to add only this request";
/** Advice for a test without a recording. */
export const RECORD_NEW = "run the test with REPRISE_RECORD=new";
/** Advice for a process of tests that records nothing, because a CI system runs it. */
export const RECORD_IN_CI = "CI is set, so nothing is sent. REPRISE_ALLOW_LIVE=1 allows it";

/** Requests of a test, and messages about those that went wrong. */
export interface TestRequests {
  readonly tally: Tally;
  readonly messages: string[];
  readonly lines: ReplayLines;
}

/** Requests of tests that have not ended. */
export class TestEvents {
  readonly #tests = new Map<string, TestRequests>();

  /** Adds an event of a request; one without a test belongs to none. */
  add({ test, ...event }: RequestEvent): void {
    if (test === undefined) return;
    const { tally, messages, lines } = this.#tests.get(test) ?? this.#begin(test);
    tally.add(event);
    const isDropped = event.type === "exchange" && event.state === "dropped";
    if (event.type === "miss") messages.push(lines.ofMiss(event));
    else if (isDropped || event.type === "refused" || event.type === "turned_away") {
      messages.push(lines.of(event));
    }
  }

  /** Returns the requests of a test, and forgets them. */
  take(test: string): TestRequests {
    const requests = this.#tests.get(test) ?? this.#begin(test);
    this.#tests.delete(test);
    return requests;
  }

  #begin(test: string): TestRequests {
    const requests = { tally: new Tally(), messages: [], lines: new ReplayLines() };
    this.#tests.set(test, requests);
    return requests;
  }
}

/** Outcome of a test besides its requests. */
export interface TestOutcome {
  /** Path of its recording. */
  readonly path: string;
  /** Numbers of the recorded exchanges that it did not use. */
  readonly unused: readonly number[];
  /** True if it used an exchange of its recording. */
  readonly usesRecording: boolean;
  /** Faults that broke none of its answers. */
  readonly unmetFaults: readonly string[];
  /** Error about its recording. */
  readonly error: RepriseError | null;
}

/** Outcome of a test whose recording could not be opened, or that has none. */
export const NO_RECORDING: TestOutcome = {
  path: "",
  unused: [],
  usesRecording: false,
  unmetFaults: [],
  error: null,
};

/** Writes the report of an ended test. */
export function testReport(
  { test, allowUnused }: TestRequest,
  { messages: found, tally: { answers, exchanges, faulted } }: TestRequests,
  { path, unused, usesRecording, unmetFaults, error }: TestOutcome,
): TestReport {
  const { missed, refused, turned_away, skipped } = answers;
  const { published: recorded, dropped } = exchanges;
  const served = answers.served + faulted;
  const messages = [...found];
  // A message about a request says more than the error about all of them.
  if (error !== null && (found.length === 0 || error.code.startsWith("storage_"))) {
    messages.push(error.hint === undefined ? error.message : `${error.message}. ${error.hint}`);
  }
  const isSilent = served + recorded + dropped + messages.length === 0;
  // After a miss, the unused exchange is most likely the one that the request missed.
  if (!allowUnused && unused.length > 0 && missed === 0) {
    messages.push(unusedMessage(path, unused, usesRecording));
  } else if (!allowUnused && isSilent) messages.push(silentMessage(skipped));
  // A failed test may have stopped before the request of the fault.
  if (!allowUnused && messages.length === 0) messages.push(...unmetFaults.map(unmetMessage));
  return {
    type: "test.ended",
    test,
    exit_code: messages.length === 0 ? 0 : error?.exitCode ?? 7,
    served,
    recorded,
    missed,
    refused,
    turned_away,
    unused: [...unused],
    messages,
    notes: [],
  };
}

function unusedMessage(path: string, unused: readonly number[], usesRecording: boolean): string {
  const [exchanges, them] = unused.length === 1 ? ["exchange", "it"] : ["exchanges", "them"];
  const cure = usesRecording
    ? `To remove ${them}: run the test with REPRISE_RECORD=prune`
    : "It used no other, so prune removes none. To replace the recording: run the test with REPRISE_RECORD=all; " +
      "if the test sends no request, remove the folder and allow a test without requests";
  return `The test did not use ${exchanges} ${unused.join(", ")} of "${path}". ${cure}`;
}

function unmetMessage(fault: string): string {
  return `The fault "${fault}" had no effect: too few requests came, or no answer had the place. ` +
    '"reprise help faults" shows how a fault names its requests and its place';
}

function silentMessage(skipped: number): string {
  return skipped > 0
    ? "The test sent only connection checks (HEAD) or WebSocket upgrades, which are no exchanges"
    : "No request of the test reached reprise: give its client the base URL of this test, " +
      "or allow a test without requests";
}
