/**
 * Which models belong to one family: reasoning may be reusable within it, never across (protocol §4.3).
 *
 * @module
 */

/** When the table was last checked against what the providers say. */
export const FAMILIES_AS_OF = "2026-11-21";

/** A family and how the names of its models begin; the longest beginning that fits counts. */
const FAMILIES: readonly (readonly [prefix: string, family: string])[] = [
  ["gpt-5.6", "gpt-5.6"],
  ["gpt-5.5", "gpt-5.5"],
  ["gpt-5.4", "gpt-5.4"],
  ["gpt-5.3", "gpt-5.3"],
  ["gpt-5.2", "gpt-5.2"],
  ["gpt-5.1", "gpt-5.1"],
  ["gpt-5", "gpt-5"],
  ["gpt-6.1", "gpt-6.1"],
  ["gpt-6", "gpt-6"],
  ["o4", "o4"],
  ["o3", "o3"],
  ["o1", "o1"],
  ["codex-mini", "codex-mini"],
  ["gpt-oss", "gpt-oss"],
];

/** The family of a model, or `null` for one that the table does not know: then only its own name fits. */
export function familyOf(model: string): string | null {
  const name = model.toLowerCase();
  let best: readonly [string, string] | null = null;
  for (const entry of FAMILIES) {
    const [prefix] = entry;
    const next = name.charAt(prefix.length);
    if (!name.startsWith(prefix) || (next !== "" && next !== "-")) continue;
    if (best === null || prefix.length > best[0].length) best = entry;
  }
  return best?.[1] ?? null;
}
