/**
 * Turns of a long session, read ahead by a second thread.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { SEAL_BYTES } from "../../domain/seal.ts";
import type { SessionPaths } from "../layout.ts";
import type { AlreadyRead } from "./safe_open.ts";

/**
 * A second thread costs as long to start as the check of a thousand turns, and more on a busy machine: fewer turns than
 * these do without it.
 */
const LEAST_TURNS = 5000;

/** Turns that are being read ahead. */
export interface TurnsAhead {
  /** A turn file that was inspected and read; `undefined` if the caller has to do that. Call it in ascending order. */
  take(turn: number): AlreadyRead | undefined;
  [Symbol.dispose](): void;
}

/** Begins to read turns ahead, if they are many. `numbers` ascend. */
export function readTurnsAhead(ports: Ports, paths: SessionPaths, numbers: readonly number[]): TurnsAhead {
  const files = numbers.length < LEAST_TURNS ? null : ports.files.readAhead?.({
    directory: paths.turns,
    first: numbers[0] as number,
    last: numbers.at(-1) as number,
    user: ports.process.user,
    unhashed: SEAL_BYTES,
  });
  return {
    take(turn) {
      const file = files?.take(turn) ?? null;
      if (file === null) return undefined;
      const { mode, bytes, sum } = file;
      return { status: "ok", facts: { mode }, content: { bytes, sum } };
    },
    [Symbol.dispose]: () => files?.close(),
  };
}
