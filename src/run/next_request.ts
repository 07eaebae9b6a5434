/** Builds the next request of a session, for sending, preview and verification. */
import { Buffer } from "node:buffer";
import { attachmentIn, withContent } from "../domain/attachment.ts";
import { decodeUtf8Exactly, decodeUtf8Leniently } from "../domain/bytes.ts";
import type { Item, Omission } from "../domain/event.ts";
import {
  type EndpointHashes,
  type Fingerprint,
  mayBeSameEndpoint,
  type ProviderKind,
} from "../domain/fingerprint.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { sha256Hex } from "../domain/hash.ts";
import { defined, isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { ModelTurn, RequestRecord, Turn, TurnDraft } from "../domain/turn.ts";
import { foldHistory, requestAccount } from "../fold/fold.ts";
import type { FoldTarget, ReplayMode } from "../fold/guard.ts";
import type { Folded } from "../fold/history_fold.ts";
import { standingNotices } from "../fold/overrides.ts";
import type { BuiltRequest, RequestSpec, RunApi } from "../apis/api.ts";
import { foldNeedsOf } from "../apis/apis.ts";
import { toolSchemas } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";

/** Settings that decide the bytes of each request of a run; resolved once, before the run starts. */
export interface RequestSettings extends EndpointHashes {
  readonly api: RunApi;
  readonly provider: ProviderKind;
  /** The key's hash, for turns; absent without a key, and if a fixture is played. */
  readonly keyHash?: string;
  readonly model: string;
  readonly instructions: string;
  /** The tools that the model is offered: all that the permissions may allow. */
  readonly tools: readonly Tool[];
  readonly replay: ReplayMode;
  /** Reasoning items from before the last user message that are sent at most; `null` for all. */
  readonly window: number | null;
  readonly effort?: string;
  readonly summary?: string;
  readonly outputSchema?: JsonObject;
  /** The session that wrote turn 1: constant for a family of forks. */
  readonly cacheKey: string;
}

/** A session's turns and blobs, as requests are folded from them. */
export interface RecordedHistory {
  /** All turns, or those that the next request needs, oldest first. */
  readonly turns: readonly Turn[];
  /** Reads a blob of the session; `null` for a blob that is recorded as lost. */
  readBlob(sha256: string): Uint8Array | null;
}
type ReadBlob = RecordedHistory["readBlob"];

/** A history that a turn can be added to. */
export interface RequestHistory extends RecordedHistory {
  /** The turn that would be appended next. */
  preview(draft: TurnDraft): Turn;
}

/** Facts of one request that are not among the run's settings. */
export interface SendFacts {
  /** Absent for a request outside a run. */
  readonly run?: number;
  /** `null` while no response of this endpoint and key named it. */
  readonly account: string | null;
  /** A turn that the request includes although it is not saved; `null` for none. */
  readonly pending?: TurnDraft | null;
  /** Visible and reasoning tokens together that the budget allows. */
  readonly maxOutputTokens?: number | undefined;
}

/** A request that can be sent, and the result of its fold. */
export interface NextRequest {
  readonly built: BuiltRequest;
  readonly folded: Folded;
  readonly target: FoldTarget;
  /** Fields that the endpoint refused earlier. */
  readonly without: ReadonlySet<Omission>;
}

/** The fingerprint of a request, whose account is known or `null`. */
export function fingerprintOf(
  { provider, endpoint, portless, keyHash }: Pick<
    RequestSettings,
    "provider" | "endpoint" | "portless" | "keyHash"
  >,
  account: string | null,
): Fingerprint {
  return { provider, endpoint, account, ...defined({ portless, key: keyHash }) };
}

/** The target of a request with these settings, as the fold needs it. */
export function targetOf(
  settings: Omit<RequestSettings, "instructions" | "tools">,
  { account, run }: Pick<SendFacts, "account" | "run">,
): FoldTarget {
  const { model, replay, window } = settings;
  const fingerprint = fingerprintOf(settings, account);
  const needs = foldNeedsOf(fingerprint.provider);
  return { fingerprint, needs, model, replay, window, ...defined({ run }) };
}

/** Builds the next request of a run. */
export function nextRequest(
  settings: RequestSettings,
  history: RequestHistory,
  facts: SendFacts,
): NextRequest {
  const target = targetOf(settings, facts);
  const turns = facts.pending ? [...history.turns, history.preview(facts.pending)] : history.turns;
  const folded = withContents(foldHistory(turns, target), history);
  const without = standingOmissions(turns, settings, settings.model);
  return { built: requestOf(settings, folded.entries, { ...facts, without }), folded, target, without };
}

/** Builds a request with these entries: the fold's, or those of a request that is sent without the history. */
export function requestOf(
  settings: Omit<RequestSettings, "replay" | "window" | keyof EndpointHashes | "provider">,
  entries: readonly FoldedEntry[],
  { without, maxOutputTokens }: Pick<RequestSpec, "without"> & Pick<SendFacts, "maxOutputTokens"> = {},
): BuiltRequest {
  const { api, model, instructions, tools, cacheKey, effort, summary, outputSchema } = settings;
  return api.buildRequest({
    model,
    instructions,
    tools: toolSchemas(tools),
    entries,
    cacheKey,
    ...defined({ without, effort, summary, outputSchema, maxOutputTokens }),
  });
}

/** Fields that requests to this endpoint for this model omit after earlier refusals. */
export function standingOmissions(
  turns: readonly Turn[],
  endpoint: EndpointHashes,
  model: string,
): ReadonlySet<Omission> {
  const here = standingNotices(turns).filter((notice) =>
    mayBeSameEndpoint(notice, endpoint) && notice.model === model
  );
  return new Set(here.map(({ without }) => without));
}

/**
 * The record of a sent request that its model turn keeps; `blobs` are the ids of the texts that it names, `transport` is
 * absent over HTTP.
 */
export function recordOf(
  { built, folded, target }: NextRequest,
  blobs: { readonly instructions: string; readonly tools: string },
  transport?: "ws",
): RequestRecord {
  const { sent, dropped } = requestAccount(folded);
  const fields = Object.entries(built.fields).map(([name, value]) =>
    name === "instructions" || name === "tools" ? [name, { blob: blobs[name] }] : [name, value]
  );
  return {
    body_sha256: sha256Hex(built.body),
    fold: folded.version,
    replay: { mode: target.replay, window: target.window ?? null, account: target.fingerprint.account },
    fields: Object.fromEntries(fields),
    guard: { sent, dropped },
    ...defined({ transport }),
  };
}

/** Adds the contents of attached files: entries name a blob, and a request holds its bytes. A lost file has none. */
function withContents(folded: Folded, history: RecordedHistory): Folded {
  if (!folded.entries.some(hasAttachment)) return folded;
  const entries = folded.entries.map((entry) =>
    hasAttachment(entry)
      ? { ...entry, content: entry.content.map((part) => withBytes(part, history)) }
      : entry
  );
  return { ...folded, entries };
}

function hasAttachment(entry: FoldedEntry): entry is FoldedEntry & { readonly kind: "user_message" } {
  return entry.kind === "user_message" && entry.content.some((part) => attachmentIn(part) !== null);
}

function withBytes(part: Item, history: RecordedHistory): Item {
  const attachment = attachmentIn(part);
  const bytes = attachment === null ? null : history.readBlob(attachment.sha256);
  if (attachment === null || bytes === null) return part;
  const { buffer, byteOffset, byteLength } = bytes;
  return withContent(part, {
    base64: Buffer.from(buffer, byteOffset, byteLength).toString("base64"),
    text: attachment.mediaType === "text/plain" ? decodeUtf8Exactly(bytes) : null,
  });
}

/** Folds the turns before a recorded request again, for the target that {@linkcode recordOf} kept. */
export function foldRecorded(turn: ModelTurn, history: RecordedHistory): Folded {
  const { replay } = turn.request;
  const folded = foldHistory(history.turns.filter((each) => each.turn < turn.turn), {
    fingerprint: { ...turn.fingerprint, account: replay?.account ?? null },
    needs: foldNeedsOf(turn.fingerprint.provider),
    model: turn.model.asked,
    replay: (replay?.mode ?? "exact") as ReplayMode,
    window: replay?.window ?? null,
    run: turn.run,
  });
  return withContents(folded, history);
}

/** Recorded fields with instructions and tools from their blobs; `null` if a blob is lost. */
export function recordedFields(fields: JsonObject, readBlob: ReadBlob): JsonObject | null {
  const whole: [string, JsonValue | undefined][] = [];
  for (const [name, value] of Object.entries(fields)) {
    const blob = isJsonObject(value) ? value.blob : undefined;
    const bytes = typeof blob === "string" ? readBlob(blob) : undefined;
    if (bytes === null) return null;
    const text = bytes === undefined ? undefined : decodeUtf8Leniently(bytes);
    whole.push([name, text === undefined ? value : name === "tools" ? JSON.parse(text) : text]);
  }
  return Object.fromEntries(whole);
}
