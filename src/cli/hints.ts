/** Commands in hints, fitted to the call that they answer. */
import type { RepriseError } from "../domain/errors.ts";
import { commandLine } from "../tools/permission/shell_words.ts";

/** A hint whose commands have the home of the call. */
export function hintAtHome(hint: string, home: string | undefined): string {
  if (home === undefined) return hint;
  return hint.replace(
    /\breprise (?=[a-z])(?![^"]*--home)/g,
    () => `${commandLine(["reprise", "--home", home])} `,
  );
}

/** The value of `--home` among arguments that may be wrong. */
export function homeIn(args: readonly string[]): string | undefined {
  const at = args.findLastIndex((arg) => arg === "--home" || arg.startsWith("--home="));
  // Of `certify`, it has no value.
  if (args[0] === "certify") return undefined;
  const flag = args[at];
  return flag === "--home" ? args[at + 1] : flag?.slice("--home=".length);
}

/** An error whose hint has the home of the call. */
export function errorAtHome(error: RepriseError, home: string | undefined): RepriseError {
  const { hint } = error;
  return home === undefined || hint === undefined ? error : error.withHint(hintAtHome(hint, home));
}
