/**
 * One run: request → stream → items → tools → the next request, until there is an answer or a reason to end.
 *
 * @module
 */
import { encodeUtf8 } from "../domain/bytes.ts";
import { foldNeedsOf } from "../apis/apis.ts";
import { addUsage, NO_USAGE, type ToolCallEvent, type Usage } from "../domain/event.ts";
import { asRepriseError, type ExitCode, RepriseError } from "../domain/errors.ts";
import { sha256Hex } from "../domain/hash.ts";
import { counted } from "../domain/text.ts";
import type { Pins, Turn, TurnDraft } from "../domain/turn.ts";
import { requestAccount } from "../fold/fold.ts";
import type { Folded } from "../fold/history_fold.ts";
import { toolSchemas } from "../tools/registry.ts";
import { type AutoCompaction, automaticCheckpoint, checkpointDraft, isOverLimit } from "./checkpoint.ts";
import { closeKilledRun, fallbackResult, openCalls } from "./recover.ts";
import type { RunEnded } from "./events.ts";
import { requireUnfinished } from "./resume.ts";
import { answerText } from "./item_events.ts";
import { type Drift, pinDrift } from "./drift.ts";
import { type RequestOutcome, requestStep, type SendOptions } from "./request_step.ts";
import { Retries } from "./retry.ts";
import { fingerprintOf, type RunSetup, type RunStart } from "./setup.ts";
import {
  continueCommand,
  denied,
  endOfError,
  endOfResponse,
  overBudget,
  type RunEnd,
  withCompactHint,
} from "./run_end.ts";
import { runToolBatch } from "./tool_batch.ts";

/** The API's smallest `max_output_tokens`: with less left, a request cannot be sent. */
const MIN_OUTPUT_TOKENS = 16;

/**
 * Runs to the end and emits `run.ended`, whatever happens after the run has begun.
 *
 * @throws {RepriseError} when the run could not begin: nothing to continue, or the opening turn was not saved.
 */
export async function executeRun(setup: RunSetup, start: RunStart): Promise<RunEnded> {
  const run = openRun(setup, start);
  let end: RunEnd;
  try {
    end = await run.proceed();
  } catch (error) {
    end = endOfError(asRepriseError(error));
  }
  return run.close(end);
}

function openRun(setup: RunSetup, start: RunStart): Run {
  const { writer } = setup;
  const before = writer.manifest;
  if (start.kind === "continue") requireUnfinished(writer.id, before);
  const texts = [setup.instructions, JSON.stringify(toolSchemas(setup.tools))].map((text) =>
    encodeUtf8(text)
  );
  const [instructions = "", tools = ""] = texts.map((text) => sha256Hex(text));
  // What is known of key and account belongs to responses.
  const { key: _, ...fingerprint } = fingerprintOf(setup, null);
  const pins: Pins = {
    fingerprint,
    model: setup.model,
    ...(setup.effort === undefined ? {} : { effort: setup.effort }),
    ...(setup.summary === undefined ? {} : { summary: setup.summary }),
    instructions,
    tools,
    permissions: setup.permissions,
    workspace: setup.ports.workspacePin(setup.workspaceRoot),
  };
  const drift = before === null ? [] : pinDrift(before.pins, pins);
  if (setup.strictDrift && drift.length > 0) throw drifted(writer.id, drift);
  // From here on it writes: what refuses the run has been asked.
  closeKilledRun(writer, setup.emit);
  for (const text of texts) writer.putBlob(text);
  const number = (before?.run ?? 0) + 1;
  const opening: TurnDraft = start.kind === "prompt"
    ? { kind: "user", run: number, pins, events: [{ type: "user_message", content: start.content }] }
    : { kind: "harness", run: number, pins, events: [{ type: "run_continued", run: number }] };
  const run = new Run(setup, number, { instructions, tools });
  const turn = run.save(opening);
  setup.emit({
    type: "run.started",
    run: number,
    continues: start.kind === "continue",
    model: setup.model,
    provider: setup.provider,
    drift,
  });
  run.saved(turn);
  return run;
}

function drifted(session: string, drift: readonly Drift[]): RepriseError {
  const pins = drift.map(({ pin }) => pin).join(", ");
  return new RepriseError(
    "drifted",
    `Cannot continue session "${session}": since its last run these differ: ${pins}`,
    {
      hint: "Make them the same again, or say --accept-drift",
      details: { drift: drift.map(({ pin, before, now, effect }) => ({ pin, before, now, effect })) },
    },
  );
}

