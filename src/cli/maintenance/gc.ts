/** The verb `gc`: removes blobs that no turn names, and what killed processes left. */
import type { ExitCode } from "../../domain/errors.ts";
import { collectGarbage } from "../../store/lifecycle/remove.ts";
import { openHome } from "../../store/home.ts";
import type { GcFlags } from "./command.ts";
import { makeContext } from "../context.ts";
import { collectScratch } from "../test/scratch.ts";
import type { ProgramPorts } from "../live_ports.ts";

/** Performs `gc`. What is in use or damaged is left alone and named; ends with 14 where the disk refused. */
export async function gcVerb(ports: ProgramPorts, flags: GcFlags): Promise<ExitCode> {
  const context = makeContext(ports, flags);
  const { output } = context;
  const dryRun = flags.dryRun === true;
  const home = openHome(ports, context.home.value, { create: false });
  const found = [await collectGarbage(ports, home, { dryRun }), await collectScratch(ports, { dryRun })];
  const removed = found.flatMap((each) => each.removed);
  const skipped = found.flatMap((each) => each.skipped);
  const exitCode = skipped.some(({ code }) => code.startsWith("storage_")) ? 14 : 0;
  if (output.options.json) {
    output.json({
      removed: dryRun ? [] : removed,
      would_remove: dryRun ? removed : [],
      skipped,
      dry_run: dryRun,
    });
    return exitCode;
  }
  for (const { kind, path } of removed) {
    output.text(`${dryRun ? "would remove" : "removed"} ${path} (${kind})\n`);
  }
  for (const { path, why } of skipped) output.note(`skipped ${path}: ${why}`);
  return exitCode;
}
