/**
 * Finds whole records in a damaged line: an interrupted write leaves a part of a record, or NULs, and the next record may
 * follow on the same line. Time is proportional to the length of the line.
 */

const QUOTE = 0x22, BACKSLASH = 0x5c, OPEN = 0x7b, CLOSE = 0x7d, SPACE = 0x20;

/** Records at the start of a line, then those at its end. `parse` returns `null` for bytes that are no record. */
export function recordsIn<T>(line: Uint8Array, parse: (bytes: Uint8Array) => T | null): T[] {
  const [first, last]: [T[], T[]] = [[], []];
  let [start, end] = [0, line.length];
  for (;;) {
    while (start < end && isFiller(line[start])) start++;
    const after = endOfObject(line, start);
    const record = after === null ? null : parse(line.subarray(start, after));
    if (after === null || record === null) break;
    first.push(record);
    start = after;
  }
  for (;;) {
    while (start < end && isFiller(line[end - 1])) end--;
    const begin = startOfObject(line, start, end);
    const record = begin === null ? null : parse(line.subarray(begin, end));
    if (begin === null || record === null) break;
    last.push(record);
    end = begin;
  }
  return [...first, ...last.reverse()];
}

function isFiller(byte: number | undefined): boolean {
  return byte !== undefined && byte <= SPACE;
}

/** The end of the object that begins at `start`; `null` without one. */
function endOfObject(line: Uint8Array, start: number): number | null {
  if (line[start] !== OPEN) return null;
  let depth = 0;
  let inString = false;
  for (let at = start; at < line.length; at++) {
    const byte = line[at];
    if (inString) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) inString = false;
    } else if (byte === QUOTE) inString = true;
    else if (byte === OPEN) depth++;
    else if (byte === CLOSE && --depth === 0) return at + 1;
  }
  return null;
}

/** The start of the object that ends at `end`, not before `least`; `null` without one. */
function startOfObject(line: Uint8Array, least: number, end: number): number | null {
  if (end <= least || line[end - 1] !== CLOSE) return null;
  let depth = 0;
  let inString = false;
  for (let at = end - 1; at >= least; at--) {
    const byte = line[at];
    if (inString) {
      if (byte !== QUOTE) continue;
      const quote = at;
      while (at > least && line[at - 1] === BACKSLASH) at--;
      // An even number of backslashes escape each other and not the quote.
      inString = (quote - at) % 2 === 1;
    } else if (byte === QUOTE) inString = true;
    else if (byte === CLOSE) depth++;
    else if (byte === OPEN && --depth === 0) return at;
  }
  return null;
}
