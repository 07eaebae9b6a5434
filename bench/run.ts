/**
 * `deno task bench`: every bench prints ratios against something that ran beside it in the same rounds, with the
 * target next to it. `--only NAME` (repeatable) runs some, `--quick` small sizes, `--json` prints JSON Lines,
 * `--against BINARY` compares with an earlier reprise where a bench can.
 *
 * @module
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { asRepriseError, RepriseError } from "../src/domain/errors.ts";
import { complain, runScript, say } from "../scripts/terminal.ts";
import type { Bench, BenchContext } from "./bench.ts";
import { foldBench } from "./fold.ts";
import { fsckBench } from "./fsck.ts";
import { keptBench } from "./kept.ts";
import { lineBench } from "./line.ts";
import { matchBench } from "./match.ts";
import { publishBench } from "./publish.ts";
import { recordBench } from "./record.ts";
import { jsonLines, table } from "./report.ts";
import { serveBench } from "./serve.ts";
import { sseBench } from "./sse.ts";
import { startupBench } from "./startup.ts";

const ROOT = resolve(import.meta.dirname ?? ".", "..");
const BENCHES: Readonly<Record<string, Bench>> = {
  startup: startupBench,
  publish: publishBench,
  fold: foldBench,
  fsck: fsckBench,
  sse: sseBench,
  line: lineBench,
  serve: serveBench,
  match: matchBench,
  record: recordBench,
  kept: keptBench,
};

/**
 * Runs the benches that `args` ask for. Missed targets are no failure; a bench that cannot run is.
 *
 * @throws {RepriseError} `usage` for an unknown flag or bench.
 */
async function main(args: readonly string[]): Promise<number> {
  const flags = parseFlags(args);
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
    quick: flags.quick ?? false,
    against: flags.against === undefined ? null : resolve(flags.against),
    say: prepared,
  };
  const chosen = Object.entries(BENCHES).filter(([name]) => flags.only?.includes(name) ?? true);
  let failed = 0;
  try {
    for (const [name, bench] of chosen) {
      try {
        const report = await bench(context);
        for (const line of flags.json === true ? jsonLines(name, report) : table(name, report)) say(line);
      } catch (thrown) {
        failed++;
        const error = asRepriseError(thrown);
        if (flags.json === true) say(JSON.stringify({ bench: name, ...error.toJSON() }));
        complain(`error: Cannot run bench "${name}": ${error.message}`);
      }
    }
  } finally {
    Deno.removeSync(workDirectory, { recursive: true });
  }
  return failed === 0 ? 0 : 1;
}

function parseFlags(args: readonly string[]) {
  const hint = `deno task bench [--only ${
    Object.keys(BENCHES).join("|")
  }]… [--quick] [--json] [--against BINARY]`;
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        only: { type: "string", multiple: true },
        quick: { type: "boolean" },
        json: { type: "boolean" },
        against: { type: "string" },
      },
    });
    const unknown = values.only?.find((name) => !Object.hasOwn(BENCHES, name));
    if (unknown !== undefined) throw new Error(`Unknown bench ${JSON.stringify(unknown)}`);
    return values;
  } catch (error) {
    throw new RepriseError("usage", error instanceof Error ? error.message : String(error), { hint });
  }
}

if (import.meta.main) await runScript(() => main(Deno.args));