class Run {
  readonly #setup: RunSetup;
  readonly #number: number;
  readonly #pinned: { readonly instructions: string; readonly tools: string };
  #account: string | null;
  #usage: Usage = NO_USAGE;
  #denials = 0;
  #answer = "";
  #firstTurn = 0;
  #lastTurn = 0;
  #toldRepairs = "[[],[]]";
  readonly #retries: Retries;

  constructor(setup: RunSetup, number: number, pinned: { instructions: string; tools: string }) {
    this.#setup = setup;
    this.#number = number;
    this.#pinned = pinned;
    this.#account = setup.account ?? null;
    this.#retries = new Retries({
      setup,
      number,
      isStopped: () => this.#stopped() !== null,
      send: (step, options) => this.#send(step, options),
      keep: (outcome, step) => {
        const calls = this.#keep(outcome);
        this.#count(outcome, step);
        return calls;
      },
      save: (draft) => this.saved(this.save(draft)),
    });
  }

  /** Makes a turn durable. */
  save(draft: TurnDraft): Turn {
    const turn = this.#setup.writer.append(draft);
    if (this.#firstTurn === 0) this.#firstTurn = turn.turn;
    this.#lastTurn = turn.turn;
    return turn;
  }

  /** Acknowledges a durable turn. */
  saved(turn: Turn): void {
    this.#setup.emit({ type: "turn.saved", turn: turn.turn, kind: turn.kind, seq: turn.seq, sum: turn.sum });
  }

  /** Requests and tool batches until the run has an end. */
  async proceed(): Promise<RunEnd> {
    for (let step = 1;; step++) {
      const early = this.#endBefore(step);
      if (early !== null) return early;
      this.#compact();
      const outcome = await this.#retries.request(step);
      const calls = this.#keep(outcome);
      this.#count(outcome, step);
      const end = endOfResponse(outcome, { calls: calls.length, stopped: this.#stopped() });
      if (end !== null) return end;
      if (calls.length === 0) continue;
      const { results, denials } = await runToolBatch(this.#setup, calls, (decisions) => {
        this.saved(this.save({ kind: "harness", run: this.#number, events: decisions }));
      });
      this.saved(this.save({ kind: "tools", run: this.#number, events: results }));
      this.#denials += denials;
      if (denials > 0 && this.#setup.failOnDenied) return denied(denials);
    }
  }

  async #send(step: number, options: SendOptions): Promise<RequestOutcome> {
    return await requestStep({
      setup: this.#setup,
      run: this.#number,
      step,
      ...options,
      account: this.#account,
      cacheKey: this.#setup.writer.manifest?.family ?? this.#setup.writer.id,
      pinned: this.#pinned,
      onFolded: (folded) => this.#tellRepairs(folded),
      ...(this.#tokensLeft === undefined ? {} : { tokensLeft: this.#tokensLeft }),
    });
  }

  /** Makes a history smaller that has grown over the limit. What it stands for stays on disk. */
  #compact(): void {
    const { autoCompact: limit, writer, emit } = this.#setup;
    if (limit === undefined) return;
    const { model, replay, window } = this.#setup;
    const fingerprint = fingerprintOf(this.#setup, this.#account);
    const auto: AutoCompaction = {
      limit,
      target: {
        fingerprint,
        needs: foldNeedsOf(fingerprint.provider),
        model,
        replay,
        window,
        run: this.#number,
      },
    };
    const { manifest } = writer;
    if (manifest === null || !isOverLimit(writer.turns, auto)) return;
    const turns = writer.allTurns();
    const made = automaticCheckpoint(turns, auto);
    if (made === null) return;
    const turn = this.save(
      checkpointDraft(turns, made, { run: this.#number, pins: manifest.pins, runUsage: this.#usage }),
    );
    this.saved(turn);
    const { before, after, cut } = made.plan;
    emit({
      type: "notice",
      kind: "compacted",
      turn: turn.turn,
      to_seq: cut.seq,
      tokens_before: before.tokens,
      tokens_after: after.tokens,
    });
  }

  /** Records the end, answers what is open, and emits the last events. */
  close(end: RunEnd): RunEnded {
    let { state } = end;
    let error = withCompactHint(end.error, this.#setup.writer.id);
    const exitCode: ExitCode = error?.exitCode ?? 0;
    const calls = openCalls(this.#setup.writer.turns);
    try {
      if (state !== "diverged") {
        const turn = this.save({
          kind: "harness",
          run: this.#number,
          events: [
            ...calls.map((call) =>
              fallbackResult(call, "not_run", `The call was not run: the run ended as ${state} before it.`)
            ),
            ...this.#retries.closing,
            {
              type: "run_ended",
              run: this.#number,
              state,
              exit_code: exitCode,
              usage: this.#usage,
              ...(error === null ? {} : { error: { code: error.code, message: error.message } }),
            },
          ],
        });
        this.saved(turn);
      }
    } catch (failure) {
      const unsaved = endOfError(asRepriseError(failure));
      if (error === null || unsaved.state === "diverged") ({ state, error } = unsaved);
    }
    if (error !== null) this.#setup.emit({ ...error.toJSON(), type: "error" });
    const { id } = this.#setup.writer;
    const ended: RunEnded = {
      type: "run.ended",
      state,
      exit_code: error?.exitCode ?? 0,
      session: id,
      run: this.#number,
      turns: [this.#firstTurn, this.#lastTurn],
      text: this.#answer,
      denials: this.#denials,
      usage: this.#usage,
      cost_usd: null,
      resume: state === "completed" || state === "refused"
        ? `${continueCommand(this.#setup)} "…"`
        : continueCommand(this.#setup),
    };
    this.#setup.emit(ended);
    return ended;
  }

  get #tokensLeft(): number | undefined {
    const { maxTokens } = this.#setup;
    if (maxTokens === undefined) return undefined;
    return maxTokens - this.#usage.input_tokens - this.#usage.output_tokens;
  }

  #endBefore(step: number): RunEnd | null {
    const stopped = this.#stopped();
    if (stopped !== null) return stopped;
    if (step > this.#setup.maxSteps) {
      const { maxSteps } = this.#setup;
      const were = maxSteps === 1 ? "was" : "were";
      return overBudget(`Budget exhausted: ${counted(maxSteps, "request")} ${were} sent (--max-steps)`);
    }
    const left = this.#tokensLeft;
    if (left !== undefined && left < MIN_OUTPUT_TOKENS) {
      const { maxTokens = 0 } = this.#setup;
      if (left === maxTokens) {
        const needs = `a response needs at least ${MIN_OUTPUT_TOKENS}`;
        return overBudget(
          `The budget of ${counted(maxTokens, "token")} is too small: ${needs} (--max-tokens)`,
        );
      }
      const said = left < 0
        ? `${counted(maxTokens - left, "token")} were used, ${-left} more than ${maxTokens}`
        : `${left} of ${counted(maxTokens, "token")} ${left === 1 ? "is" : "are"} left`;
      return overBudget(`Budget exhausted: ${said} (--max-tokens)`);
    }
    return null;
  }

  #stopped(): RunEnd | null {
    const { state, error } = this.#setup.stop;
    return state === null ? null : { state, error };
  }

  /** Tells what the fold left out or changed, once for each different account of it. */
  #tellRepairs(folded: Folded): void {
    const { emit } = this.#setup;
    const { dropped } = requestAccount(folded);
    const account = JSON.stringify([dropped, folded.repairs]);
    if (account === this.#toldRepairs) return;
    this.#toldRepairs = account;
    if (dropped.length > 0) emit({ type: "notice", kind: "replay_dropped", items: dropped });
    for (const repair of folded.repairs) {
      emit({ type: "notice", kind: repair.kind, seq: repair.seq, call_id: repair.callId });
    }
  }

  #count(outcome: RequestOutcome, step: number): void {
    this.#account = outcome.account;
    this.#usage = addUsage(this.#usage, outcome.usage);
    if (outcome.response?.usage) this.#setup.emit({ type: "usage", step, ...outcome.usage });
  }

  /** Saves the response, then says which of its calls are to be answered. */
  #keep(outcome: RequestOutcome): ToolCallEvent[] {
    if (outcome.draft === null) return [];
    const turn = this.save(outcome.draft);
    this.saved(turn);
    const text = answerText(outcome.items);
    if (text !== "") this.#answer = text;
    return turn.events.filter((event) => event.type === "tool_call");
  }
}
