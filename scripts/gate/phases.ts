import { join } from "node:path";
import { outputOf, run } from "../process.ts";
import { makeBinary } from "./binary.ts";
import { tallyOfReport } from "./junit.ts";
import type { Phase, PhaseResult } from "./phase.ts";
import { ONE_PASSED, oneFailed, sum } from "./tally.ts";
import { TEST_PATHS, type TestPaths } from "./test_paths.ts";

/** The parts of the gate that can be run alone. */
export const GROUPS = [
  "checks",
  "unit",
  "slow",
  "cli",
  "source",
  "sessions",
  "fuzz",
  "long",
  "crash",
  "soak",
] as const;

/** The name of a part of the gate. */
export type Group = typeof GROUPS[number];

/** What goes before a commit. */
export const DEFAULT_GROUPS: readonly Group[] = ["checks", "unit", "cli"];

/** What all phases need to know. */
export interface GateOptions {
  /** The checkout; an absolute path. */
  readonly root: string;
  /** For reports; removed by the caller. */
  readonly workDirectory: string;
  /** Fail when deno.lock does not cover the imports. */
  readonly frozen: boolean;
}

/** Long enough for a slow machine; a test that hangs ends here. */
const TEST_TIMEOUT = 10 * 60_000;
const CRASH_TIMEOUT = 30 * 60_000;
const SOAK_TIMEOUT = 3 * 60 * 60_000;

/** The phases of the given groups, those first that others wait for. */
export function phasesOf(groups: readonly Group[], options: GateOptions): Phase[] {
  const binary = join(options.root, "dist", Deno.build.os === "windows" ? "reprise.exe" : "reprise");
  const needsBinary = groups.some((group) => ["cli", "sessions", "long", "crash", "soak"].includes(group));
  const compile: Phase = { name: "compile", run: () => makeBinary({ ...options, binary }) };
  return [
    ...(needsBinary ? [compile] : []),
    ...(groups.includes("checks") ? checks(options) : []),
    ...(groups.includes("unit") ? [unitTests(options)] : []),
    ...(groups.includes("slow") ? [sourceTests("slow", TEST_PATHS.slow, options)] : []),
    ...(groups.includes("cli") ? cliTests(options, binary) : []),
    ...(groups.includes("source")
      ? [sourceTests("cli (source)", TEST_PATHS.source, options), sourceSessions(options)]
      : []),
    ...(groups.includes("sessions") ? [sessionTests(options, binary)] : []),
    ...(groups.includes("fuzz") ? [fuzzTests(options)] : []),
    ...(groups.includes("long") ? [longTests(options, binary)] : []),
    ...(groups.includes("crash") ? [crashTests("crash", options, binary)] : []),
    ...(groups.includes("soak") ? [crashTests("soak", options, binary)] : []),
  ];
}

function checks(options: GateOptions): Phase[] {
  const frozen = options.frozen ? ["--frozen"] : [];
  const docs = existsIn(options, "scripts/docs.ts")
    ? [check("docs", ["run", "-A", "scripts/docs.ts", "--check"], options)]
    : [];
  return [
    check("types", ["check", ...frozen, "."], options),
    check("format", ["fmt", "--check"], options),
    check("lint", ["lint"], options),
    check("house", ["run", "-A", "scripts/check_house.ts"], options),
    ...docs,
  ];
}

/** A command that passes or fails as a whole. */
function check(name: string, args: readonly string[], options: GateOptions): Phase {
  return {
    name,
    run: async () => {
      const finished = await run(Deno.execPath(), args, { cwd: options.root, env: { NO_COLOR: "1" } });
      return { tally: finished.code === 0 ? ONE_PASSED : oneFailed(name), output: outputOf(finished) };
    },
  };
}

function unitTests(options: GateOptions): Phase {
  return {
    name: "unit",
    run: () => testFiles("unit", TEST_PATHS.unit, { ...options, binary: null }),
  };
}

function fuzzTests(options: GateOptions): Phase {
  const env = { REPRISE_SAMPLES: "all" };
  return {
    name: "fuzz",
    run: () => testFiles("fuzz", TEST_PATHS.fuzz, { ...options, binary: null, env, parallel: true }),
  };
}

/** The suite against the compiled binary (`REPRISE_BIN`), and a sample of it against `deno run`. */
function cliTests(options: GateOptions, binary: string): Phase[] {
  return [
    sourceTests("cli (source, sample)", TEST_PATHS.sourceSample, options),
    {
      name: "cli (binary)",
      after: "compile",
      run: () => withBinary(binary, () => testFiles("cli-binary", TEST_PATHS.cli, { ...options, binary })),
    },
  ];
}

