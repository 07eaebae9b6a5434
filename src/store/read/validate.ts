/** Validates turns against the history before them: numbers, `prev`, `seq`, runs, and calls with their results. */
import type { CheckpointRef, ToolCallEvent } from "../../domain/event.ts";
import { RepriseError } from "../../domain/errors.ts";
import { MAX_JSON_DEPTH } from "../../domain/json_depth.ts";
import { type Lineage, mayHold, NO_LINEAGE } from "./lineage.ts";
import { OmissionRules } from "./omission_rules.ts";
import { MAX_TURN_BYTES } from "./turn_file.ts";
import { parseTurn } from "./turn.ts";
import { callIdOf } from "../../domain/item.ts";
import { checkpointRefOf } from "../../domain/manifest.ts";
import { isBetweenRuns, type Replaces, type Turn } from "../../domain/turn.ts";

/** A rule that a turn breaks. `error`: the next request would be wrong, or the turn is foreign to this history. */
export interface Violation {
  readonly severity: "error" | "warning";
  readonly code: string;
  /** Finding, without the turn's name. */
  readonly message: string;
}

/** A call without a result so far. */
export interface OpenCall {
  readonly seq: number;
  readonly call_id: string;
  readonly turn: number;
}

/** The end of the history that was checked so far. */
export interface HistoryEnd {
  readonly turn: number;
  readonly seq: number;
  /** `null` before turn 1. */
  readonly sum: string | null;
  /** 0 before turn 1. */
  readonly run: number;
  /** `null` while unknown: only right after opening at a checkpoint. */
  readonly runEnded: boolean | null;
}

interface KnownCall extends OpenCall {
  /** False for calls of responses that did not complete: those calls are never run and get no result. */
  readonly runnable: boolean;
}

const START: HistoryEnd = { turn: 0, seq: 0, sum: null, run: 0, runEnded: true };

/** Walks a session's turns in order and reports each rule that a turn breaks. */
export class HistoryValidator {
  readonly #session: string;
  readonly #lineage: () => Lineage;
  readonly #calls = new Map<number, KnownCall>();
  readonly #answered = new Set<number>();
  readonly #results = new Set<number>();
  /** The last seq of each turn that was read. */
  readonly #lastSeq = new Map<number, number>();
  /** Checkpoints that were not withdrawn, oldest first. */
  #checkpoints: CheckpointRef[] = [];
  readonly #omissions = new OmissionRules();
  readonly #fromStart: boolean;
  /** The last `seq` that was not read; 0 if the whole history is read. */
  readonly #openedAfter: number;
  #end: HistoryEnd = START;
  /** The sum of the lost turn that the newest turn replaces: the next turn may name it instead. */
  #replacedSum: string | null = null;
  /** Seqs of lost turns, whose content is unknown. */
  readonly #lost: (readonly [number, number])[] = [];
  /** True if the previous turn is unreadable: the next turn cannot be compared with it. */
  #broken = false;
  /** True once any turn was unreadable: it may have held an unknown call. */
  #incomplete = false;

  constructor(session: string, options: {
    /** Turn to start after: the first turn after it is trusted by its own sum. */
    readonly after?: { readonly turn: number; readonly seq: number } | undefined;
    /** Called at the first turn of another session, once at most; without it there is no lineage. */
    readonly lineage?: () => Lineage;
  } = {}) {
    const { after, lineage = () => NO_LINEAGE } = options;
    this.#session = session;
    let known: Lineage | undefined;
    this.#lineage = () => known ??= lineage();
    this.#fromStart = after === undefined;
    this.#openedAfter = after?.seq ?? 0;
    if (after === undefined) return;
    this.#end = { ...START, ...after, runEnded: null };
    this.#broken = true;
  }

  get end(): HistoryEnd {
    return this.#end;
  }

  /** True once a turn was skipped: its content, such as results, is unknown. */
  get incomplete(): boolean {
    return this.#incomplete;
  }

