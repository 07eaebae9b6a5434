/**
 * The checksum of an executable of Linux: the sha256 of all its bytes, with {@linkcode NO_SUM} in the place of the sum itself. It
 * shows damage by disks and downloads; an attacker who changes an executable can change its sum too.
 */
import { createHash, type Hash } from "node:crypto";
import { decodeLatin1, encodeUtf8 } from "../../domain/bytes.ts";
import { indexIn, NO_SUM, readAt } from "./part_files.ts";
import { exitWith } from "./streams.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Compares an executable, by default that of this process, with its checksum. `null` if it has none. */
export function isIntact(path = "/proc/self/exe"): boolean | null {
  if (Deno.build.os !== "linux") return null;
  using file = Deno.openSync(path, { read: true });
  const index = indexIn(file);
  if (index === null) return null;
  const hash = createHash("sha256");
  update(hash, file, { from: 0, to: index.sumAt });
  hash.update(NO_SUM);
  update(hash, file, { from: index.sumAt + NO_SUM.length, to: file.seekSync(0, Deno.SeekMode.End) });
  return hash.digest("hex") === index.sum;
}

/** Ends the process after an error that nothing expected: with a sentence if the executable is damaged. */
export function endAfter(error: unknown): never {
  // Every executable of Linux has a checksum, unless the damage hides it.
  if (isIntact() ?? Deno.build.os !== "linux") throw error;
  exitWith(
    1,
    `error: Cannot run ${JSON.stringify(Deno.execPath())}: its file was cut or changed (${error})\n` +
      "hint: Install it again, and compare the download with SHA256SUMS\n",
  );
}

function update(
  hash: Hash,
  file: Deno.FsFile,
  { from, to }: { readonly from: number; readonly to: number },
): void {
  for (let at = from; at < to; at += CHUNK_BYTES) {
    hash.update(readAt(file, at, Math.min(CHUNK_BYTES, to - at)));
  }
}

/** Puts the checksum into the pieces of an executable that has none so far. The index is a piece of its own. */
export function withSum(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer>[] {
  const hash = createHash("sha256");
  for (const piece of pieces) hash.update(piece);
  const sum = encodeUtf8(hash.digest("hex"));
  return pieces.map((piece, number) => {
    if (number !== 1) return piece;
    const index = piece.slice();
    index.set(sum, decodeLatin1(piece).indexOf(NO_SUM));
    return index;
  });
}
