/** The clients as commands that find their API by the environment. */
import { type Called, denoCache, Sandbox } from "../support/reprise.ts";
import type { Change } from "./support.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** Returns the command line of a client. */
export function commandOf(name: string, change: Change = {}): string[] {
  const config = `--config=${ROOT}tests/clients/deno.json`;
  return [
    Deno.execPath(),
    "run",
    "-A",
    "--quiet",
    "--no-check",
    config,
    `${ROOT}tests/clients/program.ts`,
    name,
    JSON.stringify(change),
  ];
}

/** A sandbox whose programs find the packages. */
export class Place extends Sandbox {
  run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Called> {
    return this.call(args, { env: { ...denoCache(), ...env } });
  }
}
