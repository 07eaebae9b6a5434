/**
 * Globs over workspace-relative paths, matched without regular expressions: time grows with pattern length
 * times path length, whatever the pattern.
 */
import { ToolFailure } from "./tool.ts";

/** The longest pattern taken, in UTF-16 units. */
const MAX_PATTERN_CHARS = 1024;
/** The most patterns that the braces of one pattern may expand to. */
const MAX_ALTERNATIVES = 64;

/** Says whether a workspace-relative path with forward slashes fits. */
export type Glob = (path: string) => boolean;

/**
 * Parses a glob: `*` and `?` within a name, `**` as a whole segment for any number of directories, and
 * `{a,b}`. A pattern without a slash is matched against the last name of the path.
 *
 * @throws {ToolFailure} when the pattern is empty, too long, or its braces do not match.
 */
export function parseGlob(pattern: string): Glob {
  if (pattern === "") throw new ToolFailure("Cannot match an empty pattern: give null to match everything");
  if (pattern.length > MAX_PATTERN_CHARS) {
    throw new ToolFailure(
      `Cannot match a pattern of ${pattern.length} characters: at most ${MAX_PATTERN_CHARS}`,
    );
  }
  const plain = pattern.startsWith("./") ? pattern.slice(2) : pattern;
  const alternatives = expandBraces(plain).map((alternative) =>
    alternative.includes("/") ? alternative.split("/") : ["**", alternative]
  );
  return (path) => {
    const names = path.split("/");
    return alternatives.some((segments) => matchSegments(segments, names));
  };
}

function expandBraces(pattern: string): string[] {
  const open = pattern.indexOf("{");
  if (open < 0) return [pattern];
  const close = pattern.indexOf("}", open);
  const inside = close < 0 ? "" : pattern.slice(open + 1, close);
  if (close < 0 || inside.includes("{")) {
    throw new ToolFailure(
      `Cannot match ${JSON.stringify(pattern)}: braces must be closed and cannot be nested`,
    );
  }
  const rest = expandBraces(pattern.slice(close + 1));
  const choices = inside.split(",");
  if (choices.length * rest.length > MAX_ALTERNATIVES) {
    throw new ToolFailure(
      `Cannot match a pattern whose braces expand to more than ${MAX_ALTERNATIVES} patterns`,
    );
  }
  return choices.flatMap((choice) => rest.map((end) => `${pattern.slice(0, open)}${choice}${end}`));
}

/** One row per pattern segment: which prefixes of `names` the segments so far can match. */
function matchSegments(segments: readonly string[], names: readonly string[]): boolean {
  let reached = names.map(() => false);
  let reachedNone = true;
  for (const segment of segments) {
    const next = names.map(() => false);
    let open = reachedNone;
    names.forEach((name, index) => {
      const before = index === 0 ? reachedNone : reached[index - 1] === true;
      open ||= before || reached[index] === true;
      next[index] = segment === "**" ? open : before && matchName(segment, name);
    });
    reachedNone &&= segment === "**";
    reached = next;
  }
  return reached.at(-1) === true;
}

/** The two-pointer match of `*` and `?`: only the last star is ever tried again. */
function matchName(pattern: string, name: string): boolean {
  let p = 0;
  let n = 0;
  let star = -1;
  let starName = 0;
  while (n < name.length) {
    const wanted = pattern[p];
    if (wanted === "*") {
      star = p++;
      starName = n;
    } else if (wanted === "?" || (wanted !== undefined && wanted === name[n])) {
      p++;
      n++;
    } else if (star >= 0) {
      p = star + 1;
      n = ++starName;
    } else {
      return false;
    }
  }
  while (pattern[p] === "*") p++;
  return p === pattern.length;
}
