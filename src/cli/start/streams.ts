/** Writing to streams that other processes share: one of them, such as Node, may have made them non-blocking. */

/** Time without a byte taken after which a stream counts as broken, in milliseconds. */
const PATIENCE_MS = 30_000;
/** Longest pause between two attempts, in milliseconds. */
const MAX_PAUSE_MS = 16;
/** Bytes that a pipe takes all or none of, in Linux and in POSIX. */
const ATOMIC_BYTES = Deno.build.os === "linux" ? 4096 : 512;
/** Capacity of the runtime's buffer of stdout. */
const BUFFER_BYTES = 1024;
const NEWLINE = 0x0a;

export interface ByteStream {
  /** Writes some bytes, and returns how many. After `WouldBlock`, the call has to be repeated with the same bytes. */
  writeSync(bytes: Uint8Array): number;
}

/** Streams whose reader took nothing for so long: they are not waited for. */
const stuck = new WeakSet<ByteStream>();

/** Writes all bytes, and waits for a slow reader as a blocking write does. */
export function writeBlocking(stream: ByteStream, bytes: Uint8Array): void {
  let [written, waited, pause] = [0, 0, 1];
  while (written < bytes.length) {
    try {
      written += stream.writeSync(bytes.subarray(written));
      [waited, pause] = [0, 1];
    } catch (error) {
      if (!(error instanceof Deno.errors.WouldBlock) || stuck.has(stream)) throw error;
      if (waited >= PATIENCE_MS) {
        stuck.add(stream);
        throw error;
      }
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pause);
      waited += pause;
      pause = Math.min(2 * pause, MAX_PAUSE_MS);
    }
  }
}

/** Ends the process with a line on stderr, before the program is loaded. */
export function exitWith(code: number, text: string): never {
  try {
    writeBlocking(Deno.stderr, new TextEncoder().encode(text));
  } finally {
    Deno.exit(code);
  }
}

/** Bytes in the runtime's buffer of stdout. */
let buffered = 0;

/**
 * The stdout of the process. The runtime's own buffers lines, and `WouldBlock` does not say whether bytes are in the
 * buffer. So they come in parts that pass it by, written whole or not at all, or in a short one that is surely in it.
 */
export const stdout = {
  writeSync(bytes: Uint8Array): number {
    if (buffered === 0) {
      const part = bytes.subarray(0, ATOMIC_BYTES);
      const end = part.lastIndexOf(NEWLINE) + 1;
      if (end > 0) return Deno.stdout.writeSync(part.subarray(0, end));
      if (part.length >= BUFFER_BYTES) return Deno.stdout.writeSync(part);
      buffered = Math.min(part.length, BUFFER_BYTES - 1);
      Deno.stdout.writeSync(part.subarray(0, buffered));
    } else Deno.stdout.writeSync(new Uint8Array());
    const written = buffered;
    buffered = 0;
    return written;
  },
  isTerminal: () => Deno.stdout.isTerminal(),
};
