/** Each command of the docs is run by a test, or listed with the reason why none does. */
import assert from "node:assert/strict";
import { blocksOf } from "../../support/page.ts";
import { NOT_RUN, PAGE_TESTS, reasonNotToRun } from "../../support/pages.ts";

const ROOT = new URL("../../../", import.meta.url);

function read(path: string): string {
  return Deno.readTextFileSync(new URL(path, ROOT));
}

/** The `sh` blocks of the pages that are for readers, each with its page. */
function commands(): { readonly page: string; readonly line: number; readonly text: string }[] {
  const docs = [...Deno.readDirSync(new URL("docs/", ROOT))].map(({ name }) => `docs/${name}`);
  return ["README.md", "CONTRIBUTING.md", ...docs.sort()].filter((path) => path.endsWith(".md"))
    .flatMap((page) =>
      blocksOf(read(page)).filter(({ language, path }) => language === "sh" && path === null)
        .map(({ line, text }) => ({ page, line, text }))
    );
}

Deno.test("every block of commands in the docs is run by a test, or is listed with a reason", () => {
  const found = commands();
  assert.ok(found.length > 40);
  for (const { page, line, text } of found) {
    assert.ok(
      reasonNotToRun(page, text) !== null || Object.hasOwn(PAGE_TESTS, page),
      `${page}:${line}: no test runs this block; add the page to tests/support/pages.ts`,
    );
  }
});

Deno.test("the test of each page names it, and each reason belongs to a block", () => {
  const found = commands();
  for (const [page, tests] of Object.entries(PAGE_TESTS)) {
    for (const test of [tests].flat()) assert.ok(read(test).includes(page), `${test} does not name ${page}`);
    assert.ok(found.some((block) => block.page === page), `${page} has no block of commands`);
  }
  for (const [page, part, reason] of NOT_RUN) {
    assert.ok(found.some((block) => block.page === page && block.text.includes(part)), `${page}: ${part}`);
    assert.ok(reason.length > 10);
  }
});

Deno.test("blocks of commands are marked as sh: a page has no block of another shell, and no prompt signs", () => {
  for (const { page, line, text } of commands()) assert.doesNotMatch(text, /^\$ /m, `${page}:${line}`);
  for (const page of Object.keys(PAGE_TESTS)) {
    assert.doesNotMatch(read(page), /^```(?:bash|shell|console|zsh)$/m);
  }
});

Deno.test("the guides name no flag that no verb has", () => {
  const known = new Set([...read("docs/cli.md").matchAll(/--[a-z][a-z-]*/g)].map(([flag]) => flag));
  for (const guide of ["start-sessions", "recording", "ci", "debug", "reasoning"]) {
    const page = read(`docs/${guide}.md`);
    const named = [...page.matchAll(/`(--[a-z][a-z-]*)[^`\n]*`/g)].map(([, flag = ""]) => flag);
    assert.ok(named.length > 0, guide);
    assert.deepEqual(named.filter((flag) => !known.has(flag)), [], guide);
  }
});

Deno.test("docs/reasoning.md knows every reason for which an item is left out", () => {
  const [, union = ""] = read("src/domain/turn.ts").split("export type DropReason");
  const reasons = [...union.slice(0, union.indexOf("export interface")).matchAll(/\| "([a-z_]+)"/g)].map((
    [, reason],
  ) => reason);
  assert.ok(reasons.length >= 15);
  const page = read("docs/reasoning.md");
  assert.deepEqual(reasons.filter((reason) => !page.includes(`\`${reason}\``)), []);
});
