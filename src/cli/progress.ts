/**
 * Progress of work that takes more than a second: a line that changes on a terminal, a line now and then in the log of a
 * CI system, nothing elsewhere.
 */
import type { Ports } from "../domain/ports.ts";
import { isCi } from "./environment.ts";
import type { Output } from "./output.ts";

/** Time before the first line on a terminal. */
const DELAY_MS = 1000;
/** Time between two changes of the line on a terminal. */
const REDRAW_MS = 200;
/** Time between two lines in a log. */
const LOG_MS = 30_000;

export type ProgressPorts = Pick<Ports, "clock" | "env">;

/** Progress of one piece of work. Steps may come often: most of them only read the clock. */
export class Progress {
  readonly #output: Output;
  readonly #clock: Ports["clock"];
  /** Time between two reports; `null` if nothing is reported. */
  readonly #every: number | null;
  readonly #began: number;
  #next: number;

  /** `delay` is the time in milliseconds before the first line on a terminal. */
  constructor(output: Output, ports: ProgressPorts, delay = DELAY_MS) {
    const { json, quiet } = output.options;
    this.#output = output;
    this.#clock = ports.clock;
    this.#every = json || quiet ? null : output.stderrIsTerminal ? REDRAW_MS : isCi(ports) ? LOG_MS : null;
    this.#began = ports.clock.monotonic();
    this.#next = this.#began + Math.max(delay, this.#every ?? 0);
  }

  /** False if no step prints anything. */
  get isShown(): boolean {
    return this.#every !== null;
  }

  /** Reports the work if it is time to; `text` is called only then. */
  step(text: () => string): void {
    if (this.#every === null) return;
    const now = this.#clock.monotonic();
    if (now < this.#next) return;
    this.#next = now + this.#every;
    const time = ` (${duration(now - this.#began)})`;
    if (this.#output.stderrIsTerminal) this.#output.status(text(), time);
    else this.#output.note(`${text()}${time}`);
  }

  /** Takes steps until it is disposed of, for work that does not. */
  repeat(text: () => string): Disposable {
    const timer = this.isShown ? setInterval(() => this.step(text), REDRAW_MS) : undefined;
    return {
      [Symbol.dispose]: () => {
        clearInterval(timer);
        this.end();
      },
    };
  }

  /** Removes the line from the terminal. */
  end(): void {
    this.#output.clearStatus();
  }
}

/** Passes the chunks on, and reports the bytes so far with `verb` before them. */
export async function* countedChunks(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  progress: Progress,
  verb: string,
): AsyncGenerator<Uint8Array> {
  const count = byteCounter(progress, verb);
  for await (const chunk of chunks) {
    count(chunk);
    yield chunk;
  }
  progress.end();
}

/** As {@linkcode countedChunks}, without waiting. */
export function* countedChunksSync(
  chunks: Iterable<Uint8Array>,
  progress: Progress,
  verb: string,
): Generator<Uint8Array> {
  const count = byteCounter(progress, verb);
  for (const chunk of chunks) {
    count(chunk);
    yield chunk;
  }
  progress.end();
}

function byteCounter(progress: Progress, verb: string): (chunk: Uint8Array) => void {
  let bytes = 0;
  return ({ length }) => {
    bytes += length;
    progress.step(() => `${verb} ${(bytes / 1e6).toFixed(1)} MB`);
  };
}

/** The same ports; each file that is looked at is a step of `progress`. */
export function reportingFiles<P extends Ports>(ports: P, progress: Progress, text: () => string): P {
  if (!progress.isShown) return ports;
  const facts: Ports["files"]["facts"] = (path) => {
    progress.step(text);
    return ports.files.facts(path);
  };
  return { ...ports, files: { ...ports.files, facts } };
}

/** A duration in whole seconds, such as `2 min 5 s`. */
export function duration(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
