/**
 * Sessions on disk that were damaged, edited or tidied up by dice: by crashes, by bad disks, by people, and by careful
 * vandals who seal again what they changed.
 */
import type { Json } from "../../support/files.ts";
import type { Dice } from "../../support/dice.ts";
import { spoilt } from "../../support/hostile_json.ts";
import { sealed, write } from "./session_files.ts";

/** Copies a session's directory, under the same name, into another home. */
export function copySession(from: string, to: string): void {
  Deno.mkdirSync(to, { mode: 0o700 });
  for (const { name, isDirectory, isSymlink } of Deno.readDirSync(from)) {
    const [source, copy] = [`${from}/${name}`, `${to}/${name}`];
    if (isDirectory) copySession(source, copy);
    else if (isSymlink) Deno.symlinkSync(Deno.readLinkSync(source), copy);
    else Deno.copyFileSync(source, copy);
  }
  Deno.chmodSync(to, Number(Deno.statSync(from).mode) & 0o777);
}

/** A parsed file that may be changed. */
type JsonObject = Record<string, Json>;

type Oddity = (root: string, dice: Dice) => void;

/** Each thing that may happen to the directory of a session, by its name. */
export const ODDITIES: Readonly<Record<string, Oddity>> = {
  "a file cut short": (root, dice) =>
    rewrite(root, dice, (bytes) => bytes.subarray(0, dice.count(0, bytes.length))),
  "a flipped bit": (root, dice) =>
    rewrite(root, dice, (bytes) => {
      if (bytes.length === 0) return bytes;
      const bit = dice.count(0, bytes.length * 8 - 1);
      bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
      return bytes;
    }),
  "a file missing": (root, dice) => remove(dice.pick(filesIn(root))),
  "two files swapped": (root, dice) => {
    const [a, b] = [dice.pick(filesIn(root)), dice.pick(filesIn(root))];
    const [inA, inB] = [Deno.readFileSync(a), Deno.readFileSync(b)];
    Deno.writeFileSync(a, inB);
    Deno.writeFileSync(b, inA);
  },
  "a turn under another number": (root, dice) => {
    const from = anyTurn(root, dice);
    const to = turnPath(root, dice.count(1, dice.pick([12, 999_999])));
    if (from === null || from === to || exists(to) && !Deno.lstatSync(to).isFile) return;
    if (dice.chance(0.5)) Deno.copyFileSync(from, to);
    else Deno.renameSync(from, to);
  },
  "the manifest edited and sealed again": (root, dice) => {
    const { sum: _, ...manifest } = manifestOf(root);
    const path = `${root}/manifest.json`;
    if (!exists(path) || Deno.lstatSync(path).isFile) writeSealed(path, editedValue(manifest, dice));
  },
  "a turn edited and sealed again, perhaps with every turn after it to fit": (root, dice) => {
    const path = anyTurn(root, dice);
    if (path === null) return;
    editTurn(path, (turn) => editedTurn(turn, dice));
    if (dice.chance(0.5)) rechain(root);
  },
  "a checkpoint edited, and every turn after it sealed again to fit": (root, dice) => {
    for (const path of turnsOf(root)) {
      editTurn(path, (turn) => {
        const [event] = Array.isArray(turn.events) ? turn.events : [];
        if (event?.type !== "history_compaction") return turn;
        const member = dice.pick(["to_seq", "to_turn", "opening_turn", "previous_checkpoint"]);
        return { ...turn, events: [{ ...event, [member]: dice.pick([null, 1, 4, 5, 6, 7, 999]) }] };
      });
    }
    rechain(root);
    if (dice.chance(0.5) && exists(`${root}/manifest.json`)) remove(`${root}/manifest.json`);
  },
  "a turn taken out, and every turn after it sealed again to fit": (root, dice) => {
    const path = anyTurn(root, dice);
    if (path === null) return;
    remove(path);
    for (const [index, each] of turnsOf(root).entries()) Deno.renameSync(each, turnPath(root, index + 1));
    rechain(root);
  },
  "a file or directory of another name": (root, dice) => {
    const directory = dice.pick(["", "/turns", "/blobs", "/quarantine"]);
    Deno.mkdirSync(`${root}${directory}`, { recursive: true, mode: 0o700 });
    const name = dice.pick(["notes.txt", "0000003.json", ".tmp-12-00ff", "000099.json.bak", "a".repeat(64)]);
    plant(`${root}${directory}/${name}`, dice);
  },
  "something else instead of a file": (root, dice) => {
    const path = dice.pick(filesIn(root));
    remove(path);
    plant(path, dice);
  },
  "something else instead of a directory": (root, dice) => {
    const path = `${root}/${dice.pick(["turns", "blobs", "quarantine"])}`;
    const away = `${root}/away-${dice.count(1, 1_000_000)}`;
    if (exists(path)) Deno.renameSync(path, away);
    if (dice.chance(0.7)) plant(path, dice);
    if (dice.chance(0.5) && exists(away)) remove(away);
  },
};

