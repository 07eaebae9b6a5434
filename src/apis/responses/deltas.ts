/**
 * The deltas of a response: text for the screen, and the content of items whose own events hold none (protocol §12).
 */
import { words } from "../../domain/text.ts";
import type { Item } from "../../domain/event.ts";
import { withMembers } from "../../domain/exact_json.ts";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parsedObject,
  stringMember,
} from "../../domain/json.ts";
import type { StreamUpdate } from "../api.ts";
import type { DeltaEvent } from "../stream.ts";
import { readResponsesEvent } from "./stream.ts";

const NOTHING: readonly StreamUpdate[] = [];

/** Text of one item, by the member that holds it. */
class Content {
  text = "";
  refusal = "";
  reasoning = "";
  readonly summary = new Map<number, string>();
}

/** Events that {@linkcode DeltaReader.keep} takes: their text matters only if the events of their items hold none. */
export const SPARE_EVENTS: ReadonlySet<string> = new Set(words(`
  response.custom_tool_call_input.delta response.custom_tool_call_input.done
  response.function_call_arguments.delta response.function_call_arguments.done
  response.output_text.done response.reasoning_text.done response.refusal.done
`));

/** The most frequent event of a stream, read without an object for its JSON. */
interface PlainDelta {
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
  const match = PLAIN.exec(data);
  if (match === null) return null;
  // Of two members with one name, the last counts.
  const index = match[3] ?? match[1];
  return index === undefined ? null : { outputIndex: Number(index), text: match[2] as string };
}

/** Turns deltas into updates for the screen, and creates updates for servers that send no deltas. */
export class DeltaReader {
  readonly #phases = new Map<number, string>();
  /** Text so far, by position: of items with at least one delta. */
  readonly #contents = new Map<number, Content>();
  /** Data of events that are read only if an item has no content. */
  readonly #spare: string[] = [];
  /** Those of them that came while no item was open. */
  readonly #outside: string[] = [];
  /** Positions of items that began in an event of their own. */
  readonly #begun = new Set<number>();
  /** Number of calls that came without such an event. */
  #unannounced = 0;
  readonly #summaryIndexes = new Map<number, number>();
  /** Positions of announced items by their ids, for servers whose deltas name no position (protocol §12). */
  readonly #announced = new Map<string, number>();
  #latest = 0;

  /** Notes the position of an item, and the phase of a message, which its deltas do not repeat (protocol §2.5). */
  announce(outputIndex: number, item: Item): void {
    this.#latest = outputIndex;
    this.#begun.add(outputIndex);
    if (typeof item.id === "string") this.#announced.set(item.id, outputIndex);
    if (typeof item.phase === "string") this.#phases.set(outputIndex, item.phase);
  }

