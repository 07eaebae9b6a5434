/**
 * `deno task bench` measures side by side and prints one table: each operation, its reference in the same rounds, the
 * ratio and its target. `deno task bench NAME…` runs some benches, with their details.
 *
 * - `--against BINARY` compares with an earlier reprise where a bench can.
 * - `--json` prints JSON Lines.
 * - `--out DIR` is where the growth bench puts its drawings (default: `bench/out`).
 * - `--quick` takes small sizes.
 * - `--smoke` takes small sizes of all benches, and only checks that each row is there with numbers.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { asRepriseError, RepriseError } from "../src/domain/errors.ts";
import { complain, runScript, say } from "../scripts/terminal.ts";
import type { Bench, BenchContext } from "./bench.ts";
import { findBench } from "./find.ts";
import { foldBench } from "./fold.ts";
import { fsckBench } from "./fsck.ts";
import { growthBench } from "./growth.ts";
import { svgOf } from "./curves.ts";
import { keptBench } from "./kept.ts";
import { lineBench } from "./line.ts";
import { matchBench } from "./match.ts";
import { memoryBench } from "./memory.ts";
import { peersBench } from "./peers.ts";
import { publishBench } from "./publish.ts";
import { recordBench } from "./record.ts";
import { remoteBench } from "./remote.ts";
import { jsonLines, type Report, table } from "./report.ts";
import { serveBench } from "./serve.ts";
import { sseBench } from "./sse.ts";
import { closingLine, problemsOf } from "./smoke.ts";
import { startupBench } from "./startup.ts";
import { suiteBench } from "./suite.ts";
import { type Outcome, summary } from "./summary.ts";
import { wireBench } from "./wire.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const BENCHES: Readonly<Record<string, Bench>> = {
  startup: startupBench,
  peers: peersBench,
  publish: publishBench,
  fold: foldBench,
  fsck: fsckBench,
  find: findBench,
  sse: sseBench,
  line: lineBench,
  serve: serveBench,
  match: matchBench,
  suite: suiteBench,
  record: recordBench,
  remote: remoteBench,
  memory: memoryBench,
  wire: wireBench,
  kept: keptBench,
  growth: growthBench,
};
/** Benches without targets, which run only by name. */
const BY_NAME: readonly string[] = ["kept", "growth"];

/**
 * Runs the benches that `args` ask for. Missed targets are no failure; a bench that cannot run is.
 *
 * @throws {RepriseError} `usage` for an unknown flag or bench.
 */
async function main(args: readonly string[]): Promise<number> {
  const { flags, names } = parseFlags(args);
  const smoke = flags.smoke ?? false;
  const chosen = Object.keys(BENCHES).filter((name) =>
    names.length === 0 ? smoke || !BY_NAME.includes(name) : names.includes(name)
  );
  const cacheDirectory = join(ROOT, ".cache", "bench");
  Deno.mkdirSync(cacheDirectory, { recursive: true });
  const prepared = flags.json === true ? () => {} : complain;
  if (flags.json !== true) {
    say(`Deno ${Deno.version.deno}, ${Deno.build.target}; ratios are medians of pairs\n`);
  }
  // In the checkout rather than the temp directory: that one may be in memory, where an fsync costs nothing.
  const workDirectory = Deno.makeTempDirSync({ dir: cacheDirectory, prefix: "work-" });
  const context: BenchContext = {
    root: ROOT,
    cacheDirectory,
    workDirectory,
    quick: smoke || (flags.quick ?? false),
    smoke,
    against: flags.against === undefined ? null : resolve(flags.against),
    say: prepared,
  };
  const out = smoke ? workDirectory : resolve(flags.out ?? join(ROOT, "bench", "out"));
  const outcomes: Outcome[] = [];
  try {
    for (const name of chosen) {
      prepared(`Measuring ${name}`);
      const report = await reportOf(name, context);
      outcomes.push({ bench: name, report });
      if (typeof report === "string") complain(`error: Cannot run bench "${name}": ${report}`);
      if (typeof report !== "string") { for (const path of drawn(report, out)) prepared(`Drew ${path}`); }
      for (const line of linesOf(name, report, { ...flags, named: names.length > 0 && !smoke })) say(line);
    }
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
  if (smoke) return endSmoke(outcomes);
  const ranked = outcomes.filter(({ report }) => typeof report === "string" || report.rows.length > 0);
  if (flags.json !== true && ranked.length > 0) {
    for (const line of summary(ranked)) say(line);
  }
  return outcomes.every(({ report }) => typeof report !== "string") ? 0 : 1;
}

/** Prints the problems of a smoke run and returns its exit code. */
function endSmoke(outcomes: readonly Outcome[]): number {
  const problems = outcomes.flatMap((outcome) => problemsOf(outcome));
  for (const problem of problems) complain(`error: ${problem}`);
  say(closingLine(outcomes, problems.length));
  return problems.length === 0 ? 0 : 1;
}

/** The report of a bench, or why it failed. */
async function reportOf(name: string, context: BenchContext): Promise<Report | string> {
  try {
    return await (BENCHES[name] as Bench)(context);
  } catch (thrown) {
    return asRepriseError(thrown).message;
  }
}

/** Writes the drawings of a report into `directory`, and returns their paths. */
function drawn({ curves = [] }: Report, directory: string): string[] {
  return curves.map((curve) => {
    Deno.mkdirSync(directory, { recursive: true });
    const path = join(directory, `${curve.file}.svg`);
    Deno.writeTextFileSync(path, svgOf(curve));
    return path;
  });
}

/** JSON Lines, or for a bench that was named its own table. */
function linesOf(
  name: string,
  report: Report | string,
  { json, named }: { readonly json?: boolean | undefined; readonly named: boolean },
): string[] {
  if (typeof report === "string") {
    return json === true ? [JSON.stringify({ bench: name, error: report })] : [];
  }
  if (json === true) return jsonLines(name, report);
  return named ? table(name, report) : [];
}

function parseFlags(args: readonly string[]) {
  const hint = `deno task bench [${
    Object.keys(BENCHES).join("|")
  }]… [--quick] [--smoke] [--json] [--against BINARY] [--out DIR]`;
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: "boolean" },
        smoke: { type: "boolean" },
        json: { type: "boolean" },
        against: { type: "string" },
        out: { type: "string" },
      },
    });
    const unknown = positionals.find((name) => !Object.hasOwn(BENCHES, name));
    if (unknown !== undefined) throw new Error(`Unknown bench ${JSON.stringify(unknown)}`);
    return { flags: values, names: positionals };
  } catch (error) {
    throw new RepriseError("usage", error instanceof Error ? error.message : String(error), { hint });
  }
}

if (import.meta.main) await runScript(() => main(Deno.args));
