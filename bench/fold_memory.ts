/**
 * A process that opens and folds the session in the home `HOME` and prints, as JSON, the bytes of memory that it held
 * before, and the most that it held by then. A first session in the home `WARM` loads what any session needs.
 *
 * Usage: `fold_memory WARM HOME`; Linux.
 *
 * @module
 */
import { openAndFold } from "./fold.ts";
import { memoryNow, peakMemory } from "./servers.ts";

const [warm = "", home = ""] = Deno.args;
openAndFold(warm);
const before = memoryNow(Deno.pid);
const { entries } = openAndFold(home);
const peak = peakMemory(Deno.pid);
await new Blob([JSON.stringify({ before, peak, entries: entries.length })]).stream()
  .pipeTo(Deno.stdout.writable);
