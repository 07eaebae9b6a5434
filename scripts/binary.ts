/**
 * `deno task binary`: builds dist/reprise, the binary under test, unless it is up to date. On Linux x64 its runtime
 * comes from npm, so that a network with only a registry is enough; `DENORT_BIN` names another.
 */
import { join, resolve } from "node:path";
import { sha256Hex } from "../src/domain/hash.ts";
import { build } from "./compile/build.ts";
import { hostTarget } from "./compile/targets.ts";
import { runScript, say } from "./terminal.ts";

/** Files and folders that the binary is made from, relative to the root. */
const INPUTS = [
  "deno.json",
  "deno.lock",
  "src",
  "scripts/compile",
  "scripts/process.ts",
  // Its calls decide which functions are in the executable as compiled code.
  "scripts/demo",
  "fixtures/demo",
];

/**
 * Builds the binary under test, unless it is up to date.
 *
 * @returns its path.
 * @throws {RepriseError} as {@linkcode build} does.
 */
export async function buildTestBinary(root: string): Promise<string> {
  const dist = join(root, "dist");
  Deno.mkdirSync(dist, { recursive: true });
  // Suites that run side by side need the same binary: one builds it, the others wait.
  using lock = Deno.openSync(join(dist, "reprise.lock"), { create: true, write: true });
  await lock.lock(true);
  const out = join(dist, Deno.build.os === "windows" ? "reprise.exe" : "reprise");
  await buildIfStale({ root, out, stamp: join(dist, "reprise.stamp"), inputsOf: root, say });
  return out;
}

/** Build of a binary, and the file that records its inputs. */
export interface StampedBuild {
  /** The directory of the `main.ts` to build. */
  readonly root: string;
  /** True for a program that a bench compares with. @default {false} */
  readonly plain?: boolean;
  readonly out: string;
  readonly stamp: string;
  /** The checkout whose files are the inputs. */
  readonly inputsOf: string;
  /** A further input. */
  readonly salt?: string;
  readonly say: (line: string) => void;
}

/**
 * Builds a binary for this machine unless its stamp says that it is up to date.
 *
 * @throws {RepriseError} as {@linkcode build} does.
 */
export async function buildIfStale(
  { root, plain = false, out, stamp, inputsOf, salt = "", say }: StampedBuild,
): Promise<void> {
  const configured = Deno.env.get("DENORT_BIN") ?? "";
  const runtimeFromNpm = configured === "" && hostTarget() === "linux-x64";
  const inputs = hashOfInputs(inputsOf, `${runtimeFromNpm ? "npm" : `official ${configured}`} ${salt}`);
  if (isUpToDate(stamp, inputs, out)) return;
  await build({ root, plain, out, target: null, runtimeFromNpm, say });
  writeStamp(stamp, inputs, out);
}

/** One hash of all that the binary is made from: the sources and `runtime`, a name for the runtime. */
export function hashOfInputs(root: string, runtime: string): string {
  const parts = INPUTS.flatMap((path) => [...filesOf(root, path)]).map((path) =>
    `${path} ${sha256Hex(Deno.readFileSync(join(root, path)))}`
  );
  return sha256Hex([runtime, ...parts].join("\n"));
}

/** Checks if the stamp at `stampPath` says that `binary` was made from `inputs`. */
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

/** The binary is hashed too: another one may have been compiled to the same place. */
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

async function main(): Promise<number> {
  await buildTestBinary(resolve(import.meta.dirname ?? ".", ".."));
  return 0;
}

if (import.meta.main) await runScript(main);
