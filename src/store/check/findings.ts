/**
 * Findings of a check, and the looks that every path gets.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { DIRECTORY_MODE, FILE_MODE } from "../layout.ts";
import { type Looked, lookForDirectory, lookForFile } from "../read/safe_open.ts";

/** One thing that a check found. Only `error` makes a session damaged. */
export interface Finding {
  readonly severity: "error" | "warning" | "info";
  /** A stable name, such as `bad_sum`; all are listed in docs/format.md. */
  readonly code: string;
  /** Inside the session, such as `turns/000003.json`; `.` is its directory. */
  readonly path: string;
  /** What was found there, to be read after the path. */
  readonly message: string;
  /** The number of the turn that it is about. */
  readonly turn?: number;
}

/** Takes one finding. */
export type Findings = (
  severity: Finding["severity"],
  code: string,
  finding: Pick<Finding, "path" | "message" | "turn">,
) => void;

interface Where {
  /** Inside the session, for the finding. */
  readonly path: string;
  readonly add: Findings;
}

/** Looks at what should be a directory of ours with mode 0700. Throws the runtime's errors. */
export function checkDirectory(ports: Ports, path: string, where: Where): "ok" | "missing" | "refused" {
  return checked(lookForDirectory(ports, path), { ...where, mode: DIRECTORY_MODE });
}

/** Looks at what should be a regular file of ours with mode 0600. Throws the runtime's errors. */
export function checkFile(ports: Ports, path: string, where: Where): Looked {
  const looked = lookForFile(ports, path);
  checked(looked, { ...where, mode: FILE_MODE });
  return looked;
}

function checked(
  looked: Looked,
  { path, add, mode }: Where & { readonly mode: number },
): "ok" | "missing" | "refused" {
  if (looked.status === "refused") add("error", looked.code, { path, message: looked.message });
  if (looked.status !== "ok") return looked.status;
  const found = looked.facts.mode;
  if (found !== null && (found & 0o777) !== mode) {
    const octal = (bits: number) => (bits & 0o777).toString(8).padStart(4, "0");
    add("warning", "wrong_mode", { path, message: `has mode ${octal(found)} instead of ${octal(mode)}` });
  }
  return "ok";
}
