import { join } from "node:path";
import { sha256Hex } from "../../src/domain/hash.ts";

/** What goes into the binary, relative to the root: files and whole folders. */
const INPUTS = ["main.ts", "deno.json", "deno.lock", "src", "scripts/compile", "scripts/process.ts"];

/** One hash of all that the binary is made from: the sources, our Deno and `runtime`, a name for the runtime. */
export function hashOfInputs(root: string, runtime: string): string {
  const parts = INPUTS.flatMap((path) => [...filesOf(root, path)]).map((path) =>
    `${path} ${sha256Hex(Deno.readFileSync(join(root, path)))}`
  );
  return sha256Hex([Deno.version.deno, runtime, ...parts].join("\n"));
}

/** True when the stamp at `stampPath` says that `binary` is the one made from `inputs`. */
export function isUpToDate(stampPath: string, inputs: string, binary: string): boolean {
  try {
    return Deno.readTextFileSync(stampPath) === stampOf(inputs, binary);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** Notes at `stampPath` that `binary` was made from `inputs`. */
export function writeStamp(stampPath: string, inputs: string, binary: string): void {
  Deno.writeTextFileSync(stampPath, stampOf(inputs, binary));
}

/** The binary is hashed too: somebody may have compiled another one to the same place. */
function stampOf(inputs: string, binary: string): string {
  return `inputs ${inputs}\nbinary ${sha256Hex(Deno.readFileSync(binary))}\n`;
}

function* filesOf(root: string, path: string): Generator<string> {
  const facts = Deno.statSync(join(root, path));
  if (facts.isFile) yield path;
  if (!facts.isDirectory) return;
  const names = [...Deno.readDirSync(join(root, path))].map((entry) => entry.name).sort();
  for (const name of names) yield* filesOf(root, `${path}/${name}`);
}
