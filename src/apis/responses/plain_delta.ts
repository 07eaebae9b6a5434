/** The most frequent event of a stream, read without an object for its JSON. */

export interface PlainDelta {
  readonly outputIndex: number;
  readonly text: string;
}

/** Event that {@linkcode readPlainDelta} reads. */
export const TEXT_DELTA = "response.output_text.delta";

const COUNT = String.raw`(?:0|[1-9]\d{0,8})`;
/** A string without escapes. */
const STRING = String.raw`"([^"\\\x00-\x1f]*)"`;
const member = (name: string, value: string) => `(?:,"${name}":${value})?`;
const uncaptured = STRING.replace("(", "(?:");

/**
 * JSON of such an event as servers write it: members in one of two orders, each at most once except `output_index`,
 * `item_id` and `sequence_number`, strings without escapes, and small counts. A subset of what `JSON.parse` accepts, in a
 * third of the time.
 */
const PLAIN = new RegExp(
  [
    String.raw`^\{"type":"response\.output_text\.delta"`,
    member("sequence_number", COUNT),
    member("item_id", uncaptured),
    member("output_index", `(${COUNT})`),
    member("content_index", COUNT),
    `,"delta":${STRING}`,
    member("item_id", uncaptured),
    member("logprobs", String.raw`\[\]`),
    member("obfuscation", uncaptured),
    member("output_index", `(${COUNT})`),
    member("sequence_number", COUNT),
    String.raw`\}$`,
  ].join(""),
);

/** Reads the data of an event; `null` for any other text, which needs `JSON.parse`. */
export function readPlainDelta(data: string): PlainDelta | null {
  const found = PLAIN.exec(data);
  if (found === null) return null;
  // Of two members with one name, the last counts.
  const index = found[3] ?? found[1];
  return index === undefined ? null : { outputIndex: Number(index), text: found[2] as string };
}
