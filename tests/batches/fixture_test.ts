/** Unit tests of fixtures. */
import { load } from "./batch.ts";

await load("unit/fixture");
