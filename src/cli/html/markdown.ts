/**
 * Renders Markdown to HTML that can do nothing: it has no attribute, and neither links, images
 * nor markup of the text itself.
 *
 * @module
 */
import { Marked, type Tokens } from "marked";
import type { Rich } from "./page.ts";

/** UTF-16 units; a longer text is shown unrendered. */
const MAX_RENDERED = 50_000;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
};

/** Text as HTML. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>]/g, (character) => ENTITIES[character] as string);
}

/** The address beside its text: an address that is shown cannot be followed by accident, and nothing loads it. */
function shownLink(text: string, href: string): string {
  const address = escapeHtml(href);
  return text === address || text === "" ? `<u>${address}</u>` : `<u>${text}</u> <samp>(${address})</samp>`;
}

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return escapeHtml(text);
    },
    link({ href, tokens }: Tokens.Link) {
      return shownLink(this.parser.parseInline(tokens), href);
    },
    image({ href, text }: Tokens.Image) {
      return shownLink(`[image: ${escapeHtml(text)}]`, href);
    },
    heading({ tokens, depth }: Tokens.Heading) {
      return `<h${depth}>${this.parser.parseInline(tokens)}</h${depth}>`;
    },
    code({ text, lang }: Tokens.Code) {
      const language = /^[\w+#.-]{1,20}/.exec(lang ?? "")?.[0];
      return `${language === undefined ? "" : `<small>${escapeHtml(language)}</small>`}<pre>${
        escapeHtml(text)
      }</pre>`;
    },
    checkbox({ checked }: Tokens.Checkbox) {
      return checked ? "☑ " : "☐ ";
    },
    listitem(item: Tokens.ListItem) {
      return `<li>${this.parser.parse(item.tokens)}</li>`;
    },
    list({ ordered, items }: Tokens.List) {
      const tag = ordered ? "ol" : "ul";
      return `<${tag}>${items.map((item) => this.listitem(item)).join("")}</${tag}>`;
    },
    tablecell({ tokens, header }: Tokens.TableCell) {
      const tag = header ? "th" : "td";
      return `<${tag}>${this.parser.parseInline(tokens)}</${tag}>`;
    },
  },
});

/** Renders a text; one that is too long or nests too deep stays plain. */
export function richText(text: string): Rich {
  if (text.length > MAX_RENDERED) return { text };
  try {
    const html = (marked.parse(text) as string).trim();
    // Quotes mean nothing outside of attributes, and there are none.
    return { html: html.replaceAll("&quot;", '"').replaceAll("&#39;", "'") };
  } catch {
    // The parser recurses: a thousand nested quotes exceed its stack.
    return { text };
  }
}
