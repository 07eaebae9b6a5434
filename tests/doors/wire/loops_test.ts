/** Runs of several steps against a scripted API. */
import { LOOPS } from "./loops.ts";
import { runRow } from "./runs.ts";

for (const [name, row] of Object.entries(LOOPS)) runRow(name, row);
