/** Runs of several steps against a scripted API. */
import { CHECKPOINTS } from "./checkpoint_loops.ts";
import { LOOPS } from "./loops.ts";
import { runRow } from "./runs.ts";

for (const [name, row] of Object.entries({ ...LOOPS, ...CHECKPOINTS })) runRow(name, row);
