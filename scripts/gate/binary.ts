import { join } from "node:path";
import { RepriseError } from "../../src/domain/errors.ts";
import { build } from "../compile/build.ts";
import { hostTarget } from "../compile/targets.ts";
import type { PhaseResult } from "./phase.ts";
import { hashOfInputs, isUpToDate, writeStamp } from "./stamp.ts";
import { ONE_PASSED } from "./tally.ts";

/** What the compile phase of the gate needs to know. */
export interface BinaryOptions {
  readonly root: string;
  /** Where the binary goes. */
  readonly binary: string;
  readonly frozen: boolean;
}

/**
 * Compiles the binary that the CLI tests run, unless it is up to date. On Linux x64 its runtime comes from npm, so
 * that a network with nothing but a registry will do; elsewhere, where no runtime can be had, the phase is skipped.
 */
export async function makeBinary(options: BinaryOptions): Promise<PhaseResult> {
  const stamp = join(options.root, "dist", "reprise.stamp");
  const configured = Deno.env.get("DENORT_BIN") ?? "";
  const fromNpm = configured === "" && hostTarget() === "linux-x64";
  const inputs = hashOfInputs(options.root, fromNpm ? "npm" : `official ${configured}`);
  if (isUpToDate(stamp, inputs, options.binary)) {
    return { tally: ONE_PASSED, output: "The binary is up to date" };
  }
  const said: string[] = [];
  try {
    await build({
      root: options.root,
      out: options.binary,
      target: null,
      runtimeFromNpm: fromNpm,
      frozen: options.frozen,
      say: (line) => said.push(line),
    });
  } catch (error) {
    // What lies there was made from other sources: testing it would say nothing about these.
    await Deno.remove(options.binary).catch(ignoreNotFound);
    const noRuntime = error instanceof RepriseError && error.code === "network_failed" && !fromNpm;
    if (!noRuntime) throw error;
    return {
      tally: { passed: 0, failed: [], skipped: [`compile: ${error.message}`] },
      output: error.message,
    };
  }
  writeStamp(stamp, inputs, options.binary);
  return { tally: ONE_PASSED, output: said.join("\n") };
}

function ignoreNotFound(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
