import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { outputOf, run } from "../process.ts";
import { sum, type Tally, tallyOfReport } from "./tally.ts";

/** A test that hangs is ended after this time; a soak takes an hour or more. */
const TIMEOUT_MINUTES = { usual: 60, soak: 180 };

/** The progress of `--reporter=dot`: without a terminal, a line for each test. */
const PROGRESS = /^[.!,]+\n/gm;

/** Result of a suite. */
export interface EndedSuite {
  readonly name: string;
  readonly tally: Tally;
  readonly output: string;
  readonly seconds: number;
}

/** Options for running suites. */
export interface SuiteOptions {
  /** The directory of deno.json; an absolute path. */
  readonly root: string;
  /** Number of suites that run at the same time. */
  readonly jobs: number;
  /** Called as each suite ends. */
  readonly onEnd: (ended: EndedSuite) => void;
}

/**
 * Runs suites in list order, `jobs` at a time. A suite is the name of a task in deno.json, or a path of tests (with a
 * slash in it).
 *
 * @throws {RepriseError} `usage` for the name of no task, before anything runs.
 */
export async function runSuites(names: readonly string[], options: SuiteOptions): Promise<EndedSuite[]> {
  const tasks = tasksIn(options.root);
  const unknown = names.find((name) => !name.includes("/") && tasks[name] === undefined);
  if (unknown !== undefined) {
    throw new RepriseError("usage", `Cannot run "${unknown}": deno.json has no such task`, {
      hint: "deno task test [TASK | tests/PATH]…",
    });
  }
  const waiting = [...names];
  const ended: EndedSuite[] = [];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      const suite = await runSuite(name, tasks[name] ?? "deno test", options.root);
      ended.push(suite);
      options.onEnd(suite);
    }
  };
  await Promise.all(Array.from({ length: options.jobs }, worker));
  return ended;
}

/** The command of each task in deno.json. */
export function tasksIn(root: string): Readonly<Record<string, string>> {
  const { tasks } = JSON.parse(Deno.readTextFileSync(join(root, "deno.json"))) as {
    readonly tasks: Readonly<Record<string, { readonly command: string }>>;
  };
  return Object.fromEntries(Object.entries(tasks).map(([name, { command }]) => [name, command]));
}

/** Flags for the tests at a path: those of the clients have packages of their own. */
function flagsOf(path: string): string[] {
  if (path.startsWith("tests/clients")) return ["--config=tests/clients/deno.json"];
  // The unit tests of the tools change the working directory, which parallel tests share.
  return /^tests\/(slow\/)?unit\b/.test(path) ? [] : ["--parallel"];
}

/** Runs a suite, and counts its tests if its command reports them; another command passes or fails as a whole. */
async function runSuite(name: string, command: string, root: string): Promise<EndedSuite> {
  const started = performance.now();
  const report = Deno.makeTempFileSync({ prefix: "reprise-gate-", suffix: ".xml" });
  try {
    const finished = await run(Deno.execPath(), [
      ...(name.includes("/") ? ["test", "-A", "--no-check", ...flagsOf(name), name] : ["task", name]),
      ...(command.includes("deno test") ? ["--reporter=dot", `--junit-path=${report}`] : []),
      ...(command.includes("reprise test") ? ["--reporter", "junit"] : []),
    ], {
      cwd: root,
      // Off by default since Deno 2.8. The test configuration of deno.json cannot say so: Deno 2.6 refuses it.
      env: { NO_COLOR: "1", DENO_TEST_SANITIZE_OPS: "1", DENO_TEST_SANITIZE_RESOURCES: "1" },
      timeout: TIMEOUT_MINUTES[name === "soak" ? "soak" : "usual"] * 60_000,
    });
    const reports = / test\b/.test(command);
    const counted = tallyOfReport(Deno.readTextFileSync(report) || finished.stdout);
    const isWhole = !reports && finished.code === 0;
    // A module that does not load, a leak or a timeout ends the command without a failed case in the report.
    const isUnreported = counted.failed.length === 0 &&
      (finished.code !== 0 || (reports && counted.passed + counted.skipped.length === 0));
    return {
      name,
      tally: sum([counted, { passed: isWhole ? 1 : 0, failed: isUnreported ? [name] : [], skipped: [] }]),
      output: outputOf(finished).replaceAll(PROGRESS, ""),
      seconds: (performance.now() - started) / 1000,
    };
  } finally {
    Deno.removeSync(report);
  }
}
