/**
 * A session for people: each event as a message, a call, a result or a note in words. Files may come from any version, so
 * their members may be anything.
 *
 * @module
 */
import { callArgumentsOf, callNameOf } from "../../../domain/item.ts";
import {
  type JsonObject,
  type JsonValue,
  numberMember,
  objectMember,
  parsedObject,
  stringMember,
} from "../../../domain/json.ts";
import type { Item } from "../../../domain/event.ts";
import { counted, headOf } from "../../../domain/text.ts";
import type { ShownTurn } from "../../../store/read/show.ts";
import { noteOf, partsText, statusText } from "./words.ts";
import { type Edit, editIn } from "../../edits.ts";

/** An event of a turn that is shown. */
export type ShownEvent = ShownTurn["events"][number];

/** A text that a person or a model wrote. */
export interface MessageBlock {
  readonly kind: "message";
  readonly from: "user" | "assistant";
  readonly text: string;
}
/** A reasoning item: facts about it, and the summary that came with it. */
export interface ReasoningBlock {
  readonly kind: "reasoning";
  readonly about: string;
  /** Empty without a summary. */
  readonly text: string;
}
/** A call of a tool. */
export interface CallBlock extends CalledTool {
  readonly kind: "call";
  /** The `seq` of its event. */
  readonly seq: unknown;
  /** Arguments that do not fit in a line; may be empty. */
  readonly text: string;
  /** `null` if it edits nothing. */
  readonly edit: Edit | null;
}
/** The result of a call. */
export interface ResultBlock extends CalledTool {
  readonly kind: "result";
  /** The `seq` of the event of its call. */
  readonly callSeq: unknown;
  readonly isOk: boolean;
  readonly status: string;
  /** The model's view of the output. */
  readonly text: string;
  /** The complete output, if `text` is a part of it. */
  readonly blob: { readonly sha256: string; readonly bytes: number } | null;
}
/** Any other event, in words. */
export interface NoteBlock {
  readonly kind: "note";
  readonly isError: boolean;
  readonly about: string;
  /** A longer text that belongs to it, such as the summary of a checkpoint; may be empty. */
  readonly text: string;
}
/** Part of a transcript. */
export type Block = MessageBlock | ReasoningBlock | CallBlock | ResultBlock | NoteBlock;

/** A called tool. */
interface CalledTool {
  readonly name: string;
  /** Its arguments in one line; may be empty. */
  readonly subject: string;
}

/** UTF-16 units of a call's arguments that are shown beside its name. */
const SUBJECT_SHOWN = 200;

/** The mark before an event that is omitted. */
export const OMITTED_MARK: NoteBlock = {
  kind: "note",
  isError: false,
  about: "omitted from later requests:",
  text: "",
};

/** Reads the events of turns in their order. Remembers calls, so that a result can say what was called. */
export class BlockReader {
  readonly #calls = new Map<unknown, CalledTool>();
  readonly #omitted: ReadonlySet<unknown>;

  /** `omitted` are the `seq` of events that are marked as omitted. */
  constructor(omitted: ReadonlySet<unknown> = new Set()) {
    this.#omitted = omitted;
  }

  /** The blocks of a turn, in the order of its events; the mark of an omitted event is before it. */
  blocksOf(turn: ShownTurn): Block[] {
    return turn.events.flatMap((event) => {
      const block = this.blockOf(turn, event);
      return this.#omitted.has(event.seq) ? [OMITTED_MARK, block] : [block];
    });
  }

