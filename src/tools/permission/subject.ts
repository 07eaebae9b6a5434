/**
 * What a call is about, found before it runs: the part of it that rules can be written for.
 *
 * @module
 */

/** Which tools a rule means when it names none: those that only read, those that write files, the shell. */
export type ToolGroup = "read" | "write" | "shell";

/** What a call acts on. */
export type Target =
  | { readonly kind: "none" }
  | {
    readonly kind: "path";
    /** Relative to the workspace, links resolved, with forward slashes; `.` is the workspace itself. */
    readonly path: string;
  }
  | {
    readonly kind: "command";
    /** The program and its arguments; `null` when only a shell can tell what the command line does. */
    readonly argv: readonly string[] | null;
    /** Exactly what will run, as one command line: what a person is asked about, what is recorded. */
    readonly line: string;
  };

/** A call as the policy sees it. */
export interface CallSubject {
  readonly tool: string;
  readonly group: ToolGroup;
  readonly target: Target;
}
