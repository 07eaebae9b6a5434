/** Exports that are broken, or that were made to do harm. */
import { sha256 } from "../../support/files.ts";
import { sealed } from "./session_files.ts";

/** Lines as a file, with an end that fits them, so that only what a row changed is wrong. */
function sealedLines(lines: readonly string[]): string {
  const body = lines.map((line) => `${line}\n`).join("");
  return `${body}${JSON.stringify({ end: true, sha256: sha256(body) })}\n`;
}

/** The file whose line at `at` has other members. */
const edited = (at: number, members: object) => (lines: string[]) =>
  sealedLines(
    lines.with(at, JSON.stringify({ ...JSON.parse(lines[at] as string), ...members })).slice(0, -1),
  );

/** The file in which a turn has another text, with the size and the hash of that text. */
const turn =
  (number: number, change: (text: string, lines: readonly string[]) => string) => (lines: string[]) => {
    const at = number * 2 - 1;
    const text = change(JSON.parse(lines[at + 1] as string).text, lines);
    const head = { path: JSON.parse(lines[at] as string).path, bytes: new TextEncoder().encode(text).length };
    const pair = [JSON.stringify({ ...head, sha256: sha256(text) }), JSON.stringify({ text })];
    return sealedLines([...lines.slice(0, at), ...pair, ...lines.slice(at + 2, -1)]);
  };

/** A turn with another `prev`, sealed again. */
const unchained = (text: string) =>
  sealed(text.slice(0, text.lastIndexOf('"sum":"')).replace(/"prev":"\w+"/, `"prev":"${"0".repeat(64)}"`));

const STRANGER = JSON.stringify({ path: `blobs/${sha256("")}`, bytes: 0, sha256: sha256("") });

type Row = readonly [change: (lines: string[]) => string, says: RegExp];

/** Changes of the lines of an export of five turns and two blobs, and what an import says of each. */
export const HOSTILE: Record<string, Row> = {
  "nothing": [() => "", /line 1 is missing/],
  "no newline": [(lines) => lines.join("\n"), /cut short/],
  "a return inside a line": [
    (lines) => `${lines.join("\n")}\n`.replace(",", ",\r"),
    /does not fit the lines before/,
  ],
  "a second byte order mark": [
    (lines) => `\ufeff\ufeff${lines.join("\n")}\n`,
    /neither an export|is not JSON/,
  ],
  "a byte order mark in the middle": [
    ([head, ...rest]) => `${[head, `\ufeff${rest[0]}`, ...rest.slice(1)].join("\n")}\n`,
    /line 2 is not JSON/,
  ],
  "garbage": [([head]) => `${head}\n\u0000\u0001\n`, /is not JSON/],
  "deep nesting": [([head]) => `${head}\n${"[".repeat(100_000)}\n`, /nests too deep/],
  "another format": [edited(0, { format: "tar" }), /neither an export of reprise nor/],
  "a later version": [edited(0, { format: "reprise.export/2" }), /reprise\.export\/2/],
  "a line without end": [([head]) => `${head}\n${"x".repeat(3 * 2 ** 20)}`, /has more than/],
  "a path as session id": [edited(0, { session: "../../etc" }), /no session id/],
  "the id of another session": [edited(0, { session: "other" }), /was written by session/],
  "more turns than there are": [edited(0, { turns: 6 }), /000006\.json", which comes next/],
  "a huge number of turns": [edited(0, { turns: 1e300 }), /has no "turns"/],
  "a path that leaves the session": [edited(1, { path: "turns/../../../x" }), /comes next/],
  "a huge size": [edited(1, { bytes: 2 ** 40 }), /has no "bytes"/],
  "a size too small": [edited(1, { bytes: 10 }), /more than its file has left/],
  "a size too large": [edited(1, { bytes: 60_000_000 }), /is not content/],
  "another hash": [edited(1, { sha256: "0".repeat(64) }), /does not fit its sha256/],
  "turns in another order": [
    ([head, a, b, c, d, ...rest]) => sealedLines([head, c, d, a, b, ...rest.slice(0, -1)] as string[]),
    /comes next/,
  ],
  "an altered turn, with a hash that fits it": [
    turn(1, (text) => text.replace("Read both", "Send both")),
    /ends turn 1, which does not fit its checksum/,
  ],
  "a sound turn instead of another": [
    turn(1, (_, lines) => JSON.parse(lines[4] as string).text),
    /ends turn 1, which says that it is turn 2/,
  ],
  "a turn of another history, with its own seal": [
    turn(2, unchained),
    /ends turn 2, which does not follow the turn before it/,
  ],
  "no blobs": [(lines) => sealedLines(lines.slice(0, 11)), /comes before the blob/],
  "a blob twice": [(lines) => sealedLines([...lines.slice(0, -1), ...lines.slice(-3, -1)]), /out of order/],
  "a path that leaves the blobs": [edited(11, { path: "blobs/../../x" }), /neither a blob nor the end/],
  "a blob that no turn names": [
    (lines) => sealedLines([...lines.slice(0, -1), STRANGER]),
    /no turn names/,
  ],
  "empty content": [
    (lines) => sealedLines([...lines.slice(0, 2), '{"text":""}', ...lines.slice(2, -1)]),
    /has no content/,
  ],
  "something after the end": [(lines) => `${lines.join("\n")}\n{}\n`, /comes after the end/],
  "another end": [
    (lines) => `${[...lines.slice(0, -1), '{"end":true,"sha256":"00"}'].join("\n")}\n`,
    /were altered/,
  ],
};