function sourceTests(name: string, paths: TestPaths, options: GateOptions): Phase {
  return { name, run: () => testFiles(name, paths, { ...options, binary: null }) };
}

/** The project's own promises as recorded sessions, played by the program itself: its binary. */
function sessionTests(options: GateOptions, binary: string): Phase {
  return {
    name: "sessions",
    after: "compile",
    run: () => withBinary(binary, () => playSessions([binary], options)),
  };
}

/** The same on the sources: another version of the runtime, and the same bytes. */
function sourceSessions(options: GateOptions): Phase {
  const program = [Deno.execPath(), "run", "-A", "main.ts"];
  return { name: "sessions (source)", run: () => playSessions(program, options) };
}

async function playSessions(
  [command = "", ...before]: readonly string[],
  { root }: GateOptions,
): Promise<PhaseResult> {
  const finished = await run(command, [...before, "test", "tests/sessions", "--reporter", "junit"], {
    cwd: root,
    env: { NO_COLOR: "1" },
    timeout: TEST_TIMEOUT,
  });
  const counted = tallyOfReport(finished.stdout);
  const isTold = finished.code === 0 ? counted.passed > 0 : counted.failed.length > 0;
  return {
    tally: isTold ? counted : sum([counted, oneFailed("tests/sessions: the run of all")]),
    output: outputOf(finished),
  };
}

/** What a gate does not wait for. */
function longTests(options: GateOptions, binary: string): Phase {
  return {
    name: "long",
    after: "compile",
    run: () =>
      withBinary(
        binary,
        () => testFiles("long", TEST_PATHS.long, { ...options, binary, timeout: CRASH_TIMEOUT }),
      ),
  };
}

/** The crash harnesses, as much of them as a gate can wait for, or all in a soak. */
function crashTests(name: "crash" | "soak", options: GateOptions, binary: string): Phase {
  const timeout = name === "soak" ? SOAK_TIMEOUT : CRASH_TIMEOUT;
  return {
    name,
    after: "compile",
    run: () =>
      withBinary(
        binary,
        () =>
          testFiles(name, TEST_PATHS[name], {
            ...options,
            binary,
            timeout,
            parallel: true,
            ...(name === "soak" ? { env: { REPRISE_SOAK: "1" } } : {}),
          }),
      ),
  };
}

/** The progress of `--reporter=dot`: without a terminal a line for each test. */
const PROGRESS = /^[.!,]+\n/gm;

interface TestOptions extends GateOptions {
  /** The binary under test; `null` for the sources. */
  readonly binary: string | null;
  readonly timeout?: number;
  /** Several files at a time: most of these tests wait for processes. */
  readonly parallel?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** Runs `deno test` and counts by its report; types are left to the phase that checks all of them at once. */
async function testFiles(
  name: string,
  { paths, ignore = [] }: TestPaths,
  options: TestOptions,
): Promise<PhaseResult> {
  const report = join(options.workDirectory, `${name.replaceAll(/\W+/g, "-")}.xml`);
  const finished = await run(Deno.execPath(), [
    "test",
    "-A",
    "--no-check",
    ...(options.frozen ? ["--frozen"] : []),
    ...(options.parallel === true ? ["--parallel"] : []),
    "--reporter=dot",
    `--junit-path=${report}`,
    ...(ignore.length === 0 ? [] : [`--ignore=${ignore.join()}`]),
    ...paths,
  ], {
    cwd: options.root,
    env: { NO_COLOR: "1", REPRISE_BIN: options.binary ?? undefined, ...options.env },
    timeout: options.timeout ?? TEST_TIMEOUT,
  });
  const counted = tallyOfReport(readIfThere(report));
  // A module that does not load, a leak or a timeout ends the command without a failed case in the report.
  const unreported = counted.failed.length === 0 &&
    (finished.code !== 0 || counted.passed + counted.skipped.length === 0);
  return {
    tally: unreported ? sum([counted, oneFailed(`${name}: the run of all`)]) : counted,
    output: outputOf(finished).replaceAll(PROGRESS, ""),
  };
}

/** Skips a phase that has no binary to test; that there is none was reported by the compile phase. */
async function withBinary(binary: string, runTests: () => Promise<PhaseResult>): Promise<PhaseResult> {
  try {
    Deno.statSync(binary);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    const reason = "tests of the compiled binary: there is none";
    return { tally: { passed: 0, failed: [], skipped: [reason] }, output: reason };
  }
  return await runTests();
}

function existsIn(options: GateOptions, path: string): boolean {
  return readIfThere(join(options.root, path)) !== "";
}

function readIfThere(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
