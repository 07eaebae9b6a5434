/**
 * A session as Markdown, for a pull request.
 *
 * @module
 */
import { omittedSeqs } from "../../omitted.ts";
import { numberMember, stringMember } from "../../../domain/json.ts";
import { counted } from "../../../domain/text.ts";
import type { ShownTurn } from "../../../store/read/show.ts";
import type { Shown } from "../shown_session.ts";
import {
  type Block,
  BlockReader,
  type CallBlock,
  type Folded,
  folded,
  headOfBlock,
  type NoteBlock,
  OMITTED_MARK,
  type ResultBlock,
} from "./blocks.ts";
import { changedLines } from "../../changed_lines.ts";
import { codeBlock, codeSpan, htmlText, literalText, quotedMarkdown } from "./markdown_text.ts";
import type { SessionSpending } from "../../cost/spending.ts";
import { costFact } from "./facts.ts";
import { stateText } from "./words.ts";

/** The longest description and comment that GitHub accepts, in characters. */
const MAX_CHARACTERS = 65_536;
/** Room for the note about turns that are left out. */
const NOTE_ROOM = 200;

/** Options of {@linkcode transcriptMarkdown}. */
export interface MarkdownOptions {
  /** Long texts are shown whole, and the Markdown may be of any length. */
  readonly full: boolean;
  /** Tokens and costs of the requests in the shown turns. */
  readonly spending: SessionSpending;
}

/** Sizes of the parts of a transcript. */
interface Detail {
  readonly prompt: number;
  readonly edit: number;
  /** Lines of an output; 0 leaves outputs of successful calls out. */
  readonly output: number;
  readonly reasoning: boolean;
}

/** From a transcript that is complete but for long texts to one that holds the essence. */
const DETAILS: readonly Detail[] = [
  { prompt: 40, edit: 60, output: 30, reasoning: true },
  { prompt: 40, edit: 60, output: 8, reasoning: false },
  { prompt: 20, edit: 30, output: 0, reasoning: false },
];
const WHOLE: Detail = { prompt: Infinity, edit: Infinity, output: Infinity, reasoning: true };

/** The turns of a session as Markdown that a pull request can hold, unless `full` is chosen. */
export function transcriptMarkdown(
  shown: Shown,
  turns: readonly ShownTurn[],
  { full, spending }: MarkdownOptions,
): string {
  const sections = (
    detail: Detail,
  ) => [factsText(shown, turns, spending), ...sectionsOf(shown, turns, detail)];
  if (full) return joined(sections(WHOLE));
  for (const detail of DETAILS) {
    const text = joined(sections(detail));
    if (text.length <= MAX_CHARACTERS) return text;
  }
  return shortened(shown, sections(DETAILS.at(-1) as Detail));
}

function joined(sections: readonly string[]): string {
  return `${sections.join("\n\n")}\n`;
}

/** The first sections and the last ones, as many as there is room for. */
function shortened({ session }: Shown, sections: readonly string[]): string {
  const [first = "", ...rest] = sections;
  let room = MAX_CHARACTERS - NOTE_ROOM - first.length;
  const kept: [string[], string[]] = [[first], []];
  let [from, to] = [0, rest.length];
  for (let side = 0; from < to; side = 1 - side) {
    const section = rest[side === 0 ? from : to - 1] as string;
    room -= section.length + 2;
    if (room < 0) break;
    if (side === 0) kept[0].push(rest[from++] as string);
    else kept[1].unshift(rest[--to] as string);
  }
  const note = `_${counted(to - from, "part")} left out here. ${
    codeSpan(`reprise show ${session.id} --markdown --full`)
  } has all._`;
  return joined([...kept[0], note, ...kept[1]]);
}

/** A section for each text and call. */
function sectionsOf(shown: Shown, turns: readonly ShownTurn[], detail: Detail): string[] {
  const { session } = shown;
  const reader = new BlockReader(omittedSeqs(session.turns));
  const chosen = new Set(turns);
  const read = session.turns.map((turn) => ({ turn, blocks: reader.blocksOf(turn) }));
  const results = new Map(
    read.flatMap(({ blocks }) =>
      blocks.flatMap((block) => block.kind === "result" ? [[block.callSeq, block]] : [])
    ),
  );
  const calls = new Set(
    read.flatMap(({ blocks }) => blocks.flatMap((block) => block.kind === "call" ? [block.seq] : [])),
  );
  const sections: string[] = [];
  let run: number | undefined;
  for (const { turn, blocks } of read) {
    if (!chosen.has(turn)) continue;
    const its = numberMember(turn.value, "run");
    if (its !== run) sections.push(`#### Run ${its ?? "?"}`);
    run = its;
    for (const block of blocks) {
      // A result is shown with its call.
      if (block.kind === "result" && calls.has(block.callSeq)) continue;
      const result = block.kind === "call" ? results.get(block.seq) : undefined;
      sections.push(...sectionOf(shown, { block, result, detail }));
    }
  }
  return sections;
}

