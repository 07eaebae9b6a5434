/**
 * The declarations of all verbs.
 *
 * @module
 */
import type { Verb } from "./declare.ts";
import { FIXTURE_VERBS } from "./fixture/command.ts";
import { MAINTENANCE_VERBS } from "./maintenance/command.ts";
import { INSPECTION_VERBS } from "./inspection/command.ts";
import { RECORDING_VERBS } from "./serve/command.ts";
import { RUNNING_VERBS } from "./run/command.ts";

/** The verbs that are called by their name alone, in the order of the help. */
export const VERBS: readonly Verb[] = [
  ...RUNNING_VERBS,
  ...INSPECTION_VERBS,
  ...MAINTENANCE_VERBS,
  ...RECORDING_VERBS,
];

export { FIXTURE_VERBS };