  /** Calls of completed responses without a result, in order. */
  openCalls(): OpenCall[] {
    return [...this.#calls.values()]
      .filter((call) => call.runnable && !this.#answered.has(call.seq))
      .map(({ seq, call_id, turn }) => ({ seq, call_id, turn }));
  }

  /** Steps over turn number `turn`, which cannot be read. */
  skip(turn: number): void {
    this.#end = { ...this.#end, turn };
    this.#replacedSum = null;
    this.#broken = true;
    this.#incomplete = true;
  }

  /** Returns the rules that a turn breaks as the next one. Changes nothing. */
  check(turn: Turn): Violation[] {
    const breaches: Violation[] = [];
    const add = (code: string, message: string, severity: Violation["severity"] = "error") => {
      breaches.push({ severity, code, message });
    };
    const before = this.#end;
    const number = before.turn + 1;
    if (turn.turn !== number) add("wrong_number", `says that it is turn ${turn.turn}, not turn ${number}`);
    if (!mayHold(this.#session, { writer: turn.session, number }, this.#lineage)) {
      add("foreign_turn", `was written by session ${JSON.stringify(turn.session)}`);
    }
    if (!this.#broken) this.#checkLinks(turn, add);
    this.#checkNumbers(turn, add);
    checkFork(turn, add);
    this.#checkRun(turn, add);
    this.#checkPairs(turn, add);
    this.#checkCheckpoints(turn, add);
    const found = this.#omissions.check(turn, {
      runEnded: this.#broken ? null : before.runEnded,
      checkpointTo: this.#checkpoints.at(-1)?.to_seq ?? 0,
      mayBeUnread: (seq) => this.#mayBeUnread(seq),
    });
    for (const message of found) add("wrong_omission", message);
    return breaches;
  }

  /** Continues from a turn that was checked. */
  advance(turn: Turn): void {
    for (const event of turn.events) {
      if (event.type === "tool_call") this.#calls.set(event.seq, knownCall(event, turn));
      if (event.type === "tool_result") {
        this.#answered.add(event.call_seq);
        this.#results.add(event.seq);
      }
      if (event.type === "history_compaction") this.#checkpoints.push(checkpointRefOf(event, turn.turn));
      if (event.type === "compaction_withdrawn") this.#checkpoints = this.#without(event.checkpoint);
    }
    this.#omissions.advance(turn);
    this.#lastSeq.set(turn.turn, turn.seq[1]);
    this.#end = {
      turn: this.#end.turn + 1,
      seq: turn.seq[1],
      sum: turn.sum,
      run: turn.run,
      runEnded: turn.events.some((event) => event.type === "run_ended") ||
        isBetweenRuns(turn) && this.#end.runEnded,
    };
    const replaces = replacedTurn(turn);
    this.#replacedSum = replaces?.sum ?? null;
    if (replaces !== undefined) this.#lost.push(turn.seq);
    this.#broken = false;
  }

  #checkLinks(turn: Turn, add: Add): void {
    const { sum, seq } = this.#end;
    if (turn.prev !== sum && (turn.prev === null || turn.prev !== this.#replacedSum)) {
      add(
        "wrong_prev",
        sum === null ? "names a turn before turn 1" : "does not follow the turn before it (prev)",
      );
    }
    if (turn.seq[0] !== seq + 1) add("wrong_seq", `starts at seq ${turn.seq[0]}, not at ${seq + 1}`);
  }

  #checkNumbers(turn: Turn, add: Add): void {
    const [first, last] = turn.seq;
    const counted = turn.events.every((event, index) => event.seq === first + index);
    const lastEvent = first + turn.events.length - 1;
    const replaces = replacedTurn(turn);
    // A replacement represents as many events as were lost, and holds one.
    if (!counted || (replaces === undefined ? last !== lastEvent : last < lastEvent)) {
      add("wrong_seq", `does not number its events from ${first} to ${last} without gaps`);
    }
    if (replaces !== undefined && (replaces.seq[0] !== first || replaces.seq[1] !== last)) {
      add("wrong_seq", "does not replace the events whose place it takes");
    }
  }

