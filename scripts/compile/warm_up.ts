/**
 * Runs a part of the program in the runtime of the executable, and keeps the code that V8 compiled on the way.
 *
 * Usage: `warm_up DIR PART ARGUMENTS…`; the exit code is that of the program, or 70 if V8 refused its own code.
 *
 * @module
 */
import { codeFile, loadPart } from "../../src/cli/start/embedded_script.ts";
import { filesIn } from "../../src/cli/start/part_files.ts";
import type { PartName } from "../../src/cli/start/begin.ts";

const [directory = ".", name = "all", ...args] = Deno.args;
const part = loadPart(filesIn(directory), name as PartName);
/** Played fixtures cost nothing. */
const noPrices = () => Promise.reject(new Error("The price list was loaded for a played fixture"));
const exitCode = part.isAccepted ? await part.start(args, noPrices) : 70;
if (exitCode === 0) {
  Deno.writeFileSync(`${directory}/${codeFile(name as PartName)}`, part.compiledCode());
}
Deno.exit(exitCode);
