/** Unit tests of stored sessions, here and on a remote. */
import { load } from "./batch.ts";

await load("unit/store", "unit/remote");
