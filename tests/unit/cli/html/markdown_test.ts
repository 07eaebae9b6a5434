import assert from "node:assert/strict";
import { richText } from "../../../../src/cli/html/markdown.ts";
import { test } from "../../../support/test.ts";

const OPEN = '<div class="rich" dir="auto">';

/** Rendered text, without the element around it. */
function htmlOf(text: string): string {
  const html = richText(text);
  assert.ok(html.startsWith(OPEN) && html.endsWith("</div>"), "it is rendered");
  return html.slice(OPEN.length, -"</div>".length);
}

/** Every tag in rendered text. */
function tagsIn(text: string): string[] {
  return htmlOf(text).match(/<[^>]*>?/g) ?? [];
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "text <b onclick='x()'>bold</b>",
  "[a](javascript:alert(1))",
  "![a](http://127.0.0.1:9/x.png \"on='x'\")",
  "[a]: javascript:alert(1) '\"><script>'\n\n[a]",
  "<http://127.0.0.1:9/>",
  '```js" onload="x\n</pre><script>alert(1)</script>\n```',
  "`</code><svg onload=x>`",
  "| <svg/onload=x> |\n|:-:|\n| [x](data:text/html,<script>) |",
  "&lt;script&gt;alert(1)&lt;/script&gt; &amp;lt;b&amp;gt;",
  "# a {#x onclick=y}\n\n1. <iframe src=x>",
  "- [x] <input autofocus onfocus=x>",
  "</div></script><!-- <script> -->",
  "\"><script>x</script>'",
];

Deno.test("rendered Markdown holds tags without attributes only, whatever markup the text holds", () => {
  for (const text of HOSTILE) {
    for (const tag of tagsIn(text)) assert.match(tag, /^<\/?[a-z][a-z0-9]*>$/, `${tag} of ${text}`);
    for (const name of ["script", "img", "a", "svg", "iframe", "input", "b"]) {
      assert.ok(!tagsIn(text).includes(`<${name}>`), `${name} of ${text}`);
    }
  }
});

Deno.test("links and images are shown with their addresses", () => {
  assert.equal(
    htmlOf("[the docs](https://a.example/x?y=1&z)"),
    "<p><u>the docs</u> <samp>(https://a.example/x?y=1&amp;z)</samp></p>",
  );
  assert.equal(htmlOf("<https://a.example/>"), "<p><u>https://a.example/</u></p>");
  assert.equal(
    htmlOf("![a cat](https://a.example/cat.png)"),
    "<p><u>[image: a cat]</u> <samp>(https://a.example/cat.png)</samp></p>",
  );
});

Deno.test("headings, lists, tables, emphasis and code are rendered", () => {
  const text = '## A\n\n1. *b*\n2. **c**\n\n- [x] d\n\n| e |\n|---|\n| `f<` |\n\n```ts\nlet g = "h";\n```';
  const tags = tagsIn(text);
  for (const tag of ["<h2>", "<ol>", "<ul>", "<em>", "<strong>", "<table>", "<td>", "<code>", "<pre>"]) {
    assert.ok(tags.includes(tag), tag);
  }
  assert.ok(htmlOf(text).includes("let g = &quot;h&quot;;") && htmlOf(text).includes("☑ d"));
});

Deno.test("a block that would take too long stays plain, between blocks that are rendered", () => {
  for (const costly of ["**_a".repeat(500), "a.".repeat(5000), "*a!".repeat(400)]) {
    assert.equal(
      htmlOf(`# A **b**\n\n${costly}\n\n- \`c_d_e\` and *f*\n`),
      `<h1>A <strong>b</strong></h1><p>${costly}</p>\n<ul><li><code>c_d_e</code> and <em>f</em></li></ul>`,
    );
  }
});

Deno.test("a long paragraph with names, code and emphasis is rendered", () => {
  const line =
    "The **first** `snake_case_name` of some_module_name is at https://a.example/b_c/d_e, *not* here. ";
  assert.equal(htmlOf(line.repeat(30)).match(/<strong>first<\/strong>/g)?.length, 30);
});

test.long("a text that is too long or nests too deep to render is not changed", () => {
  for (const text of [`${"> ".repeat(20_000)}deep`, "1. ".repeat(15_000), "a ".repeat(30_000)]) {
    const shown = text.replaceAll(">", "&gt;");
    assert.equal(richText(text), `<pre dir="auto">\n${shown}</pre>`);
  }
});
