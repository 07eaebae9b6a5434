/** The verb `compact`: writes a checkpoint, which replaces the older events in every later request. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import {
  badSummary,
  type ModelContract,
  modelContract,
  modelText,
  parseAnswer,
  verifyAnswer,
} from "../../compaction/model_summary.ts";
import { type CheckpointText, planOf, TOKEN_ESTIMATE } from "../../compaction/plan.ts";
import { shrink, type Shrunk } from "../../compaction/shrink.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import { sha256Hex } from "../../domain/hash.ts";
import { defined } from "../../domain/json.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { counted } from "../../domain/text.ts";
import type { FoldTarget } from "../../fold/guard.ts";
import { readOverrides } from "../../fold/overrides.ts";
import type { BuiltRequest } from "../../apis/api.ts";
import { apiOf, foldNeedsOf } from "../../apis/apis.ts";
import { compactionDraft, unseenEvents } from "../../run/auto_compact.ts";
import { type RecordedHistory, requestOf, standingOmissions, targetOf } from "../../run/next_request.ts";
import { answerText, Stop } from "../../run/outcome.ts";
import { closeKilledRun, isUnfinished } from "../../run/recover.ts";
import { requestOnce } from "../../run/request_step.ts";
import { blobReader, readSession, readSessionTail } from "../../store/read/session.ts";
import { changeAndClose, openWriter } from "../remote/open_writer.ts";
import type { SessionWriter } from "../../store/write/writer.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { CompactFlags } from "./command.ts";
import { readCall, type ResolvedTarget, resolveTarget, targetSettings } from "../run/resolve_run.ts";
import { fixtureSend, liveSend, matchNote, requireComparison } from "../run/sending.ts";
import type { Home } from "../../store/home.ts";
import { sessionArgument } from "../sessions.ts";
import { stopOnSignals } from "../signals.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";

/** Milliseconds that `compact` may take: a summary is one request. */
const TIMEOUT_MS = 1_800_000;

type CompactSettings = ResolvedTarget<CompactFlags>;

interface CompactSource extends RecordedHistory {
  readonly id: string;
  readonly manifest: Manifest;
}

export async function compactVerb(
  live: ProgramPorts,
  selector: string,
  flags: CompactFlags,
): Promise<ExitCode> {
  if (flags.undo === true) {
    return await (await import("./undo.ts")).undoCompact(live, selector, flags);
  }
  requireComparison(flags);
  const call = readCall(live, flags);
  const { context } = call;
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  const dryRun = flags.dryRun === true;
  const asks = flags.strategy === "model";
  const settings = resolveTarget(call, readSessionTail(context.ports, home, id).manifest, {
    key: asks && !dryRun ? "required" : "if_set",
    endpoint: asks ? "named" : "any",
  });
  try {
    if (dryRun) {
      const session = readSession(context.ports, home, id);
      const report = preview(settings, { ...session, readBlob: blobReader(context.ports, home, session) });
      const sends = asks ? plannedChanges("send", "request", [null]) : [];
      const changes = [...sends, ...plannedChanges("append", "turn", [id])];
      const facts = { session: id, ...report.json };
      if (output.options.json) output.json<"compact">(dryRunOf("compact", changes, facts));
      else output.text(`${id}: would ${planText(report.shrunk)}. Nothing was sent or written.\n`);
    } else await compactSession(live, settings, { home, id });
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== "nothing_to_compact") throw error;
    const { code, message, details } = error;
    const facts = { session: id, message, details };
    if (output.options.json) {
      output.json<"compact">(dryRun ? dryRunOf("compact", [], facts) : { type: code, ...facts });
    } else output.text(`${id}: ${message}\n`);
  }
  return 0;
}

async function compactSession(
  live: ProgramPorts,
  settings: CompactSettings,
  { home, id }: { readonly home: Home; readonly id: SessionId },
): Promise<void> {
  const { ports, flags } = settings.call;
  const stop = new Stop(live.clock.monotonic() + TIMEOUT_MS);
  const release = stopOnSignals(live, stop);
  try {
    const { signal } = stop;
    const writer = await openWriter(ports, home, { id, waitMs: flags.wait * 1000, signal }, {
      flag: flags.remote,
      config: settings.call.config,
    });
    await changeAndClose(writer, () => writeCheckpoint(writer, settings, signal));
  } catch (error) {
    throw stop.error ?? error;
  } finally {
    release();
  }
}

