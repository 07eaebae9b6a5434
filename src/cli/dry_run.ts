/** Documents of verbs that change something. */
import type { DryRun, PlannedChange } from "../schemas/parts.ts";

/** Returns the document of a dry run: the same members for each verb, then `facts` of the verb. */
export function dryRunOf<Facts extends object>(
  verb: string,
  changes: readonly PlannedChange[],
  facts: Facts,
): Facts & DryRun {
  return { type: "dry_run", ...facts, dry_run: true, verb, changes };
}

/** Returns the document of a verb that changed something or, in a dry run, only planned to. */
export function changeDocument<Facts extends object>(
  { verb, dryRun, changes }: {
    readonly verb: string;
    readonly dryRun: boolean;
    readonly changes: readonly PlannedChange[];
  },
  facts: Facts,
): Facts & (DryRun | { readonly dry_run: false }) {
  return dryRun ? dryRunOf(verb, changes, facts) : { ...facts, dry_run: false };
}

/** The same change of each of several things. */
export function plannedChanges(
  action: PlannedChange["action"],
  what: PlannedChange["what"],
  names: readonly (string | null)[],
): PlannedChange[] {
  return names.map((name) => ({ action, what, name }));
}
