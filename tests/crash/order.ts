/**
 * Whether a trace keeps the order that makes an acknowledged turn survive a power failure. A pure function of
 * the calls: it knows nothing of the store but the names of its files.
 *
 * @module
 */
import type { Call } from "./trace.ts";

/** What a trace did wrong, and how many promises it was measured against. */
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

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/"));
}

/** Judges the calls below `root`: write → fsync → link → fsync of each directory → acknowledgement. */
export function judgeOrder(calls: readonly Call[], root: string): Judgement {
  const violations: string[] = [];
  /** Files with bytes that no fsync followed. */
  const unsynced = new Set<string>();
  const written = new Set<string>();
  /** Names that no fsync of their directory followed. */
  const pending = new Set<string>();
  const short = (path: string) => path.slice(root.length + 1).replace(/\.tmp-[\d]+-[0-9a-f]+/, "TEMP");
  const published = new Set<number>();
  let acknowledged = 0;

  const give = (from: string, to: string) => {
    if (!isPromised(to)) return;
    if (!written.has(from)) violations.push(`${short(to)} got its name before anything was written`);
    if (unsynced.has(from)) violations.push(`${short(to)} got its name before the fsync of its content`);
    const turn = turnOf(to);
    if (turn !== null) {
      published.add(turn);
      for (const name of pending) {
        if (name.includes("/blobs/")) {
          violations.push(`${short(to)} was published before ${short(name)} was durable`);
        }
      }
    }
    pending.add(to);
  };

  for (const { name, path, to, creates, data } of calls) {
    if (name === "write" && data.startsWith("saved ")) {
      acknowledged++;
      const turn = Number(data.split(" ")[1]);
      if (!published.has(turn)) violations.push(`turn ${turn} was acknowledged without being published`);
      for (const left of pending) {
        violations.push(`turn ${turn} was acknowledged before ${short(left)} was durable`);
      }
      continue;
    }
    if (!path.startsWith(root)) continue;
    switch (name) {
      case "open":
        if (creates && isPromised(path)) pending.add(path);
        break;
      case "write":
      case "pwrite64":
      case "writev":
        written.add(path);
        unsynced.add(path);
        if (turnOf(path) !== null) violations.push(`${short(path)} was written in place`);
        break;
      case "fsync":
      case "fdatasync":
        unsynced.delete(path);
        for (const left of [...pending]) if (parentOf(left) === path) pending.delete(left);
        break;
      case "link":
      case "rename":
        if (to !== undefined) give(path, to);
        break;
      case "mkdir":
        pending.add(path);
        break;
      default:
        break;
    }
  }
  return { violations, published: published.size, acknowledged };
}

function turnOf(path: string): number | null {
  const digits = /\/turns\/(\d+)\.json$/.exec(path)?.[1];
  return digits === undefined ? null : Number(digits);
}
