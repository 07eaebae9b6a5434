/** All verbs. The code of each is loaded when it is called. */
import type { Verb } from "./declare.ts";
import { CERTIFY_VERB } from "./certify/command.ts";
import { COMPACT_VERB } from "./compact/command.ts";
import { COMPLETIONS_VERB } from "./completions/command.ts";
import { CONFIG_VERB } from "./config/command.ts";
import { DOCTOR_VERB } from "./doctor/command.ts";
import { EXPLAIN_VERB } from "./explain/command.ts";
import { EXPORT_VERB } from "./export/command.ts";
import { FIXTURE_VERBS } from "./fixture/command.ts";
import { FORK_VERB } from "./fork/command.ts";
import { FSCK_VERB } from "./fsck/command.ts";
import { IMPORT_VERB } from "./import/command.ts";
import { INTERRUPT_VERB } from "./interrupt/command.ts";
import { LS_VERB } from "./ls/command.ts";
import { OMIT_VERB } from "./omit/command.ts";
import { RECORD_VERB } from "./record/command.ts";
import { RENAME_VERB } from "./rename/command.ts";
import { REPAIR_VERB } from "./repair/command.ts";
import { RM_VERB } from "./rm/command.ts";
import { RUN_VERB } from "./run/command.ts";
import { SCHEMA_VERB } from "./schema/command.ts";
import { SEARCH_VERB } from "./search/command.ts";
import { SERVE_VERB } from "./serve/command.ts";
import { SHOW_VERB } from "./show/command.ts";
import { STATS_VERB } from "./stats/command.ts";
import { SYNC_VERB } from "./sync/command.ts";
import { TEST_VERB } from "./test/command.ts";

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
    RUN_VERB,
    INTERRUPT_VERB,
    COMPACT_VERB,
    OMIT_VERB,
    FORK_VERB,
    LS_VERB,
    SEARCH_VERB,
    SHOW_VERB,
    EXPLAIN_VERB,
    STATS_VERB,
    DOCTOR_VERB,
    REPAIR_VERB,
    FSCK_VERB,
    RENAME_VERB,
    EXPORT_VERB,
    IMPORT_VERB,
    RM_VERB,
    CONFIG_VERB,
    SYNC_VERB,
    RECORD_VERB,
    SERVE_VERB,
    TEST_VERB,
    CERTIFY_VERB,
    COMPLETIONS_VERB,
    SCHEMA_VERB,
  ],
  fixture: FIXTURE_VERBS,
};
