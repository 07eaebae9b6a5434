/**
 * Builds recorded requests again: the same fold over the same turns must give the same bytes. Requests that each extend
 * the input of the previous request are a series and folded once, so that the time of a verification is proportional to
 * the length of the session.
 *
 * @module
 */
import { encodeUtf8 } from "../domain/bytes.ts";
import type { CheckpointRef, SessionEvent } from "../domain/event.ts";
import { GrowingSha256, sha256Hex } from "../domain/hash.ts";
import type { JsonObject, JsonValue } from "../domain/json.ts";
import { checkpointAfter } from "../domain/manifest.ts";
import type { ModelTurn, Turn } from "../domain/turn.ts";
import { FOLD_VERSION } from "../fold/fold.ts";
import type { RunApi } from "../apis/api.ts";
import { apiOf } from "../apis/apis.ts";
import {
  foldRecorded,
  type NextRequest,
  recordedBody,
  recordedFields,
  type RecordedHistory as VerifiedSession,
} from "./next_request.ts";

/** Verdict on a recorded request. Only `differs` is a fault. */
export type RequestVerdict =
  | "same"
  | "differs"
  /** The rules that built the request differ from those that fold its history now. */
  | "other_fold_version"
  /** Secrets were stripped from the turns that the request was made from. */
  | "redacted"
  /** A turn or a blob that the request was made from is lost. */
  | "repaired"
  /** Another agent sent the request, which is unknown. */
  | "imported";

/** A model turn and the verdict on its request. */
export interface VerifiedRequest {
  readonly turn: number;
  readonly verdict: RequestVerdict;
  /** sha256 of the body as it was sent, and as it is built now. */
  readonly recorded: string;
  readonly refolded: string | null;
}

/** Builds the request of every model turn of a session again. */
export function verifySession(source: VerifiedSession): VerifiedRequest[] {
  const rebuilt = rebuildAll(source);
  let redacted = false;
  let repaired = false;
  return source.turns.flatMap((turn): VerifiedRequest[] => {
    redacted ||= turn.redacted !== undefined;
    repaired ||= turn.kind === "harness" && turn.replaces !== undefined || losesFile(turn, source);
    if (turn.kind !== "model") return [];
    const { body_sha256: recorded, fold, imported } = turn.request;
    if (imported !== undefined) return [{ turn: turn.turn, verdict: "imported", recorded, refolded: null }];
    const { version, sum } = rebuilt.get(turn) ?? { version: Infinity, sum: null };
    if (version > fold) {
      return [{ turn: turn.turn, verdict: "other_fold_version", recorded, refolded: null }];
    }
    const otherwise = redacted ? "redacted" : repaired || sum === null ? "repaired" : "differs";
    return [{ turn: turn.turn, verdict: sum === recorded ? "same" : otherwise, recorded, refolded: sum }];
  });
}

/** True if a turn has an attached file that is lost: requests without the file differ from those with it. */
function losesFile({ events }: Turn, { readBlob }: VerifiedSession): boolean {
  return events.some((event) => event.type === "attachment" && readBlob(event.blob.sha256) === null);
}

/** A request built again. */
interface RebuiltRequest {
  /** The oldest version of the fold's rules that folds its history so. */
  readonly version: number;
  /** `null` if a newer version folds it, a blob of its fields is lost, or a redaction left no body. */
  readonly sum: string | null;
}

/** All requests but those of newer versions of the fold. */
function rebuildAll(source: VerifiedSession): Map<ModelTurn, RebuiltRequest> {
  const isRedacted = source.turns.some(({ redacted }) => redacted !== undefined);
  const rebuilt = new Map<ModelTurn, RebuiltRequest>();
  for (const series of seriesOf(source.turns)) {
    const { requests } = series;
    if ((requests[0]?.request.fold ?? 0) > FOLD_VERSION) continue;
    const together = rebuildTogether(series, source, isRedacted);
    const differing = requests.find((turn) => together?.get(turn)?.sum !== turn.request.body_sha256);
    // Checks the first difference in a series by folding that request alone.
    const isSound = together !== null &&
      (differing === undefined ||
        together.get(differing)?.sum === rebuildAlone(differing, source, isRedacted).sum);
    for (const turn of requests) {
      rebuilt.set(turn, (isSound ? together.get(turn) : undefined) ?? rebuildAlone(turn, source, isRedacted));
    }
  }
  return rebuilt;
}

