/**
 * Checkpoints: by `compact` between runs, with or without the provider, and by `--auto-compact` between requests.
 *
 * @module
 */
import * as z from "zod";
import { badSummary } from "../compaction/model_summary.ts";
import {
  checkpointEvent,
  type CheckpointText,
  type CompactionPlan,
  DEFAULT_TAIL_EVENTS,
} from "../compaction/plan.ts";
import type { Shrunk } from "../compaction/shrink.ts";
import { longestTail, type MadeCheckpoint } from "../compaction/longest_tail.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Item } from "../domain/event.ts";
import type { Usage } from "../domain/usage.ts";
import { exactly } from "../domain/exact_json.ts";
import type { Fingerprint, ProviderKind } from "../domain/fingerprint.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { apiOf } from "../apis/apis.ts";
import { failureError, withoutSecrets } from "../transport/failure.ts";
import { discard, readText } from "../transport/http.ts";
import type { RequestHistory } from "./next_request.ts";
import type { OpenSession } from "./recover.ts";
import type { Asking } from "./request_step.ts";

/** The turn of a checkpoint; `runUsage` if it is inside an open run. */
export function checkpointDraft(
  turns: readonly Turn[],
  { scope, text, plan }: MadeCheckpoint,
  { run, pins, runUsage }: { readonly run: number; readonly pins: Pins; readonly runUsage?: Usage },
): TurnDraft {
  const event = checkpointEvent(turns, scope, text);
  return {
    kind: "compaction",
    run,
    pins,
    events: [{
      ...event,
      dropped: plan.dropped,
      ...(runUsage === undefined ? {} : { run_usage: runUsage }),
    }],
  };
}

/** The turn of `compact`: a checkpoint, shortened results, or both. */
export function compactionDraft(
  turns: readonly Turn[],
  { checkpoint, elided }: Pick<Shrunk, "checkpoint" | "elided">,
  place: { readonly run: number; readonly pins: Pins },
): TurnDraft {
  const made = checkpoint === null ? [] : checkpointDraft(turns, checkpoint, place).events;
  return { kind: "compaction", ...place, events: [...made, ...elided] };
}

/** Facts that decide whether a run compacts before its next request. */
export interface AutoCompaction {
  /** Input tokens of a request above which the history is made smaller. */
  readonly limit: number;
  readonly target: FoldTarget;
}

/** A session in which a run may compact its history. */
export type CompactedSession = OpenSession & Pick<RequestHistory, "allTurns">;

/**
 * Appends a checkpoint by rule if the newest request was over the limit and the history would shrink. Older turns stay
 * on disk.
 *
 * @returns the turn and the plan; `null` if nothing was appended.
 */
export async function compactIfLarge(
  session: CompactedSession,
  auto: AutoCompaction,
  { run, usage }: { readonly run: number; readonly usage: Usage },
): Promise<{ readonly turn: Turn; readonly plan: CompactionPlan } | null> {
  const { manifest } = session;
  if (manifest === null || !isOverLimit(session.turns, auto)) return null;
  const turns = session.allTurns();
  const made = automaticCheckpoint(turns, auto);
  if (made === null) return null;
  const draft = checkpointDraft(turns, made, { run, pins: manifest.pins, runUsage: usage });
  return { turn: await session.save(draft), plan: made.plan };
}

/**
 * True if the newest response reports that its request was too large. A response from before the newest checkpoint
 * does not count, so that no checkpoint follows another without a response between them.
 */
export function isOverLimit(turns: readonly Turn[], { limit }: Pick<AutoCompaction, "limit">): boolean {
  const newest = turns.findLast(({ kind }) => kind === "model" || kind === "compaction");
  if (newest?.kind !== "model") return false;
  const usage = newest.events.findLast((event) => event.type === "provider_usage");
  if (usage === undefined) return false;
  return apiOf(newest.fingerprint.provider).usageOf(usage.usage).input_tokens > limit;
}

/**
 * A checkpoint by rule that brings the next request under the limit and keeps as much of the tail as possible; if no
 * checkpoint does, the one with the smallest history. Events that the model has not seen always stay, with the response
 * before them: without the results of its calls, the model would repeat the calls. `null` if the history would not
 * shrink.
 */
