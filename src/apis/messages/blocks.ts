/**
 * One content block while its deltas come in (protocol §10). The hottest path of a stream, so members are checked
 * without zod.
 */
import type { Item } from "../../domain/event.ts";
import { parseExact, withMembers } from "../../domain/exact_json.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";

/** Effect of a delta: text for the screen, a change that is not shown, or nothing because its type is unknown. */
export type DeltaEffect =
  | { readonly kind: "text" | "reasoning"; readonly delta: string }
  | "silent"
  | "unknown";

export class OpenBlock {
  readonly #start: Item;
  #text = "";
  #json = "";
  #signature: string | undefined;
  /** Complete: a compaction has one delta. */
  #compaction: JsonObject = {};
  readonly #citations: JsonValue[] = [];

  /** `start` is the `content_block` of `content_block_start`. */
  constructor(start: Item) {
    this.#start = start;
  }

  /** Text in `content_block_start`; usually none. */
  get opening(): DeltaEffect {
    const { type, text, thinking } = this.#start;
    if (type === "text" && typeof text === "string") return { kind: "text", delta: text };
    if (type === "thinking" && typeof thinking === "string") return { kind: "reasoning", delta: thinking };
    return "silent";
  }

  /** False if its end alone could tell that nothing is missing: a call without input, or with half of it. */
  get isWhole(): boolean {
    if (!this.#hasInput) return true;
    const input = this.#input();
    return isJsonObject(input) && Object.keys(input).length > 0;
  }

  /** Adds the `delta` of a `content_block_delta`. */
  add(delta: JsonObject): DeltaEffect {
    const { type } = this.#start;
    switch (delta.type) {
      case "text_delta":
        return type === "text" ? this.#addText("text", delta.text) : "unknown";
      case "thinking_delta":
        return type === "thinking" ? this.#addText("reasoning", delta.thinking) : "unknown";
      case "input_json_delta":
        if (!this.#hasInput) return "unknown";
        if (typeof delta.partial_json === "string") this.#json += delta.partial_json;
        return "silent";
      case "signature_delta":
        if (type !== "thinking") return "unknown";
        if (typeof delta.signature === "string") this.#signature = delta.signature;
        return "silent";
      case "citations_delta":
        if (type !== "text") return "unknown";
        if (delta.citation !== undefined) this.#citations.push(delta.citation);
        return "silent";
      case "compaction_delta":
        if (type !== "compaction") return "unknown";
        this.#compaction = delta;
        return "silent";
      default:
        return "unknown";
    }
  }

  /** The whole block: the members of its start, in their order, with the content of the deltas. */
  close(): Item {
    const start = this.#start;
    switch (start.type) {
      case "text": {
        const before = Array.isArray(start.citations) ? start.citations : [];
        const citations = this.#citations.length === 0 ? {} : { citations: [...before, ...this.#citations] };
        return withMembers(start, { text: stringOr(start.text) + this.#text, ...citations });
      }
      case "thinking": {
        const signature = this.#signature === undefined ? {} : { signature: this.#signature };
        return withMembers(start, { thinking: stringOr(start.thinking) + this.#text, ...signature });
      }
      case "compaction":
        return withMembers(withMembers(start, this.#compaction), { type: start.type });
      default:
        return this.#hasInput ? withMembers(start, { input: this.#input() }) : start;
    }
  }

  /** Calls of our tools and of the server's own: their input comes as pieces of JSON. */
  get #hasInput(): boolean {
    return this.#start.type === "tool_use" || Object.hasOwn(this.#start, "input");
  }

  #addText(kind: "text" | "reasoning", delta: JsonValue | undefined): DeltaEffect {
    if (typeof delta !== "string" || delta === "") return "silent";
    this.#text += delta;
    return { kind, delta };
  }

  /** Keeps text that is not JSON unchanged: the call then gets an error as its result. */
  #input(): JsonValue {
    if (this.#json === "") return this.#start.input ?? {};
    try {
      return parseExact(this.#json);
    } catch {
      return this.#json;
    }
  }
}

function stringOr(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}