function rebuildAlone(turn: ModelTurn, source: VerifiedSession, isRedacted: boolean): RebuiltRequest {
  const { entries, version } = foldRecorded(turn, historyBefore(turn, source));
  const body = orNull(isRedacted, () => recordedBody(turn, entries, source.readBlob));
  return { version, sum: body === null || version > turn.request.fold ? null : sha256Hex(body) };
}

/** Calls `make`; `null` if a redaction left invalid JSON: tool schemas with a secret outside a string. */
function orNull<T>(isRedacted: boolean, make: () => T | null): T | null {
  try {
    return make();
  } catch (error) {
    if (isRedacted && error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The requests of a series, from one fold; `null` if their bodies cannot be derived from each other. */
function rebuildTogether(
  { requests, checkpoint }: Series,
  { turns, readBlob }: VerifiedSession,
  isRedacted: boolean,
): Map<ModelTurn, RebuiltRequest> | null {
  const last = requests.at(-1) as ModelTurn;
  const { entries, seqs, version } = foldRecorded(last, {
    turns: recentTurns(last, turns, checkpoint),
    readBlob,
  });
  if (version > last.request.fold) return new Map(requests.map((turn) => [turn, { version, sum: null }]));
  const body = apiOf(last.fingerprint.provider).bodyPieces(entries);
  if (body === null) return null;
  const openings = new Map<string, string>();
  const rebuilt = new Map<ModelTurn, RebuiltRequest>();
  let sha = new GrowingSha256();
  let before: string | undefined;
  let count = 0;
  for (const turn of requests) {
    const { fields } = turn.request;
    const key = JSON.stringify(fields);
    const opening = openings.get(key) ??
      orNull(isRedacted, () => {
        const whole = recordedFields(fields, readBlob);
        return whole === null ? null : body.opening(whole);
      });
    if (opening === null) return null;
    openings.set(key, opening);
    if (opening !== before) {
      sha = new GrowingSha256();
      sha.append(opening);
      [before, count] = [opening, 0];
    }
    for (; count < seqs.length && (seqs[count] as number) < turn.seq[0]; count++) {
      sha.append(body.pieces[count] as string);
    }
    rebuilt.set(turn, { version, sum: sha.hexWith(body.closings[count - 1] ?? "]}") });
  }
  return rebuilt;
}

/** The body of the request that a model turn answers, built from the turns before it; `null` if a blob is lost. */
export function rebuiltBody(turn: ModelTurn, session: VerifiedSession): string | null {
  return recordedBody(turn, foldRecorded(turn, historyBefore(turn, session)).entries, session.readBlob);
}

function historyBefore({ turn: number }: ModelTurn, { turns, readBlob }: VerifiedSession): VerifiedSession {
  return { turns: turns.filter(({ turn }) => turn < number), readBlob };
}

/** The turns before a request that opening a session reads with this checkpoint in force. */
function recentTurns(
  { turn }: ModelTurn,
  turns: readonly Turn[],
  checkpoint: CheckpointRef | null,
): readonly Turn[] {
  const opening = checkpoint?.opening_turn ?? null;
  return [
    ...opening === null ? [] : turns.slice(opening - 1, opening),
    ...turns.slice(checkpoint?.to_turn ?? 0, turn - 1),
  ];
}

/** Comparison of a request with the previous one: a prompt cache can be used if it extends that request. */
export type PrefixReport =
  | { readonly extends: true }
  /** The first item of the input that differs, and the first byte of the whole body that does. */
  | { readonly extends: false; readonly item: number | null; readonly byte: number };

/**
 * Compares the next request with the newest request of a session; `null` before the first request, and if a blob of the
 * newest is lost. Limits of output tokens are ignored: they are not part of the prompt.
 */
export function comparePrefix(session: VerifiedSession, next: NextRequest): PrefixReport | null {
  const last = session.turns.findLast((turn) => turn.kind === "model");
  if (last?.request.imported !== undefined) return null;
  const fields = last === undefined ? null : recordedFields(last.request.fields, session.readBlob);
  if (last === undefined || fields === null) return null;
  const [before, now] = [apiOf(last.fingerprint.provider), apiOf(next.target.fingerprint.provider)];
  const { entries } = foldRecorded(last, historyBefore(last, session));
  const report = prefixReport(
    before.bodyOf(promptFields(fields, before), entries),
    now.bodyOf(promptFields(next.built.fields, now), next.folded.entries),
  );
  return report.extends ? report : prefixReport(rebuiltBody(last, session) ?? "", next.built.body);
}

/** The fields of a request without its limit of output tokens, which is not part of the prompt. */
export function promptFields(fields: JsonObject, { outputLimit }: RunApi): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== outputLimit));
}

