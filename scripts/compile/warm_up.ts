/**
 * Runs a script of the program in the runtime of the executable, and keeps the code that V8 compiled on the way.
 *
 * Usage: `warm_up DIR PART ARGUMENTS…`, or `warm_up DIR prices MODEL`; the exit code is that of the program, or 70 if V8
 * refused its own code.
 *
 * @module
 */
import { type LoadedScript, loadPart, loadPriceTable } from "../../src/cli/start/embedded_script.ts";
import { filesIn } from "../../src/cli/start/part_files.ts";
import type { PartName } from "../../src/cli/start/begin.ts";

const [directory = ".", name = "all", ...args] = Deno.args;
const loadPrices = () => Promise.resolve(loadPriceTable(filesIn(directory)));

/** Looks up a price; the exit code says whether there is one. */
function price(model = ""): [LoadedScript, number] {
  const table = loadPriceTable(filesIn(directory));
  const usage = { input_tokens: 1, cached_tokens: 0, output_tokens: 1, reasoning_tokens: 0 };
  return [table, table.listPrice("openai", model, { usage, at: new Date() }) === null ? 1 : 0];
}

async function runPart(part: PartName): Promise<[LoadedScript, number]> {
  const loaded = loadPart(filesIn(directory), part);
  return [loaded, loaded.isAccepted ? await loaded.start(args, loadPrices) : 70];
}

const [script, exitCode] = name === "prices" ? price(args[0]) : await runPart(name as PartName);
if (exitCode === 0) {
  for (const [file, code] of script.compiledCode()) Deno.writeFileSync(`${directory}/${file}`, code);
}
Deno.exit(exitCode);
