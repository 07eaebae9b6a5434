/** Turns: one party's contribution each, one immutable numbered file each. */
import type { EventDraft, SessionEvent } from "./event.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { JsonObject } from "./json.ts";
import { seal, type Sealed } from "./seal.ts";

/** The format name that every turn file starts with. */
export const TURN_FORMAT = "reprise.turn/1";

/** Settings that a run starts with; on the turn that opens it (a user turn, or `run_continued`). */
export interface Pins {
  /** Provider and endpoint; the account is unknown until a response names it. */
  readonly fingerprint: Fingerprint;
  readonly model: string;
  /** Reasoning effort and summary as the user set them; absent if the user never did. */
  readonly effort?: string;
  readonly summary?: string;
  /** sha256 of the instructions' blob. */
  readonly instructions: string;
  /** sha256 of the blob with the tool schemas, a JSON array. */
  readonly tools: string;
  /** Names of the run's permissions, such as `["read"]`. */
  readonly permissions: readonly string[];
  /** The workspace directory: the only absolute path in a turn. */
  readonly workspace: string;
}

/** Reason why the guard left an item out of a request. */
export type DropReason =
  | "other_provider"
  /** Another agent's session had it, and its origin is not trusted. */
  | "imported"
  | "other_endpoint"
  | "other_account"
  | "other_model"
  | "no_encrypted_content"
  /** Thinking without a signature. */
  | "unsigned"
  /** Thinking that is bound to items that a checkpoint replaced or shortened. */
  | "prefix_changed"
  | "no_following_item"
  | "duplicate_id"
  | "replay_off"
  /** The API refused it by name; `repair --lift-quarantine` sends it again. */
  | "quarantined"
  /** The API refused a request with this item, without naming any item; tried again in the next run. */
  | "refused_in_run"
  | "outside_window"
  | "before_checkpoint"
  /** The API refused the pairing of this call: left out by versions before `calls_as_text`. */
  | "call_refused"
  /** Its response did not complete, so that this call was never run. */
  | "call_not_run"
  /** A hosted or client-side item whose reasoning is not sent, or that cannot be answered. */
  | "reasoning_dropped"
  | "unanswered_call"
  /** `omit` took it out, or an item that it belongs to. */
  | "omitted";

export interface DroppedItem {
  readonly seq: number;
  readonly reason: DropReason;
}

/** Record of the request that a model turn answers. */
export interface RequestRecord {
  /** sha256 of the exact bytes of the request body. */
  readonly body_sha256: string;
  /** Oldest version of the fold's rules that makes `input`. */
  readonly fold: number;
  /** Every field of the body except `input`, in order; `instructions` and `tools` as `{"blob": sha256}`. */
  readonly fields: JsonObject;
  /** Facts that decided about replay, so that the fold can be repeated. */
  readonly replay?: {
    readonly mode: "exact" | "family" | "none";
    readonly window: number | null;
    /** The account that was known when the request was made. */
    readonly account: string | null;
  };
  /** Number of reasoning items that were sent, and the items that were left out. */
  readonly guard: { readonly sent: number; readonly dropped: readonly DroppedItem[] };
  /** Only if the request was sent over a WebSocket. */
  readonly transport?: "ws";
  /** Only if another agent sent the request: it is unknown, and `body_sha256` is the hash of no bytes. */
  readonly imported?: {
    readonly agent: string;
    /** Version of the agent, or `null` if its file does not name it. */
    readonly version: string | null;
    /** First line of the response in the agent's file. */
    readonly line: number;
    /** True if the file is a fork, and has this answer from the session that it was forked from. */
    readonly copied?: true;
  };
}

/** Outcome of a model turn's response, in the provider's terms or ours. */
export interface ResponseRecord extends JsonObject {
  readonly id: string | null;
  /** The provider's `status`, or `interrupted` / `cut` if the stream ended before it. */
  readonly status: string;
}

/** Mark of `export --redact` on a turn whose texts it changed. */
export interface Redaction {
  /** Number of replaced secrets, in the turn and in the blobs that it names. */
  readonly replaced: number;
  /** The `sum` that the turn had before. */
  readonly sum: string;
}

/** Facts about a lost turn, on the turn with which `repair` replaced it. */
export interface Replaces {
  /** The `sum` of the lost turn, which the next turn names; `null` if unknown. */
  readonly sum: string | null;
  /** The lost events; equal to the `seq` of the replacement, which may hold fewer events. */
  readonly seq: readonly [number, number];
  /** Reason of the replacement: a code of `fsck`. */
  readonly reason: string;
}

