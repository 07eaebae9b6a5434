/**
 * A session as lines for a terminal, a pipe or a file.
 *
 * @module
 */
import { costText } from "../../../domain/cost.ts";
import { numberMember, objectMember, stringMember } from "../../../domain/json.ts";
import { counted } from "../../../domain/text.ts";
import type { ShownSession, ShownTurn } from "../../../store/read/show.ts";
import type { SessionSpending } from "../../cost/spending.ts";
import { cutLine, type Screen, wrappedLines } from "../../screen.ts";
import { bold, cyan, dim, green, red, type Styled } from "../../terminal.ts";
import { type Block, BlockReader, type CallBlock, folded, headOfBlock } from "./blocks.ts";
import { factsOf } from "./facts.ts";
import { omittedSeqs } from "../../omitted.ts";
import { clockTime, secondsBetween } from "../../local_time.ts";

/** A line in pieces, without its end. */
export type Line = readonly (string | Styled)[];

/** Options of {@linkcode transcriptLines}. */
export interface TranscriptOptions {
  readonly screen: Screen;
  /** Long texts are shown whole. */
  readonly full: boolean;
  /** The complete output in a blob; `null` if it is not there, or no text. Called with `full` only. */
  readonly wholeOutput: (sha256: string) => string | null;
  /** Tokens and costs of the requests in the shown turns. */
  readonly spending: SessionSpending;
}

/** Sizes at which texts of the kinds are folded. Messages of models are never folded: they are what people look for. */
const SHOWN = {
  user: { lines: 40, characters: 4000 },
  edit: { lines: 40, characters: 4000 },
  other: { lines: 10, characters: 800 },
} as const;

const INDENT = "  ";

/** Lines of a fact on a narrow terminal. */
const FACT_LINES = 4;

/** The turns of a session as lines, oldest first, below facts about the session. */
export async function transcriptLines(
  session: ShownSession,
  turns: readonly ShownTurn[],
  options: TranscriptOptions,
): Promise<Line[]> {
  const reader = new BlockReader(omittedSeqs(session.turns));
  const view = new View(options, session.id);
  const lines = view.facts(session, turns);
  const shown = new Set(turns);
  let before: ShownTurn | null = null;
  for (const turn of session.turns) {
    // Calls of turns that are not shown are read too: their results may be shown.
    const blocks = reader.blocksOf(turn);
    if (shown.has(turn)) {
      lines.push([], view.heading(turn, before));
      for (const block of blocks) {
        for (const line of await view.block(block)) lines.push(line);
      }
    }
    before = turn;
  }
  return lines;
}

class View {
  readonly #options: TranscriptOptions;
  /** Known costs of the session's own requests, by turn. */
  readonly #costs: ReadonlyMap<number, number>;

  constructor(options: TranscriptOptions, id: string) {
    this.#options = options;
    const own = options.spending.requests.filter(({ session }) => session === id);
    this.#costs = new Map(own.flatMap(({ turn, cost_usd }) => cost_usd === null ? [] : [[turn, cost_usd]]));
  }

