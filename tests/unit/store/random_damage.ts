/**
 * Ways in which the files of a session get damaged, chosen by dice.
 *
 * @module
 */
import type { SessionId } from "../../../src/domain/ids.ts";
import { checkSeal, seal } from "../../../src/domain/seal.ts";
import { turnPath } from "../../../src/store/layout.ts";
import { Dice } from "../fold/dice.ts";
import { type MadeSession, randomSession } from "./random_session.ts";

type Damage = (session: MadeSession, dice: Dice) => void;

/** Each kind of damage by its name. */
export const DAMAGES: Readonly<Record<string, Damage>> = {
  truncated: (session, dice) =>
    change(session, dice, (bytes) => bytes.subarray(0, dice.count(0, bytes.length - 1))),
  "a flipped bit": (session, dice) =>
    change(session, dice, (bytes) => {
      const flipped = bytes.slice();
      const bit = dice.count(0, bytes.length * 8 - 1);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      return flipped;
    }),
  "zero bytes": (session, dice) => change(session, dice, (bytes) => new Uint8Array(bytes.length)),
  "a block of zero bytes": (session, dice) =>
    change(session, dice, (bytes) => bytes.slice().fill(0, dice.count(0, bytes.length - 2))),
  empty: (session, dice) => change(session, dice, () => new Uint8Array(0)),
  missing: ({ disk, ...session }, dice) => disk.remove(anyTurn({ disk, ...session }, dice)),
  duplicate: (session, dice) => {
    const bytes = session.disk.read(anyTurn(session, dice));
    const to = dice.chance(0.5) ? session.turns.length + 1 : dice.pick([4711, 999999, 123456789]);
    if (bytes !== undefined) session.disk.write(turnPath(session.paths, to), bytes);
  },
  renumbered: (session, dice) => {
    const from = anyTurn(session, dice);
    const bytes = session.disk.read(from);
    session.disk.remove(from);
    const to = dice.chance(0.5) ? session.turns.length + dice.count(1, 3) : dice.pick([4711, 999999]);
    if (bytes !== undefined) session.disk.write(turnPath(session.paths, to), bytes);
  },
  "under an invalid name": (session, dice) => {
    const from = anyTurn(session, dice);
    const bytes = session.disk.read(from);
    session.disk.remove(from);
    if (bytes !== undefined) session.disk.write(`${from}.bak`, bytes);
  },
  swapped: (session, dice) => {
    const [a, b] = [anyTurn(session, dice), anyTurn(session, dice)];
    const [inA, inB] = [session.disk.read(a), session.disk.read(b)];
    if (inA === undefined || inB === undefined) return;
    session.disk.write(a, inB);
    session.disk.write(b, inA);
  },
  "of another session": (session, dice) => {
    const other = randomSession(new Dice(dice.count(1, 1e9)), 3, "other-session" as SessionId);
    const path = anyTurn(other, dice);
    const bytes = other.disk.read(path) as Uint8Array;
    const to = path.replace("other-session", session.paths.id);
    session.disk.write(dice.chance(0.3) ? turnPath(session.paths, session.turns.length + 1) : to, bytes);
  },
  "edited and sealed again": (session, dice) =>
    change(session, dice, (bytes) => {
      // Sealing what another damage left would make a turn of it that a later version may have written.
      if (checkSeal(bytes) === null) return bytes.subarray(1);
      const text = new TextDecoder().decode(bytes);
      return seal(text.slice(0, text.lastIndexOf('"sum"')).replace('"at":"2026', '"at":"2025')).bytes;
    }),
  "the manifest missing": ({ disk, paths }) => disk.remove(paths.manifest),
  "the manifest garbled": ({ disk, paths }) => {
    disk.write(paths.manifest, (disk.read(paths.manifest) ?? new Uint8Array(9)).subarray(1));
  },
  "the manifest edited and sealed again": ({ disk, paths, manifest }, dice) => {
    const head = dice.pick([
      { ...manifest.head, turn: manifest.head.turn + 1 },
      { ...manifest.head, turn: manifest.head.turn + 3, seq: manifest.head.seq + 40 },
      { ...manifest.head, turn: manifest.head.turn + 5_000_000, seq: manifest.head.seq + 9_000_000 },
      { ...manifest.head, sum: "0".repeat(64) },
      { ...manifest.head, seq: manifest.head.seq + 1 },
    ]);
    disk.write(paths.manifest, seal(`${JSON.stringify({ ...manifest, head }).slice(0, -1)},`).bytes);
  },
  "a file of others in a directory of the session": ({ disk, paths }, dice) => {
    const directory = dice.pick([paths.root, paths.turns, paths.blobs]);
    disk.write(`${directory}/000001 (conflict).json`, new TextEncoder().encode("{}"));
  },
  "a damaged blob that no turn names": ({ disk, paths }, dice) => {
    disk.write(`${paths.blobs}/${String(dice.count(0, 9)).repeat(64)}`, new TextEncoder().encode("x"));
  },
  "modes that let others in": ({ disk, paths }, dice) => {
    const path = dice.pick([paths.root, paths.turns, paths.blobs, paths.manifest]);
    const files = disk.files();
    const kind = files.facts(path)?.kind;
    if (kind !== undefined) files.setMode(path, kind === "directory" ? 0o755 : 0o644);
  },
  "a torn temporary file": ({ disk, paths }, dice) => {
    disk.write(`${paths.root}/.tmp-${dice.count(1, 9999)}-00ff`, new TextEncoder().encode('{"torn'));
  },
};

/** The path of one of the session's turn files, there or not. */
function anyTurn({ paths, turns }: MadeSession, dice: Dice): string {
  return turnPath(paths, dice.count(1, turns.length));
}

function change(session: MadeSession, dice: Dice, edit: (bytes: Uint8Array) => Uint8Array): void {
  const path = anyTurn(session, dice);
  const bytes = session.disk.read(path);
  if (bytes !== undefined && bytes.length > 1) session.disk.write(path, edit(bytes));
}
