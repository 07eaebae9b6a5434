/**
 * `deno task test [TASK | PATH]…`: runs tasks of deno.json side by side and counts their tests. Without arguments it
 * is the gate before a commit: `check`, `unit`, `unit-tools` and `cli`. A PATH is a file or folder of tests, run on the sources.
 *
 * The last line is `N passed, N failed, N skipped`; the exit code is 1 if a test failed. With `REPRISE_CI=1` a
 * skipped test is a failed one.
 *
 * @module
 */
import { resolve } from "node:path";
import { type EndedSuite, runSuites } from "./gate/suites.ts";
import { closingLine, sum, withoutSkips } from "./gate/tally.ts";
import { runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
/** The longest first; `check` and `unit-tools` leave a core to it. */
const BEFORE_A_COMMIT = ["cli", "check", "unit-tools", "unit"];

async function main(args: readonly string[]): Promise<number> {
  const ended = await runSuites(args.length === 0 ? BEFORE_A_COMMIT : args, {
    root: ROOT,
    jobs: Math.min(4, Math.max(2, navigator.hardwareConcurrency)),
    onEnd: report,
  });
  const strict = Deno.env.get("REPRISE_CI") === "1";
  const counted = sum(ended.map(({ tally }) => tally));
  for (const name of counted.skipped) say(`skipped${strict ? " (a failure here)" : ""}: ${name}`);
  for (const name of counted.failed) say(`failed: ${name}`);
  const result = strict ? withoutSkips(counted) : counted;
  say(closingLine(result));
  return result.failed.length === 0 ? 0 : 1;
}

function report({ name, tally, output, seconds }: EndedSuite): void {
  const failed = tally.failed.length > 0;
  say(`${failed ? "FAILED" : "ok"}  ${name}: ${closingLine(tally)} (${seconds.toFixed(1)} s)`);
  if (failed) say(output.replace(/^/gm, "    "));
}

if (import.meta.main) await runScript(() => main(Deno.args));
