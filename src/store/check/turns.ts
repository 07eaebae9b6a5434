/**
 * Checks all turn files: each by itself, then against the history before it, across gaps and damage.
 *
 * @module
 */
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import { blobsOf, type BlobUse, lostBlobsIn } from "../blobs.ts";
import { DIRECTORY_MODE, FILE_MODE, type SessionPaths, turnNumberOf, turnPath } from "../layout.ts";
import { findLineage } from "../read/lineage.ts";
import type { ManifestFile } from "../read/manifest.ts";
import { type Looked, lookForDirectory, lookForFile } from "../read/safe_open.ts";
import { readTurn } from "../read/turn_schema.ts";
import { HistoryValidator, replacesOf } from "../read/validate.ts";

/** A blob that a sound turn names. */
export interface NamedBlob extends BlobUse {
  readonly turn: number;
}

/** Result of the walk over the turns. */
export interface Walk {
  /** Number of turn files. */
  readonly files: number;
  /** The highest number among them, 0 for none. */
  readonly last: number;
  /** Has advanced to the end of the readable history. */
  readonly validator: HistoryValidator;
  readonly blobs: readonly NamedBlob[];
  /** Blobs that a turn records as lost. */
  readonly lostBlobs: ReadonlySet<string>;
  /** True if every turn was read and fits: only then the manifest and unused blobs can be judged. */
  readonly sound: boolean;
  /** The manifest made from the turns up to the one that the manifest file names as its head. */
  readonly manifestAtHead: Manifest | null;
  /** The path of a turn inside the session. */
  readonly pathOf: (turn: number) => string;
}

/** Checks all turn files. Throws the runtime's errors. */
export function checkTurns(
  ports: Ports,
  paths: SessionPaths,
  options: { readonly add: AddFinding; readonly manifest: ManifestFile },
): Walk {
  const { add } = options;
  const head = options.manifest.status === "ok" ? options.manifest.manifest.head.turn : 0;
  const numbers = turnNumbers(ports, paths, add);
  const validator = new HistoryValidator(paths.id, { lineage: () => findLineage(ports, paths, { numbers }) });
  const blobs: NamedBlob[] = [];
  const lostBlobs = new Set<string>();
  let sound = true;
  let manifest: Manifest | null = null;
  let manifestAtHead: Manifest | null = null;
  for (const number of numbers) {
    if (number > validator.end.turn + 1) {
      sound = false;
      addGap(add, validator.end.turn + 1, number);
      validator.skip(number - 1);
    }
    const turn = checkTurn(ports, paths, { number, validator, add });
    if (turn === null) {
      sound = false;
      validator.skip(number);
      continue;
    }
    sound &&= turn.fits;
    validator.advance(turn.turn);
    for (const use of blobsOf(turn.turn)) blobs.push({ ...use, turn: number });
    for (const sha256 of lostBlobsIn([turn.turn])) lostBlobs.add(sha256);
    const replaces = replacesOf(turn.turn);
    if (replaces !== undefined) {
      const message = `stands for a turn that was lost (${replaces.reason})`;
      add("info", "turn_replaced", { path: pathOf(number), message, turn: number });
    }
    if (sound && number <= head) manifest = advanceManifest(manifest, paths.id, turn.turn);
    if (sound && number === head) manifestAtHead = manifest;
  }
  return {
    files: numbers.length,
    last: numbers.at(-1) ?? 0,
    validator,
    blobs,
    lostBlobs,
    sound,
    manifestAtHead,
    pathOf,
  };
}

function pathOf(turn: number): string {
  return `turns/${turnFileName(turn)}`;
}