function factsText(
  { session, home }: Shown,
  turns: readonly ShownTurn[],
  { total }: SessionSpending,
): string {
  const { id, manifest, problems } = session;
  const title = manifest === null || manifest.title === "" ? codeSpan(id) : literalText(manifest.title);
  const facts: (readonly [string, string])[] = [["Session", codeSpan(id)]];
  if (manifest !== null) {
    const { input_tokens, cached_tokens, output_tokens, reasoning_tokens } = manifest.usage;
    facts.push(["State", literalText(stateText(manifest.state))]);
    facts.push([
      "Model",
      `${codeSpan(manifest.pins.model)} at ${literalText(manifest.pins.fingerprint.provider)}`,
    ]);
    facts.push([
      "Tokens",
      `${input_tokens} in (${cached_tokens} cached), ${output_tokens} out (${reasoning_tokens} reasoning)`,
    ]);
  }
  const cost = costFact(total);
  if (cost !== null) facts.push(["Cost", cost]);
  const part = turns.length === session.turns.length ? "" : `${turns.length} of `;
  facts.push(["Turns", `${part}${session.turns.length}`]);
  const [from, to] = [turns[0], turns.at(-1)].map((turn) => stringMember(turn?.value ?? {}, "at"));
  if (from !== undefined && to !== undefined) facts.push(["Time", literalText(`${utc(from)} to ${utc(to)}`)]);
  if (problems.length > 0) facts.push(["Damaged", literalText(problems.map(({ path }) => path).join(", "))]);
  if (home === null) facts.push(["Source", "an export"]);
  const rows = facts.map(([name, value]) => `| ${name} | ${value} |`).join("\n");
  return `### ${title}\n\n| | |\n| --- | --- |\n${rows}`;
}

/** An instant as people of any time zone read it. */
function utc(instant: string): string {
  return Number.isNaN(Date.parse(instant)) ? instant : `${instant.slice(0, 19).replace("T", " ")} UTC`;
}

interface Section {
  readonly block: Block;
  /** The result of a call. */
  readonly result: ResultBlock | undefined;
  readonly detail: Detail;
}

function sectionOf(shown: Shown, { block, result, detail }: Section): string[] {
  switch (block.kind) {
    case "message": {
      if (block.text.trim() === "") return [];
      if (block.from === "assistant") return [`**Model**\n\n${quotedMarkdown(block.text)}`];
      const text = block.text.trim().includes("\n")
        ? foldedBlock(block.text, detail.prompt, "text")
        : quotedMarkdown(block.text);
      return [`**Prompt**\n\n${text}`];
    }
    case "reasoning":
      if (!detail.reasoning || block.text === "") return [];
      return [details("Reasoning", quotedMarkdown(block.text))];
    case "call":
      return [callSection(shown, { block, result, detail })];
    case "result":
      return [callSection(shown, { block: null, result: block, detail })];
    case "note":
      return block === OMITTED_MARK ? [`_${block.about}_`] : noteSection(block, detail);
  }
}

/** A call with its result. An edit is open, all else closed. */
function callSection(
  shown: Shown,
  { block, result, detail }: { block: CallBlock | null; result: ResultBlock | undefined; detail: Detail },
): string {
  const called = block ?? result as ResultBlock;
  const what = `<code>${htmlText(`${called.name} ${called.subject}`)}</code>`;
  const status = result === undefined ? "no result" : htmlText(result.status);
  const isDone = result?.isOk === true;
  const isEdit = block !== null && block.edit !== null;
  const whole = detail === WHOLE && result?.blob ? shown.wholeOutput(result.blob.sha256) : null;
  const output = whole ?? result?.text ?? "";
  const lines = isDone ? detail.output : Math.max(detail.output, 8);
  const parts = [
    ...(block === null || block.text === "" ? [] : [foldedBlock(block.text, Math.max(detail.output, 8))]),
    ...(isEdit ? [foldedBlock(diffText(block), detail.edit, "diff")] : []),
    ...(output.trim() === "" || lines === 0 || isDone && isEdit ? [] : [foldedBlock(output, lines)]),
  ];
  return parts.length === 0
    ? `→ ${what}: ${status}`
    : details(`→ ${what}: ${status}`, parts.join("\n\n"), isEdit || !isDone);
}

function diffText({ edit }: CallBlock): string {
  return edit === null
    ? ""
    : changedLines(edit.before, edit.after).map(({ sign, text }) => `${sign}${text}`).join("\n");
}

/** Notes about the run itself: what failed, was denied or lost, and checkpoints. */
function noteSection(block: NoteBlock, detail: Detail): string[] {
  if (!block.isError && block.text === "") return [];
  const head = literalText(headOfBlock(block).slice(1, -1));
  if (block.text === "") return [`_${head}_`];
  return [`_${head}_\n\n${details("Summary", foldedBlock(block.text, Math.max(detail.output, 8)))}`];
}

/** A part that is closed until its reader opens it. */
function details(summary: string, content: string, isOpen = false): string {
  return `<details${isOpen ? " open" : ""}><summary>${summary}</summary>\n\n${content}\n\n</details>`;
}

/** UTF-16 units for each line that a part may have: minified files are one line. */
const LINE_CHARACTERS = 100;

function foldedBlock(text: string, lines: number, language = ""): string {
  const part: Folded = lines === Infinity
    ? { text, lines: 0, characters: 0 }
    : folded(text, { lines, characters: lines * LINE_CHARACTERS });
  const block = codeBlock(part.text, language);
  if (part.characters === 0) return block;
  const left = part.lines > 0 ? counted(part.lines, "line") : counted(part.characters, "character");
  return `${block}\n\n_${left} left out_`;
}
