/**
 * Tests with recorded traffic that is not in the repository: tests/recordings is made from it, says nothing of it, and
 * passes the same tests.
 */
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { parse as parseYaml } from "yaml";
import { ownRecordings, SOURCE } from "../../scripts/make_recordings.ts";
import { replaceRecording } from "../../scripts/recordings/formats.ts";
import { KEPT } from "../../scripts/recordings/kept.ts";
import { SELECTION } from "../../scripts/recordings/selection.ts";
import { recordingNames, recordingText, useRecordings } from "../support/recordings.ts";

/** Test files that read recordings, below tests/. */
const ALSO_HERE = [
  "unit/apis/chat/recordings_test.ts",
  "unit/apis/messages/recordings_test.ts",
  "unit/apis/messages/rules/recordings_test.ts",
  "unit/apis/responses/recordings_test.ts",
  "unit/apis/responses/rules/recordings_test.ts",
  "unit/fixture/import/recordings_test.ts",
  "unit/fixture/inspect/diff_recordings_test.ts",
  "unit/fixture/secrets/recordings_test.ts",
  "unit/fixture/serve/recordings_test.ts",
  "unit/fold/compatible_recordings_test.ts",
  "unit/fold/messages_recordings_test.ts",
  "unit/fold/recordings_test.ts",
  "unit/transport/cuts_test.ts",
  "unit/fixture/import/round_trip_test.ts",
];

/** The project's own recordings, by their names. */
const OWN = new Map(
  recordingNames("chat", "messages", "responses").map((name) => [name, recordingText(name)]),
);

if (isDirectory(SOURCE)) {
  Deno.test("tests/recordings is what deno task recordings makes", upToDate);
  Deno.test("no three words in a row, and no id, are in a recording and in a source", nothingLeft);
  useRecordings(SOURCE);
  for (const file of ALSO_HERE) await import(`../${file}`);
} else {
  Deno.test.ignore(`recorded traffic: ${SOURCE} is absent`, () => {});
}

function upToDate(): void {
  const made = ownRecordings(SOURCE);
  assert.deepEqual([...made.keys()].sort(), [...OWN.keys()].sort());
  for (const [name, text] of made) assert.ok(text === OWN.get(name), name);
}

function nothingLeft(): void {
  const theirs = new Set(
    Object.entries(SELECTION).flatMap(([name, source]) => [
      ...partsOf(name, Deno.readTextFileSync(`${SOURCE}/${source}`)),
    ]),
  );
  assert.ok(theirs.size > 5000, `only ${theirs.size} parts were found`);
  const left = [...OWN].flatMap(([name, text]) =>
    [...partsOf(name, text)].filter((part) => theirs.has(part)).map((part) => `${name}: ${part}`)
  );
  assert.deepEqual(left, []);
}

/** Three words in a row, and ids, of a recording: in its texts, and in what deltas add up to. */
function partsOf(name: string, recording: string): Set<string> {
  const texts = textsIn(name, recording);
  replaceRecording(name, recording, (text) => {
    texts.push(text);
    return text;
  });
  const parts = new Set<string>();
  for (const text of texts) {
    const rest = KEPT.reduce(
      (before, kept) => before.replaceAll(kept, "\n\n"),
      text.replaceAll(/^event: .*/gm, ""),
    );
    for (const [sentence] of rest.matchAll(/[A-Za-z'’]+(?:[,;:.]?\s[A-Za-z'’]+){2,}/g)) {
      const words = sentence.toLowerCase().split(/[,;:.]?\s/);
      for (let at = 0; at + 3 <= words.length; at++) parts.add(words.slice(at, at + 3).join(" "));
    }
    // Letters and digits mixed: too long to be equal by chance.
    for (const [id] of rest.matchAll(/(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z\d]{10,}/g)) parts.add(id);
  }
  return parts;
}

/** All texts of a recording as they were sent, without compression and base64. */
function textsIn(name: string, recording: string): string[] {
  const texts: string[] = [];
  const add = (value: unknown, member = ""): void => {
    if (value instanceof Uint8Array) texts.push(new TextDecoder().decode(gunzipSync(value)));
    else if (typeof value === "string") texts.push(member === "b64" ? atob(value) : value);
    else if (typeof value === "object" && value !== null) {
      for (const [name, part] of Object.entries(value)) add(part, name);
    }
  };
  if (/\.ya?ml$/.test(name)) add(parseYaml(recording, { customTags: ["binary"] }));
  else if (name.endsWith(".json")) add(JSON.parse(recording));
  else add(recording);
  return texts;
}

function isDirectory(path: string): boolean {
  try {
    return Deno.statSync(path).isDirectory;
  } catch {
    return false;
  }
}
