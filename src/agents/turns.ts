/** Turns of the session that an import creates, in memory: each is validated as a reader will validate it. */
import { answersInBlocks } from "../apis/agent_providers.ts";
import { requestUsageOf } from "../apis/usage.ts";
import { RepriseError } from "../domain/errors.ts";
import type { EventDraft, HistoryCompactionEvent } from "../domain/event.ts";
import {
  type EndpointHashes,
  type Fingerprint,
  IMPORTED_ENDPOINT,
  UNKNOWN_MODEL,
} from "../domain/fingerprint.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { SessionId } from "../domain/ids.ts";
import { callIdOf, callNameOf, itemKind } from "../domain/item.ts";
import { encodeTurn, type Pins, type Turn, type TurnDraft } from "../domain/turn.ts";
import { addUsage, NO_USAGE, UNCOUNTED, type Usage } from "../domain/usage.ts";
import { HistoryValidator, parseCandidate } from "../store/read/validate.ts";
import type {
  AgentEntry,
  AgentSession,
  CompactionEntry,
  ResponseEntry,
  ResultEntry,
} from "./agent_session.ts";
import type { SourceLines } from "./lines.ts";

/** Facts of the importing call that turns hold. */
export interface ImportCall {
  readonly id: SessionId;
  /** Time of the import, ISO 8601 UTC with milliseconds. */
  readonly at: string;
  readonly times: SourceLines["times"];
  /** Settings of the importing call; none comes from the source. */
  readonly pins: Omit<Pins, "fingerprint" | "model">;
  /** Endpoint that the user names as the origin of the reasoning; `null` if reasoning is never sent. */
  readonly trusted: EndpointHashes | null;
}

/** A turn, and the line of the source that it was read from; `null` for a turn of our own, such as the end of a run. */
interface PlacedTurn {
  readonly turn: Turn;
  readonly line: number | null;
}

/** A turn with its place in the source, and the bytes of its file. */
export interface BuiltTurn extends PlacedTurn {
  readonly bytes: Uint8Array;
}

/** Output of a call whose result the source does not have. */
const NO_RESULT = "The imported session has no result of this call: it may or may not have run.";

/** Entries of one branch, and the session that they are of. */
export interface BuiltBranch extends Pick<AgentSession, "agent" | "version"> {
  readonly entries: readonly AgentEntry[];
}

/** The history that a branch is added to, whose runs are all ended. */
interface HistoryBefore {
  /** Its last checkpoint. */
  readonly checkpoint: Pick<HistoryCompactionEvent, "seq" | "to_seq"> | null;
  readonly before: readonly PlacedTurn[];
}

/**
 * Builds the turns of a branch, which begins with a message of the user; the last run is ended.
 *
 * @throws {RepriseError} `bad_import` if the branch is empty, or if a turn breaks the format or is too large.
 */
export function buildTurns(
  branch: BuiltBranch,
  call: ImportCall,
  history: HistoryBefore = { checkpoint: null, before: [] },
): readonly BuiltTurn[] {
  if (branch.entries.length === 0) {
    throw new RepriseError("bad_import", "Cannot import: the session has no message of the user", {
      hint: "Import a session that has a prompt",
    });
  }
  const builder = new TurnBuilder(branch, call, history);
  branch.entries.forEach((entry, index) => builder.add(entry, branch.entries[index + 1]));
  return builder.finish();
}

interface PendingCall {
  readonly callId: string;
  readonly seq: number;
  readonly tool: string;
}

/** Builds a history in memory; each turn is validated as a reader will validate it. */
class TurnBuilder {
  readonly #branch: BuiltBranch;
  readonly #call: ImportCall;
  readonly #validator: HistoryValidator;
  readonly #before: readonly PlacedTurn[];
  readonly #built: BuiltTurn[] = [];
  /** Calls without a result so far. */
  readonly #open: PendingCall[] = [];
  #run: number;
  /** Time of the next turn, which is that of its line; without one, that of the import. */
  #at: string;
  #isOpen = false;
  #isAnswered = false;
  #usage: Usage = NO_USAGE;
  #checkpoint: HistoryBefore["checkpoint"];
  readonly #responses: readonly ResponseEntry[];
  #responded = 0;
  /** The last response before the branch. */
  readonly #responseBefore: Pick<ResponseEntry, "provider" | "model"> | undefined;

