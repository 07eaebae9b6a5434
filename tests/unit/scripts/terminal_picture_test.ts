/** The picture of the README: lines of a terminal become an SVG. */
import assert from "node:assert/strict";
import { styledLines, terminalSvg, textOf, wrapped } from "../../../scripts/picture/svg.ts";

const ROOT = new URL("../../../", import.meta.url);
const COMMITTED = Deno.readTextFileSync(new URL("docs/terminal.svg", ROOT));

Deno.test("a style lasts until a sequence ends it, also in the next line", () => {
  assert.deepEqual(styledLines("\x1b[32ma\nb\x1b[1mc\x1b[0md\n\x1b[31;1me\x1b[39mf\x1b[22mg  \n\n"), [
    [{ text: "a", colour: "green", bold: false }],
    [
      { text: "b", colour: "green", bold: false },
      { text: "c", colour: "green", bold: true },
      { text: "d", colour: null, bold: false },
    ],
    [
      { text: "e", colour: "red", bold: true },
      { text: "f", colour: null, bold: true },
      { text: "g", colour: null, bold: false },
    ],
  ]);
});

Deno.test("a long line breaks at a space, within a word only if it has none, and keeps its styles", () => {
  const rows = wrapped(styledLines("one \x1b[31mtwo three\x1b[39m\nabcdefghijkl\n\nshort"), 8);
  assert.deepEqual(rows.map(textOf), ["one two", "three", "abcdefgh", "ijkl", "", "short"]);
  assert.deepEqual(rows[1], [{ text: "three", colour: "red", bold: false }]);
});

Deno.test("text is escaped, and each run has its place and length", () => {
  const svg = terminalSvg(styledLines("a \x1b[31m<&>"), { title: "T", columns: 10 });
  assert.ok(svg.includes('<tspan x="36.8" textLength="25.2"'), svg);
  assert.ok(svg.includes(' class="red">&lt;&amp;&gt;</tspan>'), svg);
});

Deno.test("the committed picture loads nothing and runs nothing, and has colours for light pages", () => {
  assert.doesNotMatch(COMMITTED, /<script|href|url\(|@import|@font-face|<image|<foreignObject|\son\w+=/i);
  assert.match(COMMITTED, /prefers-color-scheme: light/);
});

Deno.test("the committed picture shows a recording, a replay and a miss", () => {
  const text = [...COMMITTED.matchAll(/<text[^>]*>(.*)<\/text>/g)]
    .map(([, row = ""]) => row.replaceAll(/<[^>]+>/g, "").replaceAll("&quot;", '"')).join("\n");
  const facts = [
    "$ reprise record --out fixtures/chat -- pytest\n",
    "2 passed\nrecorded 2 exchanges",
    "$ reprise serve fixtures/chat",
    'received "Name the capital of France?"',
    "1 failed, 1 passed",
  ];
  let from = 0;
  for (const fact of facts) {
    const at = text.replaceAll("\n", " ").indexOf(fact.replaceAll("\n", " "), from);
    assert.ok(at >= 0, `${fact} is not in: ${text}`);
    from = at;
  }
});
