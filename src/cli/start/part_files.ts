/**
 * Files of the program's parts. On Linux they are in the executable itself, right after the image of the runtime: of the
 * files that `deno compile` embeds, the runtime reads all in every call, and a call needs those of one part.
 *
 * The image is followed by an index of {@linkcode INDEX_BYTES} bytes, and that by the files. The index begins with three
 * lines: the format; JSON with, by name, the place of each file, counted from the end of the index, and its length, in
 * bytes; and the checksum of the executable (`executable_sum.ts`).
 *
 * @module
 */

/** Reads files by their names. Throws the runtime's errors. */
export type ReadFiles = (...names: readonly string[]) => Uint8Array<ArrayBuffer>[];

type Places = Readonly<Record<string, readonly [number, number]>>;

const INDEX_BYTES = 1024;
const FORMAT = "reprise-parts 1";
/** Represents the checksum while it is computed. */
export const NO_SUM = "0".repeat(64);

const ELF_HEADER_BYTES = 64;
const ELF_MAGIC = 0x7f454c46;
/** Offsets in the header: of the table of sections, the size of its entries, and their number (elf(5)). */
const [TABLE_AT, ENTRY_BYTES_AT, ENTRIES_AT] = [0x28, 0x3a, 0x3c];

export function filesIn(directory: string): ReadFiles {
  return (...names) => names.map((name) => Deno.readFileSync(`${directory}/${name}`));
}

/**
 * Reads files in an executable, by default that of this process, even if another one has its name by now.
 *
 * @returns `null` if it has none.
 */
export function readFromExecutable(
  names: readonly string[],
  path = "/proc/self/exe",
): Uint8Array<ArrayBuffer>[] | null {
  if (Deno.build.os !== "linux") return null;
  using file = Deno.openSync(path, { read: true });
  const index = indexIn(file);
  if (index === null) return null;
  const { start } = index;
  const places = JSON.parse(index.places) as Places;
  return names.map((name) => {
    const place = places[name];
    if (place === undefined) throw new Deno.errors.NotFound(name);
    const [at, length] = place;
    return readAt(file, start + INDEX_BYTES + at, length);
  });
}

interface ExecutableIndex {
  /** Its place, in bytes. */
  readonly start: number;
  /** JSON of {@linkcode Places}. */
  readonly places: string;
  readonly sum: string;
  /** The place of the checksum, in bytes. */
  readonly sumAt: number;
}

/** Reads the index of an executable; `null` if it has none. */
export function indexIn(file: Deno.FsFile): ExecutableIndex | null {
  const start = endOfImage(readAt(file, 0, ELF_HEADER_BYTES));
  if (start === null) return null;
  const text = new TextDecoder().decode(readAt(file, start, INDEX_BYTES));
  const [format, places = "", sum = ""] = text.split("\n");
  return format !== FORMAT ? null : { start, places, sum, sumAt: start + FORMAT.length + places.length + 2 };
}

/**
 * Puts files after the image of an executable of Linux. The checksum is {@linkcode NO_SUM}.
 *
 * @returns the bytes of the new executable, in pieces.
 * @throws {TypeError} for any other file.
 */
export function withFiles(
  executable: Uint8Array<ArrayBuffer>,
  files: ReadonlyMap<string, Uint8Array<ArrayBuffer>>,
): Uint8Array<ArrayBuffer>[] {
  const end = endOfImage(executable.subarray(0, ELF_HEADER_BYTES));
  if (end === null) throw new TypeError("Not an executable of Linux");
  let at = 0;
  const places: Record<string, [number, number]> = {};
  for (const [name, { length }] of files) {
    places[name] = [at, length];
    at += length;
  }
  const index = new TextEncoder().encode(
    `${FORMAT}\n${JSON.stringify(places)}\n${NO_SUM}\n`.padEnd(INDEX_BYTES),
  );
  if (index.length !== INDEX_BYTES) throw new RangeError(`An index of ${index.length} bytes`);
  return [executable.subarray(0, end), index, ...files.values(), executable.subarray(end)];
}

/** Returns the length of the image with this header, in bytes: it ends with the table of sections. `null` if it is none. */
function endOfImage(header: Uint8Array<ArrayBuffer>): number | null {
  if (header.length < ELF_HEADER_BYTES) return null;
  const view = new DataView(header.buffer, header.byteOffset);
  if (view.getUint32(0) !== ELF_MAGIC) return null;
  const table = Number(view.getBigUint64(TABLE_AT, true));
  return table + view.getUint16(ENTRY_BYTES_AT, true) * view.getUint16(ENTRIES_AT, true);
}

/** Reads `length` bytes at `position`, fewer only at the end of the file. */
export function readAt(file: Deno.FsFile, position: number, length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length);
  file.seekSync(position, Deno.SeekMode.Start);
  let filled = 0;
  while (filled < length) {
    const count = file.readSync(bytes.subarray(filled));
    if (count === null) break;
    filled += count;
  }
  return bytes.subarray(0, filled);
}
