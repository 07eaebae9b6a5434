import assert from "node:assert/strict";
import { formatFinding } from "../../../scripts/house/finding.ts";
import { checkLinks } from "../../../scripts/house/links.ts";

/** Findings in a tree of these files, as lines. */
function findingsIn(files: Readonly<Record<string, string>>): string[] {
  return checkLinks(Object.entries(files).map(([path, text]) => ({ path, text }))).map(formatFinding);
}

Deno.test("a link to a missing file is found, also to an image and from another folder", () => {
  const found = findingsIn({
    "README.md": 'Read [this](docs/no.md).\n\n<img src="docs/none.svg">\n![a](docs/a.png)\n',
    "docs/a.md": "[up](../README.md) and [aside](b.md)\n",
    "docs/a.png": "",
  });
  assert.deepEqual(found, [
    "README.md:1: Links docs/no.md, which does not exist",
    "README.md:3: Links docs/none.svg, which does not exist",
    "docs/a.md:1: Links b.md, which does not exist",
  ]);
});

Deno.test("a link to a missing heading is found, in the same page and in another one", () => {
  const found = findingsIn({
    "README.md": "# One\n\n[a](#one) [b](#two) [c](docs/a.md#part-1) [d](docs/a.md#part-3)\n",
    "docs/a.md": "## Part\n## Part\n```\n## Part 3\n```\n",
  });
  assert.deepEqual(found, [
    "README.md:3: Links #two: README.md has no such heading",
    "README.md:3: Links docs/a.md#part-3: docs/a.md has no such heading",
  ]);
});

Deno.test("headings get the anchors that GitHub gives them", () => {
  const headings = [
    "Asking again: --repeat",
    "The `fault` of *one*",
    "[serve.md](serve.md), again",
    "Größe ≥ 2",
  ];
  const anchors = ["asking-again---repeat", "the-fault-of-one", "servemd-again", "größe--2"];
  const links = anchors.map((anchor) => `[x](#${anchor})`).join(" ");
  assert.deepEqual(
    findingsIn({ "a.md": headings.map((h) => `## ${h}\n`).join("") + links, "serve.md": "" }),
    [],
  );
});

Deno.test("folders, other sites, code and recordings are no dead links", () => {
  const found = findingsIn({
    "README.md": "[a](docs/schemas) [b](https://example.com/a.md) `[c](no.md)`\n```sh\n[d](no.md)\n```\n",
    "docs/schemas/a.json": "{}",
    "fixtures/demo/workspace/README.md": "[e](no.md)",
  });
  assert.deepEqual(found, []);
});

Deno.test("a page of docs that the index does not link is found", () => {
  const found = findingsIn({
    "README.md": "[c](docs/c.md)",
    "docs/README.md": "[a](a.md) [b](b.md#part)\n",
    "docs/a.md": "[c](c.md)",
    "docs/b.md": "# Part",
    "docs/c.md": "",
  });
  assert.deepEqual(found, ["docs/c.md:1: Is not in docs/README.md: add a link there"]);
});
