import { RepriseError } from "../domain/errors.ts";
import type { Manifest } from "../domain/manifest.ts";

/**
 * Refuses to continue without a prompt if no run is unfinished.
 *
 * @throws {RepriseError} `nothing_to_continue` when there is no run yet, or the last one completed or was refused.
 */
export function requireUnfinished(session: string, manifest: Manifest | null): void {
  if (manifest !== null && manifest.state !== "completed" && manifest.state !== "refused") return;
  const found = manifest === null ? "it has no run yet" : `the state of its last run is "${manifest.state}"`;
  throw new RepriseError("nothing_to_continue", `Session "${session}" has no unfinished run: ${found}`, {
    hint: `Start the next run with a prompt: reprise run -s ${session} "…"`,
  });
}
