/**
 * The history that a repair makes of what is left: kept turns in their places, replacements between them. Pure.
 *
 * @module
 */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { type EncodedTurn, encodeTurn, type Pins, type Turn, type TurnDraft } from "../../domain/turn.ts";
import { LineageSearch } from "../read/lineage.ts";
import { HistoryValidator, replacesOf } from "../read/validate.ts";
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
import type { Reason, TurnFile } from "./input.ts";

/** One number of the mended history. */
export interface RebuiltTurn {
  readonly turn: Turn;
  /** The file whose turn is kept; `null` for a replacement. */
  readonly file: TurnFile | null;
  /** The replacement and its bytes; `null` for a turn that is kept. */
  readonly made: EncodedTurn | null;
}

/** A mended history. */
export interface RebuiltHistory {
  readonly places: readonly RebuiltTurn[];
  /** The walk over it, to its end. */
  readonly validator: HistoryValidator;
  /** Why the file of a turn, or its absence, is no part of it. */
  readonly reasonOf: (turn: number) => Reason;
}

/** What a history is mended from. */
export interface RepairInput {
  readonly session: SessionId;
  /** Everything in `turns/`. */
  readonly files: readonly TurnFile[];
  /** The turns in `quarantine/`: asked for only when something is lost. */
  readonly quarantined: () => readonly TurnFile[];
  /** Something lies in `turns/`, or where the manifest does: there was a first turn. */
  readonly begun: boolean;
  /** The manifest, when it fits its own checksum. */
  readonly manifest: Manifest | null;
  /** ISO 8601 UTC, for replacements. */
  readonly at: string;
}

/**
 * A damaged file this far behind the end still counts as a turn that was there. One farther away was named by
 * nobody of ours: it is set aside without filling the numbers before it.
 */
const REACH = 100;

/** Mends a history: the turns that fit together, and a replacement for each one that is lost. */
export function rebuildHistory(remains: RepairInput): RebuiltHistory {
  const refused = new Map<TurnFile, Reason>();
  let recovered: readonly TurnFile[] | null = null;
  for (;;) {
    const files = [...remains.files, ...recovered ?? []].filter((file) => !refused.has(file));
    const attempt = new Attempt(remains, admitted(files, remains), refused);
    const places = attempt.places();
    if (recovered === null && places.some(({ made }) => made !== null)) {
      recovered = vouchedFor(remains);
      if (recovered.length > 0) continue;
    }
    const validator = new HistoryValidator(remains.session, {
      lineage: () => lineageOf(places, remains.session),
    });
    const broken = firstBreach(validator, places);
    if (broken === null) return { places, validator, reasonOf: (turn) => attempt.reasonOf(turn) };
    // A replacement is made to fit the turn after it, so that turn is wrong here. Without one it is a mistake of ours:
    // better no repair than a wrong one.
    const blamed = places.find(({ turn, file }) => turn.turn >= broken.turn && file !== null)?.file;
    if (blamed === undefined || blamed === null) {
      throw new TypeError(`The replacement of turn ${broken.turn} ${broken.reason.message}`);
    }
    refused.set(blamed, broken.reason);
  }
}

/** Turns that may be of this session: its own, and those of the sessions that it was forked from. */
function admitted(files: readonly TurnFile[], { session, manifest }: RepairInput): Candidate[] {
  const all = files.flatMap((file): Candidate[] => file.turn === null ? [] : [{ file, turn: file.turn }]);
  const own = all.filter(({ turn }) => turn.session === session);
  const forks = own.flatMap(({ turn }) => turn.events[0]?.type === "session_fork" ? [turn.events[0]] : []);
  const lineage = new Set(forks.flatMap(({ lineage }) => lineage));
  // Where the fork turn is lost, the manifest still says that there was one, or a replacement stands in its place.
  const first = own.reduce<Turn | null>((least, { turn }) => {
    return least === null || turn.turn < least.turn ? turn : least;
  }, null);
  const lost = forks.length === 0 &&
    (manifest?.parent !== undefined || first !== null && replacesOf(first) !== undefined);
  const shared = (turn: Turn) =>
    lineage.has(turn.session) || lost && (first === null || turn.turn < first.turn);
  const wanted = new Set<string>();
  return all.toSorted((a, b) => b.turn.turn - a.turn.turn).filter(({ turn }) => {
    const sums = [turn.sum, replacesOf(turn)?.sum ?? turn.sum];
    const fits = turn.session === session || shared(turn) || sums.some((sum) => wanted.has(sum));
    // And what a turn of ours names as the one before it belongs to us, whoever wrote it.
    if (fits && turn.prev !== null) wanted.add(turn.prev);
    return fits;
  });
}

/** Turns in quarantine that a turn behind them, or the manifest, names by their sum: a repair that was killed. */
function vouchedFor({ files, quarantined, manifest }: RepairInput): TurnFile[] {
  const named = new Set(files.map(({ turn }) => turn?.prev));
  if (manifest !== null) named.add(manifest.head.sum);
  return quarantined().toSorted((a, b) => (b.turn?.turn ?? 0) - (a.turn?.turn ?? 0)).filter(({ turn }) => {
    if (turn === null || !named.has(turn.sum)) return false;
    named.add(turn.prev);
    return true;
  });
}

function lineageOf(places: readonly RebuiltTurn[], session: SessionId) {
  const search = new LineageSearch(session);
  for (const { turn } of places) {
    const found = search.look(turn.turn, turn as unknown as JsonObject);
    if (found !== null) return found;
  }
  return search.end();
}

/** Walks the places; the first one that breaks a rule. */
function firstBreach(validator: HistoryValidator, places: readonly RebuiltTurn[]) {
  for (const { turn } of places) {
    const breach = validator.check(turn).find(({ severity }) => severity === "error");
    if (breach !== undefined) {
      return { turn: turn.turn, reason: { code: breach.code, message: breach.message } };
    }
    validator.advance(turn);
  }
  return null;
}