/** Compares two bodies. `item` is `null` when they differ before their inputs. */
export function prefixReport(before: string, next: string): PrefixReport {
  // Without the closing bracket and brace, so that a longer request may follow.
  const wanted = before.slice(0, -"]}".length);
  if (next.startsWith(wanted) || isLongerAtEnd(before, next)) return { extends: true };
  const [old, now] = [encodeUtf8(wanted), encodeUtf8(next)];
  let byte = 0;
  while (byte < old.length && old[byte] === now[byte]) byte++;
  return { extends: false, item: firstDifference(before, next), byte };
}

/** True if the last message only has more content: messages of one role are sent as one, and caches keep blocks of content. */
function isLongerAtEnd(before: string, next: string): boolean {
  const end = "]}]}";
  return before.endsWith(end) && next.startsWith(`${before.slice(0, -end.length)},`);
}

function firstDifference(before: string, next: string): number | null {
  const [old, now] = [before, next].map((body) => {
    const { input, messages = input, ...fields } = JSON.parse(body);
    // Clients may also send the input as one string.
    const items: JsonValue[] = Array.isArray(messages) ? messages : [messages ?? null];
    return { fields: JSON.stringify(fields), items: items.map((item) => JSON.stringify(item)) };
  });
  if (old === undefined || now === undefined || old.fields !== now.fields) return null;
  const item = old.items.findIndex((text, index) => text !== now.items[index]);
  return item < 0 ? null : item;
}

/** Requests that are folded together. */
export interface Series {
  /** Their model turns, oldest first; at least one. */
  readonly requests: ModelTurn[];
  /** The checkpoint that was in force for all of them. */
  readonly checkpoint: CheckpointRef | null;
}

/** Splits the requests of a session into series, oldest first. */
export function seriesOf(turns: readonly Turn[]): Series[] {
  const history = new PlainHistory();
  const series: Series[] = [];
  let checkpoint: CheckpointRef | null = null;
  for (const turn of turns) {
    if (turn.kind === "model" && turn.request.imported === undefined) {
      const requests = series.at(-1)?.requests;
      const last = requests?.at(-1);
      if (last !== undefined && history.continues(last, turn)) requests?.push(turn);
      else series.push({ requests: [turn], checkpoint });
      history.begin(turn);
    }
    history.add(turn);
    checkpoint = checkpointAfter(checkpoint, turn);
  }
  return series;
}

/** Events that neither add to later requests nor change them. */
const SILENT: ReadonlySet<string> = new Set([
  "permission_decision",
  "run_ended",
  "run_continued",
  "provider_usage",
]);

