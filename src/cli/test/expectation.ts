/**
 * `expect/`: the turn files of every session as they should be at the end, byte for byte, and what its blobs are called.
 *
 * ```
 * expect/SESSION/turns/000001.json
 * expect/SESSION/blobs              one sha256 a line, sorted; none where the session has no blobs
 * ```
 *
 * Whatever else lies there is somebody's own: it is neither compared nor touched.
 *
 * @module
 */
import { encodeUtf8 } from "../../domain/bytes.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { Files } from "../../domain/ports.ts";
import { makeDirectories, replaceFixtureFile } from "../../fixture/seal.ts";
import { entries, exists, filesBelow } from "./files.ts";

/** Files by their path below `expect/`. */
export type SessionState = ReadonlyMap<string, Uint8Array>;

/** A turn file, and the list of blobs. */
const EXPECTED = /^[^/]+\/(?:turns\/\d{6,}\.json|blobs)$/;

/** The sessions of a home. A blob's line tells its true sum where that is not its name. */
export function sessionState(home: string): SessionState {
  const state = new Map<string, Uint8Array>();
  for (const { name: session } of entries(`${home}/sessions`)) {
    const directory = `${home}/sessions/${session}`;
    for (const file of filesBelow(`${directory}/turns`)) {
      const name = `${session}/turns/${file}`;
      if (EXPECTED.test(name)) state.set(name, Deno.readFileSync(`${directory}/turns/${file}`));
    }
    const blobs = filesBelow(`${directory}/blobs`).map((name) => {
      const sum = sha256Hex(Deno.readFileSync(`${directory}/blobs/${name}`));
      return sum === name ? name : `${name} holds ${sum}`;
    });
    if (blobs.length > 0) {
      state.set(`${session}/blobs`, encodeUtf8(`${blobs.join("\n")}\n`));
    }
  }
  return state;
}

/** What `expect/` of a test holds; `null` where there is none. */
export function expectedState(directory: string): SessionState | null {
  const root = `${directory}/expect`;
  if (!exists(root)) return null;
  return new Map(
    filesBelow(root).filter((name) => EXPECTED.test(name))
      .map((name) => [name, Deno.readFileSync(`${root}/${name}`)]),
  );
}

/** Files that were rewritten, and files that went: their paths below the test's folder, sorted. */
export interface Rewritten {
  readonly updated: readonly string[];
  readonly removed: readonly string[];
}

/** Makes `expect/` what `state` is. */
export function writeExpectation(files: Files, directory: string, state: SessionState): Rewritten {
  const before = expectedState(directory) ?? new Map<string, Uint8Array>();
  const root = `${directory}/expect`;
  const removed = [...before.keys()].filter((name) => !state.has(name));
  const updated = [...state].filter(([name, bytes]) => {
    const was = before.get(name);
    return was === undefined || !sameBytes(was, bytes);
  });
  makeDirectories(files, root);
  for (const name of removed) files.unlink(`${root}/${name}`);
  for (const [name, bytes] of updated) replaceFixtureFile(files, `${root}/${name}`, bytes);
  const below = (names: readonly string[]) => names.map((name) => `expect/${name}`).sort();
  return { updated: below(updated.map(([name]) => name)), removed: below(removed) };
}

/** True where both hold the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, index) => byte === b[index]);
}
