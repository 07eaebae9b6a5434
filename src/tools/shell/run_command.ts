/** Runs one command in a process group of its own, within its caps, and ends all that is left of the group. */
import { spawn } from "./children.ts";
import { endGroup, isGroupAlive, rememberGroup } from "./process_group.ts";
import { concatBytes, encodeUtf8, withoutCutEnd } from "../../domain/bytes.ts";
import { withoutCutStart } from "../output.ts";

/** Output beyond this ends the command, in bytes. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** From SIGTERM to SIGKILL for a command that is stopped, in milliseconds. */
const STOP_GRACE_MS = 2000;
/** Time in which leftover processes of a command may still write, in milliseconds. */
const LEFTOVER_GRACE_MS = 300;
/** Timeout for a pipe that only a process outside the group still holds, in milliseconds. */
const PIPE_GRACE_MS = 200;
/** Timeout for the end of a killed command, in milliseconds. */
const STATUS_GRACE_MS = 1000;

interface CommandOptions {
  /** Working directory, absolute. */
  readonly directory: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Receives each chunk of the streams 0 (standard output) and 1 (standard error); the chunk is used again afterwards. */
  readonly onOutput?: (stream: number, chunk: Uint8Array) => void;
}

type CommandEnd =
  | { readonly kind: "exited"; readonly code: number }
  | { readonly kind: "signalled"; readonly signal: string }
  | { readonly kind: "timed_out" }
  /** It wrote more than {@linkcode MAX_TOTAL_BYTES}. */
  | { readonly kind: "flooded" }
  /** It did not go away even when it was killed. */
  | { readonly kind: "stuck" };

export interface CommandResult {
  readonly end: CommandEnd;
  /** True when processes of its group outlived it and were ended. */
  readonly leftovers: boolean;
  /** Standard output and standard error, as they came. */
  readonly output: Collected;
}

type StopCause = "timed_out" | "flooded" | "aborted";

/**
 * Starts `argv` without a shell, a terminal or input, and waits for its end.
 *
 * @throws {Deno.errors.NotFound} and other errors of the system when it cannot be started; the signal's reason
 * when that aborts, once the group is gone.
 */