  constructor(branch: BuiltBranch, call: ImportCall, { checkpoint, before }: HistoryBefore) {
    this.#branch = branch;
    this.#call = call;
    this.#at = call.at;
    this.#validator = new HistoryValidator(call.id);
    for (const { turn } of before) this.#validator.advance(turn);
    this.#before = before;
    this.#run = this.#validator.end.run;
    this.#checkpoint = checkpoint;
    this.#responses = branch.entries.filter((entry) => entry.kind === "response");
    const last = before.findLast(({ turn }) => turn.kind === "model")?.turn;
    this.#responseBefore = last?.kind === "model"
      ? { provider: last.fingerprint.provider, model: last.model.answered }
      : undefined;
  }

  add(entry: AgentEntry, next: AgentEntry | undefined): void {
    if (entry.kind === "user") this.#endRun();
    const time = this.#call.times.get(entry.line);
    // A clock that was wrong makes no turn of the future.
    if (time !== undefined && time <= this.#call.at) this.#at = time;
    switch (entry.kind) {
      case "user":
        this.#run++;
        this.#append({
          kind: "user",
          run: this.#run,
          pins: this.#pins(),
          events: [{ type: "user_message", content: entry.content }],
        }, entry.line);
        [this.#isOpen, this.#isAnswered, this.#usage] = [true, false, NO_USAGE];
        return;
      case "response":
        return this.#addResponse(entry);
      case "result":
        return this.#addResult(entry);
      case "compaction":
        return this.#addCompaction(entry, next);
    }
  }

  finish(): readonly BuiltTurn[] {
    // The import ends the last run, so that `@last` is a session that was just imported.
    this.#at = this.#call.at;
    this.#endRun();
    return this.#built;
  }

  /** Settings of the response that comes next, or of the last one. */
  #pins(): Pins {
    const response = this.#responses[this.#responded] ?? this.#responses[this.#responded - 1] ??
      this.#responseBefore;
    const model = response?.model ?? UNKNOWN_MODEL;
    return { ...this.#call.pins, fingerprint: this.#fingerprint(response), model };
  }

