import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import { resolve } from "node:path";
import { withoutComments } from "../../scripts/house/source_text.ts";
import { readTree } from "../../scripts/house/tree.ts";
import { isRead, READ_VARIABLES } from "../../src/cli/environment.ts";

test("each variable that a source asks for by name is in the list", () => {
  const files = readTree(resolve(import.meta.dirname ?? ".", "../.."));
  const sources = files.filter((file) => file.path.startsWith("src/") && file.path.endsWith(".ts"));
  const name =
    /"((?:REPRISE|OPENAI|ANTHROPIC|AZURE|XDG|DENO|NODE)_[A-Z_]+|[A-Z]+_PROXY)"|\b(?:env|readVariable)\("(\w+)"\)/g;
  const asked = sources.flatMap((file) =>
    [...withoutComments(file.text).matchAll(name)].map((match) => match[1] ?? match[2] ?? "")
  );
  assert.ok(asked.includes("HOME"), "found no source that asks for HOME: the pattern is stale");
  assert.deepEqual(asked.filter((name) => !isRead(name)), []);
  assert.ok(!READ_VARIABLES.includes("*"));
});

test("docs/configuration.md names each variable of ours, but the one that a helper sets for its own workers", () => {
  const files = readTree(resolve(import.meta.dirname ?? ".", "../.."));
  const page = files.find(({ path }) => path === "docs/configuration.md")?.text ?? "";
  const names = files.filter(({ path }) => /^(?:src|npm|python)\/|^install\.sh$/.test(path))
    .flatMap(({ text }) => text.match(/\b(?:REPRISE|LLM)_[A-Z_]+\b/g) ?? []);
  assert.deepEqual([...new Set(names)].filter((name) => !page.includes(`\`${name}\``)), [
    "REPRISE_TEST_LISTS",
  ]);
});
