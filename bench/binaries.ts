/** The executables that are measured, both of the same runtime, bundler, compiler and flags. */
import { join } from "node:path";
import { buildIfStale, buildTestBinary } from "../scripts/binary.ts";
import { complain as say } from "../scripts/terminal.ts";
import { sha256Hex } from "../src/domain/hash.ts";
import type { Context } from "./report.ts";

/** Returns the paths of reprise and of `bare.ts`, made from the present sources. */
export async function makeBinaries({ root, cache, work }: Context) {
  const out = join(cache, "bare");
  const source = Deno.readTextFileSync(join(root, "bench", "bare.ts"));
  Deno.mkdirSync(`${out}-program`, { recursive: true });
  Deno.writeTextFileSync(`${out}-program/main.ts`, source);
  const inputs = { inputsOf: root, salt: sha256Hex(source), stamp: `${out}.stamp` };
  await buildIfStale({ root: `${out}-program`, plain: true, out, ...inputs, say });
  // Another call may build again meanwhile: under these names the measured files do not change.
  const binaries = { reprise: join(work, "reprise"), bare: join(work, "bare") };
  Deno.linkSync(await buildTestBinary(root), binaries.reprise);
  Deno.linkSync(out, binaries.bare);
  return binaries;
}
