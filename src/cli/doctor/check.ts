/** One check of `doctor`. */
import { asRepriseError, type ErrorCode, type ExitCode } from "../../domain/errors.ts";

export interface Check {
  readonly name: string;
  /** `missing`: the setting is not there, and a run needs it. `unknown`: it could not be checked. */
  readonly level: "ok" | "missing" | "unknown" | "failed";
  readonly detail: string;
  readonly code?: ErrorCode;
  readonly exit_code?: ExitCode;
}

/** Makes the check that failed with an error. */
export function failed(name: string, error: unknown): Check {
  const { message, hint, code, exitCode } = asRepriseError(error);
  const detail = hint === undefined ? message : `${message} (${hint})`;
  return { name, level: "failed", detail, code, exit_code: exitCode };
}
