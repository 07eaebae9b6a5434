/** Unit tests of the tools; some change the working directory of their process. */
import { load } from "./batch.ts";

await load("unit/tools");
