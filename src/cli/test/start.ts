/**
 * `start/`: the session that the first step of a test finds.
 *
 * @module
 */
import { parseSessionId, type SessionId } from "../../domain/ids.ts";
import { parsedObject, stringMember } from "../../domain/json.ts";
import type { Files } from "../../domain/ports.ts";
import { readHeader } from "../../fixture/read.ts";
import { badFixture, readSealed } from "../../fixture/files.ts";
import { exists, filesBelow } from "./files.ts";

/** The id of the session in `start/` of a test. @throws {RepriseError} `bad_fixture` where its manifest names none. */
export function startedSession(directory: string): SessionId {
  const path = `${directory}/start/manifest.json`;
  try {
    return parseSessionId(stringMember(parsedObject(Deno.readTextFileSync(path)) ?? {}, "session") ?? "");
  } catch (cause) {
    throw badFixture(path, "it does not name a session", { cause });
  }
}

/**
 * Checks that `start/` is what the fixture beside it vouches for; a test that is no fixture itself has no sums.
 *
 * @throws {RepriseError} `bad_fixture` for a file that is missing, not listed, or has another sum.
 */
export function requireSealedStart(files: Files, directory: string): void {
  if (!exists(`${directory}/fixture.json`)) return;
  const header = readHeader(files, directory);
  const listed = Object.keys(header.files).filter((name) => name.startsWith("start/"));
  const found = filesBelow(`${directory}/start`).map((name) => `start/${name}`);
  for (const name of new Set([...listed, ...found])) readSealed(files, directory, name, header);
}
