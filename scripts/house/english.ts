import type { Finding, SourceFile } from "./finding.ts";
import { lineAt } from "./source_text.ts";

/** A word that makes readers stop, and better ones. */
interface Word {
  readonly name: string;
  readonly pattern: RegExp;
  readonly instead: string;
}

const WORDS: readonly Word[] = [
  { name: "anew", pattern: /\banew\b/gi, instead: "again" },
  { name: "behind", pattern: /(?<!\blags? )\bbehind\b/gi, instead: "after" },
  { name: "vouch", pattern: /\bvouch\w*/gi, instead: "checksum, verify" },
  {
    name: "stand for",
    pattern: /\b(?:stands?|stood|standing) (?:in )?for\b/gi,
    instead: "replace, represent",
  },
  { name: "handed out", pattern: /\bhand(?:s|ed|ing)? out\b/gi, instead: "issued" },
  { name: "minted", pattern: /\bmint(?:s|ed|ing)?\b/gi, instead: "issued, created" },
  { name: "by hand", pattern: /\bby hand\b/gi, instead: "manually" },
];

/** A docstring whose first word leaves its subject open. */
const HEADLESS = /\/\*\*\s+(?:\* )?(What|Whose|Where|How|That)\b/g;
const DOCSTRING = "docstring";

/** Places in which a rule does not hold yet: folders of src/, `docs` for the documents. */
const PENDING: Readonly<Record<string, readonly string[]>> = {
  "anew": ["compaction"],
  "behind": ["compaction", "domain", "fixture", "store", "tools"],
  "stand for": ["compaction", "fixture", "tools"],
  "minted": ["compaction"],
  [DOCSTRING]: ["compaction", "domain", "tools"],
};

/** Checks documents and sources for words that readers stumble over, and docstrings for a subject. */
export function checkEnglish(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const place = placeOf(file.path);
    if (place === null) return [];
    const holds = (rule: string) => !(PENDING[rule] ?? []).includes(place);
    const words = WORDS.filter(({ name }) => holds(name)).flatMap(({ pattern, instead }) =>
      found(file, pattern, ([word]) => `Says "${word}": write ${instead}`)
    );
    const docstrings = place === "docs" || !holds(DOCSTRING)
      ? []
      : found(file, HEADLESS, ([, word]) => `Docstring begins with "${word}": write a verb or a noun phrase`);
    return [...words, ...docstrings];
  });
}

/** The folder of src/ that a source is in, `docs` for a document, `null` for all other files. */
function placeOf(path: string): string | null {
  if (path.endsWith(".md") && /^(?:docs\/)?[^/]+$/.test(path)) return "docs";
  return /^src\/([^/]+)\/.*\.ts$/.exec(path)?.[1] ?? null;
}

function found(file: SourceFile, pattern: RegExp, message: (match: RegExpExecArray) => string): Finding[] {
  return [...file.text.matchAll(pattern)].map((match) => ({
    path: file.path,
    line: lineAt(file.text, match.index),
    message: message(match),
  }));
}