interface TurnBase {
  readonly format: typeof TURN_FORMAT;
  /** The session that wrote the turn. */
  readonly session: string;
  /** 1, 2, 3, …; also the file name. */
  readonly turn: number;
  readonly run: number;
  /** First and last `seq` of the events. */
  readonly seq: readonly [number, number];
  /** The `sum` of the turn before; `null` in turn 1. */
  readonly prev: string | null;
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** Only if secrets were removed from the turn: its requests fold to other bytes. */
  readonly redacted?: Redaction;
  readonly events: readonly SessionEvent[];
  /** sha256 of all bytes of the file before this member. */
  readonly sum: string;
}

interface UserTurn extends TurnBase {
  readonly kind: "user";
  readonly pins: Pins;
}
export interface ModelTurn extends TurnBase {
  readonly kind: "model";
  readonly model: { readonly asked: string; readonly answered: string | null };
  readonly fingerprint: Fingerprint;
  readonly response: ResponseRecord;
  readonly request: RequestRecord;
}
interface ToolsTurn extends TurnBase {
  readonly kind: "tools";
}
interface HarnessTurn extends TurnBase {
  readonly kind: "harness";
  /** Only if the turn opens a run, with `run_continued`. */
  readonly pins?: Pins;
  /** Only if the turn replaces a lost turn. */
  readonly replaces?: Replaces;
}

interface CompactionTurn extends TurnBase {
  readonly kind: "compaction";
  /** A copy of the previous run's pins, so that opening needs nothing older. */
  readonly pins: Pins;
}

/** The first turn that a fork wrote itself; it starts with a `session_fork`. */
export interface ForkTurn extends TurnBase {
  readonly kind: "fork";
}

export type Turn = UserTurn | ModelTurn | ToolsTurn | HarnessTurn | CompactionTurn | ForkTurn;

/** The writer's part of a turn; the store adds numbers, `prev`, `sum`, and `at` if the draft has none. */
export type TurnDraft = Turn extends infer T ? T extends Turn ?
      & Omit<T, "format" | "session" | "turn" | "seq" | "prev" | "at" | "events" | "sum">
      & { readonly events: readonly EventDraft[]; readonly at?: string }
  : never
  : never;

/** The position of a new turn, which the store adds to a draft. */
interface TurnPlace {
  readonly session: string;
  readonly turn: number;
  readonly firstSeq: number;
  /** Only for a replacement that represents more events than it holds. */
  readonly lastSeq?: number;
  readonly prev: string | null;
  readonly at: string;
}

export interface EncodedTurn extends Sealed {
  readonly turn: Turn;
}

/**
 * Encodes a draft as its file: one JSON object, one event a line, `sum` last.
 *
 * @throws {RangeError} when the draft has no events.
 */
export function encodeTurn(draft: TurnDraft, place: TurnPlace): EncodedTurn {
  if (draft.events.length === 0) throw new RangeError("A turn needs at least one event");
  const { events: drafts, kind, run, at = place.at, ...rest } = draft;
  const events = drafts.map((event, index) => ({ seq: place.firstSeq + index, ...event }) as SessionEvent);
  const head = {
    format: TURN_FORMAT,
    session: place.session,
    turn: place.turn,
    kind,
    run,
    seq: [place.firstSeq, place.lastSeq ?? place.firstSeq + events.length - 1] as const,
    prev: place.prev,
    at,
    ...rest,
  };
  const headText = JSON.stringify(head).slice(0, -1);
  const eventLines = events.map((event) => `  ${JSON.stringify(event)}`).join(",\n");
  const sealed = seal(`${headText},\n "events":[\n${eventLines}],\n `);
  return { ...sealed, turn: { ...head, events, sum: sealed.sum } as Turn };
}

/** The file name of a turn: six digits at least. */
export function turnFileName(turn: number): string {
  return `${String(turn).padStart(6, "0")}.json`;
}

/** Event kinds that may also appear between two runs, in a turn of their own. */
const BETWEEN_RUNS: ReadonlySet<string> = new Set([
  "replay_notice",
  "calls_as_text",
  "history_compaction",
  "result_elided",
  "compaction_withdrawn",
  "items_omitted",
  "omission_withdrawn",
  "session_fork",
  "branch_summary",
  "turn_replaced",
  "blob_lost",
  "session_renamed",
]);

/**
 * True for turns that may follow the end of a run without opening the next one. They include fallback results for
 * earlier calls without a result.
 */
export function isBetweenRuns(turn: Pick<Turn, "kind" | "events">): boolean {
  if (turn.kind !== "harness" && turn.kind !== "compaction" && turn.kind !== "fork") return false;
  return turn.events.every((event) =>
    BETWEEN_RUNS.has(event.type) || event.type === "tool_result" && event.status === "orphaned"
  );
}
