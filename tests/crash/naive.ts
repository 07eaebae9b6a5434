/** Operations without care for crashes, as a small script would do them. The harnesses must fail each of them. */
import { encodeTurn, type Turn, type TurnDraft, turnFileName } from "../../src/domain/turn.ts";
import { readSession } from "../../src/store/read/session.ts";
import { user } from "../doors/sessions/session_files.ts";
import { homeOf, ID, pathsOf, type Place } from "./sessions.ts";

/** Writes the final file in place. */
function append(place: Place): void {
  const { path, turns } = readSession(place.ports, homeOf(place), ID);
  const last = turns.at(-1) as Turn;
  const encoded = encodeTurn(user("go on", last.run + 1) as unknown as TurnDraft, {
    session: ID,
    turn: last.turn + 1,
    firstSeq: last.seq[1] + 1,
    prev: last.sum,
    at: last.at,
  });
  Deno.writeFileSync(`${path}/turns/${turnFileName(last.turn + 1)}`, encoded.bytes, { mode: 0o600 });
  place.acknowledge(encoded.turn);
}

/** Copies an import into its place, file by file, in view of everybody. */
function importInView(place: Place): void {
  const { root } = pathsOf(place);
  let lastPath = "";
  for (const path of [root, `${root}/turns`, `${root}/blobs`]) Deno.mkdirSync(path, { mode: 0o700 });
  for (const line of Deno.readTextFileSync(`${place.home}-export.jsonl`).split("\n")) {
    if (line === "") continue;
    const { path, text, base64 } = JSON.parse(line);
    if (path !== undefined) Deno.writeFileSync(`${root}/${path}`, new Uint8Array(), { mode: 0o600 });
    lastPath = path ?? lastPath;
    const content = text ?? (base64 === undefined ? undefined : atob(base64));
    if (content !== undefined) Deno.writeTextFileSync(`${root}/${lastPath}`, content, { append: true });
  }
}

/** Removes the files where they are. */
function remove(place: Place): void {
  Deno.removeSync(pathsOf(place).root, { recursive: true });
}

/** Replaces a damaged turn in place, by what seems to fit, and keeps nothing. */
function repair(place: Place): void {
  const path = `${pathsOf(place).turns}/000004.json`;
  Deno.removeSync(path);
  Deno.renameSync(`${pathsOf(place).turns}/000005.json`, path);
}

/** The operations of scenarios.ts, done carelessly. */
export const NAIVE: Readonly<Record<string, (place: Place) => void>> = {
  "append": append,
  "import": importInView,
  "rm": remove,
  "repair of a damaged turn": repair,
};