/** Follows a history and tracks whether events since the last request are only appended to later inputs. */
class PlainHistory {
  /** True if all events since the last request were plain. */
  #isPlain = false;
  /** Calls of the newest response without a result. */
  readonly #open = new Set<number>();
  /** Ids of all reasoning: if two items share an id, both may decide which is sent. */
  readonly #reasoningIds = new Set<string>();
  /** Known accounts of responses and requests. */
  readonly #accounts = new Set<string>();
  /** Run of the newest refusal: items that it left out come back in the next run. */
  #refusedIn = 0;
  /** Kind of the newest turn that is not the harness's. */
  #newest: Turn["kind"] | null = null;

  /** True if the input of the request that `next` answers begins with that of `last`. */
  continues(last: ModelTurn, next: ModelTurn): boolean {
    const accounts = [last, next].map(({ request }) => request.replay?.account ?? null);
    for (const account of accounts) if (account !== null) this.#accounts.add(account);
    return this.#isPlain && this.#isAsked() && targetOf(last) === targetOf(next) &&
      // If the whole history has one account, an unknown account makes no difference.
      (accounts[0] === accounts[1] || this.#accounts.size <= 1) &&
      (last.run === next.run || last.run !== this.#refusedIn) &&
      [last, next].every(({ request }) => (request.replay?.window ?? null) === null);
  }

  /** Starts after a request: the next request appends its response and everything later. */
  begin(request: ModelTurn): void {
    this.#isPlain = this.#isAsked();
    const account = request.request.replay?.account ?? null;
    if (account !== null) this.#accounts.add(account);
  }

  add(turn: Turn): void {
    const isPlain = this.#isPlainTurn(turn);
    this.#isPlain &&= isPlain;
    if (turn.kind === "model" && turn.fingerprint.account !== null) {
      this.#accounts.add(turn.fingerprint.account);
    }
    if (turn.kind !== "harness") this.#newest = turn.kind;
    if (turn.events.some(({ type }) => type === "replay_notice")) this.#refusedIn = turn.run;
  }

  /** True if the history ends with an entry to answer: otherwise the fold may add a message at its end. */
  #isAsked(): boolean {
    return this.#open.size === 0 && (this.#newest === "user" || this.#newest === "tools");
  }

  #isPlainTurn(turn: Turn): boolean {
    switch (turn.kind) {
      case "user":
        return this.#open.size === 0 && turn.events.every(({ type }) => type === "user_message");
      case "tools":
        return turn.events.every((event) =>
          event.type === "tool_result" && this.#open.delete(event.call_seq)
        );
      case "harness":
        return turn.replaces === undefined && turn.events.every(({ type }) => SILENT.has(type));
      case "model": {
        this.#open.clear();
        const { status, paused } = turn.response;
        const plain = turn.events.map((event) => this.#isPlainEvent(event));
        return status === "completed" && paused !== true && plain.every(Boolean);
      }
      default:
        return false;
    }
  }

  #isPlainEvent(event: SessionEvent): boolean {
    switch (event.type) {
      case "reasoning": {
        const { id } = event.item;
        if (typeof id !== "string") return true;
        const isNew = !this.#reasoningIds.has(id);
        this.#reasoningIds.add(id);
        return isNew;
      }
      case "tool_call":
        this.#open.add(event.seq);
        return true;
      case "provider_item":
        // A call and its later output each change how the other is folded.
        return event.item.call_id === undefined && event.item.tool_use_id === undefined &&
          !event.item.type.endsWith("tool_use");
      default:
        return event.type === "assistant_message" || SILENT.has(event.type);
    }
  }
}

/** Facts that the fold must know of a request's target, except the account. */
function targetOf({ fingerprint, model, request }: ModelTurn): string {
  return JSON.stringify([{ ...fingerprint, account: null }, model.asked, request.replay?.mode, request.fold]);
}
