/** Random damage of transcripts, the same for the same seed. */
import type { Dice } from "../../support/dice.ts";
import type { Json } from "../../support/files.ts";
import { spoilt } from "../../support/hostile_json.ts";

/** Values that members get; `undefined` takes one out. */
const ODD: readonly Json[] = [
  ...[
    undefined,
    null,
    0,
    -1,
    1e300,
    true,
    "",
    " ",
    [],
    {},
    [[]],
    "../../escape",
    "a/b\0c",
    "\ud800",
    "x".repeat(70),
  ],
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
  (lines, dice) => change(lines, dice, dice.pick(ODD)),
  (lines, dice) => change(lines, dice, dice.pick(ODD)),
  copyText,
  copyText,
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

function parsed(line: string): Json {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}

/** Replaces or removes a value of a line, at any depth. */
function change(lines: string[], dice: Dice, other: Json): void {
  const at = dice.count(0, lines.length - 1);
  const changed = [...spoilt(parsed(lines[at] ?? ""), other)];
  if (changed.length > 1) lines[at] = JSON.stringify(dice.pick(changed));
}

/** Gives a text of one line to another: ids of other lines among them, so that circles and repeated ids occur. */
function copyText(lines: string[], dice: Dice): void {
  const texts = dice.pick(lines).match(/"(?:[^"\\]|\\.)*"(?!:)/g) ?? [];
  if (texts.length > 0) change(lines, dice, parsed(dice.pick(texts)));
}
