/**
 * What a played session did otherwise than it should have, said for people and for programs.
 *
 * @module
 */

/** One difference between a played session and its folder. */
export interface Divergence {
  /** What differs; stable for programs. */
  readonly kind:
    | "exit"
    | "state"
    | "hangs"
    | "kill"
    | "request"
    | "unused_exchange"
    | "no_expectation"
    | "turn"
    | "missing_turn"
    | "further_turn"
    | "missing_session"
    | "further_session"
    | "blobs";
  /** Where, such as `step 2, request 3` or `session fix, turn 4`. */
  readonly where: string;
  /** What it means, in words. */
  readonly message: string;
  /** A JSON path, where the difference is inside a document. */
  readonly path?: string;
  readonly expected?: string;
  readonly received?: string;
  /** What the step itself said about it: its error, or the end of its stderr. */
  readonly said?: string;
}

/** A divergence as lines of text. */
export function divergenceLines(divergence: Divergence): string[] {
  const { where, message, path, expected, received, said } = divergence;
  return [
    `${where}: ${message}${path === undefined ? "" : ` at ${path}`}`,
    ...(expected === undefined ? [] : [`  expected: ${expected}`]),
    ...(received === undefined ? [] : [`  received: ${received}`]),
    ...(said === undefined ? [] : said.split("\n").map((line) => `  | ${line}`)),
  ];
}
