/**
 * Turns of checkpoints, and checkpoints that the provider makes.
 *
 * @module
 */
import * as z from "zod";
import { badSummary } from "../compaction/model_summary.ts";
import { checkpointEvent, type CheckpointText } from "../compaction/plan.ts";
import type { Shrunk } from "../compaction/shrink.ts";
import { RepriseError } from "../domain/errors.ts";
import type { Item } from "../domain/event.ts";
import type { Usage } from "../domain/usage.ts";
import { exactly } from "../domain/exact_json.ts";
import type { Fingerprint, ProviderKind } from "../domain/fingerprint.ts";
import type { FoldedEntry } from "../domain/folded.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { JsonObject } from "../domain/json.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import { apiOf } from "../apis/apis.ts";
import { failureError, withoutSecrets } from "../transport/failure.ts";
import { discard, readText } from "../transport/http.ts";
import type { Asking } from "./request_step.ts";

/** The turn of a checkpoint, shortened results, or both; `runUsage` if it is inside an open run. */
export function compactionDraft(
  turns: readonly Turn[],
  { checkpoint, elided }: Pick<Shrunk, "checkpoint" | "elided">,
  { run, pins, runUsage }: { readonly run: number; readonly pins: Pins; readonly runUsage?: Usage },
): TurnDraft {
  const made = checkpoint === null ? [] : [{
    ...checkpointEvent(turns, checkpoint.scope, checkpoint.text),
    dropped: checkpoint.plan.dropped,
    ...(runUsage === undefined ? {} : { run_usage: runUsage }),
  }];
  return { kind: "compaction", run, pins, events: [...made, ...elided] };
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
