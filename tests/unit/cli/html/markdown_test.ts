import assert from "node:assert/strict";
import { richText } from "../../../../src/cli/html/markdown.ts";
import { test } from "../../../support/test.ts";

/** Every tag in rendered text. */
function tagsIn(text: string): string[] {
  const rich = richText(text);
  assert.ok("html" in rich, "it is rendered");
  return rich.html.match(/<[^>]*>?/g) ?? [];
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
  assert.deepEqual(richText("[the docs](https://a.example/x?y=1&z)"), {
    html: "<p><u>the docs</u> <samp>(https://a.example/x?y=1&amp;z)</samp></p>",
  });
  assert.deepEqual(richText("<https://a.example/>"), { html: "<p><u>https://a.example/</u></p>" });
  assert.deepEqual(richText("![a cat](https://a.example/cat.png)"), {
    html: "<p><u>[image: a cat]</u> <samp>(https://a.example/cat.png)</samp></p>",
  });
});

Deno.test("headings, lists, tables, emphasis and code are rendered", () => {
  const text = '## A\n\n1. *b*\n2. **c**\n\n- [x] d\n\n| e |\n|---|\n| `f<` |\n\n```ts\nlet g = "h";\n```';
  const tags = tagsIn(text);
  for (const tag of ["<h2>", "<ol>", "<ul>", "<em>", "<strong>", "<table>", "<td>", "<code>", "<pre>"]) {
    assert.ok(tags.includes(tag), tag);
  }
  const rich = richText(text);
  assert.ok("html" in rich && rich.html.includes('let g = "h";') && rich.html.includes("☑ d"));
});

Deno.test("a block that would take too long stays plain, between blocks that are rendered", () => {
  for (const costly of ["**_a".repeat(500), "a.".repeat(5000), "*a!".repeat(400)]) {
    const rich = richText(`# A **b**\n\n${costly}\n\n- \`c_d_e\` and *f*\n`);
    assert.deepEqual(rich, {
      html:
        `<h1>A <strong>b</strong></h1><p>${costly}</p>\n<ul><li><code>c_d_e</code> and <em>f</em></li></ul>`,
    });
  }
});

Deno.test("a long paragraph with names, code and emphasis is rendered", () => {
  const line =
    "The **first** `snake_case_name` of some_module_name is at https://a.example/b_c/d_e, *not* here. ";
  const rich = richText(line.repeat(30));
  assert.ok("html" in rich);
  assert.equal(rich.html.match(/<strong>first<\/strong>/g)?.length, 30);
});

test.long("a text that is too long or nests too deep to render is not changed", () => {
  for (
    const text of [
      "> ".repeat(20_000) + "deep",
      "1. ".repeat(15_000),
      "a ".repeat(30_000),
      "--\n".repeat(301),
    ]
  ) {
    assert.deepEqual(richText(text), { text });
  }
});