export function automaticCheckpoint(
  turns: readonly Turn[],
  { limit, target }: AutoCompaction,
): MadeCheckpoint | null {
  const least = unseenEvents(turns);
  const most = Math.max(DEFAULT_TAIL_EVENTS, least);
  return longestTail(turns, { most, least, limit, target }).found;
}

/** Number of events since the start of the newest response, or since the user message after it. */
export function unseenEvents(turns: readonly Turn[]): number {
  const newest = turns.findLast(({ kind }) => kind === "model" || kind === "user");
  return newest === undefined ? 0 : (turns.at(-1)?.seq[1] ?? 0) - newest.seq[0] + 1;
}

/** The largest answer that is read, in bytes: its blob may have 20 MiB (protocol §2.1). */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;
/** Bytes of an error's body that are read. */
const MAX_ERROR_BYTES = 256 * 1024;

const answerSchema = z.lazy(() =>
  z.looseObject({
    output: z.array(z.looseObject({ type: z.string().min(1) })).min(1),
    usage: z.record(z.string(), z.unknown()).optional(),
  })
);

/**
 * The path of the request for a checkpoint.
 *
 * @throws {RepriseError} `usage` if the provider's API has no such request.
 */
export function remotePath(provider: ProviderKind): string {
  const { compactionPath } = apiOf(provider);
  if (compactionPath !== null) return compactionPath;
  throw new RepriseError("usage", `Cannot compact remotely with ${provider}: it has no such request`, {
    hint: "Use --strategy model, or deterministic, which needs no model",
  });
}

/**
 * The request for a checkpoint that the provider makes (protocol §8.1): a model and the history.
 *
 * @throws {RepriseError} as {@linkcode remotePath}.
 */
export function remoteRequest(
  provider: ProviderKind,
  { model, entries }: { readonly model: string; readonly entries: readonly FoldedEntry[] },
): { readonly path: string; readonly body: string } {
  return { path: remotePath(provider), body: apiOf(provider).bodyOf({ model }, entries) };
}

/**
 * Asks the provider for a checkpoint of a history, which only the provider can read.
 *
 * @throws {RepriseError} the API's error; `bad_summary` for an answer without a compaction item.
 */
export async function remoteText(
  asking: Asking,
  request: { readonly path: string; readonly body: string },
  { model, fingerprint }: { readonly model: string; readonly fingerprint: Fingerprint },
): Promise<CheckpointText> {
  const { api, key, signal } = asking;
  const headers = { ...api.headers(key), accept: "application/json" };
  const response = await asking.send(
    { url: asking.urlOf(request.path), headers, body: request.body },
    signal,
  );
  if (response.status >= 300 && response.status < 400) {
    await discard(response.body);
    throw new RepriseError("redirected", "Cannot compact remotely: the server redirects the request", {
      hint: "Redirects are not followed, because the key must not go elsewhere: set the final base URL",
    });
  }
  if (response.status >= 300) {
    const text = withoutSecrets(await readText(response.body, MAX_ERROR_BYTES), headers);
    throw failureError(api.classify(response.status, response.headers, text), {
      requestId: response.headers.get("x-request-id"),
    });
  }
  const { output, usage } = parse(await readText(response.body, MAX_ANSWER_BYTES));
  const account = api.accountOf(response.headers) ?? fingerprint.account;
  return {
    strategy: "remote",
    summary: "",
    limitations: [
      "Only the provider, endpoint, account and model that made this checkpoint can read it.",
      "The session's full log remains authoritative.",
    ],
    items: output,
    origin: { fingerprint: { ...fingerprint, account }, model: { asked: model, answered: null } },
    request: {
      model: { asked: model, answered: null },
      body_sha256: sha256Hex(request.body),
      ...(usage === undefined ? {} : { usage }),
    },
  };
}

/** The parsed answer itself, not the schema's copy: items are kept verbatim. */
function parse(text: string): { readonly output: readonly Item[]; readonly usage?: JsonObject } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw badSummary("the answer of the server is not JSON", cause);
  }
  if (!answerSchema.safeParse(value).success) throw badSummary("the server did not answer with items");
  const answer = exactly(value as { readonly output: readonly Item[]; readonly usage?: JsonObject }, text);
  const opaque = answer.output.some(({ type, encrypted_content }) =>
    type === "compaction" && typeof encrypted_content === "string" && encrypted_content !== ""
  );
  if (!opaque) throw badSummary("the server answered without a compaction item");
  return answer;
}