/** One way to put the history together. */
class Attempt {
  readonly #remains: RepairInput;
  readonly #spine: readonly Candidate[];
  readonly #admitted: ReadonlySet<TurnFile>;
  readonly #refused: ReadonlyMap<TurnFile, Reason>;
  /** The file at each number. */
  readonly #at: ReadonlyMap<number, TurnFile>;

  constructor(
    remains: RepairInput,
    candidates: readonly Candidate[],
    refused: ReadonlyMap<TurnFile, Reason>,
  ) {
    this.#remains = remains;
    this.#spine = longestChain(candidates, remains.manifest?.head ?? null);
    this.#admitted = new Set(candidates.map(({ file }) => file));
    this.#refused = refused;
    this.#at = new Map(
      remains.files.flatMap((file): [number, TurnFile][] => file.place === null ? [] : [[file.place, file]]),
    );
  }

  /** Every number of the history, in order. */
  places(): RebuiltTurn[] {
    const places: RebuiltTurn[] = [];
    let end: Link = START;
    const fill = (lost: Omit<LostTurns, "before">) => {
      const { session, at, manifest } = this.#remains;
      const pins = nearestPins(this.#spine.map(({ turn }) => turn), end.number + 1, manifest);
      const reasonOf = (turn: number) => this.reasonOf(turn);
      for (const made of replacementsOf({ ...lost, before: end }, { session, at, pins, reasonOf })) {
        places.push({ turn: made.turn, file: null, made });
        end = linkAfter(end, made.turn);
      }
    };
    for (const { turn, file } of this.#spine) {
      const turns = turn.turn - end.number - 1;
      if (turns > 0) {
        const openings = lostOpenings(end, afterOf(turn)) ?? 0;
        fill({ next: turn, turns, lastSeq: turn.seq[0] - 1, sum: turn.prev, openings });
      }
      places.push({ turn, file, made: null });
      end = linkAfter(end, turn);
    }
    const { manifest } = this.#remains;
    const openings = manifest === null ? null : lostOpenings(end, afterHead(manifest));
    if (manifest !== null && openings !== null) {
      const { turn, seq, sum } = manifest.head;
      fill({ next: null, turns: turn - end.number, lastSeq: seq, sum, openings });
    }
    const claimed = this.#lastClaimed(end.number);
    if (claimed > end.number) {
      const turns = claimed - end.number;
      fill({ next: null, turns, lastSeq: null, sum: null, openings: end.turn === null ? 1 : 0 });
    }
    return places;
  }

  /** The last number behind `end` whose file may be a turn that was written there. */
  #lastClaimed(end: number): number {
    let last = Math.max(end, this.#remains.begun ? 1 : 0);
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

/** A stretch of lost turns. */
export interface LostTurns {
  readonly before: Link;
  /** The turn behind them; `null` at the end of the history. */
  readonly next: Turn | null;
  /** How many turns. */
  readonly turns: number;
  /** The last event that was in them; `null` where nothing tells, so that each gets one. */
  readonly lastSeq: number | null;
  /** The sum of the last of them, where something names it. */
  readonly sum: string | null;
  /** How many of them opened a run. */
  readonly openings: number;
}

/** What replacements need beside their place. */
export interface ReplacementOptions {
  readonly session: SessionId;
  /** ISO 8601 UTC. */
  readonly at: string;
  /** Pins for a run whose opening is lost. */
  readonly pins: Pins;
  /** Why the turn with that number is replaced. */
  readonly reasonOf: (turn: number) => Reason;
}

/** The replacements of a stretch of lost turns, in order. */
export function replacementsOf(lost: LostTurns, options: ReplacementOptions): EncodedTurn[] {
  const { before, next, turns, openings } = lost;
  const made: EncodedTurn[] = [];
  // What follows the end of a run opens the next one; while a run is open, what is lost belonged to it.
  const opensFrom = before.runEnded ? 0 : turns - openings;
  let run = before.run;
  for (let index = 0; index < turns; index++) {
    const number = before.number + 1 + index;
    const last = index === turns - 1;
    const firstSeq = before.seq + 1 + index;
    const lastSeq = last ? lost.lastSeq ?? firstSeq : firstSeq;
    const opens = index >= opensFrom && index < opensFrom + openings;
    if (opens) run++;
    const draft: TurnDraft = {
      kind: "harness",
      run,
      ...(opens ? { pins: options.pins } : {}),
      replaces: {
        sum: last ? lost.sum : null,
        seq: [firstSeq, lastSeq],
        reason: options.reasonOf(number).code,
      },
      events: [opens ? { type: "run_continued", run } : { type: "turn_replaced" }],
    };
    made.push(encodeTurn(draft, {
      session: writerOf(before.turn, next, options.session),
      turn: number,
      firstSeq,
      lastSeq,
      prev: made.at(-1)?.sum ?? before.turn?.sum ?? null,
      at: options.at,
    }));
  }
  return made;
}

/** In the part that a fork shares with its parents, a replacement stands for a turn of theirs. */
function writerOf(before: Turn | null, next: Turn | null, own: SessionId): string {
  if (next === null || next.session === own) return own;
  return before?.session ?? next.session;
}

/** Contents that stand for instructions and tools that nobody knows any more. */
export const UNKNOWN_INSTRUCTIONS = new Uint8Array(0);
export const UNKNOWN_TOOLS = encodeUtf8("[]");

/** Pins for a run whose opening is lost: those of the nearest run before it, or after it, or what responses tell. */
export function nearestPins(turns: readonly Turn[], number: number, manifest: Manifest | null): Pins {
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
