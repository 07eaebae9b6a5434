/**
 * One request and its response: fold, build, send, read, and what of it is kept.
 *
 * @module
 */
import { foldNeedsOf } from "../apis/apis.ts";
import type { Item, Omission, Usage } from "../domain/event.ts";
import { NO_USAGE } from "../domain/event.ts";
import { type ApiFailure, asRepriseError, RepriseError } from "../domain/errors.ts";
import { fingerprintText } from "../domain/fingerprint.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { JsonObject } from "../domain/json.ts";
import type { RequestRecord, ResponseRecord, TurnDraft } from "../domain/turn.ts";
import { foldHistory, requestAccount } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import type { FoldTarget } from "../fold/guard.ts";
import { needsOlderTurns } from "../fold/overrides.ts";
import type { BuiltRequest, FinishedResponse } from "../apis/api.ts";
import { toolSchemas } from "../tools/registry.ts";
import { openEventStream } from "../transport/exchange.ts";
import { failureOfError, standingOmissions } from "./refusals.ts";
import { failureOfResponse } from "./failure.ts";
import { eventsOfResponse } from "./item_events.ts";
import { fingerprintOf, type RunSetup } from "./setup.ts";

/** Options for sending a request of a step. */
export interface SendOptions {
  /** True when the same step was refused once and goes again. */
  readonly again: boolean;
  /** A turn that the request counts in, and that is saved only if the retry works. */
  readonly pending: TurnDraft | null;
}

/** What a run carries from request to request. */
export interface RequestContext extends SendOptions {
  readonly setup: RunSetup;
  readonly run: number;
  /** 1 for the first request of the run. */
  readonly step: number;
  /** `null` while no response of this endpoint and key named it. */
  readonly account: string | null;
  readonly cacheKey: string;
  /** Blob ids of instructions and tools, which the record names in their place. */
  readonly pinned: { readonly instructions: string; readonly tools: string };
  /** Hears what the fold left out or changed, before anything is sent. */
  readonly onFolded: (folded: Folded) => void;
  /** Tokens that the budget still allows. */
  readonly tokensLeft?: number;
}

/** How a request ended, with the turn to keep. */
export interface RequestOutcome {
  /** `null` when the response brought nothing to keep. */
  readonly draft: TurnDraft | null;
  readonly items: readonly Item[];
  /** `null` when no terminal event came: `error` says why. */
  readonly response: FinishedResponse | null;
  readonly error: RepriseError | null;
  readonly account: string | null;
  readonly usage: Usage;
  /** What was folded into the request, for a refusal to point at. */
  readonly folded: Folded;
  /** What the request went without. */
  readonly without: ReadonlySet<Omission>;
  /** What the API said against the request, or inside the stream. */
  readonly failure: ApiFailure | null;
}

/** Sends one request. Failures of network and provider come back in `error`; only bugs are thrown. */
export async function requestStep(context: RequestContext): Promise<RequestOutcome> {
  const { setup } = context;
  const fingerprint = fingerprintOf(setup, context.account);
  const { replay: mode, window } = setup;
  const target: FoldTarget = {
    fingerprint,
    needs: foldNeedsOf(setup.provider),
    model: setup.model,
    replay: mode,
    window,
    run: context.run,
  };
  const { writer } = setup;
  const saved = needsOlderTurns(writer.turns, target) ? writer.allTurns() : writer.turns;
  const turns = context.pending === null ? saved : [...saved, writer.preview(context.pending)];
  const folded = foldHistory(turns, target);
  const without = standingOmissions(turns, setup, setup.model);
  const built = setup.api.buildRequest({
    model: setup.model,
    instructions: setup.instructions,
    tools: toolSchemas(setup.tools),
    entries: folded.entries,
    cacheKey: context.cacheKey,
    without,
    ...(setup.effort === undefined ? {} : { effort: setup.effort }),
    ...(setup.summary === undefined ? {} : { summary: setup.summary }),
    ...(setup.outputSchema === undefined ? {} : { outputSchema: setup.outputSchema }),
    ...(context.tokensLeft === undefined ? {} : { maxOutputTokens: context.tokensLeft }),
  });
  const { sent, left, dropped } = requestAccount(folded);
  setup.emit({
    type: "request",
    step: context.step,
    items: built.items,
    reasoning_sent: sent,
    reasoning_dropped: left,
    fingerprint: fingerprintText(fingerprint, setup.model),
    ...(context.again ? { again: true } : {}),
  });
  context.onFolded(folded);
  const received = await receive(context, built);
  const record: RequestRecord = {
    body_sha256: sha256Hex(built.body),
    fold: folded.version,
    replay: { mode, window, account: context.account },
    fields: recordedFields(built.fields, context.pinned),
    guard: { sent, dropped },
  };
  const events = eventsOfResponse(received.items, received.response);
  const draft: TurnDraft | null = events.length === 0 ? null : {
    kind: "model",
    run: context.run,
    model: { asked: setup.model, answered: received.response?.model ?? null },
    fingerprint: { ...fingerprint, account: received.account },
    response: responseRecord(received, setup.stop.signal.aborted),
    request: record,
    events,
  };
  const usage = received.response?.usage ?? null;
  const failure = received.response?.failure ??
    (received.error === null ? null : failureOfError(received.error));
  return {
    ...received,
    draft,
    folded,
    without,
    failure,
    usage: usage === null ? NO_USAGE : setup.api.usageOf(usage),
  };
}

