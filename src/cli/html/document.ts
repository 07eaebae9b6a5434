/**
 * A transcript as one HTML file that needs nothing else and sends nothing: its style and its script are allowed by their
 * hashes. It is whole without the script, which adds the search and the keys.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import SCRIPT_SOURCE from "./assets/page.js" with { type: "text" };
import STYLE_SOURCE from "./assets/page.css" with { type: "text" };
import { headOf } from "../../domain/text.ts";
import { paired } from "../transcript/blocks.ts";
import type { Entry, Fact, Group, Transcript } from "../transcript/transcript.ts";
import { blockHtml, type ImageReader } from "./draw.ts";
import { escapeHtml } from "./markdown.ts";

const SCRIPT = compact(SCRIPT_SOURCE);
const STYLE = compact(STYLE_SOURCE);

/** A file of ours without its indentation and the comments that have lines of their own. */
function compact(source: string): string {
  return source.replace(/^\s*(?:\/\/.*|\/\*.*\*\/)?\s*/gm, "");
}

/** Facts that are numbers: they have the one line that is always open. */
const NUMBERS: ReadonlySet<string> = new Set(["turns", "exchanges", "time", "recorded", "tokens", "cost"]);

/** Options of {@linkcode pageHtml}. */
export interface PageOptions {
  /** Findings about the whole, such as damaged files. */
  readonly warnings?: readonly string[];
  readonly imageOf?: ImageReader;
}

/** Writes a transcript as HTML. */
export function pageHtml(transcript: Transcript, options: PageOptions = {}): string {
  const { warnings = [], imageOf = (image) => "src" in image ? image.src : null } = options;
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(SCRIPT)}'`,
    `style-src '${hashOf(STYLE)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const title = escapeHtml(transcript.title || transcript.name);
  const isNumber = ([name]: Fact) => NUMBERS.has(name);
  const others = transcript.facts.filter((fact) => !isNumber(fact));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1 dir="auto">${title}</h1>
<search hidden><input type="search" aria-label="Search" placeholder="Search (press /)"><output></output>
<button title="Light or dark">◐</button><button title="Keys">?</button></search>
</header>
${navigation(transcript)}<main>
${warnings.map((text) => `<p class="note bad">${escapeHtml(text)}</p>\n`).join("")}<p class="facts">${
    transcript.facts.filter(isNumber).map(([, value]) => escapeHtml(value)).join(" · ")
  }</p>
<p class="facts">${others.map(([name, value]) => `${name} ${escapeHtml(value)}`).join(" · ")}</p>
${entriesHtml(transcript, imageOf)}</main>
<dialog></dialog>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** UTF-16 units of a prompt in the list of runs. */
const SHOWN_PROMPT = 80;

/** Links to the groups; none for a single one. */
function navigation({ groups, entries }: Transcript): string {
  if (groups.length < 2) return "";
  const links = groups.map((group, index) => {
    const first = entries.find((entry) => entry.group === index);
    const about = headOf(group.about.replace(/\s+/g, " ").trim(), SHOWN_PROMPT);
    return `<li><a href="#${first?.id ?? ""}">${groupName(group)}<small dir="auto">${
      escapeHtml(about)
    }</small></a></li>\n`;
  });
  return `<nav><ol>\n${links.join("")}</ol></nav>\n`;
}

function groupName({ name, state, isError }: Group): string {
  return `<b>${escapeHtml(name)}</b> <span class="state${isError ? " bad" : ""}">${escapeHtml(state)}</span>`;
}

function entriesHtml({ groups, entries }: Transcript, imageOf: ImageReader): string {
  const lists = paired(entries.map(({ blocks }) => blocks));
  return entries.map((entry, index) => {
    const group = groups[entry.group];
    const isFirst = group !== undefined && entry.group !== entries[index - 1]?.group;
    const blocks = (lists[index] ?? []).map((block) => blockHtml(block, imageOf));
    const heading = isFirst ? `<h2>${groupName(group)}</h2>\n` : "";
    return `${heading}${entryHtml(entry, blocks)}\n`;
  }).join("");
}

/** An entry. If all its blocks are beside calls of other entries, only its heading is left. */
function entryHtml({ id, name, words, isError }: Entry, blocks: readonly string[]): string {
  const empty = blocks.length === 0;
  const kind = [...(isError ? ["bad"] : []), ...(empty ? ["empty"] : [])].join(" ");
  const text = [...words, ...(empty ? ["shown with the calls"] : [])].map(escapeHtml).join(" · ");
  const heading = `<h3><a href="#${id}">${escapeHtml(name)}</a> <small>${text}</small></h3>`;
  return `<article id="${id}" class="${kind}">${heading}${blocks.join("\n")}</article>`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(Buffer.from(text)).digest("base64")}`;
}
