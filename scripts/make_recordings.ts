/**
 * Creates tests/recordings again: streams and cassettes with the shapes of recorded traffic, and with words, ids, blobs
 * and numbers of the project's own.
 *
 * Usage: `deno task recordings`, with the recorded traffic in `../shared/recordings`.
 *
 * @module
 */
import { replaceRecording } from "./recordings/formats.ts";
import { SELECTION } from "./recordings/selection.ts";
import { ownText } from "./recordings/text.ts";
import { runScript, say } from "./terminal.ts";

/** Folder of the recorded traffic, from the project's root. */
export const SOURCE = "../shared/recordings";
const TARGET = "tests/recordings";

/** The project's own recordings by their names, made from those in `folder`. */
export function ownRecordings(folder: string): Map<string, string> {
  return new Map(
    Object.entries(SELECTION).map(([name, source]) => [
      name,
      replaceRecording(name, Deno.readTextFileSync(`${folder}/${source}`), ownText),
    ]),
  );
}

function main(): number {
  const recordings = ownRecordings(SOURCE);
  for (const api of new Set([...recordings.keys()].map((name) => name.split("/")[0] ?? ""))) {
    Deno.removeSync(`${TARGET}/${api}`, { recursive: true });
    Deno.mkdirSync(`${TARGET}/${api}`);
  }
  let characters = 0;
  for (const [name, text] of recordings) {
    Deno.writeTextFileSync(`${TARGET}/${name}`, text);
    characters += text.length;
  }
  say(`${recordings.size} recordings, ${Math.round(characters / 1024)} KiB`);
  return 0;
}

if (import.meta.main) await runScript(() => Promise.resolve(main()));
