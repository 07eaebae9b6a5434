/** Unit tests of runs. */
import { load } from "./batch.ts";

await load("unit/run");
