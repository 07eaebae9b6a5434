/** `show --markdown`: texts for pull requests, which readers of GitHub's Markdown see and nothing obeys. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { assertInert } from "../../support/inert_markdown.ts";
import { test } from "../../support/test.ts";
import { ID, withHome } from "./home.ts";
import { ended, type GivenTurn, message, model, reasoning, user } from "./session_files.ts";
import { EVENTS, variantsOf } from "./shapes.ts";

/** Texts of models and people that a terminal, a page or a reader of Markdown would obey. */
const ATTACKS: readonly string[] = [
  "\x1b[2J\x1b[H\x07\u009b31m\u202e\u2066\rover",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "</details></blockquote><h1>out</h1>",
  "![x](https://evil.example/pixel.png) ![x][y]\n\n[y]: https://evil.example/pixel.png",
  "[bank](https://evil.example)",
  "```\n</details>\n<b>out</b>",
  "````` `` ``` `",
  `${"`".repeat(150)} <b> ${"`".repeat(100)}`,
  "`a <b>\n`c` <i>d</i>",
  "| a ` | <u>b</u> ` |\n| --- | --- |",
  "@everyone closes #1, fixes GH-2 and https://example.com/o/r/issues/3",
  "&lt;b&gt; &#64;user &#x3c;i>",
  "[bank]\n\n[bank]: https://evil.example",
  "~~~\n```\n</details>\n<b>\n~~~",
  "- a\n\n      ```\n      <b>\n   ```\n<i>",
  "\\<b> \\\\<b> \\@user \\#1 \\![a](b)",
  "<!--\n\n```\n-->\n<b>\n```",
  "text\n    ``` x\n<b>\n    ```",
  "\n── 99 · run 99 · user",
];

/** A tool's call and its result. */
const called = (id: string, name: string, args: Json, output: string): readonly [Json, Json] => [
  { id: `fc_${id}`, type: "function_call", call_id: id, name, arguments: JSON.stringify(args) },
  { type: "tool_result", call_id: id, tool: name, status: "ok", output },
];

/** A session with a text in each of its fields that a transcript shows. */
function hostile(text: string): GivenTurn[] {
  const calls = [
    called(`${text}1`, text, { path: text, [text]: text }, text),
    called(`${text}2`, "edit_file", { path: text, old_text: text, new_text: `${text}\n${text}` }, text),
    called(`${text}3`, "write_file", { path: text, content: text }, text),
  ];
  const thought = { ...reasoning(text, text), summary: [{ type: "summary_text", text }] };
  const items = [thought, message(text, text), ...calls.map(([item]) => item), { type: text, id: text }];
  const filled = (shape: Json) =>
    JSON.parse(
      JSON.stringify(variantsOf(shape)[0]?.value),
      (_, each) => typeof each === "string" ? text : each,
    );
  const notes = Object.entries(EVENTS).map(([type, shape]) => ({ ...filled(shape), type }));
  return [
    user(text),
    { ...model(items), model: { asked: text, answered: text } },
    {
      kind: "tools",
      events: calls.map(([item, result]) => ({ ...result, call_seq: 2 + items.indexOf(item) })),
    },
    { kind: "harness", events: [...notes, { type: text }] },
  ];
}

withHome(
  "hostile texts in every field are only text in Markdown, and begin no turn in a pipe",
  async (home) => {
    for (const [index, text] of ATTACKS.entries()) {
      home.session(hostile(text), `s${index}`);
      for (const flags of [[], ["--full"]]) {
        const { code, stdout } = await home.call(["show", `s${index}`, "--markdown", ...flags]);
        assert.equal(code, 0);
        assertInert(stdout, JSON.stringify(text));
      }
      const { stdout } = await home.call(["show", `s${index}`]);
      assert.equal(stdout.match(/^──/gm)?.length, 4, stdout);
      assert.ok(stdout.includes(text.split("\n", 1)[0] ?? ""), "a pipe gets the text unaltered");
    }
  },
  test.long,
);

withHome(
  "a call is beside its result, an edit as a diff, and long outputs are closed and cut",
  async (home) => {
    const output = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
    const edits = [["old_text", "new_text"], ["old_string", "new_string"], ["old_str", "new_str"]]
      .map(([was = "", is = ""], at) =>
        called(`e${at}`, "edit_file", { path: "a.txt", [was]: "one\ntwo\n", [is]: "one\n2\n" }, "Edited")
      );
    const calls = [...edits, called("r", "read_file", { path: "b.txt" }, output)];
    const results = calls.map(([_, result], at) => ({ ...result, call_seq: 2 + at }));
    home.session([
      user("Fix it"),
      model(calls.map(([item]) => item)),
      { kind: "tools", events: results },
      ended(),
    ]);
    const { stdout } = await home.call(["show", ID, "--markdown"]);
    const shown = stdout.split("<details");
    for (const edit of shown.slice(1, 4)) {
      assert.ok(edit.startsWith(" open><summary>→ <code>edit_file a.txt</code>: ok</summary>"), edit);
      assert.ok(edit.includes("```diff\n one\n-two\n+2\n```"), edit);
    }
    assert.ok(shown[4]?.startsWith("><summary>→ <code>read_file b.txt</code>: ok</summary>"), stdout);
    assert.ok(shown[4]?.includes("line 29\n```\n\n_70 lines left out_"), stdout);
    assert.ok((await home.call(["show", ID, "--markdown", "--full"])).stdout.includes("line 99\n```"));
  },
);

withHome("a session of any length fits in a pull request, with its beginning and its end", async (home) => {
  const turns = Array.from({ length: 400 }, (_, at): GivenTurn[] => {
    const run = at + 1;
    const [item, result] = called(`c${run}`, "read_file", { path: "a.txt" }, "o".repeat(5000));
    return [
      user(`Prompt ${run}: ${"x".repeat(200)}`, run),
      model([item, message(`m${run}`, `Answer ${run}`)], run),
      { kind: "tools", run, events: [{ ...result, call_seq: at * 6 + 2 }] },
      ended(run),
    ];
  }).flat();
  home.session(turns);
  const { stdout } = await home.call(["show", ID, "--markdown"]);
  assert.ok(stdout.length <= 65_536, String(stdout.length));
  for (
    const text of ["Prompt 1:", "Answer 400", "parts left out here", `reprise show ${ID} --markdown --full`]
  ) {
    assert.ok(stdout.includes(text), text);
  }
  assert.ok((await home.call(["show", ID, "--markdown", "--full"])).stdout.includes("Prompt 200:"));
}, test.long);
