/**
 * `deno task bench [NAME…]` measures side by side and prints one table; a missed target is no failure. With `--smoke`
 * (`deno task bench-smoke`) sizes are small and nothing is installed: only a row without numbers is a failure.
 */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { complain, runScript, say } from "../scripts/terminal.ts";
import { asRepriseError, RepriseError } from "../src/domain/errors.ts";
import { append } from "./append.ts";
import { find } from "./find.ts";
import { match } from "./match.ts";
import { open } from "./open.ts";
import { peers } from "./peers.ts";
import { record } from "./record.ts";
import { remote } from "./remote.ts";
import { type Bench, cellsOf, type Context, type Result } from "./report.ts";
import { serve } from "./serve.ts";
import { sse } from "./sse.ts";
import { stall } from "./stall.ts";
import { startup } from "./startup.ts";

const BENCHES: Readonly<Record<string, Bench>> = {
  startup,
  peers,
  append,
  open,
  find,
  sse,
  serve,
  match,
  record,
  stall,
  remote,
};

async function main(args: readonly string[]): Promise<number> {
  const options = { smoke: { type: "boolean", default: false } } as const;
  const { values: { smoke }, positionals } = parseArgs({ args: [...args], allowPositionals: true, options });
  const unknown = positionals.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) {
    const hint = `deno task bench [${Object.keys(BENCHES).join("|")}]…`;
    throw new RepriseError("usage", `Unknown bench ${JSON.stringify(unknown)}`, { hint });
  }
  const root = resolve(import.meta.dirname ?? ".", "..");
  const cache = join(root, ".cache", "bench");
  Deno.mkdirSync(cache, { recursive: true });
  const lines = [["bench", "measured", "against", "number", "target", "", "medians"]];
  let [skipped, problems] = [0, 0];
  for (const [name, bench] of Object.entries(BENCHES)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    complain(`Measuring ${name}`);
    const results = await resultsOf(bench, { root, cache, smoke });
    for (const [key, row] of Object.entries(bench.rows)) {
      const result = typeof results === "string" ? results : results[key] ?? "no result";
      const cells = typeof result === "string" ? [] : cellsOf(row, result);
      const reason = typeof result === "string" ? result : "failed: not a number";
      if (cells.length === 0 && reason.startsWith("failed")) problems++;
      else if (cells.length === 0) skipped++;
      const shown = cells.length === 0 ? [reason] : smoke ? cells.slice(0, 1) : cells;
      lines.push([name, row.what, row.against, ...shown]);
    }
  }
  say(`Deno ${Deno.version.deno}, ${Deno.build.target}${smoke ? "; small sizes" : ""}\n`);
  for (const line of columns(lines)) say(line);
  say(`\n${lines.length - 1} rows, ${skipped} skipped, ${problems} failed`);
  return problems === 0 ? 0 : 1;
}

/** The results of a bench, or a reason: a program that is missing, otherwise `failed: …`. */
async function resultsOf(
  bench: Bench,
  where: Omit<Context, "work">,
): Promise<Readonly<Record<string, Result>> | string> {
  // In the checkout rather than the temp directory: that one may be in memory, where an fsync costs nothing.
  const work = Deno.makeTempDirSync({ dir: where.cache, prefix: "work-" });
  try {
    return await bench.measure({ ...where, work });
  } catch (thrown) {
    const { message } = asRepriseError(thrown);
    const isMissing = message.startsWith("Failed to spawn");
    if (!isMissing) complain(`error: ${message}`);
    return isMissing ? message : `failed: ${message.split("\n")[0]}`;
  } finally {
    Deno.removeSync(work, { recursive: true });
  }
}

/** Lines of cells in columns. The last cell of a line may be longer than its column. */
function columns(lines: readonly (readonly string[])[]): string[] {
  const width = (at: number) =>
    Math.max(...lines.map((line) => at < line.length - 1 ? line[at]?.length ?? 0 : 0));
  const widths = (lines[0] ?? []).map((_, at) => width(at));
  return lines.map((line) => line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ").trimEnd());
}

if (import.meta.main) await runScript(() => main(Deno.args));
