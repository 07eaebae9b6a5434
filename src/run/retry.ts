/** Sends refused requests again without the refused part, and records the omissions that helped. */
import type { EventDraft } from "../domain/event.ts";
import { NO_USAGE } from "../domain/usage.ts";
import type { TurnDraft } from "../domain/turn.ts";
import type { RepriseError } from "../domain/errors.ts";
import { mayBeAboutHistory } from "../apis/refusal.ts";
import { fallbackResult } from "./recover.ts";
import {
  changesHistory,
  leftOutOnly,
  liftedQuarantine,
  mayBeRefusedAgain,
  planRetry,
  quarantinedBy,
  reportOf,
  type RetryPlan,
  sentReasoning,
} from "./refusals.ts";
import type { OpenRun, RequestOutcome } from "./request_step.ts";
import { fingerprintOf, targetOf } from "./next_request.ts";
import { continueCommand, withReplayHint } from "./outcome.ts";

/** The most retries of a refused request, for its optional fields and its history. */
const MAX_RETRIES = 5;

/** Sends the requests of one run, each with the retries that its refusals allow. */
export class Retries {
  readonly #run: OpenRun;
  /** True once a request was sent again without reasoning although the API did not name reasoning. */
  #triedBlindly = false;
  /** Events for the end of the run: they lift quarantine that did not help. */
  lastEvents: readonly EventDraft[] = [];

  constructor(run: OpenRun) {
    this.#run = run;
  }

