/**
 * Whether the session in `start/` of a session test can be gone on with: the check of `fsck`, before it is copied.
 *
 * @module
 */
import type { Ports } from "../domain/ports.ts";
import { KIND_NAMES } from "../fixture/file_kinds.ts";
import { attempt, finding, type LintFinding } from "../fixture/tend/lint_finding.ts";
import { fsckDirectory } from "../store/fsck.ts";
import { pathsAt } from "../store/layout.ts";
import { startedSession } from "./session_test/start.ts";

/** What is no fault here: git keeps no modes, and a run that was stopped can be gone on with. */
const NO_FAULT: ReadonlySet<string> = new Set(["wrong_mode", "orphan_call"]);

/** Lints `start/` in the folder of a test, which may hold none. @throws {ReprError} `storage_*`. */
export async function lintStart(ports: Ports, directory: string): Promise<LintFinding[]> {
  const root = `${directory}/start`;
  const kind = ports.files.facts(root)?.kind;
  if (kind === undefined) return [];
  if (kind !== "directory") return [finding("error", "bad_start", "start", `it is ${KIND_NAMES[kind]}`)];
  const findings: LintFinding[] = [];
  const id = attempt(findings, "bad_start", "start/manifest.json", () => startedSession(directory));
  if (id === null) return findings;
  // Whoever plays the test owns the copy, so that the owner of the folder does not matter.
  const anyOwner = { ...ports, process: { ...ports.process, user: null } };
  const { findings: found } = await fsckDirectory(anyOwner, pathsAt(root, id));
  return found.flatMap(({ severity, code, path, message }) =>
    severity === "info" || NO_FAULT.has(code)
      ? []
      : [finding(severity, "bad_start", `start/${path}`, `it ${message}`)]
  );
}
