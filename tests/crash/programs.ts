/** Programs of these tests, as one file each: a start from sources loads some two hundred modules. */
import assert from "node:assert/strict";

/** Path that the driver looks for on disk when its own work begins. */
export const DRIVER_MARK = '"/crash-driver-begins"';

const bundles = new Map<string, Promise<string>>();
let folder: string | null = null;

globalThis.addEventListener("unload", () => {
  if (folder !== null) Deno.removeSync(folder, { recursive: true });
});

/** Returns the command line of a program of this folder, in front of its arguments. */
export async function commandOf(program: "driver" | "racer"): Promise<string[]> {
  let bundle = bundles.get(program);
  if (bundle === undefined) bundles.set(program, bundle = bundled(program));
  return [Deno.execPath(), "run", "-A", "--no-check", "--no-lock", "--no-config", await bundle];
}

async function bundled(program: string): Promise<string> {
  folder ??= Deno.makeTempDirSync({ prefix: "reprise-programs-" });
  const path = `${folder}/${program}.js`;
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["bundle", "--quiet", "-o", path, new URL(`./${program}.ts`, import.meta.url).pathname],
    // npm, which has the bundler, may be reached by a proxy with its own certificate.
    env: { DENO_TLS_CA_STORE: "mozilla,system" },
    stdin: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return path;
}

/** Result of a run of the driver. */
export interface Run {
  /** Turns that were acknowledged, by number, with their sums. */
  readonly saved: ReadonlyMap<number, string>;
  /** Codes of the errors that the driver reported. */
  readonly refused: readonly string[];
}

/** Runs the driver, which must succeed. */
export async function runDriver(...args: string[]): Promise<Run> {
  const [deno, ...program] = await commandOf("driver") as [string, ...string[]];
  const { success, stdout, stderr } = await new Deno.Command(deno, {
    args: [...program, ...args],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  const saved = new Map<number, string>();
  const refused: string[] = [];
  for (const line of decoder.decode(stdout).split("\n")) {
    const [word, first = "", sum = ""] = line.split(" ");
    if (word === "saved") saved.set(Number(first), sum);
    if (word === "refused") refused.push(first);
  }
  return { saved, refused };
}