  get #isStopped(): boolean {
    return this.#run.setup.stop.state !== null;
  }

  /**
   * Sends the request of a step, or sends it `again` with a smaller history; after a refusal, once more without the
   * refused part. The number of retries is limited.
   */
  async request(step: number, { again = false } = {}): Promise<RequestOutcome> {
    let outcome = await this.#sendPairs(step, again);
    const reasoning = sentReasoning(outcome).size;
    const quarantined: number[] = [];
    let historyChanged = false;
    let widest = false;
    let everyCall = false;
    for (let retries = 1; retries <= MAX_RETRIES && !this.#isStopped; retries++) {
      const plan = this.#plan(outcome, { widest: widest || retries === MAX_RETRIES, everyCall });
      if (plan === null || (historyChanged && changesHistory(plan.event))) break;
      historyChanged ||= changesHistory(plan.event) && !mayBeRefusedAgain(plan.event, outcome);
      everyCall ||= plan.event.type === "calls_as_text";
      const notice = await this.#keepRefused(outcome, plan, step);
      if (plan.basis === "stated") {
        quarantined.push(...quarantinedBy(plan.event));
        await this.#saveNotice(notice, plan);
        outcome = await this.#run.send(step, { again: true, pending: null });
      } else {
        this.#triedBlindly ||= plan.basis === "blind";
        widest = true;
        outcome = await this.#tryWithout(outcome, { plan, notice, step });
      }
    }
    const { error } = outcome;
    if (error === null) return outcome;
    if (!this.#isRefused(outcome)) {
      return { ...outcome, error: await this.#withItem(outcome, error, { mayBeReasoning: false }) };
    }
    // Items were quarantined for a retry that was refused as well: they are not shown to be the reason.
    this.lastEvents = liftedQuarantine(quarantined, fingerprintOf(this.#run.setup, outcome.account));
    const mayHelp = this.#refusalOf(outcome) !== null ||
      outcome.failure !== null && mayBeAboutHistory(outcome.failure);
    const mayBeReasoning = reasoning > 0 && mayHelp;
    const explained = await this.#withItem(outcome, error, { mayBeReasoning });
    if (explained !== error || !mayBeReasoning) return { ...outcome, error: explained };
    return { ...outcome, error: withReplayHint(error, this.#run.setup) };
  }

  /**
   * Sends a request, and sends it once more if the API refuses the pairing of a call: the request holds each call with its
   * result, so the server may have lost one of them.
   */
  async #sendPairs(step: number, again: boolean): Promise<RequestOutcome> {
    const outcome = await this.#run.send(step, { again, pending: null });
    const { error, draft } = outcome;
    const isLost = this.#refusalOf(outcome)?.kind === "call";
    if (!isLost || error === null || draft !== null || this.#isStopped) return outcome;
    const { code, message } = error;
    this.#run.setup.emit({ type: "notice", kind: "retry", attempt: 1, delay_ms: 0, code, message });
    return await this.#run.send(step, { again: true, pending: null });
  }

  /**
   * Tries a retry that may fail. Its notice is saved only after the API accepted the request. If the retry is refused
   * as well, or a replay has no recording of it, the first refusal is reported.
   */
  async #tryWithout(
    refused: RequestOutcome,
    { plan, notice, step }: { readonly plan: RetryPlan; readonly notice: TurnDraft; readonly step: number },
  ): Promise<RequestOutcome> {
    const outcome = await this.#run.send(step, { again: true, pending: notice });
    const inVain = this.#isRefused(outcome);
    if (outcome.error === null || outcome.draft !== null) {
      // The request of a kept response must fold again, so the notice of its omissions is saved before it.
      await this.#saveNotice(inVain ? leftOutOnly(notice) : notice, plan);
      return outcome;
    }
    return inVain ? { ...refused, draft: null, response: null, usage: NO_USAGE } : outcome;
  }

  /** The error of a refusal that no retry resolved, with the item that it is about. */
  async #withItem(
    { failure, folded, account }: RequestOutcome,
    error: RepriseError,
    { mayBeReasoning }: { readonly mayBeReasoning: boolean },
  ): Promise<RepriseError> {
    const { setup, number: run } = this.#run;
    const isOfHistory = failure?.code === "request_refused" || failure?.code === "context_overflow";
    if (failure === null || !isOfHistory || this.#isStopped) return error;
    const { shrinksMuch, withRefusedItem } = await import("./refused_item.ts");
    const turns = setup.writer.allTurns();
    return withRefusedItem(error, {
      failure,
      folded,
      turns,
      session: setup,
      mayBeReasoning,
      named: setup.api.entryNamed(failure, folded.entries),
      shrinks: () => shrinksMuch(turns, targetOf(setup, { account, run })),
    });
  }

  #plan(
    outcome: RequestOutcome,
    { widest, everyCall }: { readonly widest: boolean; readonly everyCall: boolean },
  ): RetryPlan | null {
    const { setup, number: run } = this.#run;
    const { model, writer } = setup;
    const { error, failure } = outcome;
    const cause = this.#refusalOf(outcome);
    if (cause === null || failure === null || error === null) return null;
    // An answer that has begun shows that the server read the request, unless its error says otherwise.
    const isPlausible = error.code === "request_refused" || outcome.items.length === 0;
    return planRetry({
      ...outcome,
      cause,
      failure,
      turns: writer.turns,
      run,
      fingerprint: fingerprintOf(setup, outcome.account),
      model,
      error: { code: error.code, message: error.message },
      widest,
      everyCall,
      mayBeBlind: isPlausible && (widest || !this.#triedBlindly),
    });
  }

  /** True if an API refused a request, or a replay has no recording of it. */
  #isRefused(outcome: RequestOutcome): boolean {
    const { error } = outcome;
    if (error === null) return false;
    return error.code === "request_refused" || error.code === "fixture_miss" ||
      this.#refusalOf(outcome) !== null;
  }

  #refusalOf({ failure, folded }: RequestOutcome) {
    return failure === null ? null : this.#run.setup.api.refusalOf(failure, folded.entries);
  }

  /** Keeps a refused response; returns the turn that answers its calls and explains the retry. */
  async #keepRefused(outcome: RequestOutcome, { event }: RetryPlan, step: number): Promise<TurnDraft> {
    const results = (await this.#run.keep(outcome, step)).map((call) =>
      fallbackResult(call, "not_run", "The call was not run: its response was refused.")
    );
    return { kind: "harness", run: this.#run.number, events: [...results, event] };
  }

  /** Makes the turn that explains a retry durable, and reports it. */
  async #saveNotice(notice: TurnDraft, { event }: RetryPlan): Promise<void> {
    const { emit, writer } = this.#run.setup;
    await this.#run.save(notice);
    const { reason, items } = reportOf(event);
    const without = reason === "reasoning_refused"
      ? `; to send no earlier reasoning: ${continueCommand(this.#run.setup, "--replay", "none")} "…"`
      : "";
    const hint = `See what is sent and what is not with "reprise explain ${writer.id}"${without}`;
    const message = event.error?.message ?? "";
    emit({ type: "notice", kind: "replay_stripped", reason, items, message, hint });
  }
}
