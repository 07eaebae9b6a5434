import { RepriseError } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { Ports } from "../../domain/ports.ts";
import { damaged } from "../damage.ts";
import { orStorageError } from "../fs_errors.ts";
import type { Home } from "../home.ts";
import { insideSession, sessionPaths, turnPath } from "../layout.ts";
import { readTrusted } from "./safe_open.ts";
import { MAX_TURN_BYTES } from "./turn_file.ts";

/**
 * The bytes of one turn file as they are, fitting their checksum or not: for whoever has to find out what is
 * wrong with them.
 *
 * @throws {RepriseError} `no_such_session` when there is no such turn; `session_damaged` for anything but a file of
 * ours; `storage_*`.
 */
export function readTurnBytes(
  ports: Ports,
  home: Home,
  { id, turn }: { readonly id: SessionId; readonly turn: number },
): Uint8Array {
  const paths = sessionPaths(home.sessions, id);
  const path = turnPath(paths, turn);
  const read = orStorageError(`read turn ${turn} of session "${id}"`, path, () => {
    return readTrusted(ports, path, { maxBytes: MAX_TURN_BYTES });
  });
  if (read.status === "refused") throw damaged(paths, path, read);
  if (read.status === "missing") {
    throw new RepriseError(
      "no_such_session",
      `Cannot show turn ${turn} of session "${id}": there is no ${insideSession(paths, path)}`,
      {
        hint: `List the turns with "reprise show ${id} --turns"`,
      },
    );
  }
  return read.bytes;
}
