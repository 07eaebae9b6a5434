/** One run: request → stream → items → tools → the next request, until there is an answer or a reason to end. */
import { encodeUtf8 } from "../domain/bytes.ts";
import { addCost, roundedCost } from "../domain/cost.ts";
import type { ToolCallEvent } from "../domain/event.ts";
import { addTokenCounts, addUsage, NO_USAGE, shownUsage, type Usage } from "../domain/usage.ts";
import { asRepriseError, type ExitCode, RepriseError } from "../domain/errors.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import { requestAccount } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import { Compactions } from "./auto_compact.ts";
import type { DeniedCall, PinChange, RunEnded } from "../schemas/run_events.ts";
import {
  answerText,
  continueCommand,
  type Outcome,
  outcomeAfterCalls,
  outcomeBeforeRequest,
  outcomeOfError,
  outcomeOfMismatch,
  outcomeOfResponse,
  type RunProgress,
  tokensLeft,
  withAllowHint,
  withSessionHint,
  withSpending,
} from "./outcome.ts";
import { correctionText } from "./output_schema.ts";
import { pinChanges, pinnedTexts, pinsOf } from "./pins.ts";
import {
  answerAtEnd,
  closeKilledRun,
  fallbackResult,
  openCalls,
  openingDraft,
  requireUnfinished,
  type RunStart,
} from "./recover.ts";
import { type OpenRun, type RepeatOptions, type RequestOutcome, requestStep } from "./request_step.ts";
import { Retries } from "./retry.ts";
import { type RunSetup, savedEvent } from "./setup.ts";
import { runToolBatch } from "./tool_batch.ts";

/**
 * Runs to the end. Once the run has begun, always emits `run.ended`.
 *
 * @throws {RepriseError} when the run could not begin: nothing to continue, or the opening turn was not saved.
 */
export async function executeRun(setup: RunSetup, start: RunStart): Promise<RunEnded> {
  const run = await openRun(setup, start);
  let outcome: Outcome;
  try {
    outcome = await run.finish(start) ?? await run.proceed();
  } catch (error) {
    outcome = outcomeOfError(asRepriseError(error));
  }
  await run.addCosts();
  return await run.close(outcome);
}

async function openRun(setup: RunSetup, start: RunStart): Promise<Run> {
  const { writer } = setup;
  const before = writer.manifest;
  if (start.prompt === null) requireUnfinished(writer.id, before);
  const pins = pinsOf(setup, setup.ports.workspacePin(setup.workspaceRoot));
  const drift = before === null ? [] : pinChanges(before.pins, pins);
  if (setup.strictDrift && drift.length > 0) throw drifted(writer.id, drift);
  // From here on the run is not refused: it writes.
  await closeKilledRun(writer, setup.emit);
  for (const text of Object.values(pinnedTexts(setup))) writer.putBlob(encodeUtf8(text));
  for (const { bytes } of start.attached) writer.putBlob(bytes);
  const number = (before?.run ?? 0) + 1;
  const run = new Run(setup, number, pins);
  await run.save(openingDraft(start, number, pins), () =>
    setup.emit({
      type: "run.started",
      run: number,
      continues: start.prompt === null,
      model: setup.model,
      provider: setup.provider,
      config_rules: setup.configRules,
      drift,
    }));
  return run;
}

function drifted(session: string, drift: readonly PinChange[]): RepriseError {
  const pins = drift.map(({ pin }) => pin).join(", ");
  return new RepriseError(
    "drifted",
    `Cannot continue session "${session}": since its last run these differ: ${pins}`,
    {
      hint: "Undo the changes, or accept them with --accept-drift",
      details: { drift },
    },
  );
}

class Run implements OpenRun {
  readonly setup: RunSetup;
  readonly number: number;
  readonly #pins: Pins;
  /** As in {@linkcode RunSetup}, until a response names it. */
  account: string | null;
  usage: Usage = NO_USAGE;
  #steps = 0;
  #cacheWrites = 0;
  readonly #denied: DeniedCall[] = [];
  #cost: number | null;
  /** Responses whose cost is not part of the sum yet. */
  #unpriced: Turn[] = [];
  #lastInput = 0;
  #answer = "";
  #firstTurn = 0;
  #lastTurn = 0;
  /** True once an answer that does not fit the output schema was sent back. */
  #corrected = false;
  /** Reports of the fold that were emitted, as JSON. */
  readonly #reported = new Set<string>();
  readonly #retries = new Retries(this);
  readonly #compactions = new Compactions(this);