/** The numbers of all turn files, ascending. */
function turnNumbers(ports: Ports, paths: SessionPaths, add: AddFinding): number[] {
  if (lookForDirectory(ports, paths.turns).status !== "ok") return [];
  const numbers = new Set<number>();
  for (const name of ports.files.list(paths.turns).sort()) {
    const number = turnNumberOf(name);
    if (number !== null) numbers.add(number);
    else add("warning", "foreign_file", { path: `turns/${name}`, message: "is not the name of a turn" });
  }
  // A listing may miss a name that a writer adds meanwhile, and show the next one.
  for (const number of [...numbers]) {
    const before = number - 1;
    if (before >= 1 && !numbers.has(before) && ports.files.facts(turnPath(paths, before)) !== null) {
      numbers.add(before);
    }
  }
  return [...numbers].sort((a, b) => a - b);
}

function addGap(add: AddFinding, first: number, found: number): void {
  const missing = found - first === 1 ? "is missing" : `to turn ${found - 1} are missing`;
  add("error", "missing_turn", {
    path: pathOf(first),
    message: `${missing}, but turn ${found} exists`,
    turn: first,
  });
}

function checkTurn(
  ports: Ports,
  paths: SessionPaths,
  options: { readonly number: number; readonly validator: HistoryValidator; readonly add: AddFinding },
) {
  const { number, validator, add } = options;
  const path = pathOf(number);
  const full = turnPath(paths, number);
  const looked = checkFile(ports, full, { path, add });
  if (looked.status === "refused") return null;
  const read = readTurn(ports, full, { looked });
  if (read.status === "missing") {
    add("error", "missing_turn", { path, message: "was removed meanwhile", turn: number });
    return null;
  }
  if (read.status !== "ok") {
    const { code } = read;
    const message = code === "newer_format"
      ? `${read.message}, which this version cannot judge`
      : read.message;
    add(read.status === "newer" ? "warning" : "error", code, { path, message, turn: number });
    return null;
  }
  const breaches = validator.check(read.turn);
  for (const { severity, code, message } of breaches) add(severity, code, { path, message, turn: number });
  return { turn: read.turn, fits: breaches.every(({ severity }) => severity !== "error") };
}

/** A finding of a check. Only `error` makes a session damaged. */
export interface FsckFinding {
  readonly severity: "error" | "warning" | "info";
  /** A stable name, such as `bad_sum`; all are listed in docs/format.md. */
  readonly code: string;
  /** Inside the session, such as `turns/000003.json`; `.` is its directory. */
  readonly path: string;
  /** Finding, to be read after the path. */
  readonly message: string;
  /** The number of the turn that it is about. */
  readonly turn?: number;
}

/** Takes one finding. */
export type AddFinding = (
  severity: FsckFinding["severity"],
  code: string,
  finding: Pick<FsckFinding, "path" | "message" | "turn">,
) => void;

interface Where {
  /** Inside the session, for the finding. */
  readonly path: string;
  readonly add: AddFinding;
}

/** Checks a path that should be a directory of ours with mode 0700. Throws the runtime's errors. */
export function checkDirectory(ports: Ports, path: string, where: Where): "ok" | "missing" | "refused" {
  return checked(lookForDirectory(ports, path), { ...where, mode: DIRECTORY_MODE });
}

/** Checks a path that should be a regular file of ours with mode 0600. Throws the runtime's errors. */
export function checkFile(ports: Ports, path: string, where: Where): Looked {
  const looked = lookForFile(ports, path);
  checked(looked, { ...where, mode: FILE_MODE });
  return looked;
}

function checked(
  looked: Looked,
  { path, add, mode }: Where & { readonly mode: number },
): "ok" | "missing" | "refused" {
  if (looked.status === "refused") add("error", looked.code, { path, message: looked.message });
  if (looked.status !== "ok") return looked.status;
  const found = looked.facts.mode;
  if (found !== null && (found & 0o777) !== mode) {
    const octal = (bits: number) => (bits & 0o777).toString(8).padStart(4, "0");
    add("warning", "wrong_mode", { path, message: `has mode ${octal(found)} instead of ${octal(mode)}` });
  }
  return "ok";
}
