/**
 * Time and peak memory of whole processes, taken by a small C program that waits for them.
 *
 * @module
 */
import { join } from "node:path";
import { RepriseError } from "../src/domain/errors.ts";
import type { BenchContext } from "./bench.ts";
import { hasProgram, outputOfProgram, type Start } from "./programs.ts";

/** Time and memory of one process. */
export interface Taken {
  readonly ms: number;
  /** The most that the process, or one of its children, ever held; in MB. */
  readonly megabytes: number;
}

/** Runs a program to its end and returns what it took. */
export type Meter = (start: Start) => Taken;

/**
 * Compiles the C program; `null` without a C compiler. The meter throws `unexpected` when a program ends with another
 * code than 0.
 */
export function peakMeter({ root, workDirectory }: BenchContext): Meter | null {
  if (!hasProgram("cc")) return null;
  const meter = join(workDirectory, "peak");
  outputOfProgram({ program: "cc", args: ["-O2", "-o", meter, join(root, "bench", "peak.c")] });
  return (start) => {
    const output = outputOfProgram({ ...start, program: meter, args: [start.program, ...start.args] });
    const [nanoseconds = NaN, kilobytes = NaN, code = NaN] = output.trim().split(" ").map(Number);
    if (code !== 0) {
      throw new RepriseError(
        "unexpected",
        `Cannot measure "${
          [start.program, ...start.args.slice(0, 6)].join(" ")
        }": it ended with exit code ${code}`,
      );
    }
    return { ms: nanoseconds / 1e6, megabytes: kilobytes * 1024 / 1e6 };
  };
}

/** Times and memory of a program, round by round. */
export interface TakenRounds {
  readonly ms: readonly number[];
  readonly megabytes: readonly number[];
}

/** Divides rounds into their times and their memory. */
export function roundsOf(taken: readonly Taken[]): TakenRounds {
  return { ms: taken.map(({ ms }) => ms), megabytes: taken.map(({ megabytes }) => megabytes) };
}
