/**
 * README.md and docs/recording.md do what they say: tests of vitest, node:test, Deno.test and pytest are recorded, changed, and replayed
 * with the API stopped.
 */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { sha256, textsBelow } from "../support/files.ts";
import { BLOCKS, HelperProject, KEY, PACKAGES, README_BLOCKS } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

/** A suite of the page. */
interface Suite {
  readonly runner: string;
  /** Command that runs its tests. */
  readonly command: string;
  /** Files of the page. */
  readonly files: readonly string[];
  /** Blocks of the page. @default {those of docs/recording.md} */
  readonly blocks?: typeof BLOCKS;
  readonly folder: string;
  /** Slug and id of each of its recordings. */
  readonly recorded: readonly (readonly [slug: string, id: string])[];
  /** File with a prompt, and the prompt before and after a change. */
  readonly changed: readonly [file: string, from: string, to: string];
  /** Rest of the command that runs the changed test only. @default {all tests run} */
  readonly only?: string;
}

const SUITES: readonly Suite[] = [
  {
    runner: "vitest",
    command: "npx vitest run",
    files: ["vitest.config.ts", "tests/api.ts", "tests/capital.test.ts"],
    folder: "fixtures/vitest",
    recorded: [["names-a-capital", "../../tests/capital.test.ts > names a capital"]],
    only: ' -t "names a capital"',
    changed: ["tests/capital.test.ts", "What is the capital", "Which city is the capital"],
  },
  {
    runner: "vitest in README.md",
    command: "npx vitest run",
    files: ["tests/capital.test.ts"],
    blocks: README_BLOCKS,
    folder: "fixtures/tests",
    recorded: [["names-the-capital", "../../tests/capital.test.ts > names the capital"]],
    changed: ["tests/capital.test.ts", "Which city is the capital", "Which is the capital"],
  },
  {
    runner: "node:test",
    command: "node --test tests/*.mjs",
    files: ["tests/river.test.mjs"],
    folder: "fixtures/node",
    recorded: [["names-a-river", "../../tests/river.test.mjs > names a river"]],
    changed: ["tests/river.test.mjs", "Name a river", "Name a long river"],
  },
  {
    runner: "Deno.test",
    command: "deno test -A --no-check --no-lock tests/*_test.ts",
    files: ["tests/lake_test.ts"],
    folder: "fixtures/deno",
    recorded: [["names-a-lake", "../../tests/lake_test.ts > names a lake"]],
    changed: ["tests/lake_test.ts", "Name a lake", "Name a deep lake"],
  },
  {
    runner: "another runner, with await using",
    command: "deno test -A --no-check --no-lock tests/any*.test.ts",
    files: ["tests/any.test.ts"],
    folder: "fixtures/any",
    recorded: [["names-a-sea", "names a sea"]],
    changed: ["tests/any.test.ts", "Name a sea", "Name a warm sea"],
  },
  {
    runner: "pytest",
    command: "pytest",
    files: ["conftest.py", "tests/test_mountain.py"],
    folder: "fixtures/pytest",
    recorded: [
      ["test-base-url", "../../tests/test_mountain.py > test_base_url"],
      ["test-mountain", "../../tests/test_mountain.py > test_mountain"],
    ],
    changed: ["tests/test_mountain.py", "Name a mountain", "Name a high mountain"],
  },
];

const LACKS_PYTEST = await lacksPython("httpx", "pytest");

for (const suite of SUITES) {
  const { runner, command, folder, recorded, changed: [file, from, to] } = suite;
  const lacks = [LACKS_AGENTS, runner === "pytest" ? LACKS_PYTEST : null];
  Deno.test({
    ...needing(
      `the page, ${runner}: recorded, replayed offline, a changed prompt reported`,
      ...lacks,
    ),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(runner === "pytest" ? [] : PACKAGES, suite.files, {}, suite.blocks);
      const passes = (variables: string, rest = "") => project.passes(`${variables}${command}${rest}`);
      const { requests } = project.apis;
      const unrecorded = await project.runs(command, { CI: "true" });
      assert.notEqual(unrecorded.code, 0, unrecorded.output);
      assert.match(unrecorded.output, /To record it: run the test with REPRISE_RECORD=new/);
      assert.equal(requests.length, 0, "a test without REPRISE_RECORD sent a request");

      await passes("REPRISE_RECORD=new ");
      const names = recorded.map(([slug, id]) => `${slug}-${sha256(id).slice(0, 8)}`);
      assert.deepEqual(Object.keys(project.recordings(folder)), names);
      assert.equal(requests.length, recorded.length);
      for (const [name, text] of textsBelow(`${project.root}/${folder}`)) assert(!text.includes(KEY), name);
      const replayed = await passes("REPRISE_RECORD=new CI=true ");
      if (runner.startsWith("vitest")) assert.match(replayed, /^reprise: 1 played, 0 recorded$/m);
      assert.equal(requests.length, recorded.length, "a recorded request was sent");

      project.edit(file, from, to);
      const missed = await project.runs(command);
      assert.notEqual(missed.code, 0, missed.output);
      assert.match(
        missed.output,
        /the nearest is exchange 1 of .*differs at input:\n *recorded ".*"\n *received "/,
      );
      assert.match(missed.output, /run the test with REPRISE_RECORD=all/);
      assert(!missed.output.includes("failed with: undefined"), missed.output);
      if (runner === "vitest") {
        const printed = BLOCKS.find(({ language }) => language === "text")?.text ?? "";
        const report = printed.replaceAll("/srv/project", project.root);
        for (const line of report.trimEnd().split("\n")) assert(missed.output.includes(line), missed.output);
      }
      assert.equal(requests.length, recorded.length, "a miss was sent");
      await passes("REPRISE_RECORD=all ", suite.only);
      assert.equal(requests.length, 2 * recorded.length);
      assert.deepEqual(Object.values(project.recordings(folder)), recorded.map(() => 1));
      const folders = [...Deno.readDirSync(`${project.root}/fixtures`)].map(({ name }) => `fixtures/${name}`);
      assert.deepEqual(folders, [folder], "something is left of the recording");

      await project.goOffline();
      await passes("");
    },
  });
}

Deno.test("each command about helpers of docs/recording.md is run by these tests", () => {
  const run = SUITES.flatMap(({ command, only = "" }) => [
    `REPRISE_RECORD=new ${command}`,
    command,
    `REPRISE_RECORD=all ${command}${only}`,
  ]);
  const commands = BLOCKS.filter(({ language }) => language === "sh").flatMap(({ text }) =>
    text.trimEnd().split("\n")
  );
  assert.ok(commands.length > 0);
  assert.deepEqual(commands.filter((command) => !run.includes(command)), []);
});