  /** The trusted endpoint counts only if the file names provider and model; thinking of Anthropic is never sent. */
  #fingerprint(entry: Pick<ResponseEntry, "provider" | "model"> | undefined): Fingerprint {
    const { trusted } = this.#call;
    const provider = entry?.provider ?? "compatible";
    const isProven = entry !== undefined && entry.provider !== null && entry.model !== null;
    const hashes = trusted !== null && isProven && !answersInBlocks(provider)
      ? trusted
      : { endpoint: IMPORTED_ENDPOINT };
    return { provider, ...hashes, account: null };
  }

  #addResponse(entry: ResponseEntry): void {
    this.#responded++;
    const events: EventDraft[] = entry.items.map((item) => ({ type: itemKind(item), item }));
    const fingerprint = this.#fingerprint(entry);
    if (entry.usage !== null) events.push({ type: "provider_usage", usage: entry.usage });
    this.#usage = addUsage(
      this.#usage,
      entry.usage === null ? UNCOUNTED : requestUsageOf(fingerprint.provider, entry.usage),
    );
    const { agent, version } = this.#branch;
    const turn = this.#append({
      kind: "model",
      run: this.#run,
      model: { asked: entry.model ?? UNKNOWN_MODEL, answered: entry.model },
      fingerprint,
      response: { id: entry.responseId, status: entry.status },
      request: {
        // The request is unknown.
        body_sha256: sha256Hex(""),
        fold: 1,
        fields: {},
        guard: { sent: 0, dropped: [] },
        imported: { agent, version, line: entry.line, ...(entry.isCopied === true ? { copied: true } : {}) },
      },
      events,
    }, entry.line);
    for (const event of turn.events) {
      if (event.type !== "tool_call") continue;
      this.#open.push({ callId: callIdOf(event.item), seq: event.seq, tool: callNameOf(event.item) });
    }
    this.#isAnswered = this.#open.length === 0 && entry.status === "completed";
  }

  #addResult({ line, callId, isError, output }: ResultEntry): void {
    const index = this.#open.findIndex((call) => call.callId === callId);
    const [call] = index === -1 ? [] : this.#open.splice(index, 1);
    if (call === undefined) return;
    const status = isError ? "error" : "ok";
    const event = { ...resultEvent(call), status, output: output.toWellFormed() } as const;
    this.#append({ kind: "tools", run: this.#run, events: [event] }, line);
  }

  #addCompaction({ summary, keptFrom }: CompactionEntry, next: AgentEntry | undefined): void {
    this.#answerOpenCalls();
    const isInRun = next === undefined ? !this.#isAnswered : next.kind !== "user";
    const cut = cutAtTurn([...this.#before, ...this.#built], {
      keptFrom,
      least: this.#checkpoint?.to_seq ?? 0,
      isInRun,
    });
    const turn = this.#append({
      kind: "compaction",
      run: this.#run,
      pins: this.#pins(),
      events: [{
        type: "history_compaction",
        to_seq: cut.to_seq,
        to_turn: cut.to_turn,
        previous_checkpoint: this.#checkpoint?.seq ?? null,
        opening_turn: cut.opening_turn,
        strategy: "model",
        summary,
        limitations: ["imported from another agent"],
      }],
    });
    this.#checkpoint = { seq: turn.seq[0], to_seq: cut.to_seq };
  }

  #answerOpenCalls(): void {
    if (this.#open.length === 0) return;
    const events = this.#open.splice(0).map((call): EventDraft => {
      return { ...resultEvent(call), status: "orphaned", output: NO_RESULT };
    });
    this.#append({ kind: "harness", run: this.#run, events });
  }

  #endRun(): void {
    if (!this.#isOpen) return;
    this.#answerOpenCalls();
    this.#append({
      kind: "harness",
      run: this.#run,
      events: [{
        type: "run_ended",
        run: this.#run,
        ...(this.#isAnswered ? COMPLETED : INTERRUPTED),
        usage: this.#usage,
      }],
    });
    this.#isOpen = false;
  }

  #append(draft: TurnDraft, line: number | null = null): Turn {
    const { turn: last, seq, sum } = this.#validator.end;
    const { id } = this.#call;
    const place = { session: id, turn: last + 1, firstSeq: seq + 1, prev: sum, at: this.#at };
    const { bytes } = encodeTurn(draft, place);
    const turn = this.#parsed(bytes, `import turn ${last + 1} of session "${id}"`);
    this.#validator.advance(turn);
    this.#built.push({ turn, line, bytes });
    return turn;
  }

  /** Parses a turn; what breaks the format or its limits comes from the source. */
  #parsed(bytes: Uint8Array, tried: string): Turn {
    try {
      return parseCandidate(this.#validator, bytes, tried);
    } catch (cause) {
      if (!(cause instanceof Error)) throw cause;
      throw new RepriseError("bad_import", cause.message, {
        hint: "Remove this part from a copy of the file, and import the copy",
        cause,
      });
    }
  }
}

function resultEvent({ callId, seq, tool }: PendingCall) {
  return { type: "tool_result", call_id: callId, call_seq: seq, tool } as const;
}

const COMPLETED = { state: "completed", exit_code: 0 } as const;
const INTERRUPTED = {
  state: "interrupted",
  exit_code: 130,
  error: { code: "interrupted", message: "The imported session has no final answer to this prompt" },
} as const;

/**
 * Returns the last turn that a checkpoint replaces, and the turn whose prompt stays verbatim. Cuts before the turn of line
 * `keptFrom`, or after all turns if it is `null`, and never before `least`. `isInRun`: true if the last of these runs
 * continues after the compaction, or still can.
 */
function cutAtTurn(
  turns: readonly PlacedTurn[],
  { keptFrom, least, isInRun }: {
    readonly keptFrom: number | null;
    /** `to_seq` of the checkpoint before; 0 without one. */
    readonly least: number;
    readonly isInRun: boolean;
  },
) {
  const found = keptFrom === null ? -1 : turns.findIndex(({ line }) => line !== null && line >= keptFrom);
  const cut = Math.max(
    found === -1 ? turns.length : found,
    turns.findIndex(({ turn }) => turn.seq[0] > least),
  );
  const replaced = turns.slice(0, cut);
  const last = replaced.at(-1)?.turn;
  const next = turns.slice(cut).find(({ turn: { kind } }) =>
    kind === "user" || kind === "model" || kind === "tools"
  );
  const continues = next === undefined ? isInRun : next.turn.kind !== "user";
  const opening = replaced.findLast(({ turn }) => turn.kind === "user");
  return {
    to_turn: last?.turn ?? 0,
    to_seq: last?.seq[1] ?? 0,
    opening_turn: continues ? opening?.turn.turn ?? null : null,
  };
}
