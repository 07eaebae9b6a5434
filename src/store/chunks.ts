/**
 * Files in chunks: what is large is read, written and copied without ever being whole in memory.
 *
 * @module
 */
import type { Ports } from "../domain/ports.ts";
import { meansNoLinks } from "./fs_errors.ts";
import { FILE_MODE } from "./layout.ts";
import { closeQuietly, fixMode, orSyncFailed, writeAll } from "./write/publish.ts";

/** How much of a file is in memory at a time, in bytes. */
export const CHUNK_BYTES = 256 * 1024;

/** The bytes of a file, at most {@linkcode CHUNK_BYTES} at a time. A chunk is good until the next one is asked for. */
export function* chunksOf(ports: Ports, path: string): Generator<Uint8Array> {
  const file = ports.files.openRead(path);
  try {
    const buffer = new Uint8Array(CHUNK_BYTES);
    for (;;) {
      const count = file.read(buffer);
      if (count === 0) return;
      yield buffer.subarray(0, count);
    }
  } finally {
    file.close();
  }
}

/** A file that grows by chunks and is durable once it is closed. Its name, which nothing has yet, is not. */
export class NewFile {
  readonly #file: ReturnType<Ports["files"]["createExclusive"]>;

  /** Throws the runtime's errors. */
  constructor(ports: Ports, path: string) {
    this.#file = ports.files.createExclusive(path, FILE_MODE);
    try {
      fixMode(ports.files, path, FILE_MODE);
    } catch (error) {
      closeQuietly(this.#file);
      throw error;
    }
  }

  write(bytes: Uint8Array): void {
    writeAll(this.#file, bytes);
  }

  /** Makes what was written durable. */
  close(): void {
    orSyncFailed(() => this.#file.sync());
    this.#file.close();
  }

  /** Gives the file up; whoever made its directory removes it. */
  abandon(): void {
    closeQuietly(this.#file);
  }
}

/** Writes a new file from chunks, durably. Throws the runtime's errors. */
export function writeNew(ports: Ports, path: string, chunks: Iterable<Uint8Array>): void {
  const file = new NewFile(ports, path);
  try {
    for (const chunk of chunks) file.write(chunk);
    file.close();
  } catch (error) {
    file.abandon();
    throw error;
  }
}

/** Gives a file a second name, or copies it where the file system has no links. Throws the runtime's errors. */
export function linkOrCopy(ports: Ports, from: string, to: string): "linked" | "copied" {
  try {
    ports.files.link(from, to);
    return "linked";
  } catch (error) {
    if (!meansNoLinks(error)) throw error;
    writeNew(ports, to, chunksOf(ports, from));
    return "copied";
  }
}
