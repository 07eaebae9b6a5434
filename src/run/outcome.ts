/** Outcome of a run: its limits, requests to stop it, and its terminal state with the error to report. */
import { costText, roundedCost } from "../domain/cost.ts";
import type { Item } from "../domain/event.ts";
import type { RunState } from "../domain/session_states.ts";
import { NO_USAGE, shownUsage, type Usage } from "../domain/usage.ts";
import { type ErrorCode, RepriseError } from "../domain/errors.ts";
import { itemKind, messageTextOf } from "../domain/item.ts";
import { counted } from "../domain/text.ts";
import type { FinishedResponse } from "../apis/api.ts";
import { commandLine } from "../tools/permission/shell_words.ts";
import { failureError } from "../transport/failure.ts";
import type { DeniedCall } from "../schemas/run_events.ts";

/** A character that is more than white space or a mark without a width. */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}]/u;
/** The API's smallest `max_output_tokens`: with less left, a request cannot be sent. */
const MIN_OUTPUT_TOKENS = 16;

/** Limits of one run, named as the flags of `run` that set them. */
export interface RunLimits {
  /** Requests at most, 1 or more. */
  readonly maxSteps: number;
  /** Input plus output tokens of the run at most. */
  readonly maxTokens?: number | undefined;
  /** Cost of the run at most, in US dollars. Ignored without {@linkcode outputPrice}. */
  readonly maxCost?: number | undefined;
  /** The price of an output token after a request of `inputTokens`, in US dollars. */
  readonly outputPrice?: ((inputTokens: number) => number) | undefined;
  /** Input tokens of a request above which the history is compacted before the next one. */
  readonly autoCompact?: number | undefined;
  /** Ends the run with `permission_denied` after the first denial. */
  readonly failOnDenied?: boolean | undefined;
}

export interface RunProgress {
  /** Requests that were sent; retries of a request do not count. */
  readonly steps: number;
  readonly usage: Usage;
  readonly denials: number;
  /** Cost so far in US dollars; `null` if it is unknown. */
  readonly cost: number | null;
  /** Input tokens of the last request. */
  readonly lastInput: number;
}

export const NO_PROGRESS: RunProgress = {
  steps: 0,
  usage: NO_USAGE,
  denials: 0,
  cost: null,
  lastInput: 0,
};

/** The outcome of a run. `error` is `null` for a completed one only. */
export interface Outcome {
  readonly state: RunState;
  readonly error: RepriseError | null;
  /** The flag of a budget that allows no request at all: the command that continues the run leaves it out. */
  readonly tooSmall?: string;
}

/** One budget of a run: the output tokens that it still allows. */
interface Budget {
  readonly flag: string;
  /** The most output tokens of the next response; may be negative. */
  readonly left: number;
  /** The whole budget, such as `5000 tokens`. */
  readonly whole: string;
  /** Description of what is used or left, for a message. */
  readonly state: string;
  readonly isFresh: boolean;
}

/** The output tokens that all budgets still allow; `undefined` without a budget. */
export function tokensLeft(limits: RunLimits, progress: RunProgress): number | undefined {
  const budgets = budgetsOf(limits, progress);
  return budgets.length === 0 ? undefined : Math.min(...budgets.map(({ left }) => left));
}

function budgetsOf(
  { maxTokens, maxCost, outputPrice }: RunLimits,
  { usage, cost, lastInput }: RunProgress,
): Budget[] {
  const tokens = usage.input_tokens + usage.output_tokens;
  const budgets: Budget[] = maxTokens === undefined ? [] : [{
    flag: "--max-tokens",
    left: maxTokens - tokens,
    whole: counted(maxTokens, "token"),
    state: tokens > maxTokens
      ? `${counted(tokens, "token")} were used, ${tokens - maxTokens} more than ${maxTokens}`
      : `${maxTokens - tokens} of ${counted(maxTokens, "token")} ${
        maxTokens - tokens === 1 ? "is" : "are"
      } left`,
    isFresh: tokens === 0,
  }];
  if (maxCost === undefined || outputPrice === undefined || cost === null) return budgets;
  const remaining = maxCost - cost;
  const price = outputPrice(lastInput);
  // Without a price of output, only a spent budget ends the run.
  const affordable = price > 0 ? Math.floor(remaining / price + 1e-9) : remaining > 0 ? Infinity : 0;
  if (affordable === Infinity) return budgets;
  const costBudget: Budget = {
    flag: "--max-cost",
    left: affordable,
    whole: costText(maxCost),
    state: `${costText(cost)} of ${costText(maxCost)} is spent`,
    isFresh: cost === 0,
  };
  return [...budgets, costBudget];
}

