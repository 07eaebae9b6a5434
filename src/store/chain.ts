/**
 * What turns must agree on with each other: numbers, `prev`, `seq`, runs, and calls with their results.
 *
 * @module
 */
import type { ToolCallEvent } from "../domain/event.ts";
import { callIdOf } from "../domain/item.ts";
import { isBetweenRuns, type Turn } from "../domain/turn.ts";

/** A rule that a turn breaks. `error`: the next request would be wrong, or the turn is not of this history. */
export interface Breach {
  readonly severity: "error" | "warning";
  readonly code: string;
  /** What was found, without the turn's name. */
  readonly message: string;
}

/** A call that no result answers yet. */
export interface OpenCall {
  readonly seq: number;
  readonly call_id: string;
  readonly turn: number;
}

/** The end of the history that was checked so far. */
export interface ChainEnd {
  readonly turn: number;
  readonly seq: number;
  /** `null` before turn 1. */
  readonly sum: string | null;
  /** 0 before turn 1. */
  readonly run: number;
  readonly runEnded: boolean;
}

interface KnownCall extends OpenCall {
  /** False for calls of responses that did not complete: those are never run, so nothing answers them. */
  readonly runnable: boolean;
}

const START: ChainEnd = { turn: 0, seq: 0, sum: null, run: 0, runEnded: true };

/**
 * True when session `directory` may hold a turn that `writer` wrote. One rule in one place: a session holds its
 * own turns only.
 */
export function mayHold(directory: string, writer: string): boolean {
  return directory === writer;
}

/** Walks a session's turns in order and names each rule that one of them breaks. */
export class Chain {
  readonly #session: string;
  readonly #calls = new Map<number, KnownCall>();
  readonly #answered = new Set<number>();
  #end: ChainEnd = START;
  /** True when the turn before is unreadable: the next one cannot be compared with it. */
  #broken = false;
  /** True once any turn was unreadable: a call that is not known may have been in it. */
  #incomplete = false;

  constructor(session: string) {
    this.#session = session;
  }

  /** Where the history ends. */
  get end(): ChainEnd {
    return this.#end;
  }

  /** True once a turn was skipped: what it held, such as results, cannot be judged. */
  get incomplete(): boolean {
    return this.#incomplete;
  }

  /** Calls of completed responses that nothing answers, in order. */
  openCalls(): OpenCall[] {
    return [...this.#calls.values()]
      .filter((call) => call.runnable && !this.#answered.has(call.seq))
      .map(({ seq, call_id, turn }) => ({ seq, call_id, turn }));
  }

  /** Steps over turn number `turn`, which cannot be read. */
  skip(turn: number): void {
    this.#end = { ...this.#end, turn };
    this.#broken = true;
    this.#incomplete = true;
  }

  /** The rules that a turn breaks when it lies in the file of the next number. Changes nothing. */
  check(turn: Turn): Breach[] {
    const breaches: Breach[] = [];
    const add = (code: string, message: string, severity: Breach["severity"] = "error") => {
      breaches.push({ severity, code, message });
    };
    const before = this.#end;
    const number = before.turn + 1;
    if (turn.turn !== number) add("wrong_number", `says that it is turn ${turn.turn}, not turn ${number}`);
    if (!mayHold(this.#session, turn.session)) {
      add("foreign_turn", `was written by session ${JSON.stringify(turn.session)}`);
    }
    if (!this.#broken) this.#checkLinks(turn, add);
    this.#checkNumbers(turn, add);
    this.#checkRun(turn, add);
    this.#checkPairs(turn, add);
    return breaches;
  }

  /** Goes on from a turn that was checked. */
  advance(turn: Turn): void {
    for (const event of turn.events) {
      if (event.type === "tool_call") this.#calls.set(event.seq, knownCall(event, turn));
      if (event.type === "tool_result") this.#answered.add(event.call_seq);
    }
    this.#end = {
      turn: this.#end.turn + 1,
      seq: turn.seq[1],
      sum: turn.sum,
      run: turn.run,
      runEnded: turn.events.some((event) => event.type === "run_ended") ||
        this.#end.runEnded && isBetweenRuns(turn),
    };
    this.#broken = false;
  }

  #checkLinks(turn: Turn, add: Add): void {
    const { sum, seq } = this.#end;
    if (turn.prev !== sum) {
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
    if (!counted || last !== first + turn.events.length - 1) {
      add("wrong_seq", `does not number its events from ${first} to ${last} without gaps`);
    }
  }

  #checkRun(turn: Turn, add: Add): void {
    const { run, runEnded } = this.#end;
    const continued = turn.events.find((event) => event.type === "run_continued");
    const opens = turn.kind === "user" || continued !== undefined;
    const expected = opens ? run + 1 : run;
    if (!this.#broken && turn.run !== expected) {
      add("wrong_run", `belongs to run ${turn.run}, where run ${expected} was expected`);
    } else if (!this.#broken && !opens && runEnded && !isBetweenRuns(turn)) {
      add("wrong_run", `follows the end of run ${run}`);
    }
    if (!this.#broken && opens && !runEnded) {
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
        if (this.#incomplete) continue;
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
}

type Add = (code: string, message: string, severity?: Breach["severity"]) => void;

function knownCall(event: ToolCallEvent, turn: Turn): KnownCall {
  return {
    seq: event.seq,
    call_id: callIdOf(event.item),
    turn: turn.turn,
    runnable: turn.kind === "model" && turn.response.status === "completed",
  };
}
