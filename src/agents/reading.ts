/** Helpers of all readers: lost parts, branches, and values of JSON. */
import type { Item } from "../domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { AgentBranch, AgentEntry, LostPart } from "./agent_session.ts";
import type { SidePath, TreeLine } from "./tree.ts";

/** Collects lost parts; a part that is lost on many lines for one reason is named once. */
export class LostParts {
  readonly parts: LostPart[] = [];
  readonly #once = new Set<string>();

  add(line: number, what: string, why: string): void {
    this.parts.push({ line, what, why });
  }

  /** Adds the part at its first line only. */
  addOnce(line: number, what: string, why: string): void {
    const key = `${what}\n${why}`;
    if (this.#once.has(key)) return;
    this.#once.add(key);
    this.add(line, what, why);
  }
}

/** Name of a message as a lost part. */
export function messageBy(role: JsonValue | undefined): string {
  return `message of ${JSON.stringify(role ?? null)}`;
}

/** A text member that is not empty. */
export function textIn(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Objects of an array; empty for any other value. */
export function objectsIn(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}

/** Text of an output: a string, or the texts of its parts. */
export function outputText(output: JsonValue | undefined): string {
  if (typeof output === "string") return output;
  if (!Array.isArray(output)) return output === undefined ? "" : JSON.stringify(output);
  return output.map((part) => isJsonObject(part) && typeof part.text === "string" ? part.text : "").join("");
}

/** A number of tokens; 0 if it is missing. */
export function tokensIn(value: JsonValue | undefined): number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : 0;
}

export function textPart(text: string): Item {
  return { type: "input_text", text };
}

/** An image in a message of the user, as the Responses API has it. */
export function imagePart(mediaType: string, base64: string): Item {
  return { type: "input_image", detail: "auto", image_url: `data:${mediaType};base64,${base64}` };
}

/** Branches of their lines. `entriesOf` reads the lines of one; branches without an entry are left out. */
export function branchesOf(
  paths: readonly SidePath[],
  main: readonly AgentEntry[],
  entriesOf: (lines: readonly TreeLine[]) => readonly AgentEntry[],
): AgentBranch[] {
  return paths.flatMap(({ after, lines }): AgentBranch[] => {
    const entries = entriesOf(lines);
    const [first] = entries;
    if (first === undefined) return [];
    const shared = main.filter(({ line }) => line <= after).length;
    const isSide = lines[0]?.json.isSidechain === true;
    return [{ name: `${isSide ? "sidechain" : "branch"} at line ${first.line}`, shared, entries }];
  });
}
