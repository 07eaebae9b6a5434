/**
 * Checks that a trace has the order that makes acknowledged changes survive a power failure. A pure function of the
 * calls: it knows only the file names of the store.
 */
import type { Call } from "./trace.ts";

/** Violations in a trace, and the number of promises that were checked. */
export interface Judgement {
  readonly violations: readonly string[];
  /** Turns that got their number. */
  readonly published: number;
  readonly acknowledged: number;
}

/** Names that promise nothing: temporary files, the manifest (a cache) and the lock. */
function isPromised(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return !name.startsWith(".tmp-") && name !== "manifest.json" && name !== "lock";
}

/** In a directory that no reader opens: a session before it is complete, or after its removal began. */
function isHidden(path: string): boolean {
  return /\/\.(?:new|removed)-[^/]+(?:\/|$)/.test(path);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

function turnOf(path: string): number | null {
  const digits = /\/turns\/(\d+)\.json$/.exec(path)?.[1];
  return digits === undefined ? null : Number(digits);
}

/**
 * Judges the calls below `root`. A file: write → fsync → name → fsync of its directory → acknowledgement. A session
 * that is made out of sight: everything in it durable → name. One that goes: its name durable → its files.
 */
export function judgeOrder(calls: readonly Call[], root: string): Judgement {
  const judge = new Judge(root);
  for (const call of calls) judge.take(call);
  return judge.judgement();
}

class Judge {
  readonly #root: string;
  readonly #violations: string[] = [];
  /** Files of this trace, and those with bytes that no fsync followed. */
  readonly #created = new Set<string>();
  readonly #written = new Set<string>();
  readonly #unsynced = new Set<string>();
  /** Names, and names taken away, that no fsync of their directory followed. */
  readonly #pending = new Set<string>();
  readonly #published = new Set<number>();
  #acknowledged = 0;

  constructor(root: string) {
    this.#root = root;
  }

  judgement(): Judgement {
    return {
      violations: this.#violations,
      published: this.#published.size,
      acknowledged: this.#acknowledged,
    };
  }

  take({ name, path, to, creates, data }: Call): void {
    if (name === "write" && /^(?:saved |done)/.test(data)) return this.#acknowledge(data);
    if (!path.startsWith(this.#root)) return;
    switch (name) {
      case "open":
        if (!creates) break;
        this.#created.add(path);
        if (isPromised(path)) this.#pending.add(path);
        break;
      case "write":
      case "pwrite64":
      case "writev":
        this.#written.add(path);
        this.#unsynced.add(path);
        if (turnOf(path) !== null && !isHidden(path)) this.#say(`${this.#short(path)} was written in place`);
        break;
      case "fsync":
      case "fdatasync":
        this.#unsynced.delete(path);
        for (const left of [...this.#pending]) if (parentOf(left) === path) this.#pending.delete(left);
        break;
      case "link":
      case "rename":
        if (to !== undefined) this.#name(name, path, to);
        break;
      case "mkdir":
        this.#pending.add(path);
        break;
      case "unlink":
      case "rmdir":
        this.#remove(path);
        break;
      default:
        break;
    }
  }

  #acknowledge(data: string): void {
    const turn = data.startsWith("done") ? null : Number(data.split(" ")[1]);
    const what = turn === null ? "the end" : `turn ${turn}`;
    if (turn !== null) {
      this.#acknowledged++;
      if (!this.#published.has(turn)) this.#say(`${what} was acknowledged without being published`);
    }
    for (const left of this.#pending) {
      this.#say(`${what} was acknowledged before ${this.#short(left)} was durable`);
    }
  }

  /** A second name for a file, or another one for a file or a whole session. */
  #name(call: string, from: string, to: string): void {
    if (call === "rename") this.#pending.delete(from);
    if (!isPromised(to)) return;
    if (this.#created.has(from) && !this.#written.has(from)) {
      this.#say(`${this.#short(to)} got its name before anything was written`);
    }
    if (this.#unsynced.has(from)) {
      this.#say(`${this.#short(to)} got its name before the fsync of its content`);
    }
    if (turnOf(to) !== null) this.#publish(to);
    if (isHidden(from) && !isHidden(to)) {
      for (const inside of [...this.#pending, ...this.#unsynced]) {
        if (!inside.startsWith(`${from}/`) || !isPromised(inside)) continue;
        this.#say(`${this.#short(to)} got its name before ${this.#short(inside)} was durable`);
      }
    }
    this.#pending.add(to);
  }

  /** A turn gets its number: everything that it refers to must be durable. */
  #publish(path: string): void {
    this.#published.add(turnOf(path) as number);
    if (isHidden(path)) return;
    for (const name of this.#pending) {
      if (!name.includes("/blobs/") && !/\/quarantine(?:\/|$)/.test(name)) continue;
      this.#say(`${this.#short(path)} was published before ${this.#short(name)} was durable`);
    }
  }

  #remove(path: string): void {
    if (!isPromised(path)) return;
    if (turnOf(path) !== null && !isHidden(path)) this.#say(`${this.#short(path)} was removed in view`);
    if (!isHidden(path)) this.#pending.add(path);
    for (const name of this.#pending) {
      if (!isHidden(name) || name === path || !path.startsWith(`${name}/`)) continue;
      this.#say(`${this.#short(path)} was removed before ${this.#short(name)} was durable`);
    }
    // A name of this trace is no longer one that has to be durable.
    if (isHidden(path)) this.#pending.delete(path);
  }

  #say(violation: string): void {
    this.#violations.push(violation);
  }

  #short(path: string): string {
    return path.slice(this.#root.length + 1).replace(
      /\.(tmp|new|removed)-[\d]+-[0-9a-f]+/,
      (_, kind) => kind === "tmp" ? "TEMP" : kind.toUpperCase(),
    );
  }
}
