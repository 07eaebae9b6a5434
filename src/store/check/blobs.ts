/**
 * The check of `blobs/`: what turns name must be there with its content; what nobody names is told.
 *
 * @module
 */
import type { Ports } from "../../domain/ports.ts";
import { counted } from "../../domain/text.ts";
import { inspectBlob } from "../blobs.ts";
import { checkFile, type Findings } from "./findings.ts";
import type { NamedBlob, Walk } from "./turns.ts";
import { isBlobName, type SessionPaths } from "../layout.ts";
import { lookForDirectory } from "../read/safe_open.ts";

/** Checks all blobs. Throws the runtime's errors. */
export function checkBlobs(
  ports: Ports,
  paths: SessionPaths,
  options: { readonly walk: Walk; readonly inUse: boolean; readonly add: Findings },
): void {
  const { walk, inUse, add } = options;
  const users = usersOf(walk.blobs);
  const there = new Set<string>();
  const known = lookForDirectory(ports, paths.blobs).status === "ok";
  for (const name of known ? ports.files.list(paths.blobs).sort() : []) {
    const path = `blobs/${name}`;
    if (!isBlobName(name)) {
      add("warning", "foreign_file", { path, message: "is not the name of a blob" });
      continue;
    }
    there.add(name);
    const refused = checkFile(ports, `${paths.blobs}/${name}`, { path, add }).status === "refused";
    // A blob is there before the turn that names it, and a damaged turn may have named it.
    if (!users.has(name) && !refused && walk.sound && !inUse) {
      add("info", "unreferenced_blob", { path, message: "is named by no turn" });
    }
  }
  for (const [sha256, use] of users) {
    const lost = walk.lostBlobs.has(sha256);
    checkNamed(ports, paths, { sha256, use, lost, there: there.has(sha256), add });
  }
}

interface Use {
  /** The first turn that names it, for the finding. */
  readonly first: NamedBlob;
  needed: boolean;
  readonly sizes: Set<number>;
}

function usersOf(blobs: readonly NamedBlob[]): Map<string, Use> {
  const users = new Map<string, Use>();
  for (const blob of blobs) {
    const use = users.get(blob.sha256) ?? { first: blob, needed: false, sizes: new Set<number>() };
    use.needed ||= blob.needed;
    if (blob.bytes !== undefined) use.sizes.add(blob.bytes);
    users.set(blob.sha256, use);
  }
  return users;
}

function checkNamed(
  ports: Ports,
  paths: SessionPaths,
  options: {
    readonly sha256: string;
    readonly use: Use;
    /** Known to be lost, and recorded. */
    readonly lost: boolean;
    readonly there: boolean;
    readonly add: Findings;
  },
): void {
  const { sha256, use, lost, there, add } = options;
  const path = `blobs/${sha256}`;
  const { turn, by } = use.first;
  const severity = use.needed ? "error" : "warning";
  const found = there ? inspectBlob(ports, paths, sha256) : null;
  if (found === null) {
    const message = `is missing, but ${by} of turn ${turn} names it`;
    add(lost ? "warning" : severity, "missing_blob", { path, message, turn });
  } else if (found.status === "bad") {
    add(severity, found.code, { path, message: `${found.message}; ${by} of turn ${turn} names it`, turn });
  } else if ([...use.sizes].some((size) => size !== found.size)) {
    const message = `has ${counted(found.size, "byte")}, not the number that a turn gives`;
    add("error", "damaged_blob", { path, message, turn });
  }
}
