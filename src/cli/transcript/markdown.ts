/** A session as Markdown, for a pull request. */
import { counted } from "../../domain/text.ts";
import { diffText } from "../changed_lines.ts";
import {
  type Block,
  type CallBlock,
  type Fact,
  headOfBlock,
  type NoteBlock,
  OMITTED_MARK,
  paired,
  type ResultBlock,
  type ShortenedText,
  shortenedText,
  type Transcript,
} from "./blocks.ts";
import { codeBlock, codeSpan, htmlText, inertLineOf, literalText, quotedMarkdown } from "./markdown_text.ts";

/** The longest description and comment that GitHub accepts, in characters. */
const MAX_CHARACTERS = 65_536;
/** Room for the note about turns that are left out. */
const NOTE_ROOM = 200;

interface MarkdownOptions {
  /** Long texts are shown whole, and the Markdown may be of any length. */
  readonly full: boolean;
  /** More facts: damage, and the source of the session. */
  readonly facts: readonly Fact[];
  /** The complete output in a blob; `null` if it is not there, or no text. Called with `full` only. */
  readonly wholeOutput: (sha256: string) => string | null;
}

interface Detail {
  readonly prompt: number;
  readonly edit: number;
  /** Lines of an output; 0 leaves outputs of successful calls out. */
  readonly output: number;
  readonly reasoning: boolean;
  readonly wholeOutput: MarkdownOptions["wholeOutput"];
}

/** From a transcript that is complete but for long texts to one that holds the essence. */
const DETAILS: readonly Detail[] = [
  { prompt: 40, edit: 60, output: 30, reasoning: true },
  { prompt: 40, edit: 60, output: 8, reasoning: false },
  { prompt: 20, edit: 30, output: 0, reasoning: false },
].map((detail) => ({ ...detail, wholeOutput: () => null }));
const WHOLE = { prompt: Infinity, edit: Infinity, output: Infinity, reasoning: true } as const;

/** A session as Markdown that a pull request can hold, unless `full` is chosen. */
export function transcriptMarkdown(transcript: Transcript, options: MarkdownOptions): string {
  const whole = { ...transcript, facts: [...transcript.facts, ...options.facts] };
  const sections = (detail: Detail) => [factsText(whole), ...sectionsOf(transcript, detail)];
  if (options.full) return joined(sections({ ...WHOLE, wholeOutput: options.wholeOutput }));
  for (const detail of DETAILS) {
    const text = joined(sections(detail));
    if (text.length <= MAX_CHARACTERS) return text;
  }
  return shortened(transcript, sections(DETAILS.at(-1) as Detail));
}

function joined(sections: readonly string[]): string {
  return `${sections.join("\n\n")}\n`;
}

/** The first sections and the last ones, as many as there is room for. */
function shortened({ name }: Transcript, sections: readonly string[]): string {
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
  const command = codeSpan(`reprise show ${name} --markdown --full`);
  const note = `_${counted(to - from, "part")} left out here. ${command} has all._`;
  return joined([...kept[0], note, ...kept[1]]);
}

/** A section for each text and call. */
function sectionsOf({ groups, entries }: Transcript, detail: Detail): string[] {
  const lists = paired(entries.map(({ blocks }) => blocks));
  return entries.flatMap(({ group }, index) => {
    const isFirst = group !== entries[index - 1]?.group;
    const sections = (lists[index] ?? []).flatMap((block) => sectionOf(block, detail));
    return isFirst ? [`#### ${literalText(groups[group]?.name ?? "?")}`, ...sections] : sections;
  });
}

/** The workspace is a path of its author's machine. */
const PRIVATE: ReadonlySet<string> = new Set(["workspace"]);

function factsText({ name, title, facts }: Transcript): string {
  const rows = facts.filter(([fact]) => !PRIVATE.has(fact)).map(([fact, value]) =>
    `| ${fact.charAt(0).toUpperCase()}${fact.slice(1)} | ${literalText(value)} |`
  );
  const heading = title === "" ? codeSpan(name) : literalText(title);
  return `### ${heading}\n\n| | |\n| --- | --- |\n${rows.join("\n")}`;
}

function sectionOf(block: Block, detail: Detail): string[] {
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
    case "call": {
      const decided = block.decision === undefined ? [] : noteSection(block.decision, detail);
      return [...decided, callSection(block, block.result, detail)];
    }
    case "result":
      return [callSection(null, block, detail)];
    case "note":
      return block === OMITTED_MARK ? [`_${block.about}_`] : noteSection(block, detail);
    case "events":
      return [];
  }
}

/** A call with its result. An edit is open, all else closed. */
function callSection(
  block: CallBlock | null,
  result: ResultBlock | undefined,
  detail: Detail,
): string {
  const called = block ?? result as ResultBlock;
  const what = `${called.name} ${called.subject}`;
  const status = block?.key === null ? "" : `: ${result === undefined ? "no result" : result.status}`;
  const isDone = result?.isOk === true || block?.key === null;
  const edit = block?.edit ?? null;
  const isEdit = edit !== null;
  const whole = result?.blob ? detail.wholeOutput(result.blob.sha256) : null;
  const output = whole ?? result?.text ?? "";
  const lines = isDone ? detail.output : Math.max(detail.output, 8);
  const parts = [
    ...(block === null || block.text === "" ? [] : [foldedBlock(block.text, Math.max(detail.output, 8))]),
    ...(edit !== null ? [foldedBlock(diffText(edit.before, edit.after), detail.edit, "diff")] : []),
    ...(output.trim() === "" || lines === 0 || isDone && isEdit ? [] : [foldedBlock(output, lines)]),
  ];
  // Outside of a block of HTML, the text would be Markdown.
  if (parts.length === 0) return `→ ${codeSpan(what)}${literalText(status)}`;
  const summary = `→ <code>${htmlText(what)}</code>${inertLineOf(status)}`;
  return details(summary, parts.join("\n\n"), isEdit || !isDone);
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
  const part: ShortenedText = lines === Infinity
    ? { text, lines: 0, characters: 0 }
    : shortenedText(text, { lines, characters: lines * LINE_CHARACTERS });
  const block = codeBlock(part.text, language);
  if (part.characters === 0) return block;
  const left = part.lines > 0 ? counted(part.lines, "line") : counted(part.characters, "character");
  return `${block}\n\n_${left} left out_`;
}
