/** A transcript as lines for a terminal, a pipe or a file. */
import { counted } from "../../domain/text.ts";
import { cutLine, type Screen, wrappedLines } from "../screen.ts";
import { bold, cyan, dim, green, red, type Styled } from "../terminal.ts";
import {
  type Block,
  type CallBlock,
  type Entry,
  type Fact,
  headOfBlock,
  isSpeech,
  seqText,
  shortenedText,
  type Transcript,
} from "./blocks.ts";

/** A line in pieces, without its end. */
export type Line = readonly (string | Styled)[];

interface TranscriptOptions {
  readonly screen: Screen;
  readonly full: boolean;
  /** The flag that shows long texts whole. */
  readonly fullFlag: "--full" | "--html FILE";
  /** The complete output in a blob; `null` if it is not there, or no text. Called with `full` only. */
  readonly wholeOutput: (sha256: string) => string | null;
}

/** Sizes at which texts of the kinds are folded. Messages of models are never folded: they are what people look for. */
const SHOWN = {
  user: { lines: 40, characters: 4000 },
  edit: { lines: 40, characters: 4000 },
  other: { lines: 10, characters: 800 },
} as const;
type Shown = typeof SHOWN[keyof typeof SHOWN];

const INDENT = "  ";

const FACT_LINES = 4;

/** A session as lines: its turns, oldest first, below facts about it. */
export async function transcriptLines(
  { title, facts, groups, entries }: Transcript,
  options: TranscriptOptions,
): Promise<Line[]> {
  const view = new View(options);
  const lines = view.facts([...(title === "" ? [] : [["title", title] as const]), ...facts]);
  for (const { name, group, words, from, blocks } of entries) {
    const place = [name.replace(/^Turn /, ""), groups[group]?.name ?? ""].map((word) => word.toLowerCase());
    lines.push([], view.heading([...place, ...words], from));
    await view.add(blocks, lines);
  }
  return lines;
}

/** Exchanges as lines, below a line about their fixture. */
export async function exchangeLines(
  { name: path, facts, groups, entries }: Transcript,
  screen: Screen,
): Promise<Line[]> {
  const view = new View({ screen, full: false, fullFlag: "--html FILE", wholeOutput: () => null });
  const shown = new Map(facts);
  const about = ["provider", "models", "recorded"].map((name) => shown.get(name)).join(", ");
  const note = shown.get("note");
  const lines = [`${path}: ${about}`, ...(note === undefined ? [] : [note])]
    .flatMap((text) => view.wrapped(text)).map((line): Line => [line]);
  for (const [index, { name, words, from, group, blocks }] of entries.entries()) {
    const { name: recording = "", state = "" } = groups[group] ?? {};
    if (groups.length > 1 && group !== entries[index - 1]?.group) lines.push([], [`${recording}, ${state}`]);
    lines.push([], view.heading([name.toLowerCase(), ...words], from));
    await view.add(blocks, lines);
  }
  return lines;
}

class View {
  readonly #options: TranscriptOptions;

  constructor(options: TranscriptOptions) {
    this.#options = options;
  }

  facts(facts: readonly Fact[]): Line[] {
    const { screen } = this.#options;
    const width = Math.max(...facts.map(([name]) => name.length)) + 2;
    const room = screen.columns === null ? null : screen.columns - width;
    return facts.flatMap(([name, value]) => {
      const lines = wrappedLines(value.replace(/\s+/g, " "), room, screen).slice(0, FACT_LINES);
      return lines.map((line, index): Line => [dim((index === 0 ? name : "").padEnd(width)), line]);
    });
  }

  heading(words: readonly string[], from: Entry["from"]): Line {
    const { screen } = this.#options;
    const text = cutLine(`── ${words.join(" · ")}`, screen.columns, screen);
    const rest = screen.columns === null ? 0 : screen.columns - screen.widthOf(text) - 1;
    const styled = from === "user" ? cyan(text) : from === "model" ? green(text) : bold(text);
    return rest > 0 ? [styled, dim(` ${"─".repeat(rest)}`)] : [styled];
  }

