/**
 * A transcript as one HTML file that needs nothing else and sends nothing: its style and its script are allowed by their
 * hashes. It is whole without the script, which adds the search and the keys.
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import SCRIPT_SOURCE from "./assets/page.js" with { type: "text" };
import STYLE_SOURCE from "./assets/page.css" with { type: "text" };
import { headOf } from "../../domain/text.ts";
import { type Entry, type Fact, type Group, paired, type Transcript } from "../transcript/blocks.ts";
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

/** A link to another page, which lies beside this one. */
export interface PageLink {
  readonly text: string;
  /** Path from this page, not encoded. */
  readonly path: string;
}

export interface PageOptions {
  readonly links?: readonly PageLink[];
  /** Findings about the whole, such as damaged files. */
  readonly warnings?: readonly string[];
  readonly imageOf?: ImageReader;
}

export function pageHtml(transcript: Transcript, options: PageOptions = {}): string {
  const { warnings = [], links = [], imageOf = (image) => "src" in image ? image.src : null } = options;
  const isNumber = ([name]: Fact) => NUMBERS.has(name);
  const [numbers, others] = [
    transcript.facts.filter(isNumber),
    transcript.facts.filter((fact) => !isNumber(fact)),
  ];
  const lines = [
    ...(links.length === 0 ? [] : [links.map(linkHtml).join(" · ")]),
    // A sum of money alone would not say what it is.
    numbers.map(([name, value]) => escapeHtml(name === "cost" ? `cost ${value}` : value)).join(" · "),
    others.map(([name, value]) => `${name} ${escapeHtml(value)}`).join(" · "),
  ];
  return documentHtml(
    transcript.title || transcript.name,
    `${navigation(transcript)}<main>
${warnings.map((text) => `<p class="note bad">${escapeHtml(text)}</p>\n`).join("")}${
      lines.map((line) => `<p class="facts">${line}</p>\n`).join("")
    }${entriesHtml(transcript, imageOf)}</main>`,
  );
}

/** A row of {@linkcode indexHtml}: a link to a page, or the name of what has none, and facts about it. */
interface IndexRow extends Pick<PageLink, "text"> {
  readonly path: string | null;
  readonly cells: readonly string[];
}

export function indexHtml(title: string, rows: readonly IndexRow[]): string {
  const lines = rows.map(({ text, path, cells }) => {
    const name = path === null ? escapeHtml(text) : linkHtml({ text, path });
    return `<tr><td>${name}</td>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join("")}</tr>\n`;
  });
  return documentHtml(title, `<main>\n<table>\n${lines.join("")}</table>\n</main>`);
}

function linkHtml({ text, path }: PageLink): string {
  return `<a href="${path.split("/").map(encodeURIComponent).join("/")}">${escapeHtml(text)}</a>`;
}

/** A whole page around its navigation and main part. */
function documentHtml(name: string, content: string): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(SCRIPT)}'`,
    `style-src '${hashOf(STYLE)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  const title = escapeHtml(name);
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
${content}
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
  const isFirst = (index: number) => entries[index]?.group !== entries[index - 1]?.group;
  // An entry whose blocks are all beside calls of the one before is a line of that one.
  const isPart = (index: number) => lists[index]?.length === 0 && !isFirst(index);
  return entries.map((entry, index) => {
    if (isPart(index)) return "";
    const group = groups[entry.group];
    let next = index + 1;
    while (next < entries.length && isPart(next)) next++;
    const blocks = (lists[index] ?? []).map((block) => blockHtml(block, imageOf, entry.from));
    const heading = group !== undefined && isFirst(index) ? `<h2>${groupName(group)}</h2>\n` : "";
    return `${heading}${entryHtml(entry, blocks, entries.slice(index + 1, next))}\n`;
  }).join("");
}

/** An entry, and a line with the names of those whose blocks it has. */
function entryHtml(entry: Entry, blocks: readonly string[], parts: readonly Entry[]): string {
  const { id, from, isError } = entry;
  const kinds = [from, ...(isError || parts.some((part) => part.isError) ? ["bad"] : [])].join(" ");
  const names = parts.map((part) => `<span id="${part.id}">${nameHtml(part)}</span>`).join(", ");
  const line = names === "" ? "" : `<p class="note">with ${names}</p>`;
  return `<article id="${id}" class="${kinds}"><h3>${nameHtml(entry)}</h3>${
    blocks.join("\n")
  }${line}</article>`;
}

function nameHtml({ id, name, words }: Entry): string {
  return `<a href="#${id}">${escapeHtml(name)}</a> <small>${words.map(escapeHtml).join(" · ")}</small>`;
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(Buffer.from(text)).digest("base64")}`;
}
