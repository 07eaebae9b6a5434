/** The marks of a miss: where a received value differs from the recorded one. */
import { type Row, rows } from "./served.ts";
import { ask } from "./shapes.ts";

const FLAGS = ["--rules", "none"];

/** The marks under what differs, or the end of the line before the cure. */
const marked = (was: string, is: string, marks: string): Row => ({
  recorded: [ask(was)],
  asked: [[ask(is), marks]],
});
const LONG = "word ".repeat(30);
rows("what differs is marked below both values", {
  "a word": marked("Go to Rome now", "Go to Oslo now", '"Go to Oslo now"|       ^^^^'),
  "a longer word": marked("Go to Rome now", "Go to Hannover now", '"Go to Hannover now"|       ^^^^^^^^'),
  "the first word": marked("Rome is far", "Oslo is far", '"Oslo is far"| ^^^^'),
  "the last word": marked("Go to Rome", "Go to Oslo", '"Go to Oslo"|       ^^^^'),
  "a word that only one of them has": marked("Go now", "Go up now", '"Go up now"|    ^^^'),
  "a word that is gone": marked("Go up now", "Go now", '"Go now"|    ^'),
  "two words, from the first to the end of the first": marked(
    "a bc or de",
    "a xy or zz",
    '"a xy or zz"|   ^^^^^^^^',
  ),
  "a word in a long text, in a line that a terminal shows": marked(
    `${LONG}left ${LONG}`,
    `${LONG}right ${LONG}`,
    `…${LONG.slice(-30)}right ${LONG.slice(0, 29)}|${" ".repeat(31)}^^^^`,
  ),
  "nothing, if one of them lacks the place": {
    recorded: [ask("Hi")],
    asked: [[ask("Hi", { seed: 1 }), "1|"]],
  },
}, {
  flags: FLAGS,
  outcome: ({ events: [{ message }] }) => {
    const [, , received = "", marks = ""] = message.split("\n");
    return `${received.replace("  received ", "")}|${
      marks.startsWith("  To") ? "" : marks.slice("  received ".length)
    }`;
  },
});
