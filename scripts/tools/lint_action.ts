/**
 * Checks actions by the JSON schema of action.yml.
 *
 * Usage: `lint_action.ts FILE…`; one line for each finding, exit code 1 when there are any.
 *
 * @module
 */
import { validateAction } from "@action-validator/core";
import { runScript, say } from "../terminal.ts";

function main(paths: readonly string[]): number {
  const findings = paths.flatMap((path) =>
    validateAction(Deno.readTextFileSync(path)).errors.map((error) => `${path}: ${JSON.stringify(error)}`)
  );
  for (const finding of findings) say(finding);
  return findings.length === 0 ? 0 : 1;
}

if (import.meta.main) await runScript(() => Promise.resolve(main(Deno.args)));
