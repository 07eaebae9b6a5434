/**
 * Blocks as HTML. Every text is escaped or rendered to inert Markdown, and no attribute holds a text that comes from outside
 * but the data of images.
 */
import {
  type Block,
  type CallBlock,
  type Entry,
  headOfBlock,
  type Image,
  isSpeech,
  type NoteBlock,
  type Placed,
  type ReasoningBlock,
  type ResultBlock,
  seqText,
  shortenedText,
} from "../transcript/blocks.ts";
import { diffText } from "../changed_lines.ts";
import { escapeHtml, richText } from "./markdown.ts";

/** The address of an image; `null` if it cannot be read, or is too large for a page. */
export type ImageReader = (image: Image) => string | null;

/** Lines and UTF-16 units of a text that are open on a page; the rest is a click away. */
const SHOWN = { lines: 24, characters: 2400 } as const;

/** Draws a block of an entry that `from` wrote. */
export function blockHtml(block: Block, imageOf: ImageReader, from: Entry["from"]): string {
  const place = idOf(block);
  switch (block.kind) {
    case "message": {
      if (!isSpeech(block)) {
        return `<div class="message"${place}>${who(block.from)}${plain(block.text)}</div>`;
      }
      const [kind, name] = block.from === "user" ? ["user", "Prompt"] : ["model", "Model"];
      // The heading of its entry says it.
      const writer = from === kind ? "" : `<p class="who">${name}</p>`;
      return `<div class="message ${kind}"${place}>${writer}${richText(block.text)}</div>`;
    }
    case "reasoning":
      return reasoningHtml(block, place);
    case "call":
      return callHtml(block, place);
    case "result":
      return `<div class="call"${place}><div>${who(headOfBlock(block), block)}</div>${
        resultHtml(block)
      }</div>`;
    case "note":
      return noteHtml(block, imageOf);
    case "events":
      return `<details${place}><summary>${block.lines.length} events</summary>${
        pre(block.lines.join("\n"))
      }</details>`;
  }
}

function idOf({ seq }: Placed): string {
  return seq === undefined ? "" : ` id="seq-${seq}"`;
}

function who(text: string, { subject = "", ...block }: Placed & { readonly subject?: string } = {}): string {
  const code = subject === "" ? "" : ` <code>${escapeHtml(subject)}</code>`;
  return `<p class="who"><b>${escapeHtml(text)}</b>${code}${seqText(block)}</p>`;
}

function reasoningHtml(block: ReasoningBlock, place: string): string {
  const { about, text, keys, fate = [] } = block;
  const sent = keys.length === 0 ? [] : fate;
  const facts = [about, ...sent].map(escapeHtml).join(" · ") + seqText(block);
  return `<div class="reasoning"${place}><p class="who">${facts}</p>${
    text === "" ? "" : richText(text)
  }</div>`;
}

function callHtml(block: CallBlock, place: string): string {
  const { text, edit, key, decision, result } = block;
  const isPatch = text.startsWith("*** Begin Patch\n");
  const called = [
    who(headOfBlock(block), block),
    decision === undefined ? "" : noteHtml(decision, () => null),
    edit === null ? "" : diff(diffText(edit.before, edit.after)),
    text === "" ? "" : isPatch ? diff(text.replace(/^\*\*\* ?/gm, "@ ")) : plain(text),
  ];
  const answer = result !== undefined
    ? resultHtml(result, idOf(result))
    : key === null
    ? ""
    : '<p class="note bad">no result</p>';
  return `<div class="call"${place}><div>${called.join("")}</div>${answer}</div>`;
}

function resultHtml(block: ResultBlock, place = ""): string {
  const { isOk, status, text, blob } = block;
  const whole = blob === null ? "" : ` · whole output: blob ${blob.sha256.slice(0, 12)}, ${blob.bytes} bytes`;
  return `<div${place}><p class="who ${isOk ? "good" : "bad"}">← ${
    escapeHtml(status + whole + seqText(block))
  }</p>${plain(text)}</div>`;
}

function noteHtml(block: NoteBlock, imageOf: ImageReader): string {
  const { about, text, isError, image, to, isHeading } = block;
  const src = image === undefined ? null : imageOf(image);
  const [place, head] = [idOf(block), escapeHtml(about)];
  const bad = `${isHeading ? " heading" : ""}${isError ? " bad" : ""}`;
  const link = to === undefined ? "" : ` <a href="#${to}">show</a>`;
  if (src !== null) {
    return `<figure${place}><img src="${src}" alt=""><figcaption>${head}</figcaption></figure>`;
  }
  if (text === "") return `<p class="note${bad}"${place}>${head}${link}</p>`;
  return `<details class="note${bad}"${place}><summary>${head}</summary>${richText(text)}</details>`;
}

/** A text in lines; if it is long, its end is folded. */
function plain(text: string, draw: (text: string) => string = pre): string {
  if (text.trim() === "") return "";
  const part = shortenedText(text, SHOWN);
  if (part.characters === 0) return draw(part.text);
  const rest = text.slice(part.text.length).replace(/^\n/, "");
  const left = part.lines > 0 ? `${part.lines} more lines` : `${part.characters} more characters`;
  return `${draw(part.text)}<details class="more"><summary>${left}</summary>${draw(rest)}</details>`;
}

function pre(text: string): string {
  // The parser drops a line break just after the tag.
  return `<pre dir="auto">\n${escapeHtml(text)}</pre>`;
}

const SIGNS: Readonly<Record<string, string>> = { "+": "ins", "-": "del", "@": "small" };

/** Lines of a change: each begins with its sign. */
function diff(text: string): string {
  return plain(text, (part) => {
    const lines = part.split("\n").map((line) => {
      const tag = SIGNS[line.charAt(0)] ?? "span";
      return `<${tag}>${escapeHtml(line)}\n</${tag}>`;
    });
    return `<pre class="diff" dir="auto">\n${lines.join("")}</pre>`;
  });
}
