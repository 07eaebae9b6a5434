/** Rebuilds a history from the turns that are left: kept turns at their numbers, replacements between them. Pure. */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { type EncodedTurn, encodeTurn, type Pins, type Turn } from "../../domain/turn.ts";
import { LineageSearch } from "../read/lineage.ts";
import { HistoryValidator, replacedTurn } from "../read/validate.ts";
import {
  afterHead,
  afterOf,
  type Candidate,
  type Link,
  linkAfter,
  longestChain,
  lostOpenings,
  START,
} from "./longest_chain.ts";
import type { Reason, TurnFile } from "./turn_files.ts";

/** A turn of a rebuilt history. */
interface RebuiltTurn {
  readonly turn: Turn;
  /** The file whose turn is kept; `null` for a replacement. */
  readonly file: TurnFile | null;
  /** The replacement and its bytes; `null` for a kept turn. */
  readonly made: EncodedTurn | null;
}

export interface RebuiltHistory {
  readonly turns: readonly RebuiltTurn[];
  /** Validator at the end of the history. */
  readonly validator: HistoryValidator;
  /** Reason why the file with that number, or its absence, is not part of the history. */
  readonly reasonOf: (turn: number) => Reason;
}

/** Files and facts from which a history is rebuilt. */
interface RepairInput {
  readonly session: SessionId;
  /** Everything in `turns/`. */
  readonly files: readonly TurnFile[];
  /** Turns from elsewhere that are damaged or missing in `turns/`. */
  readonly copies: readonly TurnFile[];
  /** The turns in `quarantine/`: called only if a turn is lost. */
  readonly quarantined: () => readonly TurnFile[];
  /** True if `turns/` has a file, or a manifest exists: then there was a first turn. */
  readonly begun: boolean;
  /** The manifest, if it fits its own checksum. */
  readonly manifest: Manifest | null;
  /** ISO 8601 UTC, for replacements. */
  readonly at: string;
}

/**
 * Distance from the end within which a damaged file counts as a turn. A file farther away has a name that reprise never
 * wrote: it is set aside, and the numbers before it are not filled.
 */
const REACH = 100;

/** Rebuilds a history: the turns that fit together, and a replacement for each lost one. */
export function rebuildHistory(input: RepairInput): RebuiltHistory {
  const refused = new Map<TurnFile, Reason>();
  let recovered: readonly TurnFile[] | null = null;
  for (;;) {
    const files = [...input.files, ...input.copies, ...recovered ?? []].filter((file) => !refused.has(file));
    const attempt = new Attempt(input, admitted(files, input), refused);
    const turns = attempt.turns();
    if (recovered === null && turns.some(({ made }) => made !== null)) {
      recovered = recoverable(input);
      if (recovered.length > 0) continue;
    }
    const validator = new HistoryValidator(input.session, { lineage: () => lineageOf(turns, input.session) });
    const broken = firstViolation(validator, turns);
    if (broken === null) return { turns, validator, reasonOf: (turn) => attempt.reasonOf(turn) };
    // A replacement is made to fit the turn after it, so that next turn is wrong. If there is no next turn, this is a
    // bug: no repair is better than a wrong repair.
    const blamed = turns.find(({ turn, file }) => turn.turn >= broken.turn && file !== null)?.file;
    if (blamed === undefined || blamed === null) {
      throw new TypeError(`The replacement of turn ${broken.turn} ${broken.reason.message}`);
    }
    refused.set(blamed, broken.reason);
  }
}

/** Turns that may be of this session: its own, and those of the sessions that it was forked from. */
function admitted(files: readonly TurnFile[], { session, manifest }: RepairInput): Candidate[] {
  const all = files.flatMap((file): Candidate[] => file.turn === null ? [] : [{ file, turn: file.turn }]);
  const written = all.filter(({ turn }) => turn.session === session);
  const forks = written.flatMap(({ turn }) =>
    turn.events[0]?.type === "session_fork" ? [turn.events[0]] : []
  );
  const lineage = new Set(forks.flatMap(({ lineage }) => lineage));
  // If the fork turn is lost, the manifest still names the parent, or a replacement has the fork turn's number.
  const first = written.reduce<Turn | null>((least, { turn }) => {
    return least === null || turn.turn < least.turn ? turn : least;
  }, null);
  const lost = forks.length === 0 &&
    (manifest?.parent !== undefined || first !== null && replacedTurn(first) !== undefined);
  const shared = (turn: Turn) =>
    lineage.has(turn.session) || lost && (first === null || turn.turn < first.turn);
  const wanted = new Set<string>();
  return all.toSorted((a, b) => b.turn.turn - a.turn.turn).filter(({ turn }) => {
    const sums = [turn.sum, replacedTurn(turn)?.sum ?? turn.sum];
    const fits = turn.session === session || shared(turn) || sums.some((sum) => wanted.has(sum));
    // If a turn of ours names a turn as its previous one, that turn is ours, whichever session wrote it.
    if (fits && turn.prev !== null) wanted.add(turn.prev);
    return fits;
  });
}

