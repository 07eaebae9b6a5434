/** One thing that a call without `--dry-run` would do. */
export interface PlannedChange {
  readonly action: "append" | "create" | "end" | "listen" | "remove" | "replace" | "run" | "send" | "stop";
  readonly what:
    | "blob"
    | "command"
    | "exchange"
    | "file"
    | "fixture"
    | "process"
    | "request"
    | "run"
    | "session"
    | "turn";
  /** The id, path or URL; `null` if it has none yet. */
  readonly name: string | null;
}

export interface DryRun {
  readonly type: "dry_run";
  readonly dry_run: true;
  /** The verb, such as `compact` or `fixture seal`. */
  readonly verb: string;
  /** In the order in which they would happen; empty if nothing would. */
  readonly changes: readonly PlannedChange[];
}

/** Returns the document of a dry run: the same members for each verb, then `facts` of the verb. */
export function dryRunOf<Facts extends object>(
  verb: string,
  changes: readonly PlannedChange[],
  facts: Facts,
): Facts & DryRun {
  return { type: "dry_run", ...facts, dry_run: true, verb, changes };
}

/** The same change of each of several things. */
export function each(
  action: PlannedChange["action"],
  what: PlannedChange["what"],
  names: readonly (string | null)[],
): PlannedChange[] {
  return names.map((name) => ({ action, what, name }));
}
