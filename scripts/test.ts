/**
 * `deno task test`: the gate that goes before a commit; CI runs the long parts as well. Ends with one line
 * `N passed, N failed, N skipped` and exit code 1 where something failed.
 *
 * `--only checks|unit|slow|cli|source|sessions|fuzz|long|crash|soak` (repeatable) runs parts of it. With `REPRISE_CI=1` a skipped test
 * is a failed one and deno.lock is frozen.
 *
 * @module
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { RepriseError } from "../src/domain/errors.ts";
import { type EndedPhase, runPhases } from "./gate/phase.ts";
import { DEFAULT_GROUPS, type Group, GROUPS, phasesOf } from "./gate/phases.ts";
import { closingLine, sum, withoutSkips } from "./gate/tally.ts";
import { runScript, say } from "./terminal.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");

async function main(args: readonly string[]): Promise<number> {
  const groups = parseGroups(args);
  const strict = Deno.env.get("REPRISE_CI") === "1";
  const workDirectory = Deno.makeTempDirSync({ prefix: "reprise-gate-" });
  try {
    const ended = await runPhases(phasesOf(groups, { root: ROOT, workDirectory, frozen: strict }), {
      jobs: Math.min(4, Math.max(2, navigator.hardwareConcurrency)),
      onEnd: report,
      now: () => performance.now(),
    });
    const counted = sum(ended.map((phase) => phase.tally));
    for (const name of counted.skipped) say(`skipped${strict ? " (a failure here)" : ""}: ${name}`);
    const result = strict ? withoutSkips(counted) : counted;
    for (const name of counted.failed) say(`failed: ${name}`);
    say(closingLine(result));
    return result.failed.length === 0 ? 0 : 1;
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
}

function parseGroups(args: readonly string[]): readonly Group[] {
  const hint = `deno task test [--only ${GROUPS.join("|")}]`;
  try {
    const { only = [] } = parseArgs({
      args: [...args],
      options: { only: { type: "string", multiple: true } },
    }).values;
    const unknown = only.find((name) => !GROUPS.some((group) => group === name));
    if (unknown !== undefined) throw new Error(`Unknown part of the gate: "${unknown}"`);
    return only.length === 0 ? DEFAULT_GROUPS : GROUPS.filter((group) => only.includes(group));
  } catch (error) {
    throw new RepriseError("usage", error instanceof Error ? error.message : String(error), { hint });
  }
}

function report(phase: EndedPhase): void {
  const { passed, failed, skipped } = phase.tally;
  const counts = [`${passed} passed`, `${failed.length} failed`, `${skipped.length} skipped`].filter((text) =>
    !text.startsWith("0 ")
  );
  say(
    `${failed.length > 0 ? "FAILED" : "ok"}  ${phase.name}: ${counts.join(", ")} (${
      phase.seconds.toFixed(1)
    } s)`,
  );
  if (failed.length > 0) say(phase.output.replace(/^/gm, "    "));
  else if (phase.name === "compile") say(phase.output.replace(/^/gm, "    "));
}

if (import.meta.main) await runScript(() => main(Deno.args));
