/** The verb `test`: plays recorded sessions again, and compares what they ask and write. */
import type { ExitCode } from "../../domain/errors.ts";
import type { TestFlags } from "../serve/command.ts";
import { makeOutput } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { findTests, type FoundTest } from "./find.ts";
import { playTest, type TestResult } from "./play_test.ts";
import { inOrder } from "./pool.ts";
import { failureLines, isPassed, type Reporter, reporterOf } from "./reporters.ts";
import { absolute } from "../settings.ts";
import { red } from "../terminal.ts";

const MAX_JOBS = 8;

/** Performs `test`. */
export async function testVerb(
  ports: ProgramPorts,
  directories: readonly string[],
  flags: TestFlags,
): Promise<ExitCode> {
  const output = makeOutput(ports, flags);
  const tests = findTests(directories, (path) => absolute(ports, path));
  const name = flags.json === true ? "json" : flags.reporter ?? "tap";
  const reporter = reporterOf(name);
  const stop = new AbortController();
  let ended: ExitCode | null = null;
  const end = (exitCode: ExitCode, why: string) => {
    ended ??= exitCode;
    stop.abort(new Error(why));
  };
  output.onClosed(() => end(output.closedExitCode, "nobody reads the output any more"));
  const ignoreSignals = ports.onStopSignals((signal, exitCode) => end(exitCode, `stopped by ${signal}`));
  try {
    const results = await playAll(tests, { ports, flags, output, reporter, isJson: name === "json", stop });
    return ended ?? exitCodeOf(results);
  } finally {
    ignoreSignals();
  }
}

interface Playing {
  readonly ports: ProgramPorts;
  readonly flags: TestFlags;
  readonly output: Output;
  readonly reporter: Reporter;
  /** True when the reporter writes JSON. */
  readonly isJson: boolean;
  readonly stop: AbortController;
}

async function playAll(
  tests: readonly FoundTest[],
  { ports, flags, output, reporter, isJson, stop }: Playing,
): Promise<TestResult[]> {
  const jobs = flags.jobs ?? Math.min(MAX_JOBS, navigator.hardwareConcurrency);
  const play = { ports, update: flags.update === true ? "everything" as const : null, signal: stop.signal };
  const results: TestResult[] = [];
  let why = "--bail ends with the first failed test";
  const print = (text: string) => isJson ? output.jsonText(text) : output.text(text);
  print(reporter.begin(tests.length));
  const running = inOrder(tests, jobs, {
    play: (test) => playTest(test, play),
    abandon: () => stop.abort(),
  });
  for await (const result of running) {
    if (stop.signal.aborted) {
      why = (stop.signal.reason as Error).message;
      break;
    }
    results.push(result);
    print(reporter.result(result, results.length));
    tell(output, result, flags.reporter === "junit");
    if (flags.bail === true && !isPassed(result)) break;
  }
  const failed = results.filter((result) => !isPassed(result)).length;
  const broken = results.filter(({ error }) => error !== null).length;
  const skipped = tests.slice(results.length).map(({ name }) => name);
  print(reporter.end({ passed: results.length - failed, failed, broken, skipped, why }));
  const notPlayed = skipped.length === 0 ? "" : `, ${skipped.length} not played: ${why}`;
  output.note(`${results.length - failed} passed, ${failed} failed${notPlayed}`);
  return results;
}

/** What stdout does not tell people: what was rewritten, and failures where that is a file for machines. */
function tell(output: Output, result: TestResult, withFailures: boolean): void {
  for (const name of result.updated) output.note(`updated ${result.name}/${name}`);
  for (const name of result.removed) output.note(`removed ${result.name}/${name}`);
  if (!withFailures || isPassed(result)) return;
  output.note([red("failed"), ` ${result.name}`]);
  for (const line of failureLines(result)) output.note(`  ${line}`);
}

/** A folder that cannot be played is a mistake in the call or the folder; everything else is a divergence. */
function exitCodeOf(results: readonly TestResult[]): ExitCode {
  const broken = results.find(({ error }) => error !== null)?.error;
  if (broken !== null && broken !== undefined) return broken.exitCode;
  return results.every(isPassed) ? 0 : 7;
}
