import assert from "node:assert/strict";
import { PageProject } from "./page_project.ts";
import { test } from "./test.ts";

const block = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\`\n`;

/** Runs a page of these blocks, in a project of its own. */
async function run(...blocks: readonly string[]): Promise<void> {
  await using project = new PageProject();
  await project.runText("docs/a.md", blocks.join("\n"));
}

test.long("a page runs in one project: its files, scripts, edits and output belong together", async () => {
  await run(
    block("txt", "# notes/a.txt\nalpha\nbeta"),
    block("sh", "cat notes/a.txt | tail -n 2; pwd"),
    block("text", "alpha\nbeta\n/srv/project"),
    block("diff", "--- notes/a.txt\n+++ notes/a.txt\n-beta\n+gamma"),
    block("sh", "cat notes/a.txt; exit 3  # exit code 3"),
    block("text", "…\ngamma"),
    block("sh", "echo http://127.0.0.1:40123 in 23 ms at 2026-01-02 10:11"),
    block("text", "http://127.0.0.1:8080 in 9 ms at 2026-11-23 09:00"),
  );
});

test.long("lines of programs that print at once may change places", async () => {
  await run(block("sh", "echo one; echo two"), block("text", "two\none"));
});

const BROKEN: Readonly<Record<string, readonly [error: RegExp, blocks: readonly string[]]>> = {
  "a script that fails": [/docs\/a\.md:2: false/, [block("sh", "false")]],
  "a script that succeeds against its comment": [/0 !== 7/, [block("sh", "true  # exit code 7")]],
  "a first command that fails": [/docs\/a\.md:2/, [block("sh", "false\ntrue")]],
  "other output": [/the output differs/, [block("sh", "echo one"), block("text", "two")]],
  "more output": [/the output differs/, [block("sh", "echo one; echo two"), block("text", "one")]],
  "a missing line beside lines that may be left out": [
    /the output differs/,
    [block("sh", "echo one; echo two"), block("text", "…\nthree")],
  ],
  "output that shows nothing": [/shows nothing/, [block("sh", "echo one"), block("text", "…")]],
  "an edit of lines that are not there": [
    /nothing to change in a\.txt/,
    [block("txt", "# a.txt\nalpha"), block("diff", "+++ a.txt\n-beta\n+gamma")],
  ],
};

for (const [name, [error, blocks]] of Object.entries(BROKEN)) {
  test.long(`a page fails with ${name}`, () => assert.rejects(run(...blocks), error));
}
