/** Unit tests of the APIs, of what they send and receive, and of the values in between. */
import { load } from "./batch.ts";

await load("unit/apis", "unit/transport", "unit/domain", "unit/fold", "unit/compaction");
