/** Unit tests of stored sessions. */
import { load } from "./batch.ts";

await load("unit/store");