async function writeCheckpoint(
  writer: SessionWriter,
  settings: CompactSettings,
  signal: AbortSignal,
): Promise<void> {
  const { output } = settings.call.context;
  await closeKilledRun(writer);
  const turns = writer.allTurns();
  const { manifest } = writer;
  if (manifest === null) throw new TypeError("An opened session has a manifest");
  const shrunk = await makeSmaller(settings, {
    id: writer.id,
    manifest,
    turns,
    readBlob: (sha256) => writer.readBlob(sha256),
  }, signal);
  const turn = await writer.save(compactionDraft(turns, shrunk, { run: manifest.run, pins: manifest.pins }));
  const text = shrunk.checkpoint?.text ?? EMPTY;
  if (output.options.json) {
    output.json<"compact">({
      type: "compacted",
      session: writer.id,
      strategy: text.strategy,
      checkpoint: shrunk.checkpoint === null ? null : { turn: turn.turn, seq: turn.seq[0] },
      ...planJson(shrunk),
      summary: text.summary,
      limitations: text.limitations,
      ...defined({ verification: text.verification }),
    });
    return;
  }
  output.text(`${writer.id}: turn ${turn.turn} is written to ${planText(shrunk)}\n`);
  for (const limitation of text.limitations) output.note(`notice: ${limitation}`);
}

/** The plan; sizes exclude a summary that only a request would create. */
function preview(settings: CompactSettings, source: CompactSource) {
  const { strategy } = settings.call.flags;
  const { shrunk, target, contract, built } = compactRequest(settings, source);
  const text = shrunk.checkpoint?.text ?? EMPTY;
  const request = built === null ? {} : {
    after_excludes_summary: true as const,
    request: {
      url: settings.endpoint.urlOf(built.path),
      model: target.model,
      body_bytes: encodeUtf8(built.body).length,
    },
  };
  const packaged = contract === null ? {} : {
    contract: {
      name: contract.contract,
      instructions: contract.instructions,
      output_schema: contract.outputSchema,
      input: contract.entries.flatMap((entry) => entry.kind === "user_message" ? entry.content : []),
    },
  };
  const { summary, limitations } = text;
  const written = strategy === "deterministic" ? { summary, limitations } : {};
  return { shrunk, json: { strategy, ...planJson(shrunk), ...written, ...request, ...packaged } };
}

/** The plan as JSON; its members about a checkpoint are `null` if only results are shortened. */
function planJson({ checkpoint, elided, before, after }: Shrunk) {
  const plan = checkpoint?.plan ?? {
    range: null,
    tail: null,
    cut: null,
    previous_checkpoint: null,
    opening_turn: null,
    token_estimate: TOKEN_ESTIMATE,
    dropped: {},
  };
  const shortened = elided.map(({ result_seq, kept }) => ({ result_seq, kept_chars: kept.length }));
  return { ...plan, before, after, elided: shortened };
}

function planText({ checkpoint, elided, before, after }: Shrunk): string {
  const parts: string[] = [];
  if (checkpoint !== null) {
    const { range, tail } = checkpoint.plan;
    parts.push(
      `replace turns 1 to ${range.to_turn} (seq 1 to ${range.to_seq}) in later requests; ` +
        `${counted(tail.events, "event")} ${tail.events === 1 ? "stays" : "stay"}`,
    );
  }
  if (elided.length > 0) {
    const seqs = elided.map(({ result_seq }) => result_seq).join(", ");
    parts.push(`shorten ${counted(elided.length, "result")} (seq ${seqs}) in later requests`);
  }
  return `${parts.join("; ")}; ${counted(before.bytes, "byte")} become ${after.bytes}, about ${
    counted(before.tokens, "token")
  } ${after.tokens}`;
}

/**
 * Finds the place of the checkpoint and packages the request for it.
 *
 * @throws {RepriseError} `nothing_to_compact` when not even an empty summary would make the history smaller;
 * `session_damaged` if a blob is lost that the checkpoint will name.
 */
