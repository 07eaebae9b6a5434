import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { resolve } from "node:path";
import { withoutComments } from "../../scripts/house/source_text.ts";
import { readTree } from "../../scripts/house/tree.ts";

const FILES = readTree(resolve(import.meta.dirname ?? ".", "../.."));
/** Sources that hold the list of variables that the program reads. */
const LISTS = ["src/cli/environment.ts", "src/apis/providers.ts", "src/apis/known_upstreams.ts"];

test("each variable that a source asks for by name is in the list", () => {
  const sources = FILES.filter(({ path }) => path.startsWith("src/") && path.endsWith(".ts"))
    .map(({ path, text }) => ({ path, text: withoutComments(text) }));
  const listed = sources.filter(({ path }) => LISTS.includes(path))
    .flatMap(({ text }) => Array.from(text.matchAll(/"([A-Za-z_]+\*?)"/g), ([, name = ""]) => name));
  const name =
    /"((?:REPRISE|OPENAI|ANTHROPIC|AZURE|XDG|DENO|NODE)_[A-Z_]+|[A-Z]+_PROXY)"|\b(?:env|readVariable)\("(\w+)"\)/g;
  const asked = sources.flatMap(({ text }) =>
    Array.from(text.matchAll(name), ([, one, other]) => one ?? other ?? "")
  );
  assert.ok(asked.includes("HOME"), "found no source that asks for HOME: the pattern is stale");
  const isListed = (name: string) =>
    listed.some((entry) => entry === name || entry.endsWith("*") && name.startsWith(entry.slice(0, -1)));
  assert.deepEqual(asked.filter((name) => !isListed(name)), []);
});

test("docs/configuration.md names each variable of ours, but the one that a helper sets for its own workers", () => {
  const page = FILES.find(({ path }) => path === "docs/configuration.md")?.text ?? "";
  const names = FILES.filter(({ path }) => /^(?:src|npm|python)\/|^install\.sh$/.test(path))
    .flatMap(({ text }) => text.match(/\b(?:REPRISE|LLM)_[A-Z_]+\b/g) ?? []);
  assert.deepEqual([...new Set(names)].filter((name) => !page.includes(`\`${name}\``)), [
    "REPRISE_TEST_LISTS",
  ]);
});
