/** Unit tests of runs, and of sessions of other agents. */
import { load } from "./batch.ts";

await load("unit/run", "unit/agents");
