/** The first code of each call. It loads only the parts of the program that the call needs. */
import type { LoadPriceTable } from "../live_ports.ts";
import { HELP } from "./help_text.ts";
import { VERSION } from "../../domain/version.ts";
import { stdout, writeBlocking } from "./streams.ts";

export interface ProgramPart {
  /** Runs the command line; resolves to its exit code. */
  start(args: readonly string[], loadPriceTable: LoadPriceTable): Promise<number>;
}

export type PartName = "all" | "listing" | "playing" | "running" | "viewing";

/** Runs the command line of this process with the part that it needs, and ends the process. */
export async function begin(
  load: (name: PartName) => ProgramPart | Promise<ProgramPart>,
  loadPriceTable: LoadPriceTable,
): Promise<never> {
  const { args } = Deno;
  const [first = ""] = args;
  const text = args.length === 1 ? textOf(first) : null;
  if (text !== null && isPrinted(text)) Deno.exit(0);
  const { start } = await load(partFor(args));
  Deno.exit(await start(args, loadPriceTable));
}

/** Returns the smallest part that has all that a call needs. */
function partFor(args: readonly string[]): PartName {
  const [verb] = args;
  // Also true for a prompt that begins so; the whole program runs any call.
  const has = (flag: string) => args.some((arg) => arg.startsWith(flag));
  if (verb === "ls") return "listing";
  if (verb === "show") return has("--html") || has("--markdown") ? "all" : "viewing";
  if (verb === "run" && !has("--record")) return has("--fixture") ? "playing" : "running";
  return "all";
}

function textOf(flag: string): string | null {
  if (flag === "--version" || flag === "-V") return `${VERSION}\n`;
  return flag === "--help" || flag === "-h" ? HELP : null;
}

/** Prints text; returns false on an error: the whole program reports it. */
function isPrinted(text: string): boolean {
  try {
    writeBlocking(stdout, new TextEncoder().encode(text));
    return true;
  } catch {
    return false;
  }
}
