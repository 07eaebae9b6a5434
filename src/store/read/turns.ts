/**
 * Reads many turns in order. Each step is done for a batch of files before the next step, so that its code stays in the
 * processor's caches: one turn after the other takes 1.3 times as long. A second thread reads the files of a long session.
 *
 * @module
 */
import type { FileFacts, FilesAhead, Ports } from "../../domain/ports.ts";
import { bodySum, SEAL_BYTES } from "../../domain/seal.ts";
import { type SessionPaths, turnPath } from "../layout.ts";
import {
  type Accepted,
  BRIEF_BYTES,
  BRIEF_LENGTH,
  type Looked,
  lookForFile,
  readOwn,
  readSafely,
  type SafeBytes,
} from "./safe_open.ts";
import { judgeFile, type TurnRead } from "./turn.ts";
import { MAX_TURN_BYTES, openFile } from "./turn_file.ts";

/** The most files of a batch. */
const MOST_FILES = 64;

/** Bytes of the small files of a batch. */
const BATCH_BYTES = new Uint8Array(256 * 1024);

/**
 * A second thread costs as long to start as the check of a thousand turns, and more on a busy machine: fewer turns than
 * these do without it.
 */
const LEAST_TURNS_AHEAD = 5000;

/** Numbers of the turns to read. */
export interface TurnNumbers {
  /** The number to read in each place, from 0 on; `undefined` after the last one. Ascending. */
  at(index: number): number | undefined;
  /** Number of turns, as far as it is known: with it, a second thread reads many of them ahead. */
  readonly count?: number;
  /** True if nothing asks for permission bits: files need no inspection where opening them shows their owner. */
  readonly withoutModes?: boolean;
}

/** A turn file that was read. */
export interface NumberedTurn {
  readonly number: number;
  readonly looked: Inspected;
  readonly read: TurnRead;
}

/** Result of the inspection of a turn file; of an accepted one only its permission bits are known, if any. */
export type Inspected =
  | { readonly status: "ok"; readonly facts: Pick<FileFacts, "mode"> }
  | Exclude<Looked, Accepted>;

/** A file of a batch; its bytes are valid until the next batch. */
interface BatchFile {
  readonly number: number;
  readonly looked: Inspected;
  readonly file: SafeBytes;
  /** Sum of the bytes before the seal, if the second thread computed it. */
  readonly sum?: string;
  /** True if it was not inspected, and may be cut short. */
  readonly quick?: boolean;
}

interface Batch {
  readonly files: readonly BatchFile[];
  /** The error of the file after them. */
  readonly failed?: { readonly error: unknown };
}

/**
 * Reads and validates turns. Some files are read before the turns before them are used, but none after a missing one.
 * Throws the runtime's errors, each after the turns before it.
 */
export function* readTurns(
  ports: Ports,
  paths: SessionPaths,
  numbers: TurnNumbers,
): Generator<NumberedTurn, void> {
  const { withoutModes = false } = numbers;
  const ahead = readAhead(ports, paths, numbers);
  try {
    for (let index = 0;;) {
      const { files: batch, failed } = readBatch(ports, paths, {
        at: (offset) => numbers.at(index + offset),
        ahead,
        withoutModes,
      });
      index += batch.length;
      const sums = batch.map(({ file, sum }) =>
        sum ?? (file.status === "ok" ? bodySum(file.bytes) : undefined)
      );
      const opened = batch.map(({ file }, place) => openFile(file, sums[place]));
      const reads = opened.map(judgeFile);
      for (const [place, { number, looked, quick }] of batch.entries()) {
        const read = reads[place] as TurnRead;
        if (quick && read.status !== "ok") yield readAgain(ports, paths, number);
        else yield { number, looked, read };
      }
      if (failed !== undefined) throw failed.error;
      if (batch.length === 0) return;
    }
  } finally {
    ahead?.close();
  }
}

/** Begins to read turns on a second thread, if they are many. */
function readAhead(
  { files, process }: Ports,
  paths: SessionPaths,
  { at, count = 0 }: TurnNumbers,
): FilesAhead | null {
  if (count < LEAST_TURNS_AHEAD) return null;
  return files.readAhead?.({
    directory: paths.turns,
    first: at(0) as number,
    last: at(count - 1) as number,
    user: process.user,
    unhashed: SEAL_BYTES,
  }) ?? null;
}

function readBatch(
  ports: Ports,
  paths: SessionPaths,
  { at, ahead, withoutModes }: Omit<TurnNumbers, "count"> & { readonly ahead: FilesAhead | null },
): Batch {
  const files: BatchFile[] = [];
  for (let used = 0; files.length < MOST_FILES && BATCH_BYTES.length - used >= BRIEF_LENGTH;) {
    const number = at(files.length);
    if (number === undefined) break;
    const into = BATCH_BYTES.subarray(used, used + BRIEF_LENGTH);
    let read: BatchFile;
    try {
      read = takeFile(ahead, number, into) ??
        (withoutModes ? takeQuickly(ports, paths, number, into) : null) ??
        readFile(ports, paths, number, into);
    } catch (error) {
      return { files, failed: { error } };
    }
    files.push(read);
    if (read.file.status === "missing") break;
    if (read.file.status === "ok") used += read.file.bytes.length;
  }
  return { files };
}

function takeFile(ahead: FilesAhead | null, number: number, into: Uint8Array): BatchFile | null {
  const taken = ahead?.take(number, into) ?? null;
  if (taken === null) return null;
  const { mode, size, sum } = taken;
  return {
    number,
    looked: { status: "ok", facts: { mode } },
    file: { status: "ok", bytes: into.subarray(0, size) },
    sum,
  };
}

function takeQuickly(ports: Ports, paths: SessionPaths, number: number, into: Uint8Array): BatchFile | null {
  const bytes = readOwn(ports, turnPath(paths, number), into);
  if (bytes === null) return null;
  return {
    number,
    looked: { status: "ok", facts: { mode: null } },
    file: { status: "ok", bytes },
    quick: true,
  };
}

/** Inspects a file that was read quickly and cannot be used: for the reason, and in case it was only cut short. */
function readAgain(ports: Ports, paths: SessionPaths, number: number): NumberedTurn {
  const { looked, file } = readFile(ports, paths, number, BRIEF_BYTES);
  return { number, looked, read: judgeFile(openFile(file)) };
}

function readFile(ports: Ports, paths: SessionPaths, number: number, into: Uint8Array): BatchFile {
  const path = turnPath(paths, number);
  const looked = lookForFile(ports, path);
  return { number, looked, file: readSafely(ports, path, { maxBytes: MAX_TURN_BYTES, looked, into }) };
}
