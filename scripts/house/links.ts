import { posix } from "node:path";
import type { Finding, SourceFile } from "./finding.ts";
import { lineAt } from "./source_text.ts";

const INDEX = "docs/README.md";

/** Inline link or image of Markdown, and an image of HTML; the target is the first group that matched. */
const LINK = /\]\(([^()\s]+)\)|<img\b[^>]*?\bsrc="([^"]+)"/g;
const HEADING = /^#{1,6} +(.+?) *#*$/gm;
const FENCE = /^( *)(```+)[^]*?^\1\2 *$/gm;

/** A relative link of a page. */
interface Link {
  readonly target: string;
  /** Path from the root, without an anchor. */
  readonly path: string;
  /** Anchor without `#`; empty if the link has none. */
  readonly anchor: string;
  readonly line: number;
}

/**
 * Checks the relative links of all Markdown files: the file exists, and its heading too; and that docs/README.md links
 * each page of docs/.
 */
export function checkLinks(files: readonly SourceFile[]): Finding[] {
  const pages = files.filter(({ path }) => path.endsWith(".md") && !/^(?:fixtures|tests)\//.test(path));
  const anchors = new Map(pages.map((page) => [page.path, anchorsOf(page.text)]));
  const paths = new Set(files.flatMap(({ path }) => [path, ...foldersOf(path)]));
  const dead = pages.flatMap((page) =>
    linksOf(page).flatMap(({ target, path, anchor, line }) => {
      if (!paths.has(path)) {
        return [{ path: page.path, line, message: `Links ${target}, which does not exist` }];
      }
      const known = anchors.get(path);
      if (anchor === "" || known === undefined || known.has(anchor)) {
        return [];
      }
      return [{ path: page.path, line, message: `Links ${target}: ${path} has no such heading` }];
    })
  );
  return [...dead, ...orphans(pages)];
}

/** Pages of docs/ that the index does not link. */
function orphans(pages: readonly SourceFile[]): Finding[] {
  const index = pages.find(({ path }) => path === INDEX);
  if (index === undefined) return [];
  const linked = new Set(linksOf(index).map(({ path }) => path));
  return pages.filter(({ path }) => path.startsWith("docs/") && path !== INDEX && !linked.has(path))
    .map(({ path }) => ({ path, line: 1, message: `Is not in ${INDEX}: add a link there` }));
}

function linksOf({ path, text }: SourceFile): Link[] {
  return [...withoutCode(text).matchAll(LINK)].flatMap((match) => {
    const target = (match[1] ?? match[2]) as string;
    if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
    const [file = "", anchor = ""] = target.split("#");
    const to = file === "" ? path : posix.normalize(posix.join(posix.dirname(path), decodeURI(file)));
    return [{ target, path: to.replace(/\/$/, ""), anchor, line: lineAt(text, match.index) }];
  });
}

/** Anchors that GitHub gives to the headings of a page. */
function anchorsOf(text: string): ReadonlySet<string> {
  const anchors = new Set<string>();
  for (const [, heading = ""] of withoutFences(text).matchAll(HEADING)) {
    const slug = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M} _-]/gu, "").replaceAll(" ", "-");
    let anchor = slug;
    for (let next = 1; anchors.has(anchor); next++) anchor = `${slug}-${next}`;
    anchors.add(anchor);
  }
  return anchors;
}

/** The page with spaces in place of its code, so that positions stay. */
function withoutCode(text: string): string {
  return withoutFences(text).replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
}

function withoutFences(text: string): string {
  return text.replace(FENCE, (block) => block.replace(/[^\n]/g, " "));
}

function foldersOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