/** Turns in quarantine that a later turn or the manifest names by their sum: leftovers of a killed repair. */
function recoverable({ files, quarantined, manifest }: RepairInput): TurnFile[] {
  const named = new Set(files.map(({ turn }) => turn?.prev));
  if (manifest !== null) named.add(manifest.head.sum);
  return quarantined().toSorted((a, b) => (b.turn?.turn ?? 0) - (a.turn?.turn ?? 0)).filter(({ turn }) => {
    if (turn === null || !named.has(turn.sum)) return false;
    named.add(turn.prev);
    return true;
  });
}

function lineageOf(turns: readonly RebuiltTurn[], session: SessionId) {
  const search = new LineageSearch(session);
  for (const { turn } of turns) {
    const found = search.look(turn.turn, turn as unknown as JsonObject);
    if (found !== null) return found;
  }
  return search.end();
}

/** Walks the turns and returns the first one that breaks a rule. */
function firstViolation(validator: HistoryValidator, turns: readonly RebuiltTurn[]) {
  for (const { turn } of turns) {
    const violation = validator.check(turn).find(({ severity }) => severity === "error");
    if (violation !== undefined) {
      return { turn: turn.turn, reason: { code: violation.code, message: violation.message } };
    }
    validator.advance(turn);
  }
  return null;
}

/** One attempt to build the history. */
class Attempt {
  readonly #input: RepairInput;
  readonly #chain: readonly Candidate[];
  readonly #admitted: ReadonlySet<TurnFile>;
  readonly #refused: ReadonlyMap<TurnFile, Reason>;
  readonly #at: ReadonlyMap<number, TurnFile>;
  readonly #turns: RebuiltTurn[] = [];
  #end: Link = START;

  constructor(
    input: RepairInput,
    candidates: readonly Candidate[],
    refused: ReadonlyMap<TurnFile, Reason>,
  ) {
    this.#input = input;
    this.#chain = longestChain(candidates, input.manifest?.head ?? null);
    this.#admitted = new Set(candidates.map(({ file }) => file));
    this.#refused = refused;
    this.#at = new Map(input.files.flatMap((file) => file.place === null ? [] : [[file.place, file]]));
  }

