/**
 * What `compact` makes of a history: the plan, and the checkpoint of the chosen strategy.
 *
 * @module
 */
import { deterministicText } from "../../compaction/deterministic.ts";
import { badSummary, modelText, parseAnswer, verifyAnswer } from "../../compaction/model_answer.ts";
import { type ModelContract, modelContract } from "../../compaction/model_contract.ts";
import { type CheckpointText, type CompactionScope, planOf, scopeOf } from "../../compaction/plan.ts";
import { RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Manifest } from "../../domain/manifest.ts";
import type { Turn } from "../../domain/turn.ts";
import { type Fixture, readFixture } from "../../fixture/read.ts";
import { foldHistory } from "../../fold/fold.ts";
import type { FoldTarget } from "../../fold/guard.ts";
import { readOverrides } from "../../fold/overrides.ts";
import { apiOf, foldNeedsOf } from "../../apis/apis.ts";
import type { ApiKey, BuiltRequest } from "../../apis/api.ts";
import { type Asking, askOnce } from "../../run/ask_once.ts";
import type { MadeCheckpoint } from "../../run/checkpoint.ts";
import { answerText } from "../../run/item_events.ts";
import { standingOmissions } from "../../run/refusals.ts";
import { remotePath, remoteRequest, remoteText } from "../../run/remote_compaction.ts";
import { fingerprintOf } from "../../run/setup.ts";
import type { Send } from "../../transport/http.ts";
import { createLiveSend } from "../../transport/live.ts";
import { keyInForce, keySetting } from "../run/api_key.ts";
import type { CompactFlags } from "../run/command.ts";
import type { Context } from "../context.ts";
import { type Endpoint, endpointSetting } from "../run/endpoint.ts";
import { requireNamedEndpoint } from "../run/endpoint_change.ts";
import { fixturePorts, fixtureSend } from "../run/fixture_ports.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { requestIdentity } from "../run/request_identity.ts";
import { modelSetting, reasoningSettings } from "../run/run_settings.ts";
import { absolute } from "../settings.ts";
import { liveTimeouts } from "../run/timeouts.ts";

/** What is settled before the session is opened. */
export interface CompactSettings {
  readonly context: Context;
  readonly flags: CompactFlags;
  readonly ports: ProgramPorts;
  readonly fixture: Fixture | null;
  readonly endpoint: Endpoint;
  /** `null` where nothing is sent. */
  readonly key: ApiKey | null;
}

/** A history to compact. */
export interface CompactSource {
  readonly manifest: Manifest;
  /** All of it. */
  readonly turns: readonly Turn[];
}

/**
 * Settles flags, fixture, endpoint and key; the key only where a request will be sent. Provider and model are those of
 * the session where no flag names others.
 *
 * @throws {RepriseError} `usage`, `bad_fixture`, `missing_key` and the rest of exit code 2.
 */
export function compactSettings(context: Context, flags: CompactFlags, manifest: Manifest): CompactSettings {
  const fixture = flags.fixture === undefined
    ? null
    : readFixture(context.ports.files, absolute(context.ports, flags.fixture));
  const ports = fixture === null ? context.ports : fixturePorts(context.ports, fixture);
  const endpoint = endpointSetting(ports, flags, { config: context.config, fixture, manifest });
  if (flags.strategy === "remote") remotePath(endpoint.provider);
  const asks = flags.strategy !== "deterministic";
  if (asks) requireNamedEndpoint(endpoint, manifest);
  const sends = asks && flags.dryRun !== true && fixture === null;
  return { context, flags, ports, fixture, endpoint, key: sends ? keySetting(ports, endpoint) : null };
}

/** What each strategy is asked for, before it is asked. */
export interface CompactRequest {
  readonly target: FoldTarget;
  readonly scope: CompactionScope;
  /** The packaged request for a model, or `null`. */
  readonly contract: ModelContract | null;
  /** What would be sent, or `null` for a checkpoint by rule. */
  readonly built: Pick<BuiltRequest, "path" | "body"> | null;
}

/**
 * Finds the place of the checkpoint and packages the request for it.
 *
 * @throws {RepriseError} `nothing_to_compact` when not even an empty summary would make the history smaller.
 */
