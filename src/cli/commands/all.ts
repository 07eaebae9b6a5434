/**
 * The declarations of all verbs.
 *
 * @module
 */
import type { Verb } from "../declare.ts";
import { FIXTURE_VERBS } from "./fixtures.ts";
import { KEEPING_VERBS } from "./keeping.ts";
import { LOOKING_VERBS } from "./looking.ts";
import { RECORDING_VERBS } from "./recording.ts";
import { RUNNING_VERBS } from "./running.ts";

/** The verbs that are called by their name alone, in the order of the help. */
export const VERBS: readonly Verb[] = [
  ...RUNNING_VERBS,
  ...LOOKING_VERBS,
  ...KEEPING_VERBS,
  ...RECORDING_VERBS,
];

export { FIXTURE_VERBS };