  /** Builds every number of the history, in order. Call it once. */
  turns(): RebuiltTurn[] {
    for (const { turn, file } of this.#chain) {
      const count = turn.turn - this.#end.number - 1;
      if (count > 0) {
        const openings = lostOpenings(this.#end, afterOf(turn)) ?? 0;
        this.#fill({ next: turn, count, lastSeq: turn.seq[0] - 1, sum: turn.prev, openings });
      }
      this.#add({ turn, file, made: null });
    }
    const { manifest } = this.#input;
    const openings = manifest === null ? null : lostOpenings(this.#end, afterHead(manifest));
    if (manifest !== null && openings !== null) {
      const { turn, seq, sum } = manifest.head;
      this.#fill({ next: null, count: turn - this.#end.number, lastSeq: seq, sum, openings });
    }
    const count = this.#lastClaimed() - this.#end.number;
    if (count > 0) {
      this.#fill({ next: null, count, lastSeq: null, sum: null, openings: this.#end.turn === null ? 1 : 0 });
    }
    return this.#turns;
  }

  #add(rebuilt: RebuiltTurn): void {
    this.#turns.push(rebuilt);
    this.#end = linkAfter(this.#end, rebuilt.turn);
  }

  /** Adds a replacement for each lost turn, so that numbers, events, runs and hashes have no gap. */
  #fill({ next, count, lastSeq: finalSeq, sum, openings }: {
    /** The turn after them; `null` at the end of the history. */
    readonly next: Turn | null;
    readonly count: number;
    /** Their last `seq`; `null` if unknown: then each replacement gets one event. */
    readonly lastSeq: number | null;
    /** The sum of the last lost turn, if known. */
    readonly sum: string | null;
    /** Number of lost turns that opened a run. */
    readonly openings: number;
  }): void {
    const { session, at, manifest } = this.#input;
    const before = this.#end;
    const pins = nearestPins(this.#chain.map(({ turn }) => turn), before.number + 1, manifest);
    // After the end of a run, a lost turn opens the next run; while a run is open, lost turns belong to it.
    const opensFrom = before.runEnded ? 0 : count - openings;
    let run = before.run;
    for (let index = 0; index < count; index++) {
      const number = before.number + 1 + index;
      const last = index === count - 1;
      const firstSeq = before.seq + 1 + index;
      const lastSeq = last ? finalSeq ?? firstSeq : firstSeq;
      const opens = index >= opensFrom && index < opensFrom + openings;
      if (opens) run++;
      const reason = this.reasonOf(number).code;
      const made = encodeTurn({
        kind: "harness",
        run,
        ...(opens ? { pins } : {}),
        replaces: { sum: last ? sum : null, seq: [firstSeq, lastSeq], reason },
        events: [opens ? { type: "run_continued", run } : { type: "turn_replaced" }],
      }, {
        session: writerOf(before.turn, next, session),
        turn: number,
        firstSeq,
        lastSeq,
        prev: this.#end.turn?.sum ?? null,
        at,
      });
      this.#add({ turn: made.turn, file: null, made });
    }
  }

  /** The last number after the end whose file may be a turn written under that number. */
  #lastClaimed(): number {
    let last = Math.max(this.#end.number, this.#input.begun ? 1 : 0);
    for (const [number, file] of [...this.#at].sort(([a], [b]) => a - b)) {
      const claims = file.turn === null ||
        file.turn.turn === number && (this.#admitted.has(file) || this.#refused.has(file));
      if (claims && number > last && number <= last + REACH) last = number;
    }
    return last;
  }

  reasonOf(turn: number): Reason {
    const file = this.#at.get(turn);
    if (file === undefined) return { code: "missing_turn", message: "is missing" };
    const reason = this.#refused.get(file) ?? file.reason;
    if (reason !== null) return reason;
    return this.#admitted.has(file) ? { code: "wrong_prev", message: "does not fit the turns around it" } : {
      code: "foreign_turn",
      message: `was written by session ${JSON.stringify(file.turn?.session ?? "")}`,
    };
  }
}

/** Returns the writer of a replacement: a parent in the part of a fork that is shared with its parents. */
function writerOf(before: Turn | null, next: Turn | null, session: SessionId): string {
  if (next === null || next.session === session) return session;
  return before?.session ?? next.session;
}

/** Contents that replace unknown instructions and tools. */
export const UNKNOWN_INSTRUCTIONS = new Uint8Array(0);
export const UNKNOWN_TOOLS = encodeUtf8("[]");

/** Pins for a run whose opening is lost: those of the nearest run before it or after it, or facts from responses. */
function nearestPins(turns: readonly Turn[], number: number, manifest: Manifest | null): Pins {
  const before = turns.findLast((turn) => turn.turn < number && pinsOf(turn) !== undefined);
  const after = turns.find((turn) => turn.turn > number && pinsOf(turn) !== undefined);
  const known = pinsOf(before) ?? pinsOf(after) ?? manifest?.pins;
  if (known !== undefined) return known;
  const model = turns.find((turn) => turn.kind === "model");
  return {
    fingerprint: { provider: "openai", endpoint: "unknown", ...model?.fingerprint, account: null },
    model: model?.model.asked ?? "unknown",
    instructions: sha256Hex(UNKNOWN_INSTRUCTIONS),
    tools: sha256Hex(UNKNOWN_TOOLS),
    permissions: [],
    workspace: "unknown",
  };
}

function pinsOf(turn: Turn | undefined): Pins | undefined {
  return turn !== undefined && "pins" in turn ? turn.pins : undefined;
}
