/** The whole program. */
import { ALL_VERBS } from "../verbs.ts";
import { partWith } from "../main.ts";

export const start = partWith(ALL_VERBS);
