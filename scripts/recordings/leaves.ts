/**
 * The texts, numbers and names of members in JSON text, with their places, so that all around them can stay. Text that
 * is not quite JSON has them too: some streams were cut.
 *
 * @module
 */

/** A text, a number or a name. */
export interface Leaf {
  readonly kind: "string" | "number" | "name";
  /** Members and positions on the way to it; a name is the last of its own path. */
  readonly path: readonly (string | number)[];
  /** The text, or the number as it is written. */
  readonly value: string;
}

/** A leaf of JSON text, with its place there. */
export interface PlacedLeaf extends Leaf {
  readonly start: number;
  readonly end: number;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.]*(?:[eE][+-]?\d+)?|[{}[\],:]/g;

/** Finds the leaves of JSON text, in order. */
export function leavesOf(json: string): PlacedLeaf[] {
  const leaves: PlacedLeaf[] = [];
  /** The open objects and lists: where each of them is. */
  const open: { readonly isObject: boolean; part: string | number; isName: boolean }[] = [];
  for (const { 0: token, index: start } of json.matchAll(TOKENS)) {
    const last = open.at(-1);
    if (token === "{") open.push({ isObject: true, part: "", isName: true });
    else if (token === "[") open.push({ isObject: false, part: 0, isName: false });
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") { if (last) last.isName = false; }
    else if (token === ",") {
      if (last?.isObject) last.isName = true;
      else if (last) last.part = Number(last.part) + 1;
    } else {
      const isString = token.startsWith('"');
      const value = isString ? JSON.parse(token) as string : token;
      const isName = last?.isName === true && isString;
      if (isName) last.part = value;
      const path = open.map(({ part }) => part);
      const kind = isName ? "name" : isString ? "string" : "number";
      leaves.push({ kind, path, value, start, end: start + token.length });
    }
  }
  return leaves;
}

/** Returns the JSON text with other leaves; `values` has one for each. Escapes stay as they are written. */
export function withLeaves(json: string, leaves: readonly PlacedLeaf[], values: readonly string[]): string {
  let result = "";
  let end = 0;
  leaves.forEach((leaf, index) => {
    const raw = json.slice(leaf.start, leaf.end);
    const value = values[index] ?? leaf.value;
    result += json.slice(end, leaf.start) +
      (leaf.kind === "number" ? value : value === leaf.value ? raw : withText(raw, value));
    end = leaf.end;
  });
  return result + json.slice(end);
}

/** Writes `text` with the escapes of the string that it replaces; it may be shorter. */
function withText(raw: string, text: string): string {
  const units = raw.slice(1, -1).match(/\\u[\da-fA-F]{4}|\\.|[^]/g) ?? [];
  return `"${
    units.slice(0, text.length).map((unit, index) => {
      const character = text[index] ?? "";
      if (JSON.parse(`"${unit}"`) === character) return unit;
      return unit.startsWith("\\u")
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
        : JSON.stringify(character).slice(1, -1);
    }).join("")
  }"`;
}
