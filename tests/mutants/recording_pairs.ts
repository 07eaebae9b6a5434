/** Mutants of match rules: a value of another machine, a word or a question that is replaced although it counts. */
import type { Mutant } from "./mutants.ts";

const RULES = "src/fixture/match/rules";
/** Tests that notice all of them. */
const area = ["doors/recordings/pairs/pairs_test.ts"];

/** See the module. */
export const RECORDING_PAIRS: readonly Mutant[] = [
  {
    ...{ file: `${RULES}/named_rules.ts`, area },
    text: "...forms(isDistinct(value) ? [value] : [], BORDERS.word)",
    replacement: "...forms([value], BORDERS.word)",
    promise: "fixtures.md: ordinary words are replaced in a field only",
  },
  {
    ...{ file: `${RULES}/named_rules.ts`, area },
    text: "...forms(notations.slice(-1), BORDERS.noYear)",
    replacement: "...forms(notations.slice(-1), BORDERS.digits)",
    promise: "fixtures.md: a day of another year counts",
  },
  {
    ...{ file: `${RULES}/named_rules.ts`, area },
    text: 'return text.includes("<") ?',
    replacement: 'return text.includes("<<") ?',
    promise: "fixtures.md: a text that looks like a placeholder equals nothing but itself",
  },
  {
    ...{ file: `${RULES}/value_forms.ts`, area },
    text: 'border, suffix: "escaped" }',
    replacement: "border }",
    promise: "fixtures.md: a path with escapes is another text than the path",
  },
  {
    ...{ file: `${RULES}/value_forms.ts`, area },
    text: "  if (isMac && /^\\/(?:tmp|var|etc)",
    replacement: "  if (/^\\/(?:tmp|var|etc)",
    promise: "fixtures.md: /private/tmp is /tmp on macOS only",
  },
  {
    ...{ file: `${RULES}/value_forms.ts`, area },
    text: '"[.,;:!?]+(?:[\\\\s',
    replacement: '"[.,;:!?(]+|[.,;:!?]+(?:[\\\\s',
    promise: "fixtures.md: a sibling of a directory is another path",
  },
  {
    ...{ file: `${RULES}/questions.ts`, area },
    text: "if (depth === 0) return index + tag.length === trimmed.length;",
    replacement: "if (depth === 0) return true;",
    promise: "fixtures.md: a text that is not one tagged block from start to end is a question",
  },
  {
    ...{ file: `${RULES}/questions.ts`, area },
    text: 'typeof cache === "string" ? cache.match(UUID) ?? [] : []',
    replacement: "JSON.stringify(body).match(UUID) ?? []",
    promise: "fixtures.md: a UUID that the request does not carry as its session counts",
  },
  {
    ...{ file: `${RULES}/parts.ts`, area },
    text: 'isAsked(item) ? "all" as const :',
    replacement: 'isAsked(item) && false ? "all" as const :',
    promise: "fixtures.md: a message of unknown shape counts as a whole",
  },
  {
    ...{ file: `${RULES}/normalizer.ts`, area },
    text: "(api !== null || isModelRequest(json))",
    replacement: "(true || isModelRequest(json))",
    promise: "fixtures.md: in a body that asks no model, everything counts",
  },
  {
    ...{ file: `${RULES}/patterns.ts`, area },
    text: "if (asked && pattern.isOfProfile) continue;",
    replacement: "",
    promise: "fixtures.md: patterns of a profile do not apply to questions",
  },
  {
    ...{ file: `${RULES}/client_blocks.ts`, area },
    text: "(isSystem ? system : user)",
    replacement: "[...system, ...user]",
    promise: "fixtures.md: a context block is read where its client writes it, and nowhere else",
  },
  {
    ...{ file: `${RULES}/client_blocks.ts`, area },
    text: 'find((name) => name !== "reprise") ?? null',
    replacement: 'find((name) => name !== "reprise") ?? "codex"',
    promise: "fixtures.md: only clients that name themselves have context blocks",
  },
  {
    ...{ file: `${RULES}/moments.ts`, area },
    text: "instant + unit > from && instant <= to",
    replacement: "instant + unit >= from && instant <= to",
    promise: "fixtures.md: a moment before the minute before the start counts",
  },
  {
    ...{ file: "src/fixture/record/recorded_rules.ts", area },
    text: "entry[1] !== null)",
    replacement: "true || entry[1] !== null)",
    promise: "fixtures.md: record writes the rules whose values stand outside of questions",
  },
];
