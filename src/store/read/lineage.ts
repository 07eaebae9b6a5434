/** The lineage of a fork: the sessions whose turns it may hold. Found by reading up to its first own turn. */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import { readEnvelope } from "./turn_file.ts";

/** Other sessions that may have written the first turns of a session: the sessions that it was forked from. */
export interface Lineage {
  /** Their ids; `null` for any session, if the turn that names them is damaged. */
  readonly writers: readonly string[] | null;
  /** The first turn that the session wrote itself, its `fork` turn: all later turns are its own. */
  readonly ownFrom: number;
}

/** The lineage of a session that is not a fork. */
export const NO_LINEAGE: Lineage = { writers: [], ownFrom: 1 };

/** A lineage for turns whose writers are checked elsewhere, or not at all. */
export const ANY_LINEAGE: Lineage = { writers: null, ownFrom: Infinity };

/**
 * True if session `directory` may hold turn `number` that `writer` wrote: its own turns, and before its `fork` turn
 * those of its lineage. `lineage` is called only if another session wrote the turn.
 */
export function mayHold(
  directory: string,
  turn: { readonly writer: string; readonly number: number },
  lineage: () => Lineage,
): boolean {
  if (directory === turn.writer) return true;
  const { writers, ownFrom } = lineage();
  return turn.number < ownFrom && (writers === null || writers.includes(turn.writer));
}

/** Reads a session's turns in order until a turn names the lineage. */
export class LineageSearch {
  readonly #session: string;
  /** True if the previous turn could not be read: it may have named the lineage. */
  #lost = false;

  constructor(session: string) {
    this.#session = session;
  }

  /** The lineage once turn `number` shows it. `value` is its parsed file, or `null` if that is damaged. */
  look(number: number, value: JsonObject | null): Lineage | null {
    if (value === null || value.session !== this.#session) {
      this.#lost = value === null;
      return null;
    }
    const writers = lineageIn(value);
    if (writers !== null) return { writers, ownFrom: number };
    // A replacement has the number of a damaged turn, which may have named the lineage.
    const unknown = this.#lost || isJsonObject(value.replaces);
    return { writers: unknown ? null : [], ownFrom: number };
  }

  /** The lineage if no turn of the session's own was found: no lineage, or any if the turn that names it was lost. */
  end(): Lineage {
    return { writers: this.#lost ? null : [], ownFrom: Infinity };
  }
}

function lineageIn(value: JsonObject): string[] | null {
  if (value.kind !== "fork" || !Array.isArray(value.events)) return null;
  const [first] = value.events;
  if (!isJsonObject(first) || first.type !== "session_fork" || !Array.isArray(first.lineage)) return null;
  return first.lineage.filter((id) => typeof id === "string");
}

/**
 * The lineage of a session, from its files. Reads up to the first turn of its own, so call it only for forks.
 * Throws the runtime's errors.
 */
export function findLineage(ports: Ports, paths: SessionPaths, options: {
  /** The numbers of the turn files, if known. */
  readonly numbers?: readonly number[];
  /** Otherwise, the number to start at. */
  readonly from?: number;
} = {}): Lineage {
  const { from = 1, numbers = numbersFrom(ports, paths, from) } = options;
  const search = new LineageSearch(paths.id);
  let before = from - 1;
  for (const number of numbers) {
    if (number > before + 1) search.look(number - 1, null);
    before = number;
    const file = readEnvelope(ports, turnPath(paths, number));
    const found = search.look(number, file.status === "ok" ? file.value : null);
    if (found !== null) return found;
  }
  return search.end();
}

/** The numbers up to the last file; skips a single missing number. */
function* numbersFrom(ports: Ports, paths: SessionPaths, first: number): Generator<number> {
  const isThere = (number: number) => ports.files.facts(turnPath(paths, number)) !== null;
  for (let number = first;; number++) {
    if (isThere(number)) yield number;
    else if (!isThere(number + 1)) return;
  }
}
