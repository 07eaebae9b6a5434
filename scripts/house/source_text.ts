/**
 * Source without its comments, lines kept: doc blocks, whole-line comments, and what follows ` // `. Code formatted by
 * `deno fmt` needs no more.
 */
export function withoutComments(source: string): string {
  const comment = /^[ \t]*\/\*[^]*?\*\/.*$|^[ \t]*\/\/.*$|[ \t]\/\/\s.*$/gm;
  return source.replace(comment, (text) => text.replace(/[^\n]/g, ""));
}
