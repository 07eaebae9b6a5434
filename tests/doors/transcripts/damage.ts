/** Random damage of transcripts, the same for the same seed. */
import type { Dice } from "../../support/dice.ts";

/** Values that members get. */
const ODD: readonly unknown[] = [
  ...[null, 0, -1, 1e300, true, "", " ", [], {}, [[]], "../../escape", "a/b\0c", "\ud800", "x".repeat(70)],
  ...["user", "assistant", "function_call", "tool_use", "tool_result", "compaction", "reasoning"],
  ...[[{ type: "text", text: "T" }], [{ type: "tool_use", id: "t", name: "n", input: "{" }], [
    null,
    5,
    "text",
  ]],
];

type Step = (lines: string[], dice: Dice, others: readonly string[]) => void;

/** Puts a line anywhere. */
const put = (lines: string[], dice: Dice, line: string) =>
  void lines.splice(dice.count(0, lines.length), 0, line);
/** Takes any line out. */
const take = (lines: string[], dice: Dice) => lines.splice(dice.count(0, lines.length - 1), 1)[0] ?? "";

const STEPS: readonly Step[] = [
  (lines, dice) => void take(lines, dice),
  (lines, dice) => put(lines, dice, dice.pick(lines)),
  (lines, dice) => put(lines, dice, take(lines, dice)),
  (lines, dice, others) => put(lines, dice, dice.pick(others)),
  (lines, dice) => {
    const at = dice.count(0, lines.length - 1);
    const [line = "", next = ""] = lines.slice(at, at + 2);
    const cut = line.slice(0, dice.count(0, 200));
    lines.splice(at, dice.count(1, 2), dice.pick([cut, `${cut}${next}`, `${line}\0\0`, `\0${line}`]));
  },
  ...[changeMember, changeMember, swapTexts],
];

/** The bytes of a transcript after a few changes; `others` are lines of all agents. */
export function damaged(transcript: string, dice: Dice, others: readonly string[]): Uint8Array<ArrayBuffer> {
  const lines = transcript.trimEnd().split("\n");
  for (let steps = dice.count(1, 6); steps > 0 && lines.length > 0; steps--) {
    dice.pick(STEPS)(lines, dice, others);
  }
  const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`);
  if (dice.chance(0.3) && bytes.length > 0) bytes[dice.count(0, bytes.length - 1)] = dice.count(0, 255);
  return dice.chance(0.3) ? bytes.subarray(0, dice.count(0, bytes.length)) : bytes;
}

interface Spot {
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

/** The members of a value at every depth. */
function spotsIn(value: unknown): Spot[] {
  if (typeof value !== "object" || value === null) return [];
  const holder = value as Record<string, unknown>;
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...spotsIn(holder[name])]);
}

function changeMember(lines: string[], dice: Dice): void {
  changeLine(lines, dice, (spots) => {
    const { holder, name } = dice.pick(spots);
    if (dice.chance(0.2)) delete holder[name];
    else holder[name] = dice.pick(ODD);
  });
}

/** Gives a text of one line to another member: ids of other lines among them, so that circles and repeated ids occur. */
function swapTexts(lines: string[], dice: Dice): void {
  const texts = spotsIn(parsed(dice.pick(lines))).flatMap(({ holder, name }) =>
    typeof holder[name] === "string" ? [holder[name]] : []
  );
  if (texts.length === 0) return;
  changeLine(lines, dice, (spots) => {
    const strings = spots.filter(({ holder, name }) => typeof holder[name] === "string");
    if (strings.length === 0) return;
    const { holder, name } = dice.pick(strings);
    holder[name] = dice.pick(texts);
  });
}

function changeLine(lines: string[], dice: Dice, change: (spots: readonly Spot[]) => void): void {
  const at = dice.count(0, lines.length - 1);
  const json = parsed(lines[at] ?? "");
  const spots = spotsIn(json);
  if (spots.length === 0) return;
  change(spots);
  lines[at] = JSON.stringify(json);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