/** Puts something at a free path: a file, an empty or a full directory, a symbolic link. */
function plant(path: string, dice: Dice): void {
  if (exists(path)) return;
  const what = dice.pick(["file", "directory", "link"]);
  if (what === "file") write(path, dice.pick(["", "something else"]));
  if (what === "link") Deno.symlinkSync(dice.pick(["nowhere", "/etc/hostname"]), path);
  if (what !== "directory") return;
  Deno.mkdirSync(path, { mode: 0o700 });
  if (dice.chance(0.5)) write(`${path}/inside`, "x");
}

/** Values that something in a parsed file becomes; `undefined` takes a member out. */
const OTHERS: readonly Json[] = [
  ...[undefined, null, true, 0, 1, 2, 3, 5, 7, 999, -1, 1.5, "", "text", "0".repeat(64), {}, []],
];

/** A parsed file with another value at some place. */
function editedValue(value: JsonObject, dice: Dice): JsonObject {
  const other = dice.pick(OTHERS);
  const changed = [...spoilt(value, other)].slice(other === undefined ? 0 : 1);
  return changed.length === 0 ? value : dice.pick(changed);
}

/** A turn with another value at some place, or with an event twice or gone. */
function editedTurn(turn: JsonObject, dice: Dice): JsonObject {
  if (!Array.isArray(turn.events) || dice.chance(0.7)) return editedValue(turn, dice);
  const at = dice.count(0, turn.events.length - 1);
  return {
    ...turn,
    events: turn.events.toSpliced(at, dice.count(0, 1), ...turn.events.slice(at, at + dice.count(0, 1))),
  };
}

function editTurn(path: string, change: (turn: JsonObject) => JsonObject): void {
  try {
    const { sum: _, ...turn } = JSON.parse(Deno.readTextFileSync(path));
    writeSealed(path, change(turn));
  } catch (error) {
    // A turn that was damaged before stays damaged.
    if (!(error instanceof SyntaxError)) throw error;
  }
}

/** Makes every turn name the one before it, in numbers too, as far as the files can be read. */
function rechain(root: string): void {
  let prev: Json = null;
  let seq = 0;
  for (const [index, path] of turnsOf(root).entries()) {
    const shift = (turn: JsonObject): JsonObject => {
      const events = Array.isArray(turn.events) ? turn.events as JsonObject[] : [];
      const first = seq + 1;
      for (const event of events) if (event !== null && typeof event === "object") event.seq = ++seq;
      if (events[0]?.type === "session_fork") {
        Object.assign(events[0], { sum: prev, to_turn: index, to_seq: first - 1 });
      }
      return { ...turn, turn: index + 1, seq: [first, seq], prev, events };
    };
    editTurn(path, shift);
    prev = /"sum":"([0-9a-f]{64})"\}\n$/.exec(Deno.readTextFileSync(path))?.[1] ?? null;
  }
}

function rewrite(
  root: string,
  dice: Dice,
  change: (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer>,
): void {
  const path = dice.pick(filesIn(root));
  Deno.writeFileSync(path, change(Deno.readFileSync(path)));
}

/** Every regular file of a session but its lock, sorted: there is always one. */
function filesIn(root: string): string[] {
  const found: string[] = [];
  const visit = (directory: string) => {
    for (const { name, isDirectory, isFile } of Deno.readDirSync(directory)) {
      if (isDirectory) visit(`${directory}/${name}`);
      else if (isFile && name !== "lock") found.push(`${directory}/${name}`);
    }
  };
  visit(root);
  if (found.length > 0) return found.sort();
  Deno.writeTextFileSync(`${root}/alone`, "", { mode: 0o600 });
  return [`${root}/alone`];
}

function turnsOf(root: string): string[] {
  return filesIn(root).filter((path) => /\/turns\/\d{6}\.json$/.test(path));
}

function anyTurn(root: string, dice: Dice): string | null {
  const turns = turnsOf(root);
  return turns.length === 0 ? null : dice.pick(turns);
}

function turnPath(root: string, turn: number): string {
  Deno.mkdirSync(`${root}/turns`, { recursive: true, mode: 0o700 });
  return `${root}/turns/${String(turn).padStart(6, "0")}.json`;
}

/** The manifest, or a minimal one if it cannot be read. */
function manifestOf(root: string): JsonObject {
  try {
    return JSON.parse(Deno.readTextFileSync(`${root}/manifest.json`));
  } catch {
    return { format: "reprise.manifest/1", session: "plain", head: { turn: 1, seq: 1 }, pins: {} };
  }
}

function writeSealed(path: string, value: JsonObject): void {
  write(path, sealed(`${JSON.stringify(value).slice(0, -1)},\n `));
}

function exists(path: string): boolean {
  try {
    Deno.lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  Deno.removeSync(path, { recursive: true });
}
