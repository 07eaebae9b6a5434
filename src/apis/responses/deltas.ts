/**
 * Deltas: text for the screen only. The hottest path of a stream, so members are checked by hand.
 *
 * @module
 */
import type { Item } from "../../domain/event.ts";
import { indexMember, isJsonObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import type { StreamUpdate } from "../api.ts";

const NOTHING: readonly StreamUpdate[] = [];

/** Turns delta events into updates, and stands in for servers that send none. */
export class DeltaReader {
  readonly #phases = new Map<number, string>();
  /** Positions with at least one delta. */
  readonly #seen = new Set<number>();
  readonly #summaryIndexes = new Map<number, number>();
  /** Positions of announced items by their ids, for servers whose deltas name none (protocol §12). */
  readonly #announced = new Map<string, number>();
  #latest = 0;

  /** Notes the position of an item, and the phase of a message, which its deltas do not repeat (protocol §2.5). */
  announce(outputIndex: number, item: Item): void {
    this.#latest = outputIndex;
    if (typeof item.id === "string") this.#announced.set(item.id, outputIndex);
    if (typeof item.phase === "string") this.#phases.set(outputIndex, item.phase);
  }

  /** Visible text, refusals included. */
  text(payload: JsonObject): readonly StreamUpdate[] {
    const { delta } = payload;
    if (typeof delta !== "string" || delta === "") return NOTHING;
    const outputIndex = this.#positionOf(payload);
    this.#seen.add(outputIndex);
    return [this.#textUpdate(outputIndex, delta)];
  }

  /** Reasoning text of models that show it. */
  reasoning(payload: JsonObject): readonly StreamUpdate[] {
    const { delta } = payload;
    if (typeof delta !== "string" || delta === "") return NOTHING;
    const outputIndex = this.#positionOf(payload);
    this.#seen.add(outputIndex);
    return [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  /** Summary text; a blank line stands between the parts of one summary. */
  summary(payload: JsonObject): readonly StreamUpdate[] {
    const { delta } = payload;
    if (typeof delta !== "string" || delta === "") return NOTHING;
    const outputIndex = this.#positionOf(payload);
    const part = typeof payload.summary_index === "number" ? payload.summary_index : 0;
    const previous = this.#summaryIndexes.get(outputIndex);
    if (previous !== part) this.#summaryIndexes.set(outputIndex, part);
    this.#seen.add(outputIndex);
    const separated = previous === undefined || previous === part ? delta : `\n\n${delta}`;
    return [{ kind: "reasoning_delta", outputIndex, delta: separated }];
  }

  /** The text of a finished item as one delta, where the server sent no delta for it (protocol §12). */
  unseen(item: Item, outputIndex: number): readonly StreamUpdate[] {
    if (this.#seen.has(outputIndex)) return NOTHING;
    if (item.type === "message") {
      this.announce(outputIndex, item);
      const delta = joinText(item.content, "");
      return delta === "" ? NOTHING : [this.#textUpdate(outputIndex, delta)];
    }
    if (item.type !== "reasoning") return NOTHING;
    const delta = joinText(item.summary, "\n\n") || joinText(item.content, "\n\n");
    return delta === "" ? NOTHING : [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  #positionOf(payload: JsonObject): number {
    const index = indexMember(payload, "output_index");
    if (index !== undefined) return index;
    const { item_id: id } = payload;
    return (typeof id === "string" ? this.#announced.get(id) : undefined) ?? this.#latest;
  }

  #textUpdate(outputIndex: number, delta: string): StreamUpdate {
    const phase = this.#phases.get(outputIndex);
    return phase === undefined
      ? { kind: "text_delta", outputIndex, delta }
      : { kind: "text_delta", outputIndex, delta, phase };
  }
}

function joinText(parts: JsonValue | undefined, separator: string): string {
  if (typeof parts === "string") return parts;
  if (!Array.isArray(parts)) return "";
  return parts.map((part) => {
    if (!isJsonObject(part)) return "";
    const text = part.type === "refusal" ? part.refusal : part.text;
    return typeof text === "string" ? text : "";
  }).filter((text) => text !== "").join(separator);
}
