/** Finds the longest valid chain among the readable turns, with room between them for lost ones. Pure. */
import type { Manifest } from "../../domain/manifest.ts";
import { isBetweenRuns, type Turn } from "../../domain/turn.ts";
import { replacedTurn } from "../read/validate.ts";
import type { TurnFile } from "./turn_files.ts";

/** A file that may be kept, with the turn that it holds. */
export interface Candidate {
  readonly file: TurnFile;
  readonly turn: Turn;
}

/** The end of a history that is built turn by turn. */
export interface Link {
  /** `null` before turn 1. */
  readonly turn: Turn | null;
  readonly number: number;
  readonly seq: number;
  readonly run: number;
  readonly runEnded: boolean;
}

/** Start of every history. */
export const START: Link = { turn: null, number: 0, seq: 0, run: 0, runEnded: true };

/** The turn after lost turns, or the head that a manifest names: it shows how many turns were lost. */
export interface After {
  readonly turn: number;
  readonly firstSeq: number;
  readonly run: number;
  readonly opensRun: boolean;
  /** True if it may follow the end of a run without opening the next run. */
  readonly betweenRuns: boolean;
}

/** {@linkcode After} of a turn. */
export function afterOf(turn: Turn): After {
  return {
    turn: turn.turn,
    firstSeq: turn.seq[0],
    run: turn.run,
    opensRun: opensRun(turn),
    betweenRuns: isBetweenRuns(turn),
  };
}

/** {@linkcode After} of an imagined turn after the head that the manifest names. */
export function afterHead({ head, run }: Pick<Manifest, "head" | "run">): After {
  return { turn: head.turn + 1, firstSeq: head.seq + 1, run, opensRun: false, betweenRuns: true };
}

/** Largest plausible number of lost turns in a row: a file that implies more has itself a wrong number. */
const MAX_LOST = 10_000;

/** Number of turns lost between `before` and `after` that opened a run; `null` if no turns can have been there. */
export function lostOpenings(before: Link, after: After): number | null {
  const turns = after.turn - before.number - 1;
  const events = after.firstSeq - before.seq - 1;
  const openings = after.run - before.run - (after.opensRun ? 1 : 0);
  if (turns < 1 || turns > MAX_LOST || events < turns || openings < 0 || openings > turns) return null;
  // Turn 1 always opens a run. The end of a run is followed by an opening, or by a turn that may be between runs.
  if (before.turn === null && openings === 0) return null;
  if (openings === 0 && before.runEnded && !after.opensRun && !after.betweenRuns) return null;
  return openings;
}

/** The end of a history after one more turn. */
export function linkAfter(before: Link, turn: Turn): Link {
  return {
    turn,
    number: turn.turn,
    seq: turn.seq[1],
    run: turn.run,
    runEnded: turn.events.some(({ type }) => type === "run_ended") || before.runEnded && isBetweenRuns(turn),
  };
}

/** Returns the turns to keep, oldest first: the most that fit together. `head` is the newest turn in a manifest. */
export function longestChain(candidates: readonly Candidate[], head: Manifest["head"] | null): Candidate[] {
  const reached: Reached[] = [];
  const byNumber = new Map<number, Reached[]>();
  for (const candidate of candidates.toSorted((a, b) => a.turn.turn - b.turn.turn)) {
    const { turn } = candidate;
    const next = best([
      // A turn that names its previous turn by hash follows that turn, even if another chain would fit.
      ...stepsFrom(turn.turn === 1 ? [ROOT] : byNumber.get(turn.turn - 1) ?? [], candidate, head, follows),
    ]) ?? best(stepsFrom([ROOT, ...reached], candidate, head, (before, turn) => {
      return lostOpenings(before, afterOf(turn)) !== null;
    }));
    if (next === null) continue;
    reached.push(next);
    byNumber.set(turn.turn, [...byNumber.get(turn.turn) ?? [], next]);
  }
  const chain: Candidate[] = [];
  for (let at = best(reached); at !== null && at.candidate !== null; at = at.before) chain.push(at.candidate);
  return chain.reverse();
}

interface Reached {
  readonly candidate: Candidate | null;
  readonly before: Reached | null;
  readonly link: Link;
  /** Number of turns kept so far, doubled, so that the manifest breaks ties. */
  readonly score: number;
  /** Number of these turns that are in the file of their number. */
  readonly inPlace: number;
}

const ROOT: Reached = { candidate: null, before: null, link: START, score: 0, inPlace: 0 };

function best(steps: readonly Reached[]): Reached | null {
  let found: Reached | null = null;
  for (const step of steps) {
    // On a tie, the later candidate, which ends at the higher number.
    if (
      found === null || step.score > found.score ||
      step.score === found.score && step.inPlace >= found.inPlace
    ) found = step;
  }
  return found;
}

function stepsFrom(
  befores: readonly Reached[],
  candidate: Candidate,
  head: Manifest["head"] | null,
  fits: (before: Link, turn: Turn) => boolean,
): Reached[] {
  const { turn, file } = candidate;
  return befores.filter(({ link }) => fits(link, turn)).map((before) => ({
    candidate,
    before,
    link: linkAfter(before.link, turn),
    score: before.score + 2 + (head?.turn !== turn.turn ? 0 : head.sum === turn.sum ? 1 : -1),
    inPlace: before.inPlace + (file.place === turn.turn ? 1 : 0),
  }));
}

function opensRun(turn: Turn): boolean {
  return turn.kind === "user" || turn.events.some(({ type }) => type === "run_continued");
}

/** True if `turn` names `before` as its previous turn and fits right after it. */
function follows(before: Link, turn: Turn): boolean {
  const opens = opensRun(turn);
  return turn.turn === before.number + 1 && turn.seq[0] === before.seq + 1 &&
    turn.run === before.run + (opens ? 1 : 0) &&
    (opens || !before.runEnded || before.turn !== null && isBetweenRuns(turn)) &&
    namesBefore(before, turn);
}

function namesBefore({ turn: before }: Link, { prev }: Turn): boolean {
  if (before === null || prev === null) return before === null && prev === null;
  return prev === before.sum || prev === replacedTurn(before)?.sum;
}
