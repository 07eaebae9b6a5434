/**
 * docs/recording.md does what it says: tests of vitest, node:test, Deno.test and pytest are recorded, replayed with the API
 * stopped, changed and added to.
 */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { sha256 } from "../support/files.ts";
import { textsBelow } from "../support/files.ts";
import { BLOCKS, HelperProject, KEY, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

/** A suite of the page. */
interface Suite {
  readonly runner: string;
  /** Command that runs its tests. */
  readonly command: string;
  /** Files of the page. */
  readonly files: readonly string[];
  readonly folder: string;
  /** Slug and id of each of its recordings. */
  readonly recorded: readonly (readonly [slug: string, id: string])[];
  /** File with a prompt, and the prompt before and after a change. */
  readonly changed: readonly [file: string, from: string, to: string];
  /** File with one more test. */
  readonly added: readonly [path: string, text: string];
  /** Rest of the command that runs the changed test only. @default {all tests run} */
  readonly only?: string;
  /** False if it needs no packages from npm. */
  readonly usesNpm: boolean;
}

const added = (lines: readonly string[]) => lines.join("\n") + "\n";

const SUITES: readonly Suite[] = [
  {
    runner: "vitest",
    command: "npx vitest run",
    files: ["tests/api.ts", "tests/capital.test.ts"],
    folder: "fixtures/vitest",
    recorded: [["names-a-capital", "../../tests/capital.test.ts > names a capital"]],
    only: ' -t "names a capital"',
    changed: ["tests/capital.test.ts", "What is the capital", "Which city is the capital"],
    added: [
      "tests/added.test.ts",
      added([
        `import { test } from "./api.ts";`,
        `test("an added test", async ({ api, expect }) => {`,
        `  const body = JSON.stringify({ model: "gpt-5.6", input: "New?" });`,
        `  const headers = { "content-type": "application/json" };`,
        "  const answer = await fetch(`${api.openai}/responses`, { method: 'POST', headers, body });",
        `  expect(answer.status, await answer.text()).toBe(200);`,
        `});`,
      ]),
    ],
    usesNpm: true,
  },
  {
    runner: "node:test",
    command: "node --test tests/*.mjs",
    files: ["tests/river.test.mjs"],
    folder: "fixtures/node",
    recorded: [["names-a-river", "../../tests/river.test.mjs > names a river"]],
    changed: ["tests/river.test.mjs", "Name a river", "Name a long river"],
    added: [
      "tests/added.test.mjs",
      added([
        `import { withReplay } from "@reprise-cli/reprise/node";`,
        `import test from "node:test";`,
        `import OpenAI from "openai";`,
        `test("an added test", withReplay("fixtures/node", async () => {`,
        `  await new OpenAI().responses.create({ model: "gpt-5.6", input: "New?" });`,
        `}));`,
      ]),
    ],
    usesNpm: true,
  },
  {
    runner: "Deno.test",
    command: "deno test -A --no-check --no-lock tests/*_test.ts",
    files: ["tests/lake_test.ts"],
    folder: "fixtures/deno",
    recorded: [["names-a-lake", "../../tests/lake_test.ts > names a lake"]],
    changed: ["tests/lake_test.ts", "Name a lake", "Name a deep lake"],
    added: [
      "tests/added_test.ts",
      added([
        `import { withReplay } from "@reprise-cli/reprise/deno";`,
        `Deno.test({ name: "an added test", ...withReplay("fixtures/deno", async (_t, api) => {`,
        `  const body = JSON.stringify({ model: "gpt-5.6", input: "New?" });`,
        `  const headers = { "content-type": "application/json" };`,
        "  const answer = await fetch(`${api.openai}/responses`, { method: 'POST', headers, body });",
        `  const text = await answer.text();`,
        `  if (answer.status !== 200) throw new Error(text);`,
        `}) });`,
      ]),
    ],
    usesNpm: true,
  },
  {
    runner: "another runner, with await using",
    command: "deno test -A --no-check --no-lock tests/any*.test.ts",
    files: ["tests/any.test.ts"],
    folder: "fixtures/any",
    recorded: [["names-a-sea", "names a sea"]],
    changed: ["tests/any.test.ts", "Name a sea", "Name a warm sea"],
    added: [
      "tests/any_added.test.ts",
      added([
        `import { replay } from "@reprise-cli/reprise";`,
        `import test from "node:test";`,
        `test("an added test", async () => {`,
        `  await using api = await replay("fixtures/any", { test: "an added test" });`,
        `  const body = JSON.stringify({ model: "gpt-5.6", input: "New?" });`,
        `  const headers = { "content-type": "application/json" };`,
        "  await (await fetch(`${api.openai}/responses`, { method: 'POST', headers, body })).text();",
        `});`,
      ]),
    ],
    usesNpm: true,
  },
  {
    runner: "pytest",
    command: "pytest",
    files: ["conftest.py", "tests/test_mountain.py"],
    folder: "fixtures/pytest",
    recorded: [["test-base-url", "../../tests/test_mountain.py > test_base_url"], [
      "test-mountain",
      "../../tests/test_mountain.py > test_mountain",
    ]],
    changed: ["tests/test_mountain.py", "Name a mountain", "Name a high mountain"],
    added: [
      "tests/test_added.py",
      added([
        `import json, urllib.request`,
        `import pytest`,
        `@pytest.mark.reprise("fixtures/pytest")`,
        `def test_an_added_test(reprise):`,
        `    body = json.dumps({"model": "gpt-5.6", "input": "New?"}).encode()`,
        `    headers = {"content-type": "application/json", "authorization": "Bearer " + reprise.env["OPENAI_API_KEY"]}`,
        `    request = urllib.request.Request(reprise.openai + "/responses", body, headers)`,
        `    assert json.load(urllib.request.urlopen(request))["status"] == "completed"`,
      ]),
    ],
    usesNpm: false,
  },
];

const LACKS_PYTEST = await lacksPython("httpx", "pytest");

for (const suite of SUITES) {
  const { runner, command, folder, recorded, changed: [file, from, to], added: [path, text] } = suite;
  const lacks = [LACKS_AGENTS, runner === "pytest" ? LACKS_PYTEST : null];
  Deno.test({
    ...needing(
      `docs/recording.md, ${runner}: recorded, replayed offline, a changed prompt reported, one test added`,
      ...lacks,
    ),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(suite.usesNpm ? PACKAGES : [], suite.files);
      const passes = async (variables: string, rest = "") => {
        const { code, output } = await project.runs(`${variables}${command}${rest}`);
        assert.equal(code, 0, output);
      };
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
      await passes("REPRISE_RECORD=new CI=true ");
      assert.equal(requests.length, recorded.length, "a recorded request was sent");

      project.write(path, text);
      await passes("REPRISE_RECORD=missing ");
      assert.equal(requests.length, recorded.length + 1);
      assert.deepEqual(Object.values(project.recordings(folder)), Array(recorded.length + 1).fill(1));

      project.edit(file, from, to);
      const missed = await project.runs(command);
      assert.notEqual(missed.code, 0, missed.output);
      assert.match(
        missed.output,
        /the nearest is exchange 1 of .*differs at input: recorded ".*", received "/,
      );
      assert.match(missed.output, /run the test with REPRISE_RECORD=all/);
      assert(!missed.output.includes("failed with: undefined"), missed.output);
      if (runner === "vitest") {
        const report = BLOCKS.find(({ language }) => language === "text")?.text ?? "";
        for (const line of report.trimEnd().split("\n")) assert(missed.output.includes(line), missed.output);
      }
      assert.equal(requests.length, recorded.length + 1, "a miss was sent");
      await passes("REPRISE_RECORD=all ", suite.only);
      const again = suite.only === undefined ? recorded.length + 1 : 1;
      assert.equal(requests.length, recorded.length + 1 + again);
      assert.deepEqual(Object.values(project.recordings(folder)), Array(recorded.length + 1).fill(1));
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