export async function runCommand(argv: readonly string[], options: CommandOptions): Promise<CommandResult> {
  const [program = "", ...args] = argv;
  const child = spawn(program, {
    args,
    cwd: options.directory,
    clearEnv: true,
    env: { ...options.env },
    // A group and a session of its own: no terminal to read from, and one signal reaches all of it.
    detached: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const forget = rememberGroup(child.pid, options.directory);
  const stop = Promise.withResolvers<StopCause>();
  const collector = new OutputCollector();
  const pumps = [child.stdout, child.stderr].map((stream, index) =>
    pump(stream, (chunk) => {
      collector.add(index, chunk);
      options.onOutput?.(index, chunk);
      if (collector.total > MAX_TOTAL_BYTES) stop.resolve("flooded");
    })
  );
  const drained = Promise.all(pumps.map(({ done }) => done));
  const onAbort = () => stop.resolve("aborted");
  const timer = setTimeout(() => stop.resolve("timed_out"), options.timeoutMs);
  options.signal.addEventListener("abort", onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  try {
    const first = await Promise.race([child.status, stop.promise]);
    const cause = typeof first === "string" ? first : null;
    let leftovers = false;
    if (cause === null) {
      await within(Promise.race([drained, stop.promise]), LEFTOVER_GRACE_MS);
      leftovers = isGroupAlive(child.pid);
    }
    if (cause !== null || leftovers) {
      await endGroup(child.pid, cause === null ? LEFTOVER_GRACE_MS : STOP_GRACE_MS);
    }
    await within(drained, PIPE_GRACE_MS);
    const status = await within(child.status, STATUS_GRACE_MS);
    return { end: endOf(cause, status), leftovers, output: collector.finish() };
  } finally {
    forget();
    clearTimeout(timer);
    options.signal.removeEventListener("abort", onAbort);
    await Promise.all(pumps.map(({ cancel }) => cancel()));
    options.signal.throwIfAborted();
  }
}

function endOf(cause: StopCause | null, status: Deno.CommandStatus | null): CommandEnd {
  if (status === null) return { kind: "stuck" };
  if (cause === "timed_out" || cause === "flooded") return { kind: cause };
  return status.signal === null
    ? { kind: "exited", code: status.code }
    : { kind: "signalled", signal: status.signal };
}

/** Reads to the end of a stream; `cancel` stops reading, even if a process still holds the other end. */
function pump(stream: ReadableStream<Uint8Array>, take: (chunk: Uint8Array) => void) {
  // One buffer goes to and fro: chunks of their own would pile up faster than they are collected.
  const reader = stream.getReader({ mode: "byob" });
  const read = async () => {
    let buffer = new Uint8Array(CHUNK_BYTES);
    while (true) {
      const { done, value } = await reader.read(buffer);
      if (done || value === undefined) return;
      take(value);
      buffer = new Uint8Array(value.buffer);
    }
  };
  // A pipe that breaks has ended: what came before is the output.
  return { done: read().catch(() => {}), cancel: () => reader.cancel().catch(() => {}) };
}

/** The value of `work`, or `null` when it takes longer. */
async function within<T>(work: Promise<T>, milliseconds: number): Promise<T | null> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<null>((resolve) => timer = setTimeout(() => resolve(null), milliseconds));
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Bytes that are kept of the beginning, and of the end. */
const KEPT_PART_BYTES = 8 * 1024 * 1024;
/** An unfinished line is held back up to this length, so that two streams mix line by line. */
const MAX_HELD_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

interface Collected {
  /** Everything, or beginning and end with a line between them that counts what is missing. */
  readonly bytes: Uint8Array;
  readonly total: number;
  /** Number of received bytes that are not in `bytes`. */
  readonly missing: number;
}

/** Takes in the chunks of several streams as they come. */
class OutputCollector {
  readonly #held = new Map<number, Uint8Array>();
  #head = new Uint8Array(64 * 1024);
  #headLength = 0;
  #tail: Uint8Array | null = null;
  /** Bytes that went to the tail, overwritten ones included. */
  #tailTotal = 0;
  #total = 0;

  get total(): number {
    return this.#total;
  }

  /** Takes in a chunk of the stream numbered `stream`; the chunk is copied. */
  add(stream: number, chunk: Uint8Array): void {
    this.#total += chunk.length;
    const held = this.#held.get(stream);
    const end = chunk.lastIndexOf(NEWLINE) + 1;
    if (end === 0 && (held?.length ?? 0) + chunk.length <= MAX_HELD_BYTES) {
      this.#held.set(stream, held === undefined ? chunk.slice() : concatBytes([held, chunk]));
      return;
    }
    const cut = end === 0 ? chunk.length : end;
    if (held !== undefined) this.#keep(held);
    this.#keep(chunk.subarray(0, cut));
    this.#held.delete(stream);
    if (cut < chunk.length) this.#held.set(stream, chunk.slice(cut));
  }

  /** Returns the kept parts. Ends the collecting: unfinished lines go to the end. */
  finish(): Collected {
    for (const held of this.#held.values()) this.#keep(held);
    this.#held.clear();
    const head = this.#head.subarray(0, this.#headLength);
    const tail = this.#orderedTail();
    const missing = this.#total - head.length - tail.length;
    if (missing === 0) return { bytes: concatBytes([head, tail]), total: this.#total, missing };
    const [start, end] = [withoutCutEnd(head), withoutCutStart(tail)];
    const dropped = missing + (head.length - start.length) + (tail.length - end.length);
    const note = encodeUtf8(`\n[… ${dropped} bytes left out here; they are kept nowhere …]\n`);
    return { bytes: concatBytes([start, note, end]), total: this.#total, missing: dropped };
  }

  #keep(bytes: Uint8Array): void {
    const room = KEPT_PART_BYTES - this.#headLength;
    const first = bytes.subarray(0, room);
    if (first.length > 0) {
      this.#growHead(this.#headLength + first.length);
      this.#head.set(first, this.#headLength);
      this.#headLength += first.length;
    }
    if (bytes.length > first.length) this.#keepTail(bytes.subarray(first.length));
  }

  #growHead(length: number): void {
    if (length <= this.#head.length) return;
    const grown = new Uint8Array(Math.min(KEPT_PART_BYTES, Math.max(length, this.#head.length * 2)));
    grown.set(this.#head.subarray(0, this.#headLength));
    this.#head = grown;
  }

  #keepTail(bytes: Uint8Array): void {
    this.#tail ??= new Uint8Array(KEPT_PART_BYTES);
    const tail = this.#tail;
    // Only the end of a chunk longer than the whole ring survives in it.
    const skipped = Math.max(0, bytes.length - tail.length);
    const rest = bytes.subarray(skipped);
    const at = (this.#tailTotal + skipped) % tail.length;
    const first = rest.subarray(0, tail.length - at);
    tail.set(first, at);
    tail.set(rest.subarray(first.length), 0);
    this.#tailTotal += bytes.length;
  }

  #orderedTail(): Uint8Array {
    if (this.#tail === null) return new Uint8Array(0);
    if (this.#tailTotal <= this.#tail.length) return this.#tail.subarray(0, this.#tailTotal);
    const at = this.#tailTotal % this.#tail.length;
    return concatBytes([this.#tail.subarray(at), this.#tail.subarray(0, at)]);
  }
}
