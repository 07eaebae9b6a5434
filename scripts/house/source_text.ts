/** One import, static or dynamic, of a TypeScript file. */
export interface Import {
  readonly specifier: string;
  /** 1-based. */
  readonly line: number;
}

const STATIC = /^\s*(import|export)\s+(?:type\s+)?(?:[^"';]*?\sfrom\s+)?"([^"\n]+)"/gm;
const DYNAMIC = /\bimport\(\s*"([^"\n]+)"\s*[,)]/g;

/**
 * Source with its comments blanked out, lines kept. It goes by line: whole-line comments, doc blocks, and what
 * follows ` // `. Code formatted by `deno fmt` needs no more.
 */
export function withoutComments(source: string): string {
  let inBlock = false;
  return source.split("\n").map((line) => {
    const text = line.trimStart();
    if (inBlock || text.startsWith("/*")) {
      inBlock = !text.includes("*/");
      return "";
    }
    return text.startsWith("//") ? "" : line.replace(/\s\/\/\s.*$/, "");
  }).join("\n");
}

/** All imports in `code`, which has no comments left. */
export function importsOf(code: string): Import[] {
  const found: Import[] = [];
  for (const match of code.matchAll(STATIC)) {
    const start = match.index + match[0].search(/\S/);
    found.push({ specifier: match[2] ?? "", line: lineAt(code, start) });
  }
  for (const match of code.matchAll(DYNAMIC)) {
    found.push({ specifier: match[1] ?? "", line: lineAt(code, match.index) });
  }
  return found;
}

/** The 1-based line that `offset` is on. */
export function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) line++;
  return line;
}
