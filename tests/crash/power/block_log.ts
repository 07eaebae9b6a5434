/**
 * The log of a disk: writes and flushes in their order, and marks between them. From it come the states in which a power
 * cut may leave the disk.
 */

/** One entry. A flush makes every write before it durable; a mark is what some program said at that moment. */
export type Entry =
  | { readonly kind: "write"; readonly offset: number; readonly data: Uint8Array }
  | { readonly kind: "flush" }
  | { readonly kind: "mark"; readonly text: string };

const KINDS = ["write", "flush", "mark"] as const;
const HEADER = 13;

/** An entry as bytes: kind, offset, length, data. */
export function blockLogEntry(kind: Entry["kind"], offset: number, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER + data.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, KINDS.indexOf(kind));
  view.setBigUint64(1, BigInt(offset), true);
  view.setUint32(9, data.length, true);
  bytes.set(data, HEADER);
  return bytes;
}

/** Reads a log. */
export function parseBlockLog(bytes: Uint8Array<ArrayBuffer>): Entry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Entry[] = [];
  for (let at = 0; at < bytes.length;) {
    const kind = KINDS[view.getUint8(at)];
    const offset = Number(view.getBigUint64(at + 1, true));
    const data = bytes.subarray(at + HEADER, at + HEADER + view.getUint32(at + 9, true));
    at += HEADER + data.length;
    if (kind === "write") entries.push({ kind, offset, data });
    else if (kind === "flush") entries.push({ kind });
    else entries.push({ kind: "mark", text: new TextDecoder().decode(data) });
  }
  return entries;
}

/**
 * One power cut: after the first `position` entries, with what became of the writes that no flush had followed by then.
 * `none` reached the disk, `all` did, or `some`: each sector of each write by a coin, so that writes are reordered and
 * torn.
 */
export interface Cut {
  readonly position: number;
  readonly pending: "none" | "all" | "some";
}

/** Every different cut: `none` once for each flush and mark, `all` and `some` after each write. */
export function cutsOf(entries: readonly Entry[]): Cut[] {
  const cuts: Cut[] = [];
  let pending = 0;
  for (const [index, { kind }] of entries.entries()) {
    const position = index + 1;
    if (kind === "flush") pending = 0;
    if (kind === "write") pending++;
    if (kind !== "write") cuts.push({ position, pending: "none" });
    if (kind === "write" || (kind === "mark" && pending > 0)) cuts.push({ position, pending: "all" });
    if (pending > 1) cuts.push({ position, pending: "some" });
  }
  return cuts;
}

/** At most `count` of `all`, evenly spread. */
export function sampled<T>(all: readonly T[], count: number): T[] {
  if (all.length <= count) return [...all];
  return Array.from(
    { length: count },
    (_, index) => all[Math.floor((index + 0.5) * all.length / count)] as T,
  );
}

const SECTOR = 512;

/** Writes to an image, in order, all that is durable at a cut, then of the rest what the cut says. */
export class Disk {
  readonly #entries: readonly Entry[];
  readonly #durable: Deno.FsFile;
  readonly #path: string;
  /** Entries that the durable image holds. */
  #position = 0;

  /** @param path the image before the first entry; it is advanced. */
  constructor(path: string, entries: readonly Entry[]) {
    this.#entries = entries;
    this.#path = path;
    this.#durable = Deno.openSync(path, { write: true });
  }

  /** Makes the image of a cut at `target`. Cuts must come in the order of their positions. */
  async materialise({ position, pending }: Cut, target: string): Promise<void> {
    const flush = this.#entries.slice(0, position).findLastIndex(({ kind }) => kind === "flush");
    for (; this.#position <= flush; this.#position++) {
      apply(this.#durable, this.#entries[this.#position] as Entry);
    }
    const copy = new Deno.Command("cp", { args: ["--sparse=always", this.#path, target] });
    if (!(await copy.output()).success) throw new Error(`Cannot copy ${this.#path}`);
    if (pending === "none") return;
    using image = Deno.openSync(target, { write: true });
    const coin = pending === "some" ? coins(position) : () => true;
    for (const entry of this.#entries.slice(flush + 1, position)) apply(image, entry, coin);
  }

  close(): void {
    this.#durable.close();
  }
}

function apply(image: Deno.FsFile, entry: Entry, keeps: () => boolean = () => true): void {
  if (entry.kind !== "write") return;
  const { offset, data } = entry;
  for (let at = 0; at < data.length;) {
    // Neighbours with the same fate go together.
    const kept = keeps();
    let end = at + SECTOR;
    if (kept) { while (end < data.length && keeps()) end += SECTOR; }
    if (kept) writeAt(image, offset + at, data.subarray(at, end));
    at = kept && end < data.length ? end + SECTOR : end;
  }
}

function writeAt(image: Deno.FsFile, offset: number, bytes: Uint8Array): void {
  image.seekSync(offset, Deno.SeekMode.Start);
  for (let done = 0; done < bytes.length;) done += image.writeSync(bytes.subarray(done));
}

/** A coin that falls the same way in every run. */
function coins(seed: number): () => boolean {
  let state = seed * 2654435761 % 2147483647 || 1;
  return () => (state = (state * 48271) % 2147483647) % 2 === 0;
}