  /** The block of an event. */
  blockOf(turn: ShownTurn, event: ShownEvent): Block {
    const item = objectMember(event, "item") ?? {};
    switch (event.type) {
      case "user_message":
        return { kind: "message", from: "user", text: partsText(event.content) };
      case "assistant_message":
        return {
          kind: "message",
          from: "assistant",
          text: stringMember(item, "text") ?? partsText(item.content),
        };
      case "reasoning":
        return reasoningBlock(item);
      case "tool_call": {
        const block = callBlock(event, item as Item);
        this.#calls.set(block.seq, block);
        return block;
      }
      case "tool_result":
        return resultBlock(event, this.#calls.get(event.call_seq));
      default: {
        const note = noteOf(turn, event);
        return { kind: "note", isError: note.isError ?? false, about: note.about, text: note.text ?? "" };
      }
    }
  }
}

/** An event as one text, without line breaks. */
export function blockLine(block: Block): string {
  const text = block.kind === "call" ? `${block.subject} ${block.text}` : block.text;
  return `${headOfBlock(block)} ${text}`.replace(/\s+/g, " ").trim();
}

/** The first line of a block; empty for a message. */
export function headOfBlock(block: Block): string {
  switch (block.kind) {
    case "message":
      return "";
    case "reasoning":
    case "note":
      return `(${block.about})`;
    case "call":
      return `→ ${block.name}`;
    case "result": {
      const whole = block.blob === null ? "" : ` (whole output: blob ${block.blob.sha256.slice(0, 12)})`;
      return `← ${block.name}: ${block.status}${whole}`;
    }
  }
}

const PARAGRAPH = "\n\n";

function reasoningBlock(item: JsonObject): ReasoningBlock {
  const opaque = ["encrypted_content", "signature", "data"].map((name) => stringMember(item, name))
    .find((text) => text !== undefined && text !== "");
  const size = opaque === undefined ? "not encrypted" : `${counted(opaque.length, "byte")} encrypted`;
  const id = stringMember(item, "id");
  return {
    kind: "reasoning",
    about: `reasoning${id === undefined ? "" : ` ${id}`}, ${size}`,
    text: [stringMember(item, "thinking") ?? "", partsText(item.summary, PARAGRAPH)].filter((text) =>
      text !== ""
    ).join(
      "\n",
    ),
  };
}

function callBlock({ seq }: ShownEvent, item: Item): CallBlock {
  const name = callNameOf(item) || "?";
  const written = typeof item.type === "string" ? callArgumentsOf(item) : "";
  const given = parsedObject(written);
  if (given === null) return { kind: "call", seq, name, ...inLineOrBelow(written), edit: null };
  const edit = editIn(name, given);
  const shown = edit === null ? given : { path: edit.path };
  const members = Object.entries(shown).filter(([, value]) => value !== null && value !== undefined);
  const text = members.map(([member, value]) =>
    argumentText(member, value as JsonValue, members.length === 1)
  );
  return { kind: "call", seq, name, ...inLineOrBelow(text.join(", ")), edit };
}

/** Members that are clear without their name. */
const CLEAR = new Set(["path", "command"]);

function argumentText(name: string, value: JsonValue, isOnly: boolean): string {
  if (name === "argv" && Array.isArray(value)) return value.map(String).join(" ");
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return CLEAR.has(name) || isOnly && typeof value === "string" ? text : `${name}: ${text}`;
}

function inLineOrBelow(text: string): { subject: string; text: string } {
  return text.length <= SUBJECT_SHOWN && !text.includes("\n")
    ? { subject: text, text: "" }
    : { subject: "", text };
}

function resultBlock(event: ShownEvent, call: CalledTool | undefined): ResultBlock {
  const status = stringMember(event, "status") ?? "?";
  const blob = objectMember(event, "blob") ?? {};
  const sha256 = stringMember(blob, "sha256");
  return {
    kind: "result",
    callSeq: event.call_seq,
    name: stringMember(event, "tool") ?? "?",
    subject: call?.subject ?? "",
    isOk: status === "ok",
    status: statusText(status),
    text: stringMember(event, "output") ?? "",
    blob: sha256 === undefined ? null : { sha256, bytes: numberMember(blob, "bytes") ?? 0 },
  };
}

/** A part of a text that is too long to be shown. */
export interface Folded {
  readonly text: string;
  /** Lines and UTF-16 units that are left out; both 0 if nothing is. */
  readonly lines: number;
  readonly characters: number;
}

/** The beginning of a text that is longer than a view shows; the whole text if only a little more would be left out. */
export function folded(text: string, { lines, characters }: { lines: number; characters: number }): Folded {
  const whole = text.replace(/\n+$/, "");
  const all = whole.split("\n");
  if (all.length <= lines + 2 && whole.length <= characters) return { text: whole, lines: 0, characters: 0 };
  const head = headOf(all.slice(0, lines).join("\n"), characters);
  return {
    text: head,
    lines: all.length - head.split("\n").length,
    characters: whole.length - head.length,
  };
}
