/** Sends one request, reads its response to the end, and makes the turn that keeps it. */
import { type ApiFailure, asRepriseError, RepriseError } from "../domain/errors.ts";
import type { EventDraft, Item, Omission, ToolCallEvent } from "../domain/event.ts";
import { NO_USAGE, type RequestUsage, UNCOUNTED, type Usage } from "../domain/usage.ts";
import { fingerprintText } from "../domain/fingerprint.ts";
import { itemKind } from "../domain/item.ts";
import { defined } from "../domain/json.ts";
import type { ResponseRecord, Turn, TurnDraft } from "../domain/turn.ts";
import { requestAccount } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import { classifyAnswer } from "../apis/failure.ts";
import { requestUsageOf } from "../apis/usage.ts";
import type { BuiltRequest, FinishedResponse, RunApi, StreamUpdate } from "../apis/api.ts";
import { isServerFault } from "../apis/failure.ts";
import { type EventStream, readEventStream, type RetryInfo, type StreamRead } from "../transport/exchange.ts";
import { type NextRequest, nextRequest, recordOf, type SendFacts } from "./next_request.ts";
import { errorOfResponse } from "./outcome.ts";
import { failureOfError } from "./refusals.ts";
import type { RunSetup, ServerAccess } from "./setup.ts";

export interface RepeatOptions {
  /** True if the step repeats a refused request. */
  readonly again: boolean;
  /** A turn that the request includes, and that is saved only if the retry succeeds. */
  readonly pending: TurnDraft | null;
}

/** A run that has begun, for what repeats its requests and shrinks its history. */
export interface OpenRun {
  readonly setup: RunSetup;
  readonly number: number;
  /** As in {@linkcode RunSetup}, until a response names it. */
  readonly account: string | null;
  readonly usage: Usage;
  /** Makes a turn durable and acknowledges it. */
  save(draft: TurnDraft): Promise<Turn>;
  send(step: number, options: RepeatOptions): Promise<RequestOutcome>;
  /** Saves and counts a response; returns its calls. */
  keep(outcome: RequestOutcome, step: number): Promise<readonly ToolCallEvent[]>;
}

interface RequestContext extends RepeatOptions, SendFacts {
  readonly setup: RunSetup;
  readonly run: number;
  readonly pending: TurnDraft | null;
  /** 1 for the first request of the run. */
  readonly step: number;
  /** Blob ids of instructions and tools, which replace them in the record. */
  readonly pinned: { readonly instructions: string; readonly tools: string };
  /** Called with the result of the fold before anything is sent. */
  readonly onFolded: (folded: Folded) => void;
}

/** A response, possibly incomplete. */
interface ReadResponse {
  readonly items: readonly Item[];
  /** Those of `items` whose content came only in deltas. */
  readonly fromDeltas: ReadonlySet<Item>;
  /** `null` if no terminal event came: `error` has the reason. */
  readonly response: FinishedResponse | null;
  readonly error: RepriseError | null;
  /** Hash of the account that the answer named; `null` if it named none. */
  readonly account: string | null;
  /** As in {@linkcode EventStream}. */
  readonly transport: "ws" | undefined;
}

/** The outcome of a request, with the turn to keep. */
export interface RequestOutcome extends ReadResponse {
  /** `null` if the response has nothing to keep. */
  readonly draft: TurnDraft | null;
  readonly usage: RequestUsage;
  /** The history in the request, to which a refusal may refer. */
  readonly folded: Folded;
  /** Fields that the request omitted. */
  readonly without: ReadonlySet<Omission>;
  /** The API's error about the request, or inside the stream. */
  readonly failure: ApiFailure | null;
}

