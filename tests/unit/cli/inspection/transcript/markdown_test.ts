import assert from "node:assert/strict";
import * as fc from "fast-check";
import { micromark } from "micromark";
import { gfm, gfmHtml } from "micromark-extension-gfm";
import { transcriptMarkdown } from "../../../../../src/cli/inspection/transcript/markdown.ts";
import {
  codeSpan,
  inertMarkdown,
  literalText,
  quotedMarkdown,
} from "../../../../../src/cli/inspection/transcript/markdown_text.ts";
import type { ShownSession } from "../../../../../src/store/read/show.ts";
import { call, History, message } from "../../../../support/history.ts";
import { shownSession, transcriptOf } from "./shown.ts";
import { hostileSession, hostileStrings } from "./hostile.ts";
import { test } from "../../../../support/test.ts";
import { samples } from "../../../../support/scale.ts";

/** The page that GitHub's dialect makes of Markdown, with all HTML in it. */
function pageOf(markdown: string): string {
  return micromark(markdown, {
    allowDangerousHtml: true,
    allowDangerousProtocol: true,
    extensions: [gfm()],
    htmlExtensions: [gfmHtml()],
  });
}

function markdownOf(session: ShownSession, full = false): string {
  return transcriptMarkdown(transcriptOf(session), { full, facts: [], wholeOutput: () => null });
}

/** Elements that show text and do nothing else. */
const HARMLESS =
  /^\/?(?:p|blockquote|pre|code|em|strong|del|h[1-6]|ul|ol|li|hr|br|table|thead|tbody|tr|th|td|a|details|summary|input)$/;

