/** Events: the smallest records inside a turn. Provider items are kept whole and verbatim. */
import type { RunState } from "./session_states.ts";
import type { JsonObject } from "./json.ts";
import type { ErrorCode, ExitCode } from "./errors.ts";
import type { Fingerprint } from "./fingerprint.ts";
import type { Usage } from "./usage.ts";

/** The longest title of a session, in UTF-16 units. */
export const MAX_TITLE_LENGTH = 80;

/** An element of an API's `input` or `output`, as it was received. Always has a string `type`. */
export interface Item extends JsonObject {
  readonly type: string;
}

/** A large content that is stored in `blobs/`, with its size. */
export interface BlobRef {
  /** Lower-case hex sha256 of the content; also its file name. */
  readonly sha256: string;
  readonly bytes: number;
  /** Set when the content is not UTF-8, so that text made from it lost something. */
  readonly lossy?: true;
}

/** Outcome of a tool call. Every status but `ok` is an error result for the model. */
export type ToolResultStatus =
  | "ok"
  /** The tool ran and failed. */
  | "error"
  /** The model named a tool that was not offered. */
  | "unknown_tool"
  /** The arguments are not JSON, or do not fit the tool's schema. */
  | "invalid_arguments"
  /** The permissions of the run, or the person asked, did not allow it. */
  | "denied"
  /** The same response used this call id before. */
  | "duplicate_call_id"
  /** The run was stopped while the tool ran: it may or may not have had an effect. */
  | "interrupted"
  /** The call was not started. */
  | "not_run"
  /** The process died: the call may or may not have run. Recorded by the next writer. */
  | "orphaned";

/** Error of a run, kept in its `run_ended`. */
export interface RunError extends JsonObject {
  readonly code: ErrorCode;
  readonly message: string;
}

interface EventBase {
  /** Session-wide number: 1, 2, 3, … without gaps. */
  readonly seq: number;
}

export interface UserMessageEvent extends EventBase {
  readonly type: "user_message";
  /** Content parts in the Responses shape, such as `{"type":"input_text","text":"…"}`. */
  readonly content: readonly Item[];
}
/** A file that is part of the next `user_message` of its turn, and is sent before the parts of that message. */
export interface AttachmentEvent extends EventBase {
  readonly type: "attachment";
  /** Name of the file, without directories. */
  readonly name: string;
  /** By the content: a type of {@link mediaTypeOf} in `attachment.ts`. */
  readonly media_type: string;
  readonly blob: BlobRef;
}
interface ItemEvent<Type extends string> extends EventBase {
  readonly type: Type;
  readonly item: Item;
  /** Set if the content of the item came only in deltas: it is not as the provider's own event has it. */
  readonly from_deltas?: true;
}
type AssistantMessageEvent = ItemEvent<"assistant_message">;
export type ReasoningEvent = ItemEvent<"reasoning">;
/** A `function_call` or `custom_tool_call` item with a `call_id`, or a `tool_use` block with an `id`. */
export type ToolCallEvent = ItemEvent<"tool_call">;
export interface ToolResultEvent extends EventBase {
  readonly type: "tool_result";
  /** The provider's id of the call that this result answers. */
  readonly call_id: string;
  /** The `seq` of that call's event: exact even when a server repeats a call id. */
  readonly call_seq: number;
  readonly tool: string;
  readonly status: ToolResultStatus;
  /** Result for the model: well-formed text, cut to head and tail when `blob` holds the whole output. */
  readonly output: string;
  readonly blob?: BlobRef;
}
export type ProviderItemEvent = ItemEvent<"provider_item">;
interface ProviderUsageEvent extends EventBase {
  readonly type: "provider_usage";
  /** The provider's usage object, verbatim. */
  readonly usage: JsonObject;
}
export interface PermissionDecisionEvent extends EventBase {
  readonly type: "permission_decision";
  readonly call_id: string;
  readonly call_seq: number;
  readonly tool: string;
  readonly decision: "allowed" | "denied";
  /** Such as `allowed_by_rule`, `not_allowed`, `no_terminal`. */
  readonly reason: string;
  /** The rule that decided, as the user wrote it. */
  readonly rule?: string;
}
/** Decision about one event of the history, made by a person or after a refusal of the API. */
export interface ReplayAction {
  readonly seq: number;
  /**
   * `quarantined`: never sent again until lifted. `left_out`: not sent in this run, tried again in the next.
   * `stripped`: sent without `field`. `lifted`: sent again.
   */
  readonly action: "quarantined" | "left_out" | "stripped" | "lifted";
  readonly field?: string;
}
/** A member that an endpoint refuses on items of a type. */
interface RefusedMember {
  readonly item_type: string;
  readonly field: string;
}
/** The endpoint and account that refused an item: the refusal counts only for them. */
export type RefusalScope = Pick<Fingerprint, "endpoint" | "portless" | "account" | "key">;
export interface ReplayNoticeEvent extends EventBase {
  readonly type: "replay_notice";
  readonly reason: "reasoning_refused" | "call_refused" | "unknown_field" | "quarantine_lifted";
  readonly items: readonly ReplayAction[];
  /** Endpoint and account that refused. If absent, those that each item's own turn names. */
  readonly scope?: RefusalScope;
  /** A member that the endpoint of `scope` refuses on every item of a type: later items go there without it too. */
  readonly member?: RefusedMember;
  readonly error?: RunError;
}
/** Calls and results that later requests hold as text of the user, because an API refused their pairing. */
interface CallsAsTextEvent extends EventBase {
  readonly type: "calls_as_text";
  readonly call_seqs: readonly number[];
  readonly error?: RunError;
}
/**
 * Optional parts that a request can omit. `include`, `stream_options`, `prompt_cache_key`: fields that not every server
 * knows. `binding_check`: the check that refuses thinking bound to another conversation; the request asks the server
 * to drop such thinking instead (protocol §11). `drop_block`: that request to drop, for servers that do not know it.
 * `raw_arguments`: arguments of calls that are no JSON object, which the request repairs.
 */
