/** Helpers of all readers: lost parts, branches, and values of JSON. */
import type { Item } from "../domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn } from "../domain/json.ts";
import type { LostPart } from "../schemas/maintenance.ts";

/** Collects lost parts; a part that is lost on many lines for one reason is named once. */
export class LostParts {
  readonly parts: LostPart[] = [];
  readonly #once = new Set<string>();

  add(line: number, what: string, why: string): void {
    this.parts.push({ line, what, why });
  }

  addOnce(line: number, what: string, why: string): void {
    const key = `${what}\n${why}`;
    if (this.#once.has(key)) return;
    this.#once.add(key);
    this.add(line, what, why);
  }
}

export function messageBy(role: JsonValue | undefined): string {
  return `message of ${JSON.stringify(role ?? null)}`;
}

/** A text member that is not empty. */
export function textIn(value: JsonValue | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

/** Text of a result: a string, or the texts of its parts. `lose` gets each part that is no text. */
export function resultText(
  output: JsonValue | undefined,
  lose: (what: string, why: string) => void = () => {},
): string {
  if (typeof output === "string") return output;
  if (output === undefined) lose("output", "the file has none");
  if (!Array.isArray(output)) return output === undefined || output === null ? "" : JSON.stringify(output);
  return output.map((part) => {
    if (typeof part === "string") return part;
    if (isJsonObject(part) && typeof part.text === "string") return part.text;
    const type = isJsonObject(part) ? part.type ?? null : null;
    const isImage = type === "image" || type === "input_image";
    lose(isImage ? "image" : `part ${JSON.stringify(type)}`, "results of calls are kept as text");
    return "";
  }).join("");
}

/** Parts of a content; a string is one part of type `text`. */
export function partsIn(content: JsonValue | undefined, text = "text"): JsonObject[] {
  return typeof content === "string" && content !== "" ? [{ type: text, text: content }] : objectsIn(content);
}

/** Members of a usage with their counts; unknown ones are left out. `null` if none counts a token. */
export function countedUsage(counts: Readonly<Record<string, JsonValue | undefined>>): JsonObject | null {
  const known = Object.entries(counts).filter(([, count]) =>
    Number.isSafeInteger(count) && Number(count) >= 0
  );
  return known.some(([, count]) => count !== 0) ? Object.fromEntries(known) as JsonObject : null;
}

export function textPart(text: string): Item {
  return { type: "input_text", text };
}

/** An image in a message of the user, as the Responses API has it. */
export function imagePart(mediaType: string, base64: string): Item {
  return { type: "input_image", detail: "auto", image_url: `data:${mediaType};base64,${base64}` };
}

/** First words of a message that is a summary. */
export const SUMMARY = "This is a summary of the conversation so far:";

export function summaryText(summary: string): string {
  return `${SUMMARY}\n\n${summary}`;
}
