/**
 * Conversation of `serve --suite` and `record --suite` with the process of tests that started them: each line of stdin
 * ends a test, and the answer on stdout is the report of that test, whose requests were counted by its name. For the
 * gateway, a line also begins each test, or asks for the requests without a test. The end of stdin is the end of the
 * server, so that a killed process of tests leaves no server.
 */
import { RepriseError } from "../../domain/errors.ts";
import { isJsonObject, type JsonObject, parsedObject, stringMember } from "../../domain/json.ts";
import type { RequestEvent } from "../../fixture/event.ts";
import { Tally } from "../../fixture/tally.ts";
import { isTestName } from "../../fixture/test_path.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import type { InputStream } from "../live_ports.ts";
import { nextChunk } from "../stdin.ts";
import { ReplayLines } from "./event_view.ts";

/** Request to end a test. */
export interface TestRequest {
  readonly test: string;
  /** True for a test that may leave exchanges unused, and may send no request. */
  readonly allowUnused: boolean;
  /** False if the process of tests knows of a failure: the recording is neither replaced, pruned nor marked. */
  readonly passed: boolean;
  /** True to remove the exchanges that a passed test did not use. */
  readonly prunes: boolean;
}

type TestLine = JsonDocument<"test-report">;
export type TestReport = Extract<TestLine, { type: "test.ended" }>;

/** Longest line, in bytes. */
const MAX_LINE = 65_536;

export interface TestProcess {
  readonly stdin: InputStream;
  /** Resolves when the server is asked to end in another way. */
  readonly stopped: Promise<unknown>;
  /** Begins a test, with the base URLs of its server. @default {a line that begins a test is refused} */
  readonly begin?: ((test: string, environment: Readonly<Record<string, string>>) => void) | undefined;
  /** Returns the requests without a test, and forgets them. @default {a line that asks for them is refused} */
  readonly strays?: (() => string[]) | undefined;
  readonly end: (request: TestRequest) => Promise<TestReport>;
  readonly print: (line: TestLine) => void;
}

/**
 * Ends tests until stdin ends. Several tests may end at a time; their reports are printed in the order in which they end.
 *
 * @throws {RepriseError} `usage` for a line that asks for nothing known.
 */
export async function answerTests({ stdin, stopped, begin, strays, end, print }: TestProcess): Promise<void> {
  const ending = new Set<Promise<void>>();
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {/* it is thrown below, or the server has ended */});
  const answer = (line: string): void => {
    const request = parsedObject(line) ?? {};
    const { type, environment } = request;
    if (type === "strays" && strays !== undefined) return print({ type: "strays", requests: strays() });
    const test = stringMember(request, "test") ?? "";
    if (!isTestName(test)) throw unknownLine(line);
    if (type === "begin" && begin !== undefined && isJsonObject(environment)) {
      begin(test, urlsIn(environment));
      return print({ type: "test.began", test });
    }
    if (type !== "end") throw unknownLine(line);
    const { allow_unused, passed, prune } = request;
    const ended = end({
      test,
      allowUnused: allow_unused === true,
      passed: passed === undefined || passed === true,
      prunes: prune === true,
    }).then(print).catch((error) => failed.reject(error));
    ending.add(ended);
    void ended.then(() => ending.delete(ended));
  };
  const isOver = stopped.then(() => null);
  const lines = linesOf(stdin);
  for (;;) {
    const line = await Promise.race([lines.next(), isOver, failed.promise]);
    if (line === null || line.done === true) break;
    answer(line.value);
  }
  await Promise.race([Promise.all(ending), failed.promise]);
}

async function* linesOf(stdin: InputStream): AsyncGenerator<string> {
  const buffer = new Uint8Array(MAX_LINE);
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const chunk = await nextChunk(stdin, buffer);
    if (chunk === null) return;
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE) throw unknownLine(rest);
  }
}

function urlsIn(environment: JsonObject): Record<string, string> {
  const urls = Object.entries(environment).filter((entry): entry is [string, string] =>
    typeof entry[1] === "string" && URL.canParse(entry[1])
  );
  return Object.fromEntries(urls);
}

function unknownLine(line: string): RepriseError {
  return new RepriseError("usage", `Cannot read this line of stdin: ${JSON.stringify(line.slice(0, 100))}`, {
    hint: 'With --suite, each line ends a test: {"type":"end","test":"NAME"}',
  });
}

/** Advice in messages about a request without a recording: the command of the tests is known to the user only. */
export const RECORD_AGAIN =
  "run the test with REPRISE_RECORD=all, or with REPRISE_RECORD=missing to add only this request";
/** Advice for a test without a recording. */
export const RECORD_NEW = "run the test with REPRISE_RECORD=new";
/** Advice for a process of tests that records nothing, because a CI system runs it. */
export const RECORD_IN_CI = "CI is set, so nothing is sent. REPRISE_ALLOW_LIVE=1 allows it";

/** Requests of a test, and messages about those that went wrong. */
interface TestRequests {
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
interface TestOutcome {
  readonly path: string;
  /** Numbers of the recorded exchanges that it did not use. */
  readonly unused: readonly number[];
  /** True if it used an exchange of its recording. */
  readonly usesRecording: boolean;
  /** Faults that broke none of its answers. */
  readonly unmetFaults: readonly string[];
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
    messages.push(error.advice);
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
