/** The manifest: a small cache that is derived only from the turns. */
import { type CheckpointRef, type HistoryCompactionEvent, MAX_TITLE_LENGTH } from "./event.ts";
import { type RunState } from "./session_states.ts";
import { addUsage, NO_USAGE, type Usage } from "./usage.ts";
import { isJsonObject } from "./json.ts";
import { seal, type Sealed } from "./seal.ts";
import { headOf } from "./text.ts";
import { isBetweenRuns, type Pins, type Turn } from "./turn.ts";

/**
 * The format name of manifests. A change that earlier readers would misread gets a new number: they leave such a manifest
 * alone. They ignore a further member.
 */
export const MANIFEST_FORMAT = "reprise.manifest/1";

/** Facts for `ls`, `@last` and opening, without reading old turns. Its size does not grow with the session. */
export interface Manifest {
  readonly format: typeof MANIFEST_FORMAT;
  readonly session: string;
  /** The session that wrote turn 1: forks keep it, and with it the provider's prompt cache key. */
  readonly family: string;
  /** The session that this one was forked from; absent if it is not a fork. */
  readonly parent?: string;
  /** The newest title that a person gave the session; otherwise the beginning of its first prompt. */
  readonly title: string;
  readonly created_at: string;
  /** Time of the newest turn that does more than give a title. */
  readonly updated_at: string;
  /** The newest turn that this manifest includes. */
  readonly head: { readonly turn: number; readonly seq: number; readonly sum: string };
  readonly run: number;
  /** `open` while no `run_ended` of the newest run is on disk. */
  readonly state: RunState | "open";
  /** The pins of the newest run. */
  readonly pins: Pins;
  /** Sum over all ended runs. */
  readonly usage: Usage;
  /** The checkpoint in force: opening reads the turns after its `to_turn`. */
  readonly checkpoint: CheckpointRef | null;
  /** Sizes of the files up to the head. The store adds them; absent in manifests of earlier versions. */
  readonly bytes?: ByteTotals;
}

/** Sizes of a session's files, in bytes. */
export interface ByteTotals {
  readonly turns: number;
  readonly blobs: number;
}

/**
 * The manifest after one more turn, without `bytes`. `manifest` is `null` for turn 1.
 *
 * @throws {TypeError} when turn 1 does not open a run: such a file is damage.
 */
export function advanceManifest(manifest: Manifest | null, session: string, turn: Turn): Manifest {
  const parent = turn.events.find((event) => event.type === "session_fork")?.parent ?? manifest?.parent;
  const renamed = turn.events.findLast((event) => event.type === "session_renamed");
  // A title is no use of a session: it does not make an old one the latest.
  const isOnlyRenamed = turn.events.every(({ type }) => type === "session_renamed");
  const opened = "pins" in turn ? turn.pins : undefined;
  const ended = turn.events.findLast((event) => event.type === "run_ended");
  // Turns between runs do not change the state of the last run.
  const state = ended?.state ?? (isBetweenRuns(turn) ? manifest?.state : undefined) ?? "open";
  const pins = opened ?? manifest?.pins;
  if (pins === undefined) throw new TypeError(`Turn ${turn.turn} opens no run, and no turn before it does`);
  return {
    format: MANIFEST_FORMAT,
    session,
    family: manifest?.family ?? turn.session,
    ...(parent === undefined ? {} : { parent }),
    title: renamed?.title ?? manifest?.title ?? titleByPrompt(turn),
    created_at: manifest?.created_at ?? turn.at,
    updated_at: manifest !== null && isOnlyRenamed ? manifest.updated_at : turn.at,
    head: { turn: turn.turn, seq: turn.seq[1], sum: turn.sum },
    run: turn.run,
    state,
    pins,
    usage: ended === undefined
      ? manifest?.usage ?? NO_USAGE
      : addUsage(manifest?.usage ?? NO_USAGE, ended.usage),
    checkpoint: checkpointAfter(manifest?.checkpoint ?? null, turn),
  };
}

/**
 * True if a manifest that was advanced by one turn differs only by its end, as in the middle of a run: what `ls` shows and
 * where opening begins are the same.
 */
export function isOnlyLonger(before: Manifest | null, after: Manifest): boolean {
  return before !== null && before.run === after.run && before.state === after.state &&
    before.title === after.title &&
    before.usage === after.usage && before.checkpoint === after.checkpoint && before.pins === after.pins;
}

/** The manifest of a whole history, without `bytes`; `null` without a turn. */
export function wholeManifest(session: string, turns: readonly Turn[]): Manifest | null {
  let manifest: Manifest | null = null;
  for (const turn of turns) manifest = advanceManifest(manifest, session, turn);
  return manifest;
}

/** The checkpoint in force after one more turn. */
export function checkpointAfter(before: CheckpointRef | null, { turn, events }: Turn): CheckpointRef | null {
  let checkpoint = before;
  for (const event of events) {
    if (event.type === "history_compaction") checkpoint = checkpointRefOf(event, turn);
    else if (event.type === "compaction_withdrawn" && event.checkpoint === checkpoint?.seq) {
      checkpoint = event.restored ?? null;
    }
  }
  return checkpoint;
}

/** Returns the reference to a checkpoint in turn `turn`. */
export function checkpointRefOf(event: HistoryCompactionEvent, turn: number): CheckpointRef {
  const { seq, to_turn, to_seq, opening_turn } = event;
  return { turn, seq, to_turn, to_seq, opening_turn };
}

/** The exact bytes of a manifest file. */
export function encodeManifest(manifest: Manifest): Sealed {
  return seal(`${JSON.stringify(manifest).slice(0, -1)},\n `);
}

/** The beginning of the prompt in the first turn of a session. */
function titleByPrompt(turn: Turn): string {
  for (const event of turn.events) {
    if (event.type !== "user_message") continue;
    const text = event.content.map((part) =>
      isJsonObject(part) && typeof part.text === "string" ? part.text : ""
    )
      .join(" ").replace(/\s+/g, " ").trim();
    if (text !== "") return headOf(text, MAX_TITLE_LENGTH);
  }
  return "";
}
