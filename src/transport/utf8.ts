/**
 * The text of `chunk` up to its first byte that cannot be UTF-8. `tail` is what came before it: an unfinished
 * character at its end is completed and counted in.
 */
export function decodeValidPrefix(tail: Uint8Array, chunk: Uint8Array): string {
  const start = unfinished(tail);
  const bytes = new Uint8Array(start.length + chunk.length);
  bytes.set(start);
  bytes.set(chunk, start.length);
  // Validity of a prefix is monotonic: search for the longest one.
  let valid = 0;
  let invalid = bytes.length + 1;
  while (invalid - valid > 1) {
    const middle = (valid + invalid) >> 1;
    if (decodePrefix(bytes.subarray(0, middle)) === undefined) invalid = middle;
    else valid = middle;
  }
  return decodePrefix(bytes.subarray(0, valid)) ?? "";
}

/** Bytes whose last three are those of `tail` and `chunk` together: as many as an unfinished character can have. */
export function lastBytes(tail: Uint8Array, chunk: Uint8Array): Uint8Array {
  if (chunk.length >= 3) return chunk;
  const joined = new Uint8Array(tail.length + chunk.length);
  joined.set(tail);
  joined.set(chunk, tail.length);
  return joined.slice(-3);
}

/** The lead byte of an unfinished character at the end of `tail`, and what follows it. */
function unfinished(tail: Uint8Array): Uint8Array {
  for (let length = 1; length <= Math.min(3, tail.length); length++) {
    const byte = tail[tail.length - length] as number;
    if ((byte & 0b1100_0000) === 0b1000_0000) continue;
    const expected = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return expected > length ? tail.subarray(tail.length - length) : new Uint8Array(0);
  }
  return new Uint8Array(0);
}

function decodePrefix(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes, { stream: true });
  } catch {
    return undefined;
  }
}