/** The outcome if a limit forbids the next request; `null` if the request may be sent. */
export function outcomeBeforeRequest(limits: RunLimits, progress: RunProgress): Outcome | null {
  const { maxSteps, maxCost, outputPrice } = limits;
  if (progress.steps >= maxSteps) {
    const were = maxSteps === 1 ? "was" : "were";
    return overBudget(`Budget exhausted: ${counted(maxSteps, "request")} ${were} sent (--max-steps)`);
  }
  if (maxCost !== undefined && outputPrice !== undefined && progress.cost === null) {
    return overBudget("Budget exhausted: the cost of a response is unknown (--max-cost)");
  }
  const spent = budgetsOf(limits, progress).find(({ left }) => left < MIN_OUTPUT_TOKENS);
  if (spent === undefined) return null;
  const { flag, whole, state, isFresh } = spent;
  if (!isFresh) return overBudget(`Budget exhausted: ${state} (${flag})`);
  const needs = `a response needs at least ${counted(MIN_OUTPUT_TOKENS, "token")}`;
  const outcome = overBudget(
    `The budget of ${whole} is too small: ${needs} (${flag})`,
    `Give a larger ${flag}`,
  );
  return { ...outcome, tooSmall: flag };
}

/** The outcome if a limit ends the run after a batch of calls; `null` if the run continues. */
export function outcomeAfterCalls({ failOnDenied }: RunLimits, { denials }: RunProgress): Outcome | null {
  if (failOnDenied !== true || denials === 0) return null;
  const error = new RepriseError(
    "permission_denied",
    `Permission denied for ${counted(denials, "call")} (--fail-on-denied)`,
    { hint: "Allow what is needed with --allow, then continue the run" },
  );
  return { state: "failed", error };
}

interface JudgedResponse {
  /** `null` if no terminal event came: `error` has the reason. */
  readonly response: FinishedResponse | null;
  readonly error: RepriseError | null;
  readonly items: readonly Item[];
}

/** The outcome of a response, or `null` if its calls must run first. */
export function outcomeOfResponse(
  { response, error, items }: JudgedResponse,
  { calls, stopped }: { readonly calls: number; readonly stopped: Outcome | null },
): Outcome | null {
  if (error !== null) return stopped ?? { state: "failed", error };
  if (response === null) {
    return stopped ?? outcomeOfError(new RepriseError("stream_cut", "The response had no end"));
  }
  if (response.refused) {
    return { state: "refused", error: new RepriseError("refused", refusalText(response)) };
  }
  if (response.status === "incomplete") {
    return incomplete(`The response is incomplete: ${response.reason ?? "no reason given"}`);
  }
  if (calls > 0 || response.paused === true) return null;
  if (isAnswer(items)) return { state: "completed", error: null };
  return incomplete(
    items.some(isMessage)
      ? "The response completed with an empty message"
      : "The response completed without a message or a tool call",
  );
}

export function outcomeOfError(error: RepriseError): Outcome {
  return { state: error.code === "session_diverged" ? "diverged" : "failed", error };
}

/** The error of a failed response, or `null` if it completed or was only cut short. */
export function errorOfResponse(response: FinishedResponse | null): RepriseError | null {
  if (response === null || response.status === "completed" || response.status === "incomplete") return null;
  if (response.failure !== undefined) return failureError(response.failure);
  return new RepriseError("provider_failed", `The response ended as ${response.status}, without saying why`);
}

/** The answer to the user: all messages except commentary; if there are none, all messages. */
export function answerText(items: readonly Item[]): string {
  const messages = items.filter(isMessage);
  const answers = messages.filter((item) => item.phase !== "commentary");
  return (answers.length > 0 ? answers : messages).map(messageTextOf).join("\n\n");
}

/** True if the items of a whole response have text for the user. */
export function isAnswer(items: readonly Item[]): boolean {
  return VISIBLE.test(answerText(items));
}

export interface ContinuedSession {
  readonly writer: { readonly id: string };
  /** The given flags that the next run needs too. */
  readonly resumeFlags?: readonly string[];
}

/** The command that continues the session of a run, at the same endpoint. */
export function continueCommand(
  { writer, resumeFlags = [] }: ContinuedSession,
  ...more: readonly string[]
): string {
  return commandLine(["reprise", "run", "-s", writer.id, ...resumeFlags, ...more]);
}

/** The error of a run with a command in its hint that names the session: to shorten its history, or to continue it. */
export function withSessionHint(
  { state, error, tooSmall }: Outcome,
  { writer, resumeFlags = [] }: ContinuedSession,
): RepriseError | null {
  const { id } = writer;
  const small = tooSmall === undefined ? -1 : resumeFlags.indexOf(tooSmall);
  const session = { writer, resumeFlags: small === -1 ? resumeFlags : resumeFlags.toSpliced(small, 2) };
  if (error === null || error.details.item !== undefined) return error;
  if (error.code === "context_overflow") {
    return error.withHint(`Shorten the history, then continue the run: reprise compact ${id}`);
  }
  const command = state === "diverged"
    ? `reprise fsck ${id}`
    : state === "refused"
    ? `${continueCommand(session)} "…"`
    : continueCommand(session);
  const hint = (error.hint ?? "").replaceAll("reprise run -c", command).replaceAll("@last", id);
  if (/\breprise [a-z]/.test(hint)) return error.withHint(hint);
  const next = state === "diverged" ? "Check the session" : "Continue with";
  return error.withHint(`${hint === "" ? "" : `${hint}. `}${next}: ${command}`);
}

