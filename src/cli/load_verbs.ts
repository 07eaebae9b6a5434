/** Loads the declarations that a call needs: building the parser of every verb takes longer than most verbs. */
import type { Verb } from "./declare.ts";

export interface Verbs {
  readonly top: readonly Verb[];
  readonly fixture: readonly Verb[];
}

type Load = () => Promise<readonly Verb[]>;

const running: Load = async () => (await import("./run/command.ts")).RUNNING_VERBS;
const viewing: Load = async () => (await import("./inspection/viewing.ts")).VIEWING_VERBS;
const inspection: Load = async () => (await import("./inspection/command.ts")).INSPECTION_VERBS;
const maintenance: Load = async () => (await import("./maintenance/command.ts")).MAINTENANCE_VERBS;
const remote: Load = async () => (await import("./remote/command.ts")).REMOTE_VERBS;
const recording: Load = async () => (await import("./serve/command.ts")).RECORDING_VERBS;

const completion: Load = async () => (await import("./completion/command.ts")).COMPLETION_VERBS;

const FAMILY_OF: Readonly<Record<string, Load | undefined>> = {
  run: running,
  interrupt: running,
  compact: running,
  omit: running,
  fork: running,
  ls: viewing,
  show: viewing,
  search: viewing,
  explain: inspection,
  stats: inspection,
  doctor: inspection,
  repair: maintenance,
  fsck: maintenance,
  rename: maintenance,
  export: maintenance,
  import: maintenance,
  rm: maintenance,
  config: maintenance,
  sync: remote,
  record: recording,
  serve: recording,
  test: recording,
  completions: completion,
  schema: completion,
};

/** Loads the verb that the first argument names; all verbs if it names none, for help and suggestions. */
export async function loadVerbs([name = ""]: readonly string[]): Promise<Verbs> {
  const family = Object.hasOwn(FAMILY_OF, name) ? await FAMILY_OF[name]?.() : undefined;
  const top = family?.filter((verb) => verb.name === name) ?? [];
  if (top.length > 0) return { top, fixture: [] };
  if (name === "fixture") return { top: [], fixture: (await import("./fixture/command.ts")).FIXTURE_VERBS };
  const { FIXTURE_VERBS, VERBS } = await import("./verbs.ts");
  return { top: VERBS, fixture: FIXTURE_VERBS };
}
