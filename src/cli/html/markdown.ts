/**
 * Renders Markdown to HTML that can do nothing: it has no attribute, and neither links, images
 * nor markup of the text itself.
 */
import { Lexer, Marked, type Token, type Tokens } from "marked";
import { visibleText } from "../terminal.ts";

/** UTF-16 units; a longer text is shown unrendered. */
const MAX_RENDERED = 50_000;

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text as HTML, with control characters and those that turn the direction of what follows made visible. */
export function escapeHtml(text: string): string {
  return escaped(visibleText(text.replace(/\r\n/g, "\n")));
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => ENTITIES[character] as string);
}

/** The address beside its text: an address that is shown cannot be followed by accident, and nothing loads it. */
function shownLink(text: string, href: string): string {
  const address = escaped(href);
  return text === address || text === "" ? `<u>${address}</u>` : `<u>${text}</u> <samp>(${address})</samp>`;
}

const marked = new Marked({
  gfm: true,
  async: false,
  renderer: {
    html({ text }: Tokens.HTML | Tokens.Tag) {
      return escaped(text);
    },
    link({ href, tokens }: Tokens.Link) {
      return shownLink(this.parser.parseInline(tokens), href);
    },
    image({ href, text }: Tokens.Image) {
      return shownLink(`[image: ${escaped(text)}]`, href);
    },
    heading({ tokens, depth }: Tokens.Heading) {
      return `<h${depth}>${this.parser.parseInline(tokens)}</h${depth}>`;
    },
    code({ text, lang }: Tokens.Code) {
      const language = /^[\w+#.-]{1,20}/.exec(lang ?? "")?.[0];
      return `${language === undefined ? "" : `<small>${escaped(language)}</small>`}<pre>${
        escaped(text)
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

/**
 * Work that the parser of inline markup may have: some for each text, and more for each UTF-16 unit of it. A unit of work is
 * about a microsecond. The library needs quadratic time for runs of `*`, `_` and `~` that open and never close, and for long
 * texts without white space.
 */
const WORK = { each: 10_000, unit: 5 } as const;

/** Leaves blocks plain that would take too long. */
class BoundedLexer extends Lexer {
  #left = 0;

  override lex(text: string) {
    this.#left = WORK.each + WORK.unit * text.length;
    return super.lex(text);
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const work = workOf(source);
    if (work > this.#left) {
      tokens.push({ type: "text", raw: source, text: source, escaped: false });
      return tokens;
    }
    this.#left -= work;
    return super.inlineTokens(source, tokens);
  }
}

/** Estimates the work of a block, in linear time. */
function workOf(block: string): number {
  const text = block.replace(/`[^`]*`/g, "`");
  const runs = text.match(/[*_~]+/g)?.length ?? 0;
  // Between two letters or digits, "_" opens nothing.
  const openers = text.match(/[*~]+\S|(?:^|[^\p{L}\p{N}_])_+\S/gu)?.length ?? 0;
  const words = block.match(/\S{100,}/g) ?? [];
  return runs * openers + words.reduce((sum, { length }) => sum + length ** 2 / 250, 0);
}

/** A line that opens more quotes and lists than anyone reads: each takes time for all that it holds. */
const DEEP = /^(?:[ \t]*(?:>|(?:[-*+]|\d{1,9}[.)])(?=[ \t]))){50}/m;

/** A line under a heading or in a table, and a rule: after each the library looks for the end of a table. */
const RULES = /^[ \t]*[-=:|][-=:| \t]*$/gm;
const MOST_RULES = 300;

function isCostly(text: string): boolean {
  return text.length > MAX_RENDERED || DEEP.test(text) || (text.match(RULES)?.length ?? 0) > MOST_RULES;
}

/** A tag that rendered text may have: it shapes text, and has no attribute. */
const TAG =
  /^<(?:\/?(?:p|h[1-6]|em|strong|del|code|pre|small|u|samp|ul|ol|li|blockquote|table|thead|tbody|tr|th|td)|br|hr)>/;

/** Renders a text to HTML; one that is too long or nests too deep stays plain, and so does a block that would take too long. */
export function richText(text: string): string {
  const source = visibleText(text.replace(/\r\n/g, "\n"));
  const html = isCostly(source) ? null : rendered(source);
  return html === null
    ? `<pre dir="auto">\n${escaped(source)}</pre>`
    : `<div class="rich" dir="auto">${html}</div>`;
}

function rendered(source: string): string | null {
  try {
    const { defaults } = marked;
    const html = (marked.parser(new BoundedLexer(defaults).lex(source), defaults) as string).trim();
    // Whatever the library does: nothing but these tags is markup.
    return html.replace(/<[^<]{0,12}/g, (start) => TAG.test(start) ? start : `&lt;${start.slice(1)}`);
  } catch {
    // The parser recurses: a thousand nested quotes exceed its stack.
    return null;
  }
}
