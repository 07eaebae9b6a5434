/** `rm --unused`: removes blobs that no turn names, and leftovers of killed processes. */
import type { ExitCode } from "../../domain/errors.ts";
import { openHome } from "../../store/home.ts";
import { collectGarbage } from "../../store/lifecycle/remove.ts";
import type { Context } from "../context.ts";
import { dryRunOf, each } from "../dry_run.ts";
import { collectScratch } from "../test/scratch.ts";
import type { RmFlags } from "./command.ts";

/** Performs `rm --unused`. Skips and reports sessions in use or damaged; returns 14 after a disk error. */
export async function removeUnused(context: Context, flags: RmFlags): Promise<ExitCode> {
  const { output, ports } = context;
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: false });
  const found = [await collectGarbage(ports, home, { dryRun }), await collectScratch(ports, { dryRun })];
  const removed = found.flatMap((each) => each.removed);
  const skipped = found.flatMap((each) => each.skipped);
  const exitCode = skipped.some(({ code }) => code.startsWith("storage_")) ? 14 : 0;
  if (output.options.json) {
    output.json<"rm-unused">(
      dryRun
        ? dryRunOf("rm", each("remove", "file", removed.map(({ path }) => path)), {
          removed: [],
          would_remove: removed,
          skipped,
        })
        : { removed, would_remove: [], skipped, dry_run: false },
    );
    return exitCode;
  }
  for (const { kind, path } of removed) {
    output.text(`${dryRun ? "would remove" : "removed"} ${path} (${kind})\n`);
  }
  for (const { path, why } of skipped) output.note(`skipped ${path}: ${why}`);
  return exitCode;
}
