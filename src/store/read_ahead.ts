/**
 * A second thread that reads the numbered files of a directory before they are needed. It passes on only small regular
 * files of ours that it read whole. The caller reads all others, and those that were not read in time: nothing waits for
 * the second thread, and nothing depends on it.
 *
 * Both threads share the number of the file that is needed next, and slots: file `number` goes into slot `number` modulo
 * their count, once the file that was there before is not needed any more. A second thread that is overtaken continues a
 * few files further on.
 *
 * @module
 */
import type { FileAhead, FilesAhead, NumberedFiles } from "../domain/ports.ts";

/** Slots, and bytes of each: of a sum in hex and a file. A page of memory is used only when a file reaches it. */
const SLOTS = 128, SLOT_BYTES = 32 * 1024;
/** Length of a SHA-256 in hex. */
const SUM_LENGTH = 64;
/** Files that are left to the caller when the second thread was overtaken. */
const LEAD = 4;
/** Greater than the number of any file here, the greatest that an `Int32Array` holds: nothing more is needed. */
const END = 2 ** 31 - 1;

/** Values for the second thread. */
interface Task extends NumberedFiles {
  readonly slots: Slots;
  readonly sumLength: number;
  readonly lead: number;
}

/** Memory that both threads share. */
interface Slots {
  /** The number of the file that is needed next. */
  readonly next: Int32Array<SharedArrayBuffer>;
  /** For each slot the number of its file, or 0 while it has none. */
  readonly numbers: Int32Array<SharedArrayBuffer>;
  readonly sizes: Int32Array<SharedArrayBuffer>;
  /** Permission bits, or -1 where the platform has none. */
  readonly modes: Int32Array<SharedArrayBuffer>;
  /** For each slot the sum, then the file. */
  readonly bytes: Uint8Array<SharedArrayBuffer>;
}

/** Begins to read files ahead. Returns `null` if there can be no second thread. */
export function readFilesAhead(files: NumberedFiles): FilesAhead | null {
  // On one processor it would only take turns with the caller.
  if (files.last >= END || navigator.hardwareConcurrency < 2) return null;
  const slots: Slots = {
    next: integers(1),
    numbers: integers(SLOTS),
    sizes: integers(SLOTS),
    modes: integers(SLOTS),
    bytes: new Uint8Array(new SharedArrayBuffer(SLOTS * SLOT_BYTES)),
  };
  slots.next[0] = files.first;
  const worker = startWorker({ ...files, slots, sumLength: SUM_LENGTH, lead: LEAD });
  if (worker === null) return null;
  const need = (number: number) => {
    Atomics.store(slots.next, 0, number);
    Atomics.notify(slots.next, 0);
  };
  return {
    take(number, into) {
      const file = fileIn(slots, number, into);
      need(number + 1);
      return file;
    },
    close() {
      need(END);
      worker.terminate();
    },
  };
}

function integers(length: number): Int32Array<SharedArrayBuffer> {
  return new Int32Array(new SharedArrayBuffer(length * Int32Array.BYTES_PER_ELEMENT));
}

function startWorker(task: Task): Worker | null {
  try {
    // The text of a function is a module in the executable as well as in the sources.
    const code = `data:text/javascript,${encodeURIComponent(`(${readInWorker})()`)}`;
    const worker = new Worker(code, { type: "module" });
    worker.onerror = (event) => event.preventDefault();
    worker.postMessage(task);
    return worker;
  } catch {
    return null;
  }
}

const latin1 = new TextDecoder("latin1");

/** Sum of the file that was taken last, in hex. */
const sumBytes = new Uint8Array(SUM_LENGTH);

/** Copies a file from its slot into `into`: text decoders do not take shared memory. */
function fileIn({ numbers, sizes, modes, bytes }: Slots, number: number, into: Uint8Array): FileAhead | null {
  const slot = number % SLOTS;
  if (Atomics.load(numbers, slot) !== number) return null;
  const size = sizes[slot] as number;
  if (size > into.length) return null;
  const sumAt = slot * SLOT_BYTES;
  const fileAt = sumAt + SUM_LENGTH;
  into.set(bytes.subarray(fileAt, fileAt + size));
  sumBytes.set(bytes.subarray(sumAt, fileAt));
  const mode = modes[slot] as number;
  return { mode: mode === -1 ? null : mode, size, sum: latin1.decode(sumBytes) };
}

/** The whole code of the second thread: its text is loaded, so that it uses nothing from outside of itself. */
function readInWorker(): void {
  // deno-lint-ignore no-process-global
  const { hash } = process.getBuiltinModule("node:crypto");
  const encoder = new TextEncoder();
  const thread = globalThis as unknown as { onmessage: (event: { readonly data: Task }) => void };
  thread.onmessage = ({ data: { slots, sumLength, lead, ...files } }) => {
    const { next, numbers, sizes, modes, bytes } = slots;
    const slotBytes = bytes.length / numbers.length;
    const own = new Uint8Array(slotBytes - sumLength);
    for (let number = files.first; number <= files.last; number++) {
      let needed = Atomics.load(next, 0);
      for (; number >= needed + numbers.length; needed = Atomics.load(next, 0)) Atomics.wait(next, 0, needed);
      if (number < needed) number = needed + lead;
      if (number > files.last) break;
      try {
        const path = `${files.directory}/${String(number).padStart(6, "0")}.json`;
        const { isFile, isSymlink, uid, size, mode } = Deno.lstatSync(path);
        const isOurs = files.user === null || uid === null || uid === files.user;
        if (!isFile || isSymlink || !isOurs || size <= files.unhashed || size >= own.length) continue;
        const file = Deno.openSync(path);
        // With room for more than `size`, a file that grew shows it.
        const count = file.readSync(own);
        file.close();
        if (count !== size) continue;
        const slot = number % numbers.length;
        const start = slot * slotBytes;
        Atomics.store(numbers, slot, 0);
        bytes.set(encoder.encode(hash("sha256", own.subarray(0, size - files.unhashed), "hex")), start);
        bytes.set(own.subarray(0, size), start + sumLength);
        sizes[slot] = size;
        modes[slot] = mode === null ? -1 : mode & 0o7777;
        Atomics.store(numbers, slot, number);
      } catch {
        // The caller reads the file, and reports the error.
      }
    }
    close();
  };
}
