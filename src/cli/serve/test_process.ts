/**
 * Conversation of `serve --suite` and `record --suite` with the process of tests that started them: each line of stdin
 * ends a test, and the answer on stdout is the report of that test. For the gateway, a line also begins each test, or asks
 * for the requests without a test. The end of stdin is the end of the server, so that a killed process of tests leaves no
 * server.
 */
import { RepriseError } from "../../domain/errors.ts";
import { isJsonObject, parsedObject, stringMember } from "../../domain/json.ts";
import { isTestName } from "../../fixture/test_path.ts";
import type { InputStream } from "../live_ports.ts";
import type { JsonDocument } from "../../schemas/schemas.ts";
import { nextChunk } from "../stdin.ts";

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

/** Line that begins a test, with the base URLs of its server. */
export interface TestBegin {
  readonly test: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** Line that asks for the requests without a test since the last such line. */
interface StrayQuestion {
  readonly asks: "strays";
}

type TestLine = JsonDocument<"test-report">;
/** Report of an ended test. */
export type TestReport = Extract<TestLine, { type: "test.ended" }>;

/** Longest line, in bytes. */
const MAX_LINE = 65_536;

/** Options of {@linkcode answerTests}. */
export interface TestProcess {
  readonly stdin: InputStream;
  /** Resolves when the server is asked to end in another way. */
  readonly stopped: Promise<unknown>;
  /** Begins a test. @default {a line that begins a test is refused} */
  readonly begin?: ((request: TestBegin) => void) | undefined;
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
  const isOver = stopped.then(() => null);
  const lines = linesOf(stdin);
  for (;;) {
    const line = await Promise.race([lines.next(), isOver, failed.promise]);
    if (line === null || line.done === true) break;
    const request = requestOf(line.value);
    if ("environment" in request) {
      if (begin === undefined) throw unknownLine(line.value);
      begin(request);
      print({ type: "test.began", test: request.test });
      continue;
    }
    if ("asks" in request) {
      if (strays === undefined) throw unknownLine(line.value);
      print({ type: "strays", requests: strays() });
      continue;
    }
    const ended = end(request).then(print).catch((error) => failed.reject(error));
    ending.add(ended);
    void ended.then(() => ending.delete(ended));
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

function requestOf(line: string): TestRequest | TestBegin | StrayQuestion {
  const found = parsedObject(line);
  if (found?.["type"] === "strays") return { asks: "strays" };
  const test = found === null ? undefined : stringMember(found, "test");
  if (found === null || test === undefined || !isTestName(test)) throw unknownLine(line);
  if (found["type"] === "begin" && isJsonObject(found["environment"])) {
    const urls = Object.entries(found["environment"]).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string" && URL.canParse(entry[1])
    );
    return { test, environment: Object.fromEntries(urls) };
  }
  if (found["type"] !== "end") throw unknownLine(line);
  return {
    test,
    allowUnused: found["allow_unused"] === true,
    passed: found["passed"] !== false,
    prunes: found["prune"] === true,
  };
}

function unknownLine(line: string): RepriseError {
  return new RepriseError("usage", `Cannot read this line of stdin: ${JSON.stringify(line.slice(0, 100))}`, {
    hint: 'With --suite, each line ends a test: {"type":"end","test":"NAME"}',
  });
}
