/**
 * Transcripts: a session or a fixture for people, as facts about it, and its turns or exchanges. These consist of blocks, one
 * for each event of a session, or item of a recorded request or answer. A terminal, Markdown and a page draw the same blocks.
 */
import { headOf } from "../../domain/text.ts";
import type { FileEdit } from "../edits.ts";

export type Fact = readonly [name: string, value: string];

export interface Transcript {
  /** The id of a session, the path of a fixture. */
  readonly name: string;
  /** Empty without one. */
  readonly title: string;
  readonly facts: readonly Fact[];
  /** Runs of a session, recordings of a fixture that has several. */
  readonly groups: readonly Group[];
  readonly entries: readonly Entry[];
}

export interface Group {
  /** Such as `Run 2`. */
  readonly name: string;
  /** Such as the outcome of a run. */
  readonly state: string;
  readonly isError: boolean;
  /** The prompt of a run. */
  readonly about: string;
}

/** A turn or an exchange. */
export interface Entry {
  /** The fragment of its link, such as `turn-12`. */
  readonly id: string;
  /** Such as `Turn 12`. */
  readonly name: string;
  /** Writer, time, model and cost; as many as are known. */
  readonly words: readonly string[];
  readonly from: "user" | "model" | "other";
  readonly isError: boolean;
  readonly group: number;
  readonly blocks: readonly Block[];
}

/** The event of a session that a block is about. */
export interface Placed {
  /** Absent outside of sessions. */
  readonly seq?: number | undefined;
}
interface MessageBlock extends Placed {
  readonly kind: "message";
  /** A role, such as `user` or `assistant`. */
  readonly from: string;
  readonly text: string;
}
/** A reasoning item: facts about it, and the summary that came with it. */
export interface ReasoningBlock extends Placed {
  readonly kind: "reasoning";
  readonly about: string;
  /** Empty without a summary. */
  readonly text: string;
  /** The opaque part and the id: requests that send it back have one of them. Empty without an opaque part. */
  readonly keys: readonly string[];
  /** The later requests with it, and the reason for each that left it out; absent if that was not looked up. */
  readonly fate?: readonly string[];
}
export interface CallBlock extends CalledTool, Placed {
  readonly kind: "call";
  /** The key that its result has too; `null` if the provider runs the tool, so that no client returns a result. */
  readonly key: unknown;
  /** Arguments that do not fit in a line; may be empty. */
  readonly text: string;
  /** `null` if it edits nothing. */
  readonly edit: FileEdit | null;
  /** Its result, and the permission decision about it, if {@linkcode paired} found them. */
  readonly result?: ResultBlock | undefined;
  readonly decision?: NoteBlock | undefined;
}
export interface ResultBlock extends CalledTool, Placed {
  readonly kind: "result";
  readonly key: unknown;
  readonly isOk: boolean;
  readonly status: string;
  /** The model's view of the output. */
  readonly text: string;
  /** The complete output, if `text` is a part of it. */
  readonly blob: { readonly sha256: string; readonly bytes: number } | null;
}
/** Anything else, in words. */
export interface NoteBlock extends Placed {
  readonly kind: "note";
  readonly isError: boolean;
  readonly about: string;
  /** A longer text that belongs to it, such as the summary of a checkpoint; may be empty. */
  readonly text: string;
  /** The key of the call that a permission decision is about. */
  readonly key?: unknown;
  /** An image: its data, or the blob that holds it. */
  readonly image?: Image | undefined;
  /** The fragment of the entry that it names, such as `exchange-2`. */
  readonly to?: string | undefined;
  /** It is the heading of what follows. */
  readonly isHeading?: true;
}
/** The events of a streamed answer, a line each. */
interface EventsBlock extends Placed {
  readonly kind: "events";
  readonly lines: readonly string[];
}
/** An image of a type that browsers draw without running anything. */
export type Image = { readonly src: string } | { readonly type: string; readonly sha256: string };
export type Block = MessageBlock | ReasoningBlock | CallBlock | ResultBlock | NoteBlock | EventsBlock;

interface CalledTool {
  readonly name: string;
  /** Its arguments in one line; may be empty. */
  readonly subject: string;
}

export function note(about: string, more: Partial<Omit<NoteBlock, "kind" | "about">> = {}): NoteBlock {
  return { kind: "note", isError: false, about, text: "", ...more };
}

export const OMITTED_MARK = note("omitted from later requests:");

/**
 * Moves results and permission decisions to their calls, also from one list to another. The first result of a call is
 * its own; all others stay in their places.
 */
export function paired(lists: readonly (readonly Block[])[]): Block[][] {
  const calls = new Set(lists.flat().flatMap((block) => block.kind === "call" ? [block.key] : []));
  const results = new Map<unknown, ResultBlock>();
  const decisions = new Map<unknown, NoteBlock>();
  const isMoved = (block: Block) => {
    const known = block.kind === "result" ? results : block.kind === "note" && block.key ? decisions : null;
    const { key } = block as ResultBlock;
    if (known === null || !calls.has(key) || known.has(key)) return false;
    known.set(key, block as ResultBlock & NoteBlock);
    return true;
  };
  const kept = lists.map((blocks) => blocks.filter((block) => !isMoved(block)));
  return kept.map((blocks) =>
    blocks.map((block) => {
      if (block.kind !== "call") return block;
      return { ...block, result: results.get(block.key), decision: decisions.get(block.key) };
    })
  );
}

/** A block as one text, without line breaks. */
export function blockLine(block: Block): string {
  const text = block.kind === "call"
    ? `${block.subject} ${block.text}`
    : block.kind === "events"
    ? ""
    : block.text;
  return `${headOfBlock(block)} ${text}`.replace(/\s+/g, " ").trim();
}

/** The first line of a block; empty for a prompt and an answer. */
export function headOfBlock(block: Block): string {
  switch (block.kind) {
    case "message":
      return isSpeech(block) ? "" : `(${block.from})`;
    case "reasoning":
    case "note":
      return `(${block.about})`;
    case "events":
      return `(${block.lines.length === 1 ? "1 event" : `${block.lines.length} events`})`;
    case "call":
      return `→ ${block.name}`;
    case "result": {
      const whole = block.blob === null ? "" : ` (whole output: blob ${block.blob.sha256.slice(0, 12)})`;
      return `← ${block.name}: ${block.status}${whole}`;
    }
  }
}

/** The place of an event in its session, which `fork` and `omit` take; empty outside of sessions. */
export function seqText({ seq }: Placed): string {
  return seq === undefined ? "" : ` · seq ${seq}`;
}

/** True for a prompt and an answer, which need no other name. */
export function isSpeech({ from }: MessageBlock): boolean {
  return from === "user" || from === "assistant";
}

/** A part of a text that is too long to be shown. */
export interface ShortenedText {
  readonly text: string;
  /** Lines and UTF-16 units that are left out; both 0 if nothing is. */
  readonly lines: number;
  readonly characters: number;
}

/** The beginning of a text that is longer than a view shows; the whole text if only a little more would be left out. */
export function shortenedText(
  text: string,
  { lines, characters }: { lines: number; characters: number },
): ShortenedText {
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
