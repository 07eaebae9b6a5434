/**
 * A page as one HTML file that needs nothing else and sends nothing: styles and scripts are allowed by their hashes.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import STYLE_SOURCE from "./assets/page.css" with { type: "text" };
import BLOCKS from "./assets/blocks.js" with { type: "text" };
import CHARTS from "./assets/charts.js" with { type: "text" };
import DOM from "./assets/dom.js" with { type: "text" };
import SEARCH from "./assets/search.js" with { type: "text" };
import VIEW from "./assets/view.js" with { type: "text" };
import { escapeHtml } from "./markdown.ts";
import type { Page } from "./page.ts";

/** The page's program, in the order in which its files need each other. */
const SCRIPT = [DOM, BLOCKS, CHARTS, SEARCH, VIEW].map(compact).join("\n");
const STYLE = compact(STYLE_SOURCE);

/** A file of ours without its indentation and the comments that have lines of their own. */
function compact(source: string): string {
  return source.replace(/^\s*(?:\/\/.*|\/\*.*\*\/)?\s*/gm, "");
}

/** Writes a page as HTML. */
export function pageHtml(page: Page): string {
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(SCRIPT)}'`,
    `style-src '${hashOf(STYLE)}'`,
    "img-src data:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
<title>${escapeHtml(page.title)}</title>
<style>${STYLE}</style>
</head>
<body>
<noscript>This page draws itself with a script: allow scripts to read it.</noscript>
<script type="application/json" id="data">${dataText(page)}</script>
<script>${SCRIPT}</script>
</body>
</html>
`;
}

/** JSON for an element that ends at the first end tag of a script: no text in it begins a tag or a comment of scripts. */
function dataText(page: Page): string {
  return JSON.stringify(page).replace(/<(?=[/!]|script)/gi, "\\u003c");
}

function hashOf(text: string): string {
  return `sha256-${createHash("sha256").update(Buffer.from(text)).digest("base64")}`;
}
