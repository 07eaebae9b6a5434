import type { Finding, SourceFile } from "./finding.ts";
import { lineAt, withoutComments } from "./source_text.ts";

/**
 * Files outside src/apis that may name an API: the kinds of provider that files of sessions and fixtures have. The
 * settings of users are rows of src/apis/providers.ts.
 */
const NAMING_FILES: ReadonlySet<string> = new Set(["src/domain/fingerprint.ts"]);

/** A whole string, its quotes first; longer strings, such as messages, are text. */
const STRING = /(["'`])((?:\\.|(?!\1)[^\\\n])*)\1/g;

/** Names of an API or of its resource, and headers of its own. */
const NAME = /^(?:anthropic|\/?(?:v1\/)?(?:messages|responses)(?:\/[a-z_]+)?|anthropic-[a-z-]+)$/;

/** A comparison with the name of a kind of provider. */
const COMPARISON = /[!=]== ?"(?:openai|azure|compatible)"|"(?:openai|azure|compatible)" ?[!=]==/g;

/** Findings outside strings: identifiers and members with the vendor's name, and regular expressions on paths. */
const CODE =
  /\b\w*(?:anthropic|Anthropic|ANTHROPIC)\w*\b|\b(?:is|asks)Messages\b|\b(?:messages|responses)Api\b|\\\/\(?(?:messages|responses)\b/g;

/** Checks that no source outside src/apis names an API, or compares with a kind of provider: the `Api` value knows. */
export function checkApiNames(files: readonly SourceFile[]): Finding[] {
  return files.filter(({ path }) => isChecked(path)).flatMap(({ path, text }) => {
    const code = withoutComments(text);
    const names = [...code.matchAll(STRING)].filter(({ 2: content = "" }) => NAME.test(content));
    const blank = code.replace(STRING, (string) => " ".repeat(string.length));
    return [...names, ...code.matchAll(COMPARISON), ...blank.matchAll(CODE)].map((match) => ({
      path,
      line: lineAt(code, match.index),
      message: `Names an API or provider: ${match[0]}: take it from the Api value or a row of src/apis`,
    }));
  });
}

function isChecked(path: string): boolean {
  return path.startsWith("src/") && path.endsWith(".ts") && !path.startsWith("src/apis/") &&
    !NAMING_FILES.has(path);
}
