/** Reads of stdin. */
import type { InputStream } from "./live_ports.ts";

/** Milliseconds between reads of a stdin that another process made non-blocking. */
const POLL_MS = 20;

/**
 * Reads the next bytes through `buffer`; returns `null` at the end.
 *
 * @throws The runtime's errors.
 */
export async function nextChunk(stdin: InputStream, buffer: Uint8Array): Promise<Uint8Array | null> {
  for (;;) {
    try {
      const count = await stdin.read(buffer);
      return count === null ? null : buffer.slice(0, count);
    } catch (cause) {
      // Only `deno run` makes such a stdin blocking; in the compiled program it fails while it is empty.
      if (!(cause instanceof Deno.errors.WouldBlock)) throw cause;
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
  }
}

/** A stdin that holds `bytes`. */
export function stdinOf(bytes: Uint8Array<ArrayBuffer>): InputStream {
  let rest = bytes;
  const readSync = (into: Uint8Array) => {
    if (rest.length === 0) return null;
    const part = rest.subarray(0, into.length);
    into.set(part);
    rest = rest.subarray(part.length);
    return part.length;
  };
  return {
    isTerminal: () => false,
    read: (into) => Promise.resolve(readSync(into)),
    readSync,
    readable: new Blob([bytes]).stream(),
  };
}
