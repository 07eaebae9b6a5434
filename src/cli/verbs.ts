/** All verbs. Calls of one verb do without this list: see `load_verbs.ts`. */
import type { Verb } from "./declare.ts";
import { COMPLETION_VERBS } from "./completion/command.ts";
import { INSPECTION_VERBS } from "./inspection/command.ts";
import { MAINTENANCE_VERBS } from "./maintenance/command.ts";
import { REMOTE_VERBS } from "./remote/command.ts";
import { RUNNING_VERBS } from "./run/command.ts";
import { RECORDING_VERBS } from "./serve/command.ts";

/** The top-level verbs, in the order of the help. */
export const VERBS: readonly Verb[] = [
  ...RUNNING_VERBS,
  ...INSPECTION_VERBS,
  ...MAINTENANCE_VERBS,
  ...REMOTE_VERBS,
  ...RECORDING_VERBS,
  ...COMPLETION_VERBS,
];

export { FIXTURE_VERBS } from "./fixture/command.ts";