  async add(blocks: readonly Block[], lines: Line[]): Promise<void> {
    for (const block of blocks) for (const line of await this.#block(block)) lines.push(line);
  }

  async #block(block: Block): Promise<Line[]> {
    const [head, place] = [headOfBlock(block), seqText(block)];
    switch (block.kind) {
      case "message":
        if (block.from === "assistant") return this.#whole(block.text);
        if (isSpeech(block)) return this.#body(block.text, SHOWN.user);
        return [...this.#head(dim(head + place)), ...this.#below(block.text)];
      case "events":
        return block.lines.flatMap((line) => this.#head(dim(line)));
      case "reasoning":
        return [...this.#head(dim(head + place)), ...this.#below(block.text, SHOWN.other, dim)];
      case "note": {
        const style = block.isError ? red : block.isHeading ? bold : dim;
        return [...this.#head(style(head + place)), ...this.#below(block.text)];
      }
      case "call": {
        const subject = block.subject === "" ? "" : ` ${block.subject}`;
        return [
          ...this.#head(bold(head), subject + place),
          ...this.#below(block.text),
          ...await this.#edit(block),
        ];
      }
      case "result": {
        const { full, wholeOutput } = this.#options;
        const whole = full && block.blob !== null ? wholeOutput(block.blob.sha256) : null;
        const subject = block.subject === "" ? "" : ` · ${block.subject}`;
        return [
          ...this.#head(block.isOk ? green(head) : red(head), subject + place),
          ...this.#below(whole ?? block.text),
        ];
      }
    }
  }

  async #edit({ edit }: CallBlock): Promise<Line[]> {
    if (edit === null) return [];
    const { diffText } = await import("../changed_lines.ts");
    const text = diffText(edit.before, edit.after).replace(/^[-+ ]/gm, "$& ");
    return this.#below(text, SHOWN.edit, diffStyle);
  }

  /** The first line of a block: the words in a style, then plain text. */
  #head(words: Styled, rest = ""): Line[] {
    const { screen } = this.#options;
    return this.wrapped(`${words.text}${rest}`, INDENT).map((line, index) => {
      const styled = rest === "" ? line.length : index === 0 ? screen.visible(words.text).length : 0;
      return [INDENT, { ...words, text: line.slice(0, styled) }, line.slice(styled)];
    });
  }

  #whole(text: string): Line[] {
    if (text === "") return [];
    return this.wrapped(text, INDENT).map((line) => line === "" ? [] : [INDENT, line]);
  }

  #below(text: string, shown: Shown = SHOWN.other, style?: (line: string) => string | Styled): Line[] {
    return this.#body(text, shown, style, INDENT + INDENT);
  }

  /** A text that is folded if it is long. */
  #body(
    text: string,
    shown: Shown,
    style: (line: string) => string | Styled = (line) => line,
    indent = INDENT,
  ): Line[] {
    if (text === "") return [];
    const part = this.#options.full ? { text, lines: 0, characters: 0 } : shortenedText(text, shown);
    const lines = part.text.replace(/\n+$/, "").split("\n").flatMap((line) =>
      this.wrapped(line, indent).map((piece): Line =>
        piece === "" ? [] : [indent, restyled(style(line), piece)]
      )
    );
    if (part.characters === 0) return lines;
    const fold = this.wrapped(foldText(part, this.#options.fullFlag), indent);
    return [...lines, ...fold.map((line): Line => [indent, dim(line)])];
  }

  wrapped(text: string, indent = ""): string[] {
    const { screen } = this.#options;
    return wrappedLines(text, screen.columns === null ? null : screen.columns - indent.length, screen);
  }
}

function restyled(style: string | Styled, piece: string): string | Styled {
  return typeof style === "string" ? piece : { ...style, text: piece };
}

function diffStyle(line: string): string | Styled {
  return line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line;
}

/** Says how much of a text is left out, and how to see it. */
function foldText({ lines, characters }: { lines: number; characters: number }, flag: string): string {
  const what = lines > 0 ? counted(lines, "more line") : counted(characters, "more character");
  return `… ${what} (${flag} shows them)`;
}
