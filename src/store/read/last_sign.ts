/**
 * When and where a session was last used, where its manifest does not say: read from whatever is left of its files,
 * damaged or not. Enough to tell which session is the newest; never enough to believe one.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { type SessionPaths, turnNumberOf, turnPath } from "../layout.ts";
import { lookForDirectory, lookForFile } from "./safe_open.ts";

/** The last sign of use. */
export interface LastSign {
  /** ISO 8601 UTC with milliseconds. */
  readonly at: string;
  /** `null` where damage hides it. */
  readonly workspace: string | null;
}

/** Length of the part of a file that is read, in bytes: the members before the events of a turn. */
const HEAD_BYTES = 64 * 1024;

/**
 * The last sign of use of a session; `null` where its directory holds neither a manifest nor a turn. Of a session that
 * cannot be read, when its directory was changed.
 */
export function lastSign(ports: Ports, paths: SessionPaths): LastSign | null {
  const root = ports.files.facts(paths.root);
  if (root === null) return null;
  const unknown: LastSign = { at: instantOf(root.modified), workspace: null };
  try {
    if (lookForDirectory(ports, paths.root).status !== "ok") return unknown;
    const turns = lookForDirectory(ports, paths.turns);
    if (turns.status === "refused") return unknown;
    const names = turns.status === "missing" ? [] : ports.files.list(paths.turns);
    const numbers = names.flatMap((name) => turnNumberOf(name) ?? []).sort((a, b) => b - a);
    const [newest] = numbers;
    if (newest === undefined) return ports.files.facts(paths.manifest) === null ? null : unknown;
    const path = turnPath(paths, newest);
    const at = memberOf(headOf(ports, path), "at");
    const isInstant = at !== null && INSTANT.test(at);
    return {
      at: isInstant ? at : instantOf(ports.files.facts(path)?.modified ?? null),
      workspace: workspaceOf(ports, paths, numbers),
    };
  } catch {
    // Opening it says what the disk refused.
    return unknown;
  }
}

/** The workspace of the newest run; `null` where a turn that may name another one cannot be read. */
function workspaceOf(ports: Ports, paths: SessionPaths, newestFirst: readonly number[]): string | null {
  for (const number of newestFirst) {
    const head = headOf(ports, turnPath(paths, number));
    const workspace = memberOf(head, "workspace");
    if (workspace !== null) return workspace;
    // Members have a fixed order: with the events in sight, there were no pins.
    if (!head.includes('"events":[')) return null;
  }
  return null;
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A string member in a text that may be cut or altered; `null` where it is not there. */
function memberOf(text: string, name: string): string | null {
  const found = new RegExp(`"${name}":("(?:[^"\\\\]|\\\\.)*")`).exec(text.split('"events":[', 1)[0] ?? "");
  try {
    return found === null ? null : JSON.parse(found[1] as string);
  } catch {
    return null;
  }
}

function headOf(ports: Ports, path: string): string {
  if (lookForFile(ports, path).status !== "ok") return "";
  const file = ports.files.openRead(path);
  try {
    const bytes = new Uint8Array(HEAD_BYTES);
    return new TextDecoder().decode(bytes.subarray(0, file.read(bytes)));
  } finally {
    file.close();
  }
}

function instantOf(milliseconds: number | null): string {
  return new Date(milliseconds ?? 0).toISOString();
}
