/** Checks all turn files: each by itself, then against the history before it, across gaps and damage. */
import type { FsckFinding } from "../../schemas/maintenance.ts";
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import { addUsedBlobs, lostBlobsIn, type UsedBlob } from "../blobs.ts";
import { insideSession, type SessionPaths, turnPath } from "../layout.ts";
import { findLineage } from "../read/lineage.ts";
import type { ManifestFile } from "../read/manifest.ts";
import type { Looked } from "../read/safe_open.ts";
import { readTurn } from "../read/turn.ts";
import { HistoryValidator, replacedTurn } from "../read/validate.ts";
import { inspectEntry, type SessionEntry } from "./entries.ts";

/** A check of one session while it runs. */
export interface FsckCheck {
  readonly ports: Ports;
  readonly paths: SessionPaths;
  /** Adds a finding about a path inside the session. */
  readonly add: (
    severity: FsckFinding["severity"],
    code: string,
    path: string,
    message: string,
    turn?: number,
  ) => void;
}

/** Result of the walk over the turns. */
export interface Walk {
  /** Number of turn files. */
  readonly files: number;
  /** The highest number among them, 0 for none. */
  readonly last: number;
  /** Validator at the end of the readable history. */
  readonly validator: HistoryValidator;
  /** Blobs that sound turns name. */
  readonly blobs: ReadonlyMap<string, UsedBlob>;
  /** Blobs that a turn records as lost. */
  readonly lostBlobs: ReadonlySet<string>;
  /** True if every turn was read and fits: only then the manifest and unused blobs can be judged. */
  readonly sound: boolean;
  /** The manifest made from the turns up to the one that the manifest file names as its head, without `bytes`. */
  readonly manifestAtHead: Manifest | null;
  /** Bytes of those turns' files. */
  readonly bytesAtHead: number;
}

/** Checks the turn files among the entries of the session. Throws the runtime's errors. */
export function checkTurns(
  check: FsckCheck,
  manifestFile: ManifestFile,
  entries: readonly SessionEntry[],
): Walk {
  const { ports, paths, add } = check;
  const head = manifestFile.status === "ok" ? manifestFile.manifest.head.turn : 0;
  const numbers = turnNumbers(check, entries);
  const validator = new HistoryValidator(paths.id, {
    lineage: () => findLineage(ports, paths, { numbers }),
  });
  const blobs = new Map<string, UsedBlob>();
  const lostBlobs = new Set<string>();
  let sound = true;
  let manifest: Manifest | null = null;
  let manifestAtHead: Manifest | null = null;
  let bytesAtHead = 0;
  const [files, last] = [numbers.length, numbers.at(-1) ?? 0];
  for (const number of numbers) {
    const expected = validator.end.turn + 1;
    if (number > expected) {
      sound = false;
      const missing = number - expected === 1 ? "is missing" : `to turn ${number - 1} are missing`;
      add("error", "missing_turn", turnName(expected), `${missing}, but turn ${number} exists`, expected);
      validator.skip(number - 1);
    }
    const turn = checkTurn(check, number, validator);
    if (turn === null) {
      sound = false;
      validator.skip(number);
      continue;
    }
    sound &&= turn.fits;
    validator.advance(turn.turn);
    addUsedBlobs(blobs, turn.turn);
    for (const sha256 of lostBlobsIn([turn.turn])) lostBlobs.add(sha256);
    const replaces = replacedTurn(turn.turn);
    if (replaces !== undefined) {
      const message = `replaces a turn that was lost (${replaces.reason})`;
      add("info", "turn_replaced", turnName(number), message, number);
    }
    if (sound && number <= head) {
      manifest = advanceManifest(manifest, paths.id, turn.turn);
      bytesAtHead += turn.size;
    }
    if (sound && number === head) manifestAtHead = manifest;
  }
  return { files, last, validator, blobs, lostBlobs, sound, manifestAtHead, bytesAtHead };
}

/** The path of a turn inside the session. */
export function turnName(turn: number): string {
  return `turns/${turnFileName(turn)}`;
}

/** The numbers of all turn files, ascending. */
function turnNumbers({ ports, paths }: FsckCheck, entries: readonly SessionEntry[]): number[] {
  const numbers = entries.flatMap(({ role, turn }) => role === "turn" && turn !== undefined ? [turn] : []);
  numbers.sort((a, b) => a - b);
  // A listing may miss a name that a writer adds meanwhile, and show the next one.
  const missed = numbers.filter((number, index) => number - 1 > (numbers[index - 1] ?? 0))
    .map((number) => number - 1).filter((before) => ports.files.facts(turnPath(paths, before)) !== null);
  return missed.length === 0 ? numbers : [...numbers, ...missed].sort((a, b) => a - b);
}

function checkTurn(check: FsckCheck, number: number, validator: HistoryValidator) {
  const path = turnPath(check.paths, number);
  const looked = checkEntry(check, { path, role: "turn" });
  if (looked.status === "refused") return null;
  const read = readTurn(check.ports, path, looked);
  const add = (severity: FsckFinding["severity"], code: string, message: string) =>
    check.add(severity, code, turnName(number), message, number);
  if (read.status === "missing") {
    add("error", "missing_turn", "was removed meanwhile");
    return null;
  }
  if (read.status !== "ok") {
    const unknown = read.code === "newer_format" ? ", which this version cannot judge" : "";
    add(read.status === "newer" ? "warning" : "error", read.code, `${read.message}${unknown}`);
    return null;
  }
  const violations = validator.check(read.turn);
  for (const { severity, code, message } of violations) add(severity, code, message);
  return { turn: read.turn, size: read.size, fits: violations.every(({ severity }) => severity !== "error") };
}

/** Checks an entry: adds its flaws, and returns what a reader of it may do. Throws the runtime's errors. */
export function checkEntry({ ports, paths, add }: FsckCheck, entry: SessionEntry): Looked {
  const { looked, flaws } = inspectEntry(ports, entry);
  const name = entry.path === paths.root ? "." : insideSession(paths, entry.path);
  for (const { severity, code, message } of flaws) add(severity, code, name, message);
  return looked;
}