/** Adds the command that allows the denied calls to the error of `--fail-on-denied`; returns any other error unchanged. */
export function withAllowHint(
  error: RepriseError | null,
  session: ContinuedSession,
  denied: readonly DeniedCall[],
): RepriseError | null {
  if (error?.code !== "permission_denied") return error;
  const values = [...new Set(denied.flatMap(({ allow }) => allow ?? []))];
  if (values.length === 0) return error;
  const flags = values.flatMap((value) => ["--allow", value]);
  return error.withHint(`Allow what is needed, and continue the run: ${continueCommand(session, ...flags)}`);
}

/** Adds `explain` and `--replay none` to the error of a refusal that no retry resolved. */
export function withReplayHint(error: RepriseError, session: ContinuedSession): RepriseError {
  return error.withHint(
    `See what was sent with "reprise explain ${session.writer.id}"; ` +
      `to send no earlier reasoning: ${continueCommand(session, "--replay", "none")}`,
  );
}

function overBudget(message: string, advice = "Each run has budgets of its own"): Outcome {
  return { state: "over_budget", error: new RepriseError("over_budget", message, { hint: advice }) };
}

/** Adds what the run spent to the error of a spent budget; returns any other error unchanged. */
export function withSpending(error: RepriseError, { usage, cost, steps }: RunProgress): RepriseError {
  if (error.code !== "over_budget" || steps === 0) return error;
  const { input_tokens: input, output_tokens: output } = shownUsage(usage);
  const tokens = input === null || output === null
    ? "an unknown number of tokens"
    : `${counted(input, "input token")} and ${counted(output, "output token")}`;
  const spent = cost === null ? tokens : `${tokens}, ${costText(cost)}`;
  return new RepriseError(error.code, `${error.message}; the run spent ${spent}`, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    details: { ...error.details, usage: shownUsage(usage), cost_usd: roundedCost(cost) },
    cause: error.cause,
  });
}

function incomplete(message: string): Outcome {
  const hint = "The answer so far is kept";
  return { state: "incomplete", error: new RepriseError("incomplete", message, { hint }) };
}

/** The outcome of a run whose corrected answer does not fit the output schema either. */
export function outcomeOfMismatch(errors: readonly string[], session: ContinuedSession): Outcome {
  const error = new RepriseError(
    "schema_mismatch",
    `The answer does not fit the output schema, nor did the one before it: ${errors[0] ?? ""}`,
    {
      hint: `See both answers with "reprise show ${session.writer.id}"`,
      details: { reason: "schema_mismatch", errors },
    },
  );
  return { state: "incomplete", error };
}

function refusalText({ reason }: FinishedResponse): string {
  return reason === undefined ? "The model refused to answer" : `The model refused: ${reason}`;
}

function isMessage(item: Item): boolean {
  return itemKind(item) === "assistant_message";
}

export type StopCause = "SIGINT" | "SIGTERM" | "SIGHUP" | "timeout" | "broken_pipe" | "quit";

const STOPS: Readonly<
  Record<StopCause, { readonly state: RunState; readonly code: ErrorCode; readonly message: string }>
> = {
  SIGINT: { state: "interrupted", code: "interrupted", message: "Interrupted by SIGINT" },
  SIGTERM: { state: "interrupted", code: "terminated", message: "Stopped by SIGTERM" },
  SIGHUP: { state: "interrupted", code: "hung_up", message: "Stopped by SIGHUP" },
  timeout: { state: "timed_out", code: "timed_out", message: "Stopped: the run took longer than --timeout" },
  broken_pipe: {
    state: "interrupted",
    code: "broken_pipe",
    message: "Stopped: the output is no longer read",
  },
  quit: { state: "interrupted", code: "interrupted", message: "Stopped by the answer to a question" },
};

/** The stop of one run: requested at most once, and announced by `signal`. */
export class Stop {
  readonly #controller = new AbortController();
  /** The monotonic time at which the run reaches its time limit. */
  readonly endsAt: number;
  /** The outcome of the run, or `null` while no stop was requested. */
  outcome: Outcome | null = null;

  constructor(endsAt: number) {
    this.endsAt = endsAt;
  }

  /** Aborts when the run has to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Asks the run to end; only the first cause counts. */
  request(cause: StopCause): void {
    if (this.outcome !== null) return;
    const { state, code, message } = STOPS[cause];
    const error = new RepriseError(code, message);
    this.outcome = { state, error };
    this.#controller.abort(error);
  }

  /** The state that the run ends in, or `null` while no stop was requested. */
  get state(): RunState | null {
    return this.outcome?.state ?? null;
  }

  /** The error to report, or `null` while no stop was requested. */
  get error(): RepriseError | null {
    return this.outcome?.error ?? null;
  }
}
