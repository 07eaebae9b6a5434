/** Commands in hints, fitted to the call that they answer. */
import { RepriseError } from "../domain/errors.ts";
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
  const { code, message, hint, details, cause } = error;
  if (home === undefined || hint === undefined) return error;
  return new RepriseError(code, message, { hint: hintAtHome(hint, home), details, cause });
}