interface Received {
  readonly items: readonly Item[];
  readonly response: FinishedResponse | null;
  readonly error: RepriseError | null;
  readonly account: string | null;
}

async function receive(
  context: RequestContext,
  request: BuiltRequest,
): Promise<Received> {
  const { setup } = context;
  const placed: { readonly outputIndex: number; readonly item: Item }[] = [];
  let response: FinishedResponse | null = null;
  let account = context.account;
  try {
    const stream = await openEventStream({
      send: setup.send,
      request: {
        url: setup.urlOf(request.path),
        headers: { ...setup.api.headers(setup.key), ...request.headers },
        body: request.body,
      },
      signal: setup.stop.signal,
      clock: setup.ports.clock,
      random: setup.ports.random,
      classify: (status, headers, body) => setup.api.classify(status, headers, body),
      onRetry: ({ attempt, delayMs, failure }) =>
        setup.emit({
          type: "notice",
          kind: "retry",
          attempt,
          delay_ms: Math.round(delayMs),
          code: failure.code,
          message: failure.message,
        }),
    });
    account = setup.api.accountOf(stream.headers) ?? account;
    const assembler = setup.api.newAssembler();
    const take = (update: ReturnType<typeof assembler.feed>[number]) => {
      switch (update.kind) {
        case "text_delta":
          setup.emit({
            type: "text.delta",
            delta: update.delta,
            ...(update.phase === undefined ? {} : { phase: update.phase }),
          });
          break;
        case "reasoning_delta":
          setup.emit({ type: "reasoning.delta", delta: update.delta });
          break;
        case "item":
          placed.push(update);
          setup.emit({ type: "item", item: update.item });
          break;
        case "reset":
          placed.length = 0;
          break;
        case "finished":
          response = update.response;
          tellTransformations(setup, update.response);
          for (const message of update.response.notices) {
            setup.emit({ type: "notice", kind: "stream", message });
          }
          break;
      }
    };
    for await (const batch of stream.events) {
      for (const event of batch) for (const update of assembler.feed(event)) take(update);
      if (response !== null) break;
    }
    if (response === null) { for (const update of assembler.end()) take(update); }
  } catch (error) {
    return { items: inOrder(placed), response, error: setup.stop.error ?? asRepriseError(error), account };
  }
  return {
    items: inOrder(placed),
    response,
    error: setup.stop.error ?? failureOfResponse(response),
    account,
  };
}

/** Arrival order, but for items that only the terminal event listed: those go where it has them. */
function inOrder(placed: readonly { readonly outputIndex: number; readonly item: Item }[]): Item[] {
  return placed.toSorted((a, b) => a.outputIndex - b.outputIndex).map(({ item }) => item);
}

function responseRecord(received: Received, stopped: boolean): ResponseRecord {
  const { response } = received;
  if (response === null) return { id: null, status: stopped ? "interrupted" : "cut" };
  return {
    id: response.id,
    status: response.status,
    ...(response.reason === undefined ? {} : { reason: response.reason }),
    ...(response.paused === true ? { paused: true } : {}),
    ...(response.inputTransformations === undefined
      ? {}
      : { input_transformations: response.inputTransformations }),
    ...(response.failure === undefined
      ? {}
      : { error: { code: response.failure.providerCode, message: response.failure.message } }),
  };
}

/** The body's fields with the two large ones named by their blob, in the body's own order. */
function recordedFields(fields: JsonObject, pinned: RequestContext["pinned"]): JsonObject {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) =>
      name === "instructions" || name === "tools" ? [name, { blob: pinned[name] }] : [name, value]
    ),
  );
}

/** The server may leave out reasoning that was sent: that is recorded, and told. */
function tellTransformations(setup: RunSetup, { inputTransformations = [] }: FinishedResponse): void {
  const count = inputTransformations.length;
  if (count === 0) return;
  const message = `The server changed or left out ${count} of the sent items: see "reprise explain"`;
  setup.emit({ type: "notice", kind: "stream", message });
}
