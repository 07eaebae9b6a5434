/**
 * Mutants: logic errors, each against a written promise, that the tests have to notice. `deno task mutants` tries them
 * one at a time. After a redesign a row is adapted, never dropped.
 */
import { HELPER_MUTANTS } from "./helpers.ts";
import { FAULT_MUTANTS } from "./faults.ts";
import { MERGE_MUTANTS } from "./merges.ts";
import { CERTIFY_MUTANTS } from "./certify.ts";
import { RECORDING_EDGES } from "./recording_edges.ts";
import { RECORDING_PAIRS } from "./recording_pairs.ts";
import { RECORDING_MUTANTS } from "./recordings.ts";
import { RUN_EDGES } from "./run_edges.ts";
import { RUN_MUTANTS } from "./runs.ts";
import { SESSION_EDGES } from "./session_edges.ts";
import { SESSION_MUTANTS } from "./sessions.ts";
import { WIRE_MUTANTS } from "./wire.ts";

/** One logic error. */
export interface Mutant {
  /** Source file, relative to the repository. */
  readonly file: string;
  /** Text that occurs exactly once in the file. */
  readonly text: string;
  readonly replacement: string;
  /** Promise that the error breaks, after the page that makes it. */
  readonly promise: string;
  /** Folders and files below `tests/` whose tests are the likeliest to notice it: they run first. */
  readonly area: readonly string[];
}

/** All mutants. */
export const MUTANTS: readonly Mutant[] = [
  ...SESSION_MUTANTS,
  ...SESSION_EDGES,
  ...RUN_MUTANTS,
  ...RUN_EDGES,
  ...RECORDING_MUTANTS,
  ...RECORDING_EDGES,
  ...RECORDING_PAIRS,
  ...MERGE_MUTANTS,
  ...HELPER_MUTANTS,
  ...WIRE_MUTANTS,
  ...CERTIFY_MUTANTS,
  ...FAULT_MUTANTS,
];