  constructor(setup: RunSetup, number: number, pins: Pins) {
    this.setup = setup;
    this.number = number;
    this.#pins = pins;
    this.account = setup.account;
    this.#cost = setup.costOf === null ? null : 0;
  }

  /** Makes a turn durable and acknowledges it; `before` emits what comes before the acknowledgement. */
  async save(draft: TurnDraft, before = () => {}): Promise<Turn> {
    const turn = await this.setup.writer.save(draft);
    if (this.#firstTurn === 0) this.#firstTurn = turn.turn;
    this.#lastTurn = turn.turn;
    before();
    this.setup.emit(savedEvent(turn));
    return turn;
  }

  /** The outcome of a continued run whose answer is on disk: it is given, and nothing is sent. `null` for other runs. */
  async finish({ prompt }: RunStart): Promise<Outcome | null> {
    const items = prompt === null ? answerAtEnd(this.setup.writer.turns) : null;
    if (items === null) return null;
    this.#answer = answerText(items);
    const misfit = await this.#judge({ items });
    if (misfit === "corrected") return null;
    this.setup.emit({ type: "text.delta", delta: this.#answer });
    return misfit ?? { state: "completed", error: null };
  }

  /** Sends requests and runs tool batches until the run has an outcome. */
  async proceed(): Promise<Outcome> {
    const { limits, stop } = this.setup;
    for (;;) {
      if (limits.maxCost !== undefined) await this.addCosts();
      const early = stop.outcome ?? outcomeBeforeRequest(limits, this.#progress);
      if (early !== null) return early;
      const step = ++this.#steps;
      await this.#compactions.beforeRequest();
      let outcome = await this.#retries.request(step);
      if (await this.#compactions.afterOverflow(outcome)) {
        await this.keep(outcome, step);
        outcome = await this.#retries.request(step, { again: true });
      }
      const calls = await this.keep(outcome, step);
      const end = outcomeOfResponse(outcome, { calls: calls.length, stopped: stop.outcome });
      if (end?.state === "completed") {
        const misfit = await this.#judge(outcome);
        if (misfit !== "corrected") return misfit ?? end;
        continue;
      }
      if (end !== null) return end;
      if (calls.length === 0) continue;
      const denied = await runToolBatch(this.setup, calls, async (kind, events) => {
        await this.save({ kind, run: this.number, events });
      });
      this.#denied.push(...denied);
      const failed = outcomeAfterCalls(limits, this.#progress);
      if (failed !== null) return failed;
    }
  }

  /**
   * Checks the answer against the output schema; `null` if it fits. Asks once for a correction, which is a step of the
   * run like any other.
   */
  async #judge({ items }: Pick<RequestOutcome, "items">): Promise<Outcome | "corrected" | null> {
    const { answerCheck, emit } = this.setup;
    const errors = answerCheck?.(answerText(items)) ?? [];
    if (errors.length === 0) return null;
    this.#answer = "";
    emit({ type: "notice", kind: "schema_mismatch", errors, corrected: !this.#corrected });
    if (this.#corrected) return outcomeOfMismatch(errors, this.setup);
    this.#corrected = true;
    const content = [{ type: "input_text", text: correctionText(errors) }];
    await this.save({ kind: "harness", run: this.number, events: [{ type: "user_message", content }] });
    return "corrected";
  }

  get #progress(): RunProgress {
    return {
      steps: this.#steps,
      usage: this.usage,
      denials: this.#denied.length,
      cost: this.#cost,
      lastInput: this.#lastInput,
    };
  }

  /** Adds the costs of the responses since the last call. */
  async addCosts(): Promise<void> {
    const { costOf } = this.setup;
    if (costOf === null) return;
    for (const turn of this.#unpriced.splice(0)) this.#cost = addCost(this.#cost, await costOf(turn));
  }

  async send(step: number, options: RepeatOptions): Promise<RequestOutcome> {
    return await requestStep({
      setup: this.setup,
      run: this.number,
      step,
      ...options,
      account: this.account,
      pinned: this.#pins,
      onFolded: (folded) => this.#reportRepairs(folded),
      maxOutputTokens: tokensLeft(this.setup.limits, this.#progress),
    });
  }

  /** Records the outcome, answers open calls, and emits the last events. */
  async close(outcome: Outcome): Promise<RunEnded> {
    let { state } = outcome;
    const { error: failure } = outcome;
    let error = withSessionHint(
      { ...outcome, error: withAllowHint(failure, this.setup, this.#denied) },
      this.setup,
    );
    const exitCode: ExitCode = error?.exitCode ?? 0;
    const calls = openCalls(this.setup.writer.turns);
    try {
      if (state !== "diverged") {
        await this.save({
          kind: "harness",
          run: this.number,
          events: [
            ...calls.map((call) =>
              fallbackResult(call, "not_run", `The call was not run: the run ended as ${state} before it.`)
            ),
            ...this.#retries.lastEvents,
            {
              type: "run_ended",
              run: this.number,
              state,
              exit_code: exitCode,
              usage: this.usage,
              ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
            },
          ],
        });
      }
    } catch (failure) {
      const unsaved = outcomeOfError(asRepriseError(failure));
      if (error === null || unsaved.state === "diverged") ({ state, error } = unsaved);
    }
    if (error !== null) {
      this.setup.emit({ ...withSpending(error, this.#progress).toJSON(), type: "error" });
    }
    const { id } = this.setup.writer;
    const ended: RunEnded = {
      type: "run.ended",
      state,
      exit_code: error?.exitCode ?? 0,
      session: id,
      run: this.number,
      turns: [this.#firstTurn, this.#lastTurn],
      text: this.#answer,
      denials: this.#denied.length,
      denied: this.#denied,
      usage: shownUsage({ ...this.usage, cache_write_tokens: this.#cacheWrites }),
      cost_usd: roundedCost(this.#cost),
      ...(error?.code === "schema_mismatch" ? { reason: error.code } : {}),
      resume: `${continueCommand(this.setup)}${state === "completed" || state === "refused" ? ' "…"' : ""}`,
    };
    this.setup.emit(ended);
    return ended;
  }

  /** Reports the items that the fold left out or changed, each once; that replay is switched off, with the first one. */
  #reportRepairs(folded: Folded): void {
    const { emit } = this.setup;
    const isNew = (report: unknown) => {
      const text = JSON.stringify(report);
      return !this.#reported.has(text) && this.#reported.add(text);
    };
    const { dropped } = requestAccount(folded);
    const off = dropped.filter(({ reason }) => reason === "replay_off");
    const others = dropped.filter((item) => item.reason !== "replay_off" && isNew(item));
    const items = [...(off.length > 0 && isNew("replay_off") ? off : []), ...others];
    if (items.length > 0) emit({ type: "notice", kind: "replay_dropped", items });
    for (const { kind, seq, callId } of folded.repairs.filter(isNew)) {
      emit({ type: "notice", kind, seq, call_id: callId });
    }
  }

  /** Saves and counts a response; returns its calls. */
  async keep(outcome: RequestOutcome, step: number): Promise<ToolCallEvent[]> {
    const turn = outcome.draft === null ? null : await this.save(outcome.draft);
    this.account = outcome.account;
    this.usage = addUsage(this.usage, outcome.usage);
    this.#cacheWrites = addTokenCounts(this.#cacheWrites, outcome.usage.cache_write_tokens ?? 0);
    this.#lastInput = outcome.usage.input_tokens;
    if (outcome.response?.usage && !outcome.usage.uncounted) {
      this.setup.emit({ type: "usage", step, ...outcome.usage });
    }
    if (turn === null) return [];
    if (this.setup.costOf !== null) this.#unpriced.push(turn);
    const text = answerText(outcome.items);
    if (text !== "") this.#answer = text;
    return turn.events.filter((event) => event.type === "tool_call");
  }
}
