/**
 * The check of all turn files: each by itself, then the chain, over gaps and damage as far as it can be followed.
 *
 * @module
 */
import { advanceManifest, type Manifest } from "../../domain/manifest.ts";
import type { Ports } from "../../domain/ports.ts";
import { turnFileName } from "../../domain/turn.ts";
import { blobsOf, type BlobUse, lostBlobsIn } from "../blobs.ts";
import { Chain, replacesOf } from "../read/validate.ts";
import { checkFile, type Findings } from "./findings.ts";
import { type SessionPaths, turnNumberOf, turnPath } from "../layout.ts";
import { findLineage } from "../read/lineage.ts";
import type { ManifestFile } from "../read/manifest_file.ts";
import { lookForDirectory } from "../read/safe_open.ts";
import { readEnvelope } from "../read/turn_file.ts";
import { judgeTurn } from "../read/turn_schema.ts";

/** A blob that a sound turn names. */
export interface NamedBlob extends BlobUse {
  readonly turn: number;
}

/** What the walk over the turns gathered. */
export interface Walk {
  /** How many turn files there are. */
  readonly files: number;
  /** The highest number among them, 0 for none. */
  readonly last: number;
  /** Where the readable history ends. */
  readonly chain: Chain;
  readonly blobs: readonly NamedBlob[];
  /** Blobs of which a turn says that they are lost. */
  readonly lostBlobs: ReadonlySet<string>;
  /** True when every turn was read and fits: only then the manifest and unused blobs can be judged. */
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
  options: { readonly add: Findings; readonly manifest: ManifestFile },
): Walk {
  const { add } = options;
  const head = options.manifest.status === "ok" ? options.manifest.manifest.head.turn : 0;
  const numbers = turnNumbers(ports, paths, add);
  const chain = new Chain(paths.id, { lineage: () => findLineage(ports, paths, { numbers }) });
  const blobs: NamedBlob[] = [];
  const lostBlobs = new Set<string>();
  let sound = true;
  let manifest: Manifest | null = null;
  let manifestAtHead: Manifest | null = null;
  for (const number of numbers) {
    if (number > chain.end.turn + 1) {
      sound = false;
      addGap(add, chain.end.turn + 1, number);
      chain.skip(number - 1);
    }
    const turn = checkTurn(ports, paths, { number, chain, add });
    if (turn === null) {
      sound = false;
      chain.skip(number);
      continue;
    }
    sound &&= turn.fits;
    chain.advance(turn.turn);
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
    chain,
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
function turnNumbers(ports: Ports, paths: SessionPaths, add: Findings): number[] {
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

function addGap(add: Findings, first: number, found: number): void {
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
  options: { readonly number: number; readonly chain: Chain; readonly add: Findings },
) {
  const { number, chain, add } = options;
  const path = pathOf(number);
  const full = turnPath(paths, number);
  const looked = checkFile(ports, full, { path, add });
  if (looked.status === "refused") return null;
  const file = readEnvelope(ports, full, { looked });
  if (file.status !== "ok") {
    const [code, message] = file.status === "missing"
      ? ["missing_turn", "was removed meanwhile"]
      : [file.code, file.message];
    add("error", code, { path, message, turn: number });
    return null;
  }
  if (file.newer) {
    const message = `has the format ${JSON.stringify(file.value.format)}, which this version cannot judge`;
    add("warning", "newer_format", { path, message, turn: number });
    return null;
  }
  const judged = judgeTurn(file.value);
  if (judged.status === "newer") {
    add("warning", "newer_kind", { path, message: judged.message, turn: number });
    return null;
  }
  if (judged.status === "damaged") {
    add("error", judged.code, { path, message: judged.message, turn: number });
    return null;
  }
  const breaches = chain.check(judged.turn);
  for (const { severity, code, message } of breaches) add(severity, code, { path, message, turn: number });
  return { turn: judged.turn, fits: breaches.every(({ severity }) => severity !== "error") };
}
