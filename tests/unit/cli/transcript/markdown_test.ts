/** Texts of models as Markdown. */
import assert from "node:assert/strict";
import * as fc from "fast-check";
import {
  codeSpan,
  inertMarkdown,
  literalText,
  quotedMarkdown,
} from "../../../../src/cli/transcript/markdown_text.ts";
import { assertInert, pageOf } from "../../../support/inert_markdown.ts";
import { samples } from "../../../support/scale.ts";
import { test } from "../../../support/test.ts";

test.long("no mixture of marks makes a text of a model more than text", () => {
  const marks = fc.constantFrom(
    ...["\n", "\n\n", "\r\n", "    ", "\t", "> ", "- ", "]: "],
    ..."` `` ``` ~~~ <b> <!-- ![ [ ]( ] ) x | \\ &lt; @a #1 http://a.example * _ <a> </details> <? <![CDATA[ [^1]"
      .split(" "),
  );
  fc.assert(
    fc.property(
      fc.array(marks, { maxLength: 40 }),
      (parts) => {
        const text = parts.join("");
        assertInert(inertMarkdown(text), text);
        assertInert(
          `<details><summary>x</summary>\n\n${quotedMarkdown(text)}\n\n</details>\n\n_after_`,
          text,
        );
      },
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
