/** The session that `show` reads: of the home, or in an export. */
import { RepriseError } from "../../domain/errors.ts";
import { isSessionId } from "../../domain/ids.ts";
import { decodeUtf8Exactly } from "../../domain/bytes.ts";
import { numberMember, objectMember, stringMember } from "../../domain/json.ts";
import type { Home } from "../../store/home.ts";
import { isBlobName, sessionPaths } from "../../store/layout.ts";
import { readForShow, type ShownSession, type ShownTurn } from "../../store/read/show.ts";
import type { Context } from "../context.ts";
import { sessionArgument } from "../sessions.ts";
import { isFile } from "../settings.ts";

export interface Shown {
  readonly session: ShownSession;
  /** The home that holds it; `null` for an export. */
  readonly home: Home | null;
  /** The complete output of a call in a blob; `null` if it is not there, or no text. */
  readonly wholeOutput: (sha256: string) => string | null;
}

/**
 * Reads the session that an argument names: a session of the home, or the file of an export. A session wins over a file
 * of the same name.
 *
 * @param full Also reads the blobs of outputs.
 * @throws {RepriseError} the errors of {@linkcode sessionArgument}, {@linkcode readForShow} and `readExportForShow`;
 * `usage` for an argument that is neither an id nor a file.
 */
export async function readShown(context: Context, selector: string, full: boolean): Promise<Shown> {
  if (selector === "-" || !isSessionId(selector) && !selector.startsWith("@")) {
    return await readExport(context, selector, full);
  }
  try {
    return await readSession(context, selector, full);
  } catch (error) {
    if (!(error instanceof RepriseError) || error.code !== "no_such_session") throw error;
    if (!isFile(selector)) throw error;
    return await readExport(context, selector, full);
  }
}

async function readSession(context: Context, selector: string, full: boolean): Promise<Shown> {
  const { ports } = context;
  const { home, id } = sessionArgument(context, selector);
  const session = readForShow(ports, home, id);
  const loadBlob = full ? (await import("../../store/blobs.ts")).loadBlob : null;
  return {
    session,
    home,
    wholeOutput: (sha256) => {
      if (loadBlob === null || !isBlobName(sha256)) return null;
      const loaded = loadBlob(ports, sessionPaths(home.sessions, id), sha256);
      return loaded.status === "ok" ? textOrNull(loaded.bytes) : null;
    },
  };
}

async function readExport({ ports }: Context, path: string, full: boolean): Promise<Shown> {
  const { exportSource } = await import("../export_source.ts");
  const { readExportForShow } = await import("../../store/transfer/show.ts");
  const name = path === "-" ? "stdin" : path;
  const source = exportSource(ports, path, "show");
  const blobsOf = (turns: readonly ShownTurn[]) => full ? outputBlobs(turns) : new Set<string>();
  const { session, blobs } = await readExportForShow(source, { name, blobsOf });
  return { session, home: null, wholeOutput: (sha256) => textOrNull(blobs.get(sha256)) };
}

function outputBlobs(turns: readonly ShownTurn[]): Set<string> {
  const names = turns.flatMap(({ events }) =>
    events.flatMap((event) => stringMember(objectMember(event, "blob") ?? {}, "sha256") ?? [])
  );
  return new Set(names);
}

function textOrNull(bytes: Uint8Array | undefined): string | null {
  try {
    return bytes === undefined ? null : decodeUtf8Exactly(bytes);
  } catch {
    return null;
  }
}

/**
 * The turns of one run; all turns without a choice.
 *
 * @throws {RepriseError} `usage` if no turn is of that run.
 */
export function chosenTurns(
  { id, turns }: ShownSession,
  { run, last }: { readonly run?: number | undefined; readonly last?: true | undefined },
): readonly ShownTurn[] {
  if (run === undefined && last === undefined) return turns;
  const runs = [...new Set(turns.map(runOf))].filter((each) => each !== undefined);
  const latest = runs.reduce((a, b) => Math.max(a, b), 0);
  const chosen = turns.filter((turn) => runOf(turn) === (run ?? latest));
  if (chosen.length > 0) return chosen;
  throw new RepriseError(
    "usage",
    `Cannot show run ${run ?? ""} of session "${id}": the session has no such run`,
    {
      hint: runs.length === 0 ? `reprise fsck ${id}` : `Its last run is ${latest}: reprise show ${id} --last`,
    },
  );
}

function runOf({ value }: ShownTurn): number | undefined {
  return numberMember(value, "run");
}
