/** All verbs. The code of each is loaded when it is called. */
import type { Verb } from "./declare.ts";
import { COMPLETION_VERBS } from "./completion/command.ts";
import { FIXTURE_VERBS } from "./fixture/command.ts";
import { INSPECTION_VERBS } from "./inspection/command.ts";
import { MAINTENANCE_VERBS } from "./maintenance/command.ts";
import { REMOTE_VERBS } from "./remote/command.ts";
import { RUNNING_VERBS } from "./run/command.ts";
import { RECORDING_VERBS } from "./serve/command.ts";

/** The verbs that a part of the program knows. */
export interface Verbs {
  /** In the order of the help. */
  readonly top: readonly Verb[];
  /** Those of `fixture`. */
  readonly fixture: readonly Verb[];
}

/** The verbs of the whole program. */
export const ALL_VERBS: Verbs = {
  top: [
    ...RUNNING_VERBS,
    ...INSPECTION_VERBS,
    ...MAINTENANCE_VERBS,
    ...REMOTE_VERBS,
    ...RECORDING_VERBS,
    ...COMPLETION_VERBS,
  ],
  fixture: FIXTURE_VERBS,
};