  facts(session: ShownSession, turns: readonly ShownTurn[]): Line[] {
    const { screen } = this.#options;
    const facts = factsOf(session, turns, this.#options.spending.total);
    const width = Math.max(...facts.map(([name]) => name.length)) + 2;
    const room = screen.columns === null ? null : screen.columns - width;
    return facts.flatMap(([name, value]) => {
      const lines = wrappedLines(value.replace(/\s+/g, " "), room, screen).slice(0, FACT_LINES);
      return lines.map((line, index): Line => [dim((index === 0 ? name : "").padEnd(width)), line]);
    });
  }

  heading(turn: ShownTurn, before: ShownTurn | null): Line {
    const { screen } = this.#options;
    const { number, kind, value } = turn;
    const model = objectMember(value, "model") ?? {};
    const name = stringMember(model, "answered") ?? stringMember(model, "asked");
    const at = stringMember(value, "at") ?? "";
    const earlier = before === null ? "" : stringMember(before.value, "at") ?? "";
    const cost = this.#costs.get(number);
    const works = kind === "model" || kind === "tools";
    const took = works ? secondsBetween(earlier, at) : null;
    const words = [
      `── ${number}`,
      `run ${numberMember(value, "run") ?? "?"}`,
      kind === "" ? "?" : kind,
      clockTime(at, earlier),
      ...(took === null ? [] : [`${took} s`]),
      // Last, because a narrow terminal cuts it.
      ...(name === undefined ? [] : [name]),
      ...(cost === undefined ? [] : [costText(cost)]),
    ].filter((word) => word !== "");
    const text = cutLine(words.join(" · "), screen.columns, screen);
    const rest = screen.columns === null ? 0 : screen.columns - screen.widthOf(text) - 1;
    const styled = kind === "user" ? cyan(text) : kind === "model" ? green(text) : bold(text);
    return rest > 0 ? [styled, dim(` ${"─".repeat(rest)}`)] : [styled];
  }

  async block(block: Block): Promise<Line[]> {
    switch (block.kind) {
      case "message":
        return block.from === "user" ? this.#body(block.text, SHOWN.user) : this.#whole(block.text);
      case "reasoning":
        return [...this.#head(dim(headOfBlock(block))), ...this.#body(block.text, SHOWN.other, dim, INDENT)];
      case "note": {
        const style = block.isError ? red : dim;
        return [
          ...this.#head(style(headOfBlock(block))),
          ...this.#body(block.text, SHOWN.other, undefined, INDENT),
        ];
      }
      case "call":
        return [...this.#call(block), ...await this.#edit(block)];
      case "result": {
        const head = headOfBlock(block);
        const whole = this.#options.full && block.blob !== null
          ? this.#options.wholeOutput(block.blob.sha256)
          : null;
        const subject = block.subject === "" ? "" : ` · ${block.subject}`;
        return [
          ...this.#head(block.isOk ? green(head) : red(head), subject),
          ...this.#body(whole ?? block.text, SHOWN.other, undefined, INDENT),
        ];
      }
    }
  }

  #call(block: CallBlock): Line[] {
    const subject = block.subject === "" ? "" : ` ${block.subject}`;
    return [
      ...this.#head(bold(headOfBlock(block)), subject),
      ...this.#body(block.text, SHOWN.other, undefined, INDENT),
    ];
  }

  async #edit({ edit }: CallBlock): Promise<Line[]> {
    if (edit === null) return [];
    const { changedLines } = await import("../../changed_lines.ts");
    const text = changedLines(edit.before, edit.after).map(({ sign, text }) => `${sign} ${text}`).join("\n");
    return this.#body(text, SHOWN.edit, diffStyle, INDENT);
  }

  /** The first line of a block: the words in a style, then plain text. */
  #head(words: Styled, rest = ""): Line[] {
    const { screen } = this.#options;
    return this.#wrapped(`${words.text}${rest}`, INDENT).map((line, index) => {
      const styled = rest === "" ? line.length : index === 0 ? screen.visible(words.text).length : 0;
      return [INDENT, { ...words, text: line.slice(0, styled) }, line.slice(styled)];
    });
  }

  #whole(text: string): Line[] {
    if (text === "") return [];
    return this.#wrapped(text, INDENT).map((line) => line === "" ? [] : [INDENT, line]);
  }

  /** A text that is folded if it is long. */
  #body(
    text: string,
    shown: { readonly lines: number; readonly characters: number },
    style: (line: string) => string | Styled = (line) => line,
    more = "",
  ): Line[] {
    if (text === "") return [];
    const indent = `${INDENT}${more}`;
    const part = this.#options.full ? { text, lines: 0, characters: 0 } : folded(text, shown);
    const lines = part.text.replace(/\n+$/, "").split("\n").flatMap((line) =>
      this.#wrapped(line, indent).map((piece): Line =>
        piece === "" ? [] : [indent, restyled(style(line), piece)]
      )
    );
    if (part.characters === 0) return lines;
    return [...lines, ...this.#wrapped(foldText(part), indent).map((line): Line => [indent, dim(line)])];
  }

  #wrapped(text: string, indent: string): string[] {
    const { screen } = this.#options;
    return wrappedLines(text, screen.columns === null ? null : screen.columns - indent.length, screen);
  }
}

/** A piece of a line in the style of the line. */
function restyled(style: string | Styled, piece: string): string | Styled {
  return typeof style === "string" ? piece : { ...style, text: piece };
}

function diffStyle(line: string): string | Styled {
  return line.startsWith("+") ? green(line) : line.startsWith("-") ? red(line) : line;
}

/** Says how much of a text is left out, and how to see it. */
function foldText({ lines, characters }: { lines: number; characters: number }): string {
  const what = lines > 0 ? counted(lines, "more line") : counted(characters, "more character");
  return `… ${what} (--full shows them)`;
}
