/** The verb `test`: plays recorded sessions again, and compares what they send and write. */
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted, withoutSlash } from "../../domain/text.ts";
import { requireFolder } from "../../fixture/files.ts";
import { denoFiles } from "../../store/deno_files.ts";
import { fileError } from "../../store/fs_errors.ts";
import { makeOutput } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import type { TestFlags } from "./command.ts";
import { Progress } from "../progress.ts";
import { absolute } from "../settings.ts";
import { endEarly } from "../signals.ts";
import { red } from "../terminal.ts";
import { entries, exists, filesBelow } from "./files.ts";
import { failureLines, isPassed, type ReporterName, reporterOf } from "./reporters.ts";
import { inOrder, playTest, type SessionTest, type TestResult } from "./runner.ts";

const MAX_JOBS = 8;

export async function testVerb(
  ports: ProgramPorts,
  directories: readonly string[],
  flags: TestFlags,
): Promise<ExitCode> {
  const output = makeOutput(ports, flags);
  const name = flags.json === true ? "json" : flags.reporter ?? (output.stdoutIsTerminal ? "text" : "tap");
  const tests = namedTests(findTests(directories, (path) => absolute(ports, path)), flags.name);
  using early = endEarly(ports, output);
  const results = await playAll(tests, { ports, flags, output, reporterName: name, stop: early.stop });
  return early.exitCode ?? exitCodeOf(results);
}

interface Playing {
  readonly ports: ProgramPorts;
  readonly flags: TestFlags;
  readonly output: Output;
  readonly reporterName: ReporterName;
  readonly stop: AbortController;
}

async function playAll(
  tests: readonly SessionTest[],
  { ports, flags, output, reporterName, stop }: Playing,
): Promise<TestResult[]> {
  const jobs = flags.jobs ?? Math.min(MAX_JOBS, navigator.hardwareConcurrency);
  const options = {
    ports,
    update: flags.update === true ? "everything" as const : null,
    signal: stop.signal,
  };
  const results: TestResult[] = [];
  const failedSoFar = () => results.filter((result) => !isPassed(result)).length;
  let why = "--bail ends with the first failed test";
  const reporter = reporterOf(reporterName);
  const print = (text: string) => reporterName === "json" ? output.jsonText(text) : output.text(text);
  print(reporter.begin(tests.length));
  const running = inOrder(tests, jobs, {
    play: (test) => playTest(test, options),
    abandon: () => stop.abort(),
  });
  {
    using _progress = new Progress(output, ports).repeat(() => {
      const bad = failedSoFar() === 0 ? "" : `, ${failedSoFar()} failed`;
      return `${counted(results.length, "test")} of ${tests.length} played${bad}`;
    });
    for await (const result of running) {
      if (stop.signal.aborted) {
        why = (stop.signal.reason as Error).message;
        break;
      }
      results.push(result);
      print(reporter.result(result, results.length));
      report(output, result, flags.reporter === "junit");
      if (flags.bail === true && !isPassed(result)) break;
    }
  }
  const failed = failedSoFar();
  const broken = results.filter(({ error }) => error !== null).length;
  const skipped = tests.slice(results.length).map(({ name }) => name);
  print(reporter.end({ passed: results.length - failed, failed, broken, skipped, why }));
  const notPlayed = skipped.length === 0 ? "" : `, ${skipped.length} not played: ${why}`;
  output.note(`${results.length - failed} passed, ${failed} failed${notPlayed}`);
  return results;
}

/** Reports on stderr what stdout does not: rewritten files, and failures if stdout is XML. */
function report(output: Output, result: TestResult, withFailures: boolean): void {
  for (const name of result.updated) output.note(`updated ${result.name}/${name}`);
  for (const name of result.removed) output.note(`removed ${result.name}/${name}`);
  if (!withFailures || isPassed(result)) return;
  output.note([red("failed"), ` ${result.name}`]);
  for (const line of failureLines(result)) output.note(`  ${line}`);
}

/** The exit code of the first folder that could not be played, else 7 for any divergence. */
function exitCodeOf(results: readonly TestResult[]): ExitCode {
  const broken = results.find(({ error }) => error !== null)?.error;
  if (broken !== null && broken !== undefined) return broken.exitCode;
  return results.every(isPassed) ? 0 : 7;
}

/**
 * Finds the session tests at and below these directories, in their order and by name, each once. Tests are not nested.
 *
 * @throws {RepriseError} `usage` if a directory is and holds no test; `bad_fixture` if it is a file; `storage_*`.
 */
function findTests(directories: readonly string[], absolute: (path: string) => string): SessionTest[] {
  const found = new Map<string, SessionTest>();
  for (const name of directories) {
    requireFolder(denoFiles, name, "session.json");
    const inside = testsBelow(withoutSlash(name));
    if (inside.length === 0) {
      throw new RepriseError("usage", `Cannot test ${JSON.stringify(name)}: no session.json in it or below`, {
        hint: hintFor(name),
      });
    }
    for (const test of inside) {
      const directory = absolute(test);
      if (!found.has(directory)) found.set(directory, { name: test, directory });
    }
  }
  return [...found.values()];
}

/**
 * The tests with `text` in their path; all tests without a text.
 *
 * @throws {RepriseError} `usage` if there are none.
 */
function namedTests(tests: readonly SessionTest[], text: string | undefined): readonly SessionTest[] {
  const named = tests.filter(({ name }) => name.includes(text ?? ""));
  if (named.length > 0) return named;
  throw new RepriseError("usage", `No test has ${JSON.stringify(text)} in its path`, {
    hint: `The paths begin with the folders that were given, such as ${tests[0]?.name}`,
  });
}

/** Follows links to folders, except to a folder above: `above` lists the real paths of these. */
function testsBelow(directory: string, above: readonly string[] = []): string[] {
  if (exists(`${directory}/session.json`)) return [directory];
  const folders = entries(directory).map(({ name }) => `${directory}/${name}`).filter(isFolder);
  if (folders.length === 0) return [];
  const real = Deno.realPathSync(directory);
  return above.includes(real) ? [] : folders.flatMap((folder) => testsBelow(folder, [...above, real]));
}

function isFolder(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch (error) {
    // A broken link, or a link to itself.
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.FilesystemLoop) return false;
    throw fileError(error, "look for session tests", path);
  }
}

function hintFor(directory: string): string {
  const isFixture = filesBelow(directory).some((name) => /(?:^|\/)fixture\.json$/.test(name));
  return isFixture
    ? "To play a fixture without a session, use run --fixture or serve; run --record writes a session test"
    : "A session test is what run --record writes: a folder with a session.json";
}
