/** Keys of a session's objects, relative to the prefix of the remote. */
import { isSessionId, type SessionId } from "../domain/ids.ts";
import { turnFileName } from "../domain/turn.ts";
import { isBlobName, turnNumberOf } from "../store/layout.ts";

export function sessionPrefix(id: SessionId): string {
  return `${id}/`;
}

export function turnsPrefix(id: SessionId): string {
  return `${id}/turns/`;
}

/** The key of a turn; `replacement` 1, 2, … for a copy that was put beside a damaged one. */
export function turnKey(id: SessionId, turn: number, replacement = 0): string {
  const name = turnFileName(turn);
  return turnsPrefix(id) + (replacement === 0 ? name : name.replace(/json$/, `r${replacement}.json`));
}

export function blobKey(id: SessionId, sha256: string): string {
  return `${id}/blobs/${sha256}`;
}

/** The key of a tombstone, which refuses puts. */
export function removedKey(id: SessionId): string {
  return `${id}/removed.json`;
}

type KeyParts =
  | { readonly kind: "turn"; readonly id: SessionId; readonly turn: number; readonly replacement: number }
  | { readonly kind: "blob"; readonly id: SessionId; readonly sha256: string }
  | { readonly kind: "removed"; readonly id: SessionId };

/** Parses a key; `null` for a key that is not one of ours. */
export function parseKey(key: string): KeyParts | null {
  const [id = "", folder = "", name, ...more] = key.split("/");
  if (!isSessionId(id) || more.length > 0) return null;
  if (name === undefined) return folder === "removed.json" ? { kind: "removed", id } : null;
  if (folder === "blobs") return isBlobName(name) ? { kind: "blob", id, sha256: name } : null;
  if (folder !== "turns") return null;
  const [, number = "", suffix] = /^(\d+)(?:\.r([1-9]\d{0,2}))?\.json$/.exec(name) ?? [];
  const turn = turnNumberOf(`${number}.json`);
  return turn === null ? null : { kind: "turn", id, turn, replacement: Number(suffix ?? 0) };
}
