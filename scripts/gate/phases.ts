import { join } from "node:path";
import { outputOf, run } from "../process.ts";
import { makeBinary } from "./binary.ts";
import { tallyOfReport } from "./junit.ts";
import type { Phase, PhaseResult } from "./phase.ts";
import { ONE_PASSED, oneFailed, sum } from "./tally.ts";

/** The parts of the gate that can be run alone. */
export const GROUPS = [
  "checks",
  "unit",
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
    ...(groups.includes("cli") ? cliTests(options, binary) : []),
    ...(groups.includes("source")
      ? [sourceTests("cli (source)", ["tests/cli"], options), sourceSessions(options)]
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

/** Tests of processes, and tests that take longer than a gate should: phases of their own. */
const SLOW_UNIT = [
  "tests/fixture/fault/clients_test.ts",
  "tests/fixture/import/recordings_test.ts",
  "tests/fixture/round_trip_test.ts",
];
const BESIDE_UNIT = ["tests/cli", "tests/crash", "tests/long", "tests/clients", ...SLOW_UNIT];

function unitTests(options: GateOptions): Phase {
  return {
    name: "unit",
    run: () => testFiles("unit", ["tests", `--ignore=${BESIDE_UNIT.join()}`], { ...options, binary: null }),
  };
}

/** The unit tests that try random cases, with the numbers that the README names. */
export const SAMPLED = [
  "tests/compaction/random_compaction_test.ts",
  "tests/fixture/secrets/blobs_test.ts",
  "tests/fixture/secrets/leaks_test.ts",
  "tests/fixture/secrets/scrubber_test.ts",
  "tests/fixture/secrets/stream_test.ts",
  "tests/fold/mixed_history_test.ts",
  "tests/fold/random_history_test.ts",
  "tests/store/damage_test.ts",
  "tests/store/escape_test.ts",
  "tests/tools/confine_test.ts",
  "tests/tools/generated_paths_test.ts",
  "tests/transport/cuts_test.ts",
  "tests/transport/damage_test.ts",
] as const;

function fuzzTests(options: GateOptions): Phase {
  const env = { REPRISE_SAMPLES: "all" };
  return {
    name: "fuzz",
    run: () => testFiles("fuzz", SAMPLED, { ...options, binary: null, env, parallel: true }),
  };
}

/** Where the sources must do alone what the binary does elsewhere: the demo, and one run in JSON. */
const SOURCE_SAMPLE = ["tests/cli/demo_test.ts", "tests/cli/fixture_test.ts"];

/** Command line tests that wait or start much; CI runs them on the binary with the long ones. */
const SLOW_CLI = [
  "tests/cli/bad_network_test.ts",
  "tests/cli/ci_doc_test.ts",
  "tests/cli/interrupt_test.ts",
  "tests/cli/provider_loop_test.ts",
  "tests/cli/record_test.ts",
  "tests/cli/serve_test.ts",
  "tests/cli/shell_stop_test.ts",
  "tests/cli/stop_test.ts",
  "tests/cli/test_verb_test.ts",
];

/** The suite against the compiled binary (`REPRISE_BIN`), and a sample of it against `deno run`. */
function cliTests(options: GateOptions, binary: string): Phase[] {
  return [
    sourceTests("cli (source, sample)", SOURCE_SAMPLE, options),
    {
      name: "cli (binary)",
      after: "compile",
      run: () =>
        withBinary(
          binary,
          () => testFiles("cli-binary", ["tests/cli", `--ignore=${SLOW_CLI.join()}`], { ...options, binary }),
        ),
    },
  ];
}

function sourceTests(name: string, paths: readonly string[], options: GateOptions): Phase {
  return { name, run: () => testFiles("cli-source", paths, { ...options, binary: null }) };
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

/** Long streams, many clients, and the official clients of others: what a gate does not wait for. */
function longTests(options: GateOptions, binary: string): Phase {
  return {
    name: "long",
    after: "compile",
    run: () =>
      withBinary(
        binary,
        () =>
          testFiles("long", ["tests/long", "tests/clients"], { ...options, binary, timeout: CRASH_TIMEOUT }),
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
          testFiles(name, name === "soak" ? ["tests/crash", "tests/long"] : ["tests/crash"], {
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
async function testFiles(name: string, paths: readonly string[], options: TestOptions): Promise<PhaseResult> {
  const report = join(options.workDirectory, `${name}.xml`);
  const finished = await run(Deno.execPath(), [
    "test",
    "-A",
    "--no-check",
    ...(options.frozen ? ["--frozen"] : []),
    ...(options.parallel === true ? ["--parallel"] : []),
    "--reporter=dot",
    `--junit-path=${report}`,
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