  #checkRun(turn: Turn, add: Add): void {
    const { run, runEnded } = this.#end;
    const continued = turn.events.find((event) => event.type === "run_continued");
    const opens = turn.kind === "user" || continued !== undefined;
    const expected = opens ? run + 1 : run;
    if (!this.#broken && turn.run !== expected) {
      add("wrong_run", `belongs to run ${turn.run}, where run ${expected} was expected`);
    } else if (!this.#broken && !opens && runEnded === true && !isBetweenRuns(turn)) {
      add("wrong_run", `follows the end of run ${run}`);
    }
    if (!this.#broken && opens && runEnded === false) {
      add("run_not_ended", `opens run ${turn.run} before run ${run} ended`, "warning");
    }
    if (continued !== undefined && (turn.kind !== "harness" || continued.run !== turn.run)) {
      add("wrong_run", "holds a run_continued that does not open its run");
    }
    if (turn.kind === "harness" && (turn.pins !== undefined) !== (continued !== undefined)) {
      add("wrong_run", "must have pins exactly when it opens a run");
    }
    const ends = turn.events.filter((event) => event.type === "run_ended");
    if (ends.length > 1) add("wrong_run", `ends run ${turn.run} more than once`);
    if (ends.some((event) => event.run !== turn.run)) add("wrong_run", "ends another run than its own");
    if (ends.length > 0 && turn.events.at(-1)?.type !== "run_ended") {
      add("wrong_run", `holds events after the end of run ${turn.run}`);
    }
  }

  #checkPairs(turn: Turn, add: Add): void {
    const calls = new Map<number, KnownCall>();
    const answered = new Set<number>();
    for (const event of turn.events) {
      if (event.type === "tool_call") calls.set(event.seq, knownCall(event, turn));
      if (event.type !== "tool_result") continue;
      const name = `the result with seq ${event.seq}`;
      const call = calls.get(event.call_seq) ?? this.#calls.get(event.call_seq);
      if (call === undefined) {
        if (this.#incomplete || this.#isLost(event.call_seq)) continue;
        add("result_without_call", `holds ${name} for seq ${event.call_seq}, where no earlier call is`);
      } else if (call.call_id !== event.call_id) {
        add(
          "result_without_call",
          `holds ${name}, which has another call_id than the call with seq ${call.seq}`,
        );
      } else if (answered.has(call.seq) || this.#answered.has(call.seq)) {
        add("second_result", `holds ${name}, which answers the call with seq ${call.seq} once more`);
      } else answered.add(call.seq);
    }
  }

  /** True for a `seq` of a lost turn, or from before the place where a checkpoint opened the session. */
  #mayBeUnread(seq: number): boolean {
    return this.#incomplete || this.#isLost(seq) || seq <= this.#openedAfter;
  }

  #isLost(seq: number): boolean {
    return this.#lost.some(([first, last]) => first <= seq && seq <= last);
  }

  /** A checkpoint whose numbers do not fit would let a reader begin at the wrong turn. */
  #checkCheckpoints(turn: Turn, add: Add): void {
    for (const event of turn.events) {
      if (event.type === "history_compaction") {
        const { to_turn, to_seq, opening_turn } = event;
        const last = this.#lastSeq.get(to_turn);
        const fits = to_turn < turn.turn && (last === undefined || last === to_seq);
        if (!fits) add("wrong_checkpoint", `replaces seqs up to ${to_seq}, where no turn ends`);
        if (opening_turn !== null && opening_turn > to_turn) {
          add("wrong_checkpoint", `keeps the message of turn ${opening_turn}, which is not before its end`);
        }
      } else if (event.type === "result_elided") {
        const seq = event.result_seq;
        if (this.#results.has(seq) || this.#mayBeUnread(seq)) continue;
        add("wrong_checkpoint", `shortens seq ${seq}, where no earlier result is`);
      } else if (event.type === "compaction_withdrawn" && this.#fromStart && !this.#incomplete) {
        const restored = this.#without(event.checkpoint).at(-1) ?? null;
        if (JSON.stringify(restored) === JSON.stringify(event.restored)) continue;
        add(
          "wrong_checkpoint",
          `restores another checkpoint than the one before the one with seq ${event.checkpoint}`,
        );
      }
    }
  }

  #without(checkpoint: number): CheckpointRef[] {
    return this.#checkpoints.filter(({ seq }) => seq !== checkpoint);
  }
}

function checkFork(turn: Turn, add: Add): void {
  const [first, ...others] = turn.events;
  const fork = first?.type === "session_fork" ? first : null;
  if ((turn.kind === "fork") !== (fork !== null) || others.some(({ type }) => type === "session_fork")) {
    add("wrong_fork", "must begin with a session_fork, and hold no other, exactly when it is a fork turn");
  } else if (fork !== null) {
    const here = fork.to_turn === turn.turn - 1 && fork.to_seq === turn.seq[0] - 1 && fork.sum === turn.prev;
    if (!here) add("wrong_fork", "names another place than its own as the one where it was forked");
    if (fork.lineage.includes(turn.session)) add("wrong_fork", "names its own session in its lineage");
  }
}

/** Facts about the lost turn that `turn` replaces; `undefined` for any other turn. */
export function replacedTurn(turn: Turn): Replaces | undefined {
  return turn.kind === "harness" ? turn.replaces : undefined;
}

type Add = (code: string, message: string, severity?: Violation["severity"]) => void;

function knownCall(event: ToolCallEvent, turn: Turn): KnownCall {
  return {
    seq: event.seq,
    call_id: callIdOf(event.item),
    turn: turn.turn,
    runnable: turn.kind === "model" && turn.response.status === "completed",
  };
}

/**
 * Returns the turn that a reader will get from `bytes`, a candidate that is not published yet, so that no turn is
 * written that readers would refuse.
 *
 * @throws {RepriseError} `storage_failed` if the file would be too large or too deep to be read again.
 * @throws {TypeError} if the turn breaks the format.
 */
export function parseCandidate(validator: HistoryValidator, bytes: Uint8Array, tried: string): Turn {
  if (bytes.length > MAX_TURN_BYTES) {
    throw new RepriseError(
      "storage_failed",
      `Cannot ${tried}: its file would have ${bytes.length} bytes, more than the cap of ${MAX_TURN_BYTES}`,
      { hint: "Ask for a shorter answer or smaller attachments" },
    );
  }
  const parsed = parseTurn(bytes);
  if (parsed.status === "damaged" && parsed.code === "too_deep") {
    throw new RepriseError(
      "storage_failed",
      `Cannot ${tried}: it nests deeper than ${MAX_JSON_DEPTH} levels`,
      { hint: "Ask for an answer with a flatter structure" },
    );
  }
  if (parsed.status !== "ok") throw new TypeError(`Cannot ${tried}: it ${parsed.message}`);
  const violation = validator.check(parsed.turn)[0];
  if (violation !== undefined) throw new TypeError(`Cannot ${tried}: it ${violation.message}`);
  return parsed.turn;
}
