/** Unit tests of the command line, the scripts, the helpers, the benches and the test servers. */
import { load } from "./batch.ts";

await load("unit/cli", "unit/prices", "unit/bench", "unit/scripts", "unit/npm", "support");