export function compactRequest(settings: CompactSettings, source: CompactSource): CompactRequest {
  const { flags } = settings;
  const { turns } = source;
  const target = targetOf(settings, source);
  const scope = scopeOf(turns, { tailEvents: flags.tailEvents, target });
  planOf(turns, scope, { text: EMPTY, target });
  if (flags.strategy === "deterministic") return { target, scope, contract: null, built: null };
  if (flags.strategy === "remote") {
    const { entries } = foldHistory(turns.filter(({ turn }) => turn <= scope.cut.turn), target);
    const built = remoteRequest(settings.endpoint.provider, {
      model: target.model,
      entries,
    });
    return { target, scope, contract: null, built };
  }
  const contract = modelContract(turns, scope);
  const { instructions, outputSchema, entries } = contract;
  const built = apiOf(settings.endpoint.provider).buildRequest({
    model: target.model,
    instructions,
    tools: [],
    entries,
    outputSchema,
    cacheKey: `${source.manifest.family.slice(0, 55)}-compact`,
    without: standingOmissions(turns, settings.endpoint, target.model),
    ...reasoningSettings(settings.ports, flags, {
      config: settings.context.config,
      fixture: settings.fixture,
      manifest: source.manifest,
    }),
  });
  return { target, scope, contract, built };
}

/** The place of a checkpoint without its text: what the plan says before a request was sent. */
export const EMPTY: CheckpointText = { strategy: "deterministic", summary: "", limitations: [] };

/**
 * Makes the checkpoint; sends the request where the strategy needs one.
 *
 * @throws {RepriseError} `nothing_to_compact`, `bad_summary`, `refused`, `incomplete`, and what a request ends with.
 */
export async function makeCheckpoint(
  settings: CompactSettings,
  source: CompactSource,
  signal: AbortSignal,
): Promise<MadeCheckpoint> {
  const request = compactRequest(settings, source);
  const { scope, target } = request;
  const { ports, fixture } = settings;
  const send = ports.wrapSend(fixture === null ? liveSend(settings) : fixtureSend(ports, fixture));
  const text = await textOf(settings, source, { request, asking: askingOf(settings, { send, signal }) });
  return { scope, text, plan: planOf(source.turns, scope, { text, target }) };
}

async function textOf(
  settings: CompactSettings,
  { turns }: CompactSource,
  { request, asking }: { readonly request: CompactRequest; readonly asking: Asking },
): Promise<CheckpointText> {
  const { scope, target, built } = request;
  if (built === null) return deterministicText(turns, scope);
  const { model, fingerprint } = target;
  if (settings.flags.strategy === "remote") return await remoteText(asking, built, { model, fingerprint });
  const { items, response } = await askOnce(asking, built as BuiltRequest);
  if (response.refused) throw unanswered("refused", response.reason ?? "the model refused");
  if (response.status !== "completed") throw unanswered("incomplete", response.reason ?? response.status);
  const text = answerText(items);
  if (text === "") throw badSummary("the response holds no message");
  const answer = parseAnswer(text);
  const fromSeq = readOverrides(turns, undefined).checkpoint?.to_seq ?? 0;
  return modelText(answer, scope, {
    verification: verifyAnswer(answer, turns, { toSeq: scope.cut.seq, fromSeq }),
    request: {
      model: { asked: model, answered: response.model },
      body_sha256: sha256Hex(built.body),
      ...(response.usage === null ? {} : { usage: response.usage }),
    },
  });
}

function unanswered(code: "refused" | "incomplete", why: string): RepriseError {
  return new RepriseError(code, `Cannot use the summary of the model: it is ${code} (${why})`, {
    hint: "Nothing was written: try again, or use --strategy deterministic, which needs no model",
  });
}

function askingOf(
  { ports, endpoint, key }: CompactSettings,
  { send, signal }: Pick<Asking, "send" | "signal">,
): Asking {
  const api = apiOf(endpoint.provider);
  return { ports, api, send, urlOf: (path) => endpoint.urlOf(path), key, signal };
}

function liveSend({ ports, endpoint }: CompactSettings): Send {
  return createLiveSend(ports, { ...liveTimeouts(ports), origin: endpoint.baseUrl.origin });
}

/**
 * The request whose history is to become smaller: to where the session's last run went; for the provider's own
 * checkpoint, to where that comes from.
 */
function targetOf(settings: CompactSettings, { manifest, turns }: CompactSource): FoldTarget {
  const { ports, flags, fixture, endpoint, context } = settings;
  const model = modelSetting(ports, flags, { config: context.config, fixture, manifest }).value;
  const identity = requestIdentity(endpoint, {
    played: fixture !== null,
    key: keyInForce(ports, endpoint.provider),
    family: manifest.family,
    turns,
  });
  const { state } = manifest;
  const done = state === "completed" || state === "refused";
  const fingerprint = flags.strategy === "deterministic"
    ? manifest.pins.fingerprint
    : fingerprintOf({ ...endpoint, ...identity }, identity.account);
  return {
    fingerprint,
    needs: foldNeedsOf(fingerprint.provider),
    model,
    replay: "exact",
    ...(done ? {} : { run: state === "open" ? manifest.run : manifest.run + 1 }),
  };
}