/** Sends one request. Failures of network and provider come back in `error`; only bugs are thrown. */
export async function requestStep(context: RequestContext): Promise<RequestOutcome> {
  const { setup } = context;
  const { model, writer, stop } = setup;
  const next = nextRequest(setup, writer, context);
  const { built, folded, without, target: { fingerprint } } = next;
  const { sent, left } = requestAccount(folded);
  setup.emit({
    type: "request",
    step: context.step,
    items: built.items,
    reasoning_sent: sent,
    reasoning_dropped: left,
    fingerprint: fingerprintText(fingerprint, model),
    ...(context.again ? { again: true } : {}),
  });
  context.onFolded(folded);
  const waitLimit = () => stop.endsAt - setup.ports.clock.monotonic();
  const read = await readResponse({ ...setup, signal: stop.signal, waitLimit }, built, {
    onRetry: (retry) => emitRetry(setup, retry),
    onUpdate: (update) => emitUpdate(setup, update),
  });
  const received = { ...read, error: stop.error ?? read.error, account: read.account ?? context.account };
  const { response, error } = received;
  const { run, pinned } = context;
  const draft = modelDraft(next, received, { run, model, pinned, stopped: stop.signal.aborted });
  const usage = response?.usage ?? null;
  return {
    ...received,
    draft,
    folded,
    without,
    failure: response?.failure ?? (error === null ? null : failureOfError(error)),
    usage: usage === null
      ? draft === null ? NO_USAGE : UNCOUNTED
      : requestUsageOf(fingerprint.provider, usage),
  };
}

/** Makes the turn that keeps a response; `null` if it has nothing to keep. */
export function modelDraft(
  next: NextRequest,
  received: ReadResponse,
  { run, model, pinned, stopped = false }: Pick<RequestContext, "run" | "pinned"> & {
    readonly model: string;
    /** True if the run was stopped while it waited. @default {false} */
    readonly stopped?: boolean;
  },
): TurnDraft | null {
  const { response, account, transport } = received;
  const events = eventsOfResponse(received);
  if (events.length === 0) return null;
  return {
    kind: "model",
    run,
    model: { asked: model, answered: response?.model ?? null },
    fingerprint: { ...next.target.fingerprint, account },
    response: responseRecord(response, stopped),
    request: recordOf(next, pinned, transport),
    events,
  };
}

/** The server of a request, and the limits of the wait for its answer. */
export interface Asking extends ServerAccess {
  readonly signal: AbortSignal;
  /** Returns the milliseconds that a wait for a retry must stay below. @default {a minute} */
  readonly waitLimit?: () => number;
}

const MINUTE = 60_000;

/** A response that completed, or was only cut short. */
export interface WholeResponse extends ReadResponse {
  readonly response: FinishedResponse;
}

/**
 * Sends a request outside a run and waits for the end of its response; keeps nothing.
 *
 * @throws {RepriseError} if no whole response came: network, provider, a cut stream.
 */
export async function requestOnce(asking: Asking, built: BuiltRequest): Promise<WholeResponse> {
  const read = await readResponse(asking, built);
  if (read.error !== null) throw read.error;
  const { response } = read;
  if (response === null) throw new RepriseError("stream_cut", "The response had no end");
  return { ...read, response };
}

/** Sends a request and reads its response to the end; failures of network and provider come back in `error`. */
async function readResponse(
  { ports, api, send, urlOf, key, signal, waitLimit = () => MINUTE }: Asking,
  built: BuiltRequest,
  { onRetry = () => {}, onUpdate = () => {} }: {
    readonly onRetry?: (retry: RetryInfo) => void;
    readonly onUpdate?: (update: StreamUpdate) => void;
  } = {},
): Promise<ReadResponse> {
  const options = {
    send,
    request: { url: urlOf(built.path), headers: { ...api.headers(key), ...built.headers }, body: built.body },
    signal,
    clock: ports.clock,
    random: ports.random,
    classify: classifyAnswer,
    waitLimit,
    onRetry,
  };
  try {
    return await readEventStream(options, (stream) => readStream(api, stream, onUpdate));
  } catch (thrown) {
    const error = asRepriseError(thrown);
    return { items: [], fromDeltas: new Set(), response: null, error, account: null, transport: undefined };
  }
}