  /** Text for the screen; a blank line separates the parts of one summary. */
  read({ channel, text, place, part, type, data = {} }: DeltaEvent): readonly StreamUpdate[] {
    if (channel === "hidden" || text === null || text === "") return NOTHING;
    const outputIndex = place ?? this.#positionOf(data);
    const content = this.#contentAt(outputIndex);
    if (channel === "text") {
      content[type === "response.refusal.delta" ? "refusal" : "text"] += text;
      return [this.#textUpdate(outputIndex, text)];
    }
    if (channel === "reasoning") {
      content.reasoning += text;
      return [{ kind: "reasoning_delta", outputIndex, delta: text }];
    }
    const summary = part?.index ?? 0;
    content.summary.set(summary, (content.summary.get(summary) ?? "") + text);
    const previous = this.#summaryIndexes.get(outputIndex);
    if (previous !== summary) this.#summaryIndexes.set(outputIndex, summary);
    const delta = previous === undefined || previous === summary ? text : `\n\n${text}`;
    return [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  /** Text of a message, as {@linkcode read} returns it. */
  readText({ outputIndex, text }: PlainDelta): readonly StreamUpdate[] {
    if (text === "") return NOTHING;
    this.#contentAt(outputIndex).text += text;
    return [this.#textUpdate(outputIndex, text)];
  }

  /** The text of a finished item as one delta, if the server sent no delta for it (protocol §12). */
  unseen(item: Item, outputIndex: number): readonly StreamUpdate[] {
    if (this.#contents.has(outputIndex)) return NOTHING;
    if (item.type === "message") {
      this.announce(outputIndex, item);
      const delta = joinText(item.content, "");
      return delta === "" ? NOTHING : [this.#textUpdate(outputIndex, delta)];
    }
    if (item.type !== "reasoning") return NOTHING;
    const delta = joinText(item.summary, "\n\n") || joinText(item.content, "\n\n");
    return delta === "" ? NOTHING : [{ kind: "reasoning_delta", outputIndex, delta }];
  }

  /** Keeps the data of an event for {@linkcode filled}; `isOutside` if no item is open. */
  keep(data: string, isOutside: boolean): void {
    this.#spare.push(data);
    if (isOutside) this.#outside.push(data);
  }

  /** Notes an item that came whole. */
  take({ type }: Item, outputIndex: number): void {
    if (type !== "message" && type !== "reasoning" && !this.#begun.has(outputIndex)) this.#unannounced++;
  }

  /** Forgets what {@linkcode keep} kept for {@linkcode filled}: no item is open. */
  release(): void {
    this.#spare.length = 0;
  }

  /** The positions whose items got texts, in ascending order. */
  positions(): number[] {
    return [...this.#contents.keys()].sort((a, b) => a - b);
  }

  /**
   * True if arguments came for more calls than there are. Calls are counted, as some servers give the arguments another
   * position than their call.
   */
  lacksCalls(): boolean {
    const places = new Set([...this.#outside, ...this.#spare].flatMap((data) => {
      const json = parsedObject(data);
      const { type = "", place } = json === null ? {} : readResponsesEvent(json);
      if (json === null || !/function_call_arguments|custom_tool_call_input/.test(type)) return [];
      const id = stringMember(json, "item_id") ?? "";
      return [place ?? this.#announced.get(id) ?? id];
    }));
    return [...places].filter((place) => !this.#begun.has(place as number)).length > this.#unannounced;
  }

  /** An item without content of its own, with that of its deltas; `null` if it has content, or the deltas have none. */
  filled(item: Item, outputIndex: number): Item | null {
    const { text, refusal, reasoning, summary } = this.#contents.get(outputIndex) ?? new Content();
    const spare = (type: string, member: string) => this.#spareText(outputIndex, type, member);
    switch (item.type) {
      case "message": {
        if (!isEmpty(item.content)) return null;
        const said = text || spare("output_text", "text");
        const refused = refusal || spare("refusal", "refusal");
        const content = [
          ...(said === "" ? [] : [{ type: "output_text", text: said, annotations: [] }]),
          ...(refused === "" ? [] : [{ type: "refusal", refusal: refused }]),
        ];
        return content.length === 0 ? null : withMembers(item, { content }) as Item;
      }
      case "function_call":
      case "custom_tool_call": {
        const member = item.type === "function_call" ? "arguments" : "input";
        const value = item[member];
        if (value !== undefined && value !== null && value !== "") return null;
        const type = item.type === "function_call" ? "function_call_arguments" : "custom_tool_call_input";
        const payload = spare(type, member);
        return payload === "" ? null : withMembers(item, { [member]: payload }) as Item;
      }
      case "reasoning": {
        // Encrypted reasoning goes back unchanged.
        if (typeof item.encrypted_content === "string") return null;
        if (!isEmpty(item.content) || !isEmpty(item.summary)) return null;
        const shown = reasoning || spare("reasoning_text", "text");
        const parts = [...summary].sort(([a], [b]) => a - b).map(([, text]) => ({
          type: "summary_text",
          text,
        }));
        if (shown === "" && parts.length === 0) return null;
        const content = shown === "" ? {} : { content: [{ type: "reasoning_text", text: shown }] };
        return withMembers(item, { summary: parts, ...content }) as Item;
      }
      default:
        return null;
    }
  }

  /** The text that kept events of a type give an item: whole in the last one, otherwise in pieces. */
  #spareText(outputIndex: number, type: string, member: string): string {
    const events = this.#spare.flatMap((data) => {
      if (!data.includes(type)) return [];
      const json = parsedObject(data);
      const event = json === null ? null : readResponsesEvent(json);
      const place = event === null ? null : event.place ?? this.#positionOf(event.data ?? {});
      return json !== null && place === outputIndex ? [{ json, type: event?.type }] : [];
    });
    const whole = events.findLast((event) => event.type === `response.${type}.done`);
    const pieces = events.filter((event) => event.type === `response.${type}.delta`);
    return stringMember(whole?.json ?? {}, member) ??
      pieces.map(({ json }) => stringMember(json, "delta") ?? "").join("");
  }

  #contentAt(outputIndex: number): Content {
    let content = this.#contents.get(outputIndex);
    if (content === undefined) this.#contents.set(outputIndex, content = new Content());
    return content;
  }

  #positionOf({ item_id: id }: JsonObject): number {
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

/** True if no part has a text, and each could have one. */
function isEmpty(parts: JsonValue | undefined): boolean {
  if (typeof parts === "string") return parts === "";
  if (!Array.isArray(parts)) return parts === undefined || parts === null;
  return parts.every((part) => isJsonObject(part) && (part.text === "" || part.refusal === ""));
}