/** Fails if a page holds more than text: markup of its content, an image, a link that hides its target, a mention. */
function assertInert(markdown: string, what: string): void {
  const page = pageOf(markdown);
  for (const [tag, name = ""] of page.matchAll(/<(\/?[^\s>]*)[^>]*>/g)) {
    assert.match(name, HARMLESS, `${tag} in ${page}\n of ${what}`);
    if (name === "details") assert.match(tag, /^<details(?: open(?:="")?)?>$/);
    if (name === "input") assert.match(tag, /^<input type="checkbox" disabled=""(?: checked="")?>$/);
  }
  for (const [, target = "", text = ""] of page.matchAll(/<a href="([^"]*)">([\s\S]*?)<\/a>/g)) {
    assert.match(target, /^(?:https?:|mailto:)/);
    const read = (written: string) =>
      decodeURI(written.replace(/%(?![0-9a-f]{2})/gi, "%25")).replaceAll("&gt;", ">");
    assert.ok(read(target).endsWith(read(text)), `${target} is shown as ${text}: ${what}`);
  }
  const text = page.replace(/<(pre|code)[\s>][\s\S]*?<\/\1>/g, "<>").replace(/<[^>]*>/g, "\0");
  assert.doesNotMatch(text, /@[\w]|#\d|\bGH-\d|(?:issues|pull)\/\d/i, `a reference in ${text}\n of ${what}`);
  // deno-lint-ignore no-control-regex -- the parts of the page are joined by NUL
  assert.doesNotMatch(markdown, /[\u0001-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/, what);
}

test.long("hostile strings in every field are only text for a reader of GitHub's Markdown", () => {
  for (const text of hostileStrings()) {
    for (const full of [false, true]) {
      assertInert(markdownOf(hostileSession(text), full), JSON.stringify(text));
    }
  }
});

const ATTACKS: readonly string[] = [
  "`open\n`<b>`",
  "| a | b |\n| - | - |\n| ` | <b> ` |",
  `${"`".repeat(150)} <b> ${"`".repeat(100)}`,
  "&#64;user and &commat;user, &#35;1",
  "[bank](https://evil.example)",
  "[bank]\n\n[bank]: https://evil.example",
  "![a](https://evil.example/a.png) !![a](https://evil.example/a.png)",
  "~~~\n```\n</details>\n<b>\n~~~",
  "```\n<b>",
  "- a\n\n      ```\n      <b>\n   ```\n<i>",
  "\\<b> \\\\<b> \\@user \\#1 \\![a](b)",
  "<!--\n\n```\n-->\n<b>\n```",
  "text\n    ``` x\n<b>\n    ```",
  "closes https://example.com/o/r/issues/3, GH-4 and o/r#5",
];

for (const text of ATTACKS) {
  Deno.test(`a model's text ${JSON.stringify(text)} is only text`, () => {
    assertInert(inertMarkdown(text), text);
    assertInert(`<details><summary>x</summary>\n\n${quotedMarkdown(text)}\n\n</details>\n\n_after_`, text);
    assert.doesNotMatch(inertMarkdown(text), /(?<!\\)!\[/);
  });
}

test.long("no mixture of marks makes a text of a model more than text", () => {
  const marks = fc.constantFrom(
    ...[
      "`",
      "``",
      "```",
      "~~~",
      "\n",
      "\n\n",
      "<b>",
      "<!--",
      "![",
      "[",
      "](",
      "]",
      ")",
      "x",
      "]: ",
      "|",
      "> ",
      "- ",
      "\\",
      "&lt;",
    ],
    ...[
      "@a",
      "#1",
      "    ",
      "\t",
      "http://a.example",
      "*",
      "_",
      "<a href=x>",
      "</details>",
      "<script>",
      "\r\n",
      "[^1]",
      "<?",
      "<![CDATA[",
    ],
  );
  fc.assert(
    fc.property(
      fc.array(marks, { maxLength: 40 }),
      (parts) => assertInert(inertMarkdown(parts.join("")), parts.join("")),
    ),
    { seed: 18, numRuns: samples(20_000) },
  );
});

Deno.test("code, lists, tables and emphasis of a model's answer keep their meaning", () => {
  const page = pageOf(
    inertMarkdown(
      "# T\n\n- `Vec<T>` and **bold**\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```ts\nf<T>(@a) // #1\n```",
    ),
  );
  assert.ok(page.includes("<h1>T</h1>"));
  assert.ok(page.includes("<code>Vec&lt;T&gt;</code> and <strong>bold</strong>"), page);
  assert.ok(page.includes("<td>1</td>"));
  assert.ok(page.includes('<pre><code class="language-ts">f&lt;T&gt;(@a) // #1\n</code></pre>'), page);
});

test.long("a text in a heading or a cell is that text, letter by letter", () => {
  const letters = fc.constantFrom(..."ab `*_[]()<>|\\#&~!-+.1@");
  fc.assert(
    fc.property(fc.array(letters, { minLength: 1, maxLength: 20 }), (parts) => {
      const text = parts.join("").trim().replace(/\s+/g, " ");
      if (text === "") return;
      const cell = (made: string) =>
        (/<td>([\s\S]*?)<\/td>/.exec(pageOf(`| a |\n| --- |\n| ${made} |`))?.[1] ?? "").replace(
          /<[^>]*>/g,
          "",
        )
          .replaceAll("\u200b", "").replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&quot;", '"')
          .replaceAll("&amp;", "&");
      assert.equal(cell(literalText(text)).trim(), text);
      assert.equal(cell(codeSpan(text)).trim(), text);
    }),
    { seed: 18, numRuns: samples(3000) },
  );
});

Deno.test("a call is beside its result, an edit as a diff, and long outputs are closed and cut", () => {
  const output = Array.from({ length: 100 }, (_, line) => `line ${line}`).join("\n");
  const history = new History().user("Fix it")
    .model([
      call("e", "edit_file", JSON.stringify({ path: "a.txt", old_text: "one\ntwo\n", new_text: "one\n2\n" })),
      call("r", "read_file", JSON.stringify({ path: "b.txt", offset: null, limit: null })),
    ]).results().model([message("m", "Done.")]).ended();
  const markdown = markdownOf(shownSession(history, { output }));
  const [, edit = "", read = ""] = markdown.split("<details");
  assert.ok(edit.startsWith(" open><summary>→ <code>edit_file a.txt</code>: ok</summary>"), edit);
  assert.ok(edit.includes("```diff\n one\n-two\n+2\n```"), edit);
  assert.ok(read.startsWith("><summary>→ <code>read_file b.txt</code>: ok</summary>"), read);
  assert.ok(read.includes("line 29\n```\n\n_70 lines left out_"), read);
  assert.ok(markdownOf(shownSession(history, { output }), true).includes("line 99\n```"));
});

test.long("a session of any length fits in a pull request, with its beginning and its end", () => {
  const history = new History();
  for (let run = 1; run <= 400; run++) {
    history.run = run;
    history.user(`Prompt ${run}: ${"x".repeat(200)}`).model([
      call(`c${run}`),
      message(`m${run}`, `Answer ${run}`),
    ]).results().ended();
  }
  const session = shownSession(history, { output: "o".repeat(5000) });
  const markdown = markdownOf(session);
  assert.ok(markdown.length <= 65_536, String(markdown.length));
  for (const text of ["Prompt 1:", "Answer 400", "parts left out here", "reprise show s --markdown --full"]) {
    assert.ok(markdown.includes(text), text);
  }
  assert.ok(markdownOf(session, true).includes("Prompt 200:"));
});
