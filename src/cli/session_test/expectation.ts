/**
 * `expect/`: the turn files of every session as they should be at the end, byte for byte, and what its blobs are called.
 *
 * ```
 * expect/SESSION/turns/000001.json
 * expect/SESSION/blobs              one sha256 a line, sorted; none where the session has no blobs
 * ```
 *
 * @module
 */
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { makeDirectories, replaceFile } from "../../fixture/seal.ts";
import { entries, exists, filesBelow } from "./files.ts";

/** Files by their path below `expect/`. */
export type SessionState = ReadonlyMap<string, Uint8Array>;

/** The sessions of a home. A blob's line tells its true sum where that is not its name. */
export function sessionState(home: string): SessionState {
  const state = new Map<string, Uint8Array>();
  for (const { name: session } of entries(`${home}/sessions`)) {
    const directory = `${home}/sessions/${session}`;
    for (const name of filesBelow(`${directory}/turns`)) {
      state.set(`${session}/turns/${name}`, Deno.readFileSync(`${directory}/turns/${name}`));
    }
    const blobs = filesBelow(`${directory}/blobs`).map((name) => {
      const sum = sha256Hex(Deno.readFileSync(`${directory}/blobs/${name}`));
      return sum === name ? name : `${name} holds ${sum}`;
    });
    if (blobs.length > 0) {
      state.set(`${session}/blobs`, new TextEncoder().encode(`${blobs.join("\n")}\n`));
    }
  }
  return state;
}

/** What `expect/` of a test holds; `null` where there is none. */
export function expectedState(directory: string): SessionState | null {
  const root = `${directory}/expect`;
  if (!exists(root)) return null;
  return new Map(filesBelow(root).map((name) => [name, Deno.readFileSync(`${root}/${name}`)]));
}

/** Makes `expect/` what `state` is; returns the paths that it changed, below the test's folder. */
export function writeExpectation(files: Files, directory: string, state: SessionState): string[] {
  const before = expectedState(directory);
  const root = `${directory}/expect`;
  const changed: string[] = [];
  makeDirectories(files, root);
  for (const name of before?.keys() ?? []) {
    if (state.has(name)) continue;
    Deno.removeSync(`${root}/${name}`);
    changed.push(`expect/${name}`);
  }
  for (const [name, bytes] of state) {
    const was = before?.get(name);
    if (was !== undefined && sameBytes(was, bytes)) continue;
    replaceFile(files, `${root}/${name}`, bytes);
    changed.push(`expect/${name}`);
  }
  return changed.sort();
}

/** True where both hold the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