async function readStream(
  api: RunApi,
  { events, headers, transport }: EventStream,
  onUpdate: (update: StreamUpdate) => void,
): Promise<StreamRead<ReadResponse>> {
  const placed: Extract<StreamUpdate, { readonly kind: "item" }>[] = [];
  let response: FinishedResponse | null = null;
  let error: RepriseError | null = null;
  const assembler = api.newAssembler();
  const take = (update: StreamUpdate) => {
    if (update.kind === "item") placed.push(update);
    if (update.kind === "reset") placed.length = 0;
    if (update.kind === "finished") response = update.response;
    onUpdate(update);
  };
  try {
    for await (const batch of events) {
      for (const event of batch) assembler.feed(event).forEach(take);
      if (response !== null) break;
    }
    if (response === null) assembler.end().forEach(take);
    error = errorOfResponse(response);
  } catch (thrown) {
    error = asRepriseError(thrown);
  }
  // Arrival order. Items that only the terminal event lists go to their position there.
  const items = placed.toSorted((a, b) => a.outputIndex - b.outputIndex).map(({ item }) => item);
  const fromDeltas = new Set(placed.flatMap((update) => update.fromDeltas ? [update.item] : []));
  return {
    result: { items, fromDeltas, response, error, account: api.accountOf(headers), transport },
    failure: assembler.hasBegun ? null : passingFailure(response),
  };
}

/** The failure of a response that the same request may be spared later: an overload, a fault, a limit of the rate. */
function passingFailure(response: FinishedResponse | null): ApiFailure | null {
  const failure = response?.failure;
  if (failure === undefined || !failure.retryable) return null;
  return failure.code === "rate_limited" || isServerFault(failure) ? failure : null;
}

function emitRetry({ emit }: RunSetup, { attempt, delayMs, failure }: RetryInfo): void {
  const { code, message } = failure;
  emit({ type: "notice", kind: "retry", attempt, delay_ms: Math.round(delayMs), code, message });
}

function emitUpdate({ emit }: RunSetup, update: StreamUpdate): void {
  switch (update.kind) {
    case "text_delta":
      emit({ type: "text.delta", delta: update.delta, ...defined({ phase: update.phase }) });
      break;
    case "reasoning_delta":
      emit({ type: "reasoning.delta", delta: update.delta });
      break;
    case "item":
      emit({ type: "item", item: update.item });
      break;
    case "finished":
      for (const message of noticesOf(update.response)) emit({ type: "notice", kind: "stream", message });
      break;
    case "reset":
      break;
  }
}

/** The notices of a response, and a notice if the server left out reasoning that was sent. */
function noticesOf({ notices, inputTransformations = [] }: FinishedResponse): readonly string[] {
  const count = inputTransformations.length;
  if (count === 0) return notices;
  return [
    `The server changed or left out ${count} of the sent items: see "reprise explain @last"`,
    ...notices,
  ];
}

/** The events of one response: its items, whole and verbatim, in arrival order, then its usage. */
function eventsOfResponse({ items, fromDeltas, response }: ReadResponse): EventDraft[] {
  const events = items.map((item): EventDraft => ({
    type: itemKind(item),
    item,
    ...(fromDeltas.has(item) ? { from_deltas: true } : {}),
  }));
  const usage = response?.usage ?? null;
  return usage === null ? events : [...events, { type: "provider_usage", usage }];
}

function responseRecord(response: FinishedResponse | null, stopped: boolean): ResponseRecord {
  if (response === null) return { id: null, status: stopped ? "interrupted" : "cut" };
  const { id, status, reason, paused, inputTransformations, failure } = response;
  return {
    id,
    status,
    ...defined({
      reason,
      paused: paused || undefined,
      input_transformations: inputTransformations,
      error: failure === undefined ? undefined : { code: failure.providerCode, message: failure.message },
    }),
  };
}