function compactRequest(settings: CompactSettings, source: CompactSource): {
  readonly target: FoldTarget;
  readonly shrunk: Shrunk;
  /** The packaged request for a model, and the request that would be sent; `null` for a checkpoint by rule. */
  readonly contract: ModelContract | null;
  readonly built: BuiltRequest | null;
} {
  const { strategy, tailEvents } = settings.call.flags;
  const { id, turns, manifest: { pins }, readBlob } = source;
  for (const sha256 of [pins.instructions, pins.tools]) readBlob(sha256);
  const base = targetSettings(settings, { id, turns });
  const elides = strategy === "deterministic";
  const target = compactTarget(base, source, elides);
  const least = Math.min(tailEvents, unseenEvents(turns));
  const textOf = elides ? {} : { textOf: () => EMPTY };
  const shrunk = shrink(turns, { most: tailEvents, least, target, elides, ...textOf });
  if (shrunk.checkpoint === null || elides) return { target, shrunk, contract: null, built: null };
  const { scope } = shrunk.checkpoint;
  const contract = modelContract(turns, scope);
  const { instructions, outputSchema, entries } = contract;
  const cacheKey = `${base.cacheKey.slice(0, 55)}-compact`;
  const built = requestOf({ ...base, instructions, tools: [], outputSchema, cacheKey }, entries, {
    without: standingOmissions(turns, base, base.model),
  });
  return { target, shrunk, contract, built };
}

/** The place of a checkpoint without its text, for the plan before a request is sent. */
const EMPTY: CheckpointText = { strategy: "deterministic", summary: "", limitations: [] };

/**
 * Finds the changes, and creates the checkpoint; sends the request if the strategy needs it.
 *
 * @throws {RepriseError} `nothing_to_compact`, `bad_summary`, `refused`, `incomplete`, and the errors of requests.
 */
async function makeSmaller(
  settings: CompactSettings,
  source: CompactSource,
  signal: AbortSignal,
): Promise<Shrunk> {
  const { shrunk, target, built } = compactRequest(settings, source);
  if (shrunk.checkpoint === null || built === null) return shrunk;
  const { scope } = shrunk.checkpoint;
  const { turns } = source;
  const { call: { context: { output }, ports }, endpoint, key } = settings;
  const played = (await fixtureSend(settings.call))?.((report) =>
    output.note(report.kind === "matched" ? matchNote(report) : report.message)
  );
  const { items, response } = await requestOnce({
    ports,
    api: apiOf(endpoint.provider),
    send: ports.wrapSend(played ?? liveSend(ports, endpoint)),
    urlOf: (path) => endpoint.urlOf(path),
    key,
    signal,
  }, built);
  if (response.refused) throw unanswered("refused", response.reason ?? "the model refused");
  if (response.status !== "completed") throw unanswered("incomplete", response.reason ?? response.status);
  const json = answerText(items);
  if (json === "") throw badSummary("the response holds no message");
  const answer = parseAnswer(json);
  const fromSeq = readOverrides(turns, undefined).checkpoint?.to_seq ?? 0;
  const text = modelText(answer, scope, {
    verification: verifyAnswer(answer, turns, { toSeq: scope.cut.seq, fromSeq }),
    request: {
      model: { asked: target.model, answered: response.model },
      fingerprint: { ...target.fingerprint },
      body_sha256: sha256Hex(built.body),
      ...(response.usage === null ? {} : { usage: response.usage }),
    },
  });
  const plan = planOf(turns, scope, { text, target });
  return { ...shrunk, checkpoint: { scope, text, plan }, after: plan.after };
}

function unanswered(code: "refused" | "incomplete", why: string): RepriseError {
  return new RepriseError(code, `Cannot use the summary of the model: it is ${code} (${why})`, {
    hint: "Nothing was written: try again, or use --strategy deterministic, which needs no model",
  });
}

/** The target of the history to compact: by rule, the server of the session's last run. */
function compactTarget(
  base: ReturnType<typeof targetSettings>,
  { manifest }: CompactSource,
  isByRule: boolean,
): FoldTarget {
  const run = isUnfinished(manifest) ? manifest.run + (manifest.state === "open" ? 0 : 1) : undefined;
  const { account } = base;
  const target = targetOf({ ...base, replay: "exact", window: null }, { account, ...defined({ run }) });
  if (!isByRule) return target;
  const { fingerprint } = manifest.pins;
  return { ...target, fingerprint, needs: foldNeedsOf(fingerprint.provider) };
}
