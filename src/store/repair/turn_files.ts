/** Reads the files from which a history is rebuilt. */
import type { Ports } from "../../domain/ports.ts";
import type { Turn } from "../../domain/turn.ts";
import { sessionTooNew } from "../fs_errors.ts";
import { insideSession, type SessionPaths, turnNumberOf } from "../layout.ts";
import { lookForDirectory } from "../read/safe_open.ts";
import { readTurn } from "../read/turn.ts";

/** Reason why a file is not used: a code of `fsck`, and the finding. */
export interface Reason {
  readonly code: string;
  readonly message: string;
}

/** A file that is or may be a turn. */
export interface TurnFile {
  readonly path: string;
  /** The number in its name; `null` for any other name, and for everything in `quarantine/`. */
  readonly place: number | null;
  /** The turn in it, if the file fits its seal and has a turn's shape. */
  readonly turn: Turn | null;
  /** Reason why the file is not used; `null` while no reason is known. */
  readonly reason: Reason | null;
  /** The content of a copy from elsewhere, whose `path` is its address. */
  readonly bytes?: Uint8Array;
}

/**
 * Every name in `turns/`, in the order of names.
 *
 * @throws {RepriseError} `format_too_new` if a later version wrote a turn: unknown formats are not repaired.
 * The runtime's errors.
 */
export function filesInTurns(ports: Ports, paths: SessionPaths): TurnFile[] {
  if (lookForDirectory(ports, paths.turns).status === "missing") return [];
  return ports.files.list(paths.turns).sort().flatMap((name): TurnFile[] => {
    const [path, place] = [`${paths.turns}/${name}`, turnNumberOf(name)];
    const read = readTurn(ports, path);
    switch (read.status) {
      case "missing":
        // A name that is no valid text cannot be opened.
        return [];
      case "newer":
        throw sessionTooNew(paths, insideSession(paths, path), read.message);
      case "damaged":
        return [{ path, place, turn: null, reason: read }];
      case "ok":
        return [{ path, place, turn: read.turn, reason: whyNotAt(place, read.turn) }];
    }
  });
}

function whyNotAt(place: number | null, { turn }: Turn): Reason | null {
  if (turn === place) return null;
  return place === null
    ? { code: "foreign_file", message: "is not the name of a turn" }
    : { code: "wrong_number", message: `says that it is turn ${turn}, not turn ${place}` };
}

/** The turns in `quarantine/`; unreadable files are skipped. Throws the runtime's errors. */
export function turnsInQuarantine(ports: Ports, paths: SessionPaths): TurnFile[] {
  if (lookForDirectory(ports, paths.quarantine).status === "missing") return [];
  return ports.files.list(paths.quarantine).sort().flatMap((name) => {
    const path = `${paths.quarantine}/${name}`;
    const read = readTurn(ports, path);
    return read.status === "ok" ? [{ path, place: null, turn: read.turn, reason: null }] : [];
  });
}
