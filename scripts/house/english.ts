import { HEADLESS, type Phrase, PHRASES } from "./english_words.ts";
import type { Finding, SourceFile } from "./finding.ts";
import { lineAt } from "./source_text.ts";

/** Parts of the checkout that are counted each on its own. */
export const PLACES = ["src", "tests", "scripts", "docs"] as const;
export type EnglishPlace = typeof PLACES[number];

/** Occurrences of a phrase, or of docstrings without a subject, in each part of the checkout. */
export interface PhraseCount {
  readonly name: string;
  readonly counts: Readonly<Record<EnglishPlace, number>>;
}

const SOURCE = /^(src|tests|scripts|bench|npm|python)\/.*\.(?:ts|js|cjs|cts|mjs|py|sh|c)$/;
/** Folders that are counted as parts of another. */
const COUNTED_WITH: Readonly<Record<string, EnglishPlace>> = { bench: "scripts", npm: "src", python: "src" };
const DOCUMENT = /^(?:docs\/)?[^/]+\.md$/;

/** Files that quote the phrases: the list and its test. */
const QUOTING: readonly string[] = ["scripts/house/english_words.ts", "tests/unit/scripts/english_test.ts"];

const DOCSTRINGS: Phrase = {
  name: "docstring without subject",
  pattern: HEADLESS,
  instead: "a verb or a noun phrase at the beginning",
};

/** Finds phrases that readers stumble over, and docstrings without a subject. */
export function checkEnglish(files: readonly SourceFile[]): Finding[] {
  return files.flatMap((file) => {
    const place = placeOf(file.path);
    return place === null ? [] : phrasesOf(place).flatMap((phrase) => findingsOf(file, phrase));
  });
}

/** Counts each phrase in each part of the checkout. */
export function countPhrases(files: readonly SourceFile[]): PhraseCount[] {
  return [...PHRASES, DOCSTRINGS].map((phrase) => {
    const counts = { src: 0, tests: 0, scripts: 0, docs: 0 };
    for (const file of files) {
      const place = placeOf(file.path);
      if (place !== null && phrasesOf(place).includes(phrase)) {
        counts[place] += matchesOf(file.text, phrase).length;
      }
    }
    return { name: phrase.name, counts };
  });
}

/** Formats counts as a table with a sum below. */
export function formatCounts(rows: readonly PhraseCount[]): string {
  const line = (name: string, cells: readonly (string | number)[]) =>
    name.padEnd(26) + cells.map((cell) => String(cell).padStart(8)).join("");
  const sums = PLACES.map((place) => rows.reduce((sum, { counts }) => sum + counts[place], 0));
  return [
    line("phrase", PLACES),
    ...rows.map(({ name, counts }) => line(name, PLACES.map((place) => counts[place]))),
    line("sum", sums),
  ].join("\n");
}

function phrasesOf(place: EnglishPlace): readonly Phrase[] {
  return place === "docs" ? PHRASES : [...PHRASES, DOCSTRINGS];
}

/** Returns the part of the checkout that a file belongs to; `null` for files without English of ours. */
function placeOf(path: string): EnglishPlace | null {
  if (DOCUMENT.test(path)) return "docs";
  if (QUOTING.includes(path)) return null;
  const place = SOURCE.exec(path)?.[1];
  if (place === undefined) return null;
  return COUNTED_WITH[place] ?? place as EnglishPlace;
}

function findingsOf(file: SourceFile, phrase: Phrase): Finding[] {
  return matchesOf(file.text, phrase).map(({ text, index }) => ({
    path: file.path,
    line: lineAt(file.text, index),
    message: `Says "${text.trim().replaceAll(/\s+(?:\* )?/g, " ")}": write ${phrase.instead}`,
  }));
}

function matchesOf(text: string, { pattern, except = [] }: Phrase): { text: string; index: number }[] {
  const right = except.flatMap((quoted) => rangesOf(text, quoted));
  return [...text.matchAll(pattern)].flatMap((match) => {
    const [from, to] = [match.index, match.index + match[0].length];
    return right.some((range) => range[0] <= from && to <= range[1]) ? [] : [{ text: match[0], index: from }];
  });
}

function rangesOf(text: string, part: string): [number, number][] {
  const ranges: [number, number][] = [];
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) {
    ranges.push([at, at + part.length]);
  }
  return ranges;
}