export type Omission =
  | "include"
  | "stream_options"
  | "prompt_cache_key"
  | "binding_check"
  | "drop_block"
  | "raw_arguments";

interface EndpointNoticeEvent extends EventBase {
  readonly type: "endpoint_notice";
  readonly endpoint: string;
  readonly model: string;
  /** The part that later requests to this endpoint for this model omit. */
  readonly without: Omission;
  readonly error?: RunError;
}
/** Origin of a checkpoint: a rule, or a model's summary. */
export type CompactionStrategy = "deterministic" | "model";
/** A request field that an endpoint refuses for a model: an `endpoint_notice`, as a checkpoint copies it. */
export interface StandingNotice {
  readonly endpoint: string;
  readonly model: string;
  readonly without: Omission;
}
/** The account that a response named, and the key that its request went out with. */
export type KnownAccount = Pick<Fingerprint, "provider" | "endpoint"> & {
  readonly account: string;
  /** As in {@linkcode Fingerprint}. */
  readonly key: string;
};
export interface HistoryCompactionEvent extends EventBase {
  readonly type: "history_compaction";
  /** The checkpoint replaces every event up to this `seq`. */
  readonly to_seq: number;
  readonly to_turn: number;
  /** The `seq` of the previous checkpoint, or `null`. */
  readonly previous_checkpoint: number | null;
  /** The turn whose user message stays verbatim because the cut lies inside its run; `null` between runs. */
  readonly opening_turn: number | null;
  readonly strategy: CompactionStrategy;
  readonly summary: string;
  readonly limitations: readonly string[];
  /** Number of entries that it removed from the request, by kind. */
  readonly dropped?: { readonly [kind: string]: number };
  /** Notices about endpoints up to `to_seq`, so that opening needs nothing older. */
  readonly endpoint_notices?: readonly StandingNotice[];
  /** The accounts that were known at `to_seq`, for the same reason. */
  readonly accounts?: readonly KnownAccount[];
  /** Omissions up to `to_seq` of the message that stays verbatim, for the same reason. */
  readonly omitted?: readonly StandingOmission[];
  /** Tokens that the open run had used when the checkpoint was written. */
  readonly run_usage?: Usage;
  /** Facts that a model's summary was checked against, and the findings. */
  readonly verification?: JsonObject;
  /** The request that created the checkpoint: `model {asked, answered}`, `body_sha256`, `usage`. */
  readonly request?: JsonObject;
}
/** Position of a checkpoint and the events that it replaces: enough to open a session from it. */
export interface CheckpointRef {
  /** The turn and the `seq` of its `history_compaction`. */
  readonly turn: number;
  readonly seq: number;
  readonly to_turn: number;
  readonly to_seq: number;
  readonly opening_turn: number | null;
}
/** Replaces the output of one result in later requests. The result itself stays unchanged. */
export interface ResultElidedEvent extends EventBase {
  readonly type: "result_elided";
  readonly result_seq: number;
  /** Text that requests hold instead of its output. */
  readonly kept: string;
}
interface CompactionWithdrawnEvent extends EventBase {
  readonly type: "compaction_withdrawn";
  /** The `seq` of the withdrawn `history_compaction` or `result_elided`. */
  readonly checkpoint: number;
  /** The checkpoint that is in force from here on, or `null`. */
  readonly restored: CheckpointRef | null;
}
/** An {@linkcode ItemsOmittedEvent} in force, as a checkpoint copies it. */
export interface StandingOmission {
  readonly seq: number;
  readonly seqs: readonly number[];
  readonly part?: number;
}
/** Takes items out of later requests, each with its group. The items themselves stay unchanged. */
export interface ItemsOmittedEvent extends EventBase {
  readonly type: "items_omitted";
  /** The `seq` of each named event; the fold leaves out what belongs to it as well. */
  readonly seqs: readonly number[];
  /** Only this part of the one `user_message` that `seqs` names, attached files first, from 1. */
  readonly part?: number;
  /** In the words of the user, or `user_request`. */
  readonly reason: string;
}
interface OmissionWithdrawnEvent extends EventBase {
  readonly type: "omission_withdrawn";
  /** The `seq` of the `items_omitted` that no longer counts. */
  readonly omission: number;
}
/** The first event of a `fork` turn: names the parent and the last event shared with it. */
interface SessionForkEvent extends EventBase {
  readonly type: "session_fork";
  /** The session whose turns come before this one. */
  readonly parent: string;
  /** The last event and turn that both sessions share. */
  readonly to_seq: number;
  readonly to_turn: number;
  /** Equal to `prev` of the fork turn. */
  readonly sum: string;
  /** Every session that may have written a turn before this one: the oldest first, the parent last. */
  readonly lineage: readonly string[];
}
/** Summary of the other branch of a fork. */
interface BranchSummaryEvent extends EventBase {
  readonly type: "branch_summary";
  /** The session that is summarised. */
  readonly session: string;
  /** First of the summarised events of that session. */
  readonly from_seq: number;
  /** Last of them. */
  readonly to_seq: number;
  readonly summary: string;
}
/** The only event of a turn that replaces a lost turn: only the position of the lost turn is known. */
interface TurnReplacedEvent extends EventBase {
  readonly type: "turn_replaced";
}
/** A blob that a turn before this one names, and that `repair` found missing. */
interface BlobLostEvent extends EventBase {
  readonly type: "blob_lost";
  readonly sha256: string;
}
/** A title that a person gave the session. */
interface SessionRenamedEvent extends EventBase {
  readonly type: "session_renamed";
  /** One line of at most {@linkcode MAX_TITLE_LENGTH} UTF-16 units, not empty. */
  readonly title: string;
}
interface RunContinuedEvent extends EventBase {
  readonly type: "run_continued";
  readonly run: number;
}
interface RunEndedEvent extends EventBase {
  readonly type: "run_ended";
  readonly run: number;
  readonly state: RunState;
  readonly exit_code: ExitCode;
  readonly usage: Usage;
  readonly error?: RunError;
}

/** Every event kind that this version writes. Files may hold others, which might matter to the fold: `run` refuses them. */
export type SessionEvent =
  | UserMessageEvent
  | AttachmentEvent
  | AssistantMessageEvent
  | ReasoningEvent
  | ToolCallEvent
  | ToolResultEvent
  | ProviderItemEvent
  | ProviderUsageEvent
  | PermissionDecisionEvent
  | ReplayNoticeEvent
  | CallsAsTextEvent
  | EndpointNoticeEvent
  | HistoryCompactionEvent
  | ResultElidedEvent
  | CompactionWithdrawnEvent
  | ItemsOmittedEvent
  | OmissionWithdrawnEvent
  | SessionForkEvent
  | BranchSummaryEvent
  | TurnReplacedEvent
  | BlobLostEvent
  | SessionRenamedEvent
  | RunContinuedEvent
  | RunEndedEvent;

export type EventType = SessionEvent["type"];

/** An event before it has its `seq`. */
export type EventDraft = SessionEvent extends infer E ? E extends SessionEvent ? Omit<E, "seq"> : never
  : never;
