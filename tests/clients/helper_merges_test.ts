/** Recordings of single tests on two branches, in real projects of pytest and vitest, merged by git. */
import assert from "node:assert/strict";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import { lacksProgram, lacksPython, needing } from "../support/needs.ts";
import { HelperProject, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

const PYTEST = (...texts: string[]) =>
  `import os, httpx, pytest
pytestmark = pytest.mark.reprise("fixtures/tests")
def ask(text):
    return httpx.post(os.environ["OPENAI_BASE_URL"] + "/responses", json={"model": "gpt-5.6", "input": text},
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]})
def test_shared():
    assert [ask(text).status_code for text in ${JSON.stringify(texts)}] == [200] * ${texts.length}
`;

const VITEST = (...texts: string[]) =>
  `import OpenAI from "openai";
import { expect } from "vitest";
import { test } from "./api.ts";
test("shared", async ({ api }) => {
  const client = new OpenAI({ baseURL: api.openai, apiKey: api.env.OPENAI_API_KEY, maxRetries: 0 });
  for (const input of ${JSON.stringify(texts)}) {
    const { status } = await client.responses.create({ model: "gpt-5.6", input });
    expect(status).toBe("completed");
  }
});
`;

/** A project of a runner: its command, the folder with recordings, its file of tests, and the pages' files. */
const PROJECTS = {
  pytest: {
    lacks: await lacksPython("httpx", "pytest"),
    command: "pytest",
    folder: "fixtures/tests",
    file: "tests/test_shared.py",
    tests: PYTEST,
    packages: [],
    ofPage: ["conftest.py"],
    files: { "pytest.ini": "[pytest]\n" },
  },
  vitest: {
    lacks: null,
    command: "npx vitest run",
    folder: "fixtures/vitest",
    file: "tests/shared.test.ts",
    tests: VITEST,
    packages: PACKAGES,
    ofPage: ["vitest.config.ts", "tests/api.ts"],
    files: {},
  },
} as const;

for (const [runner, project] of Object.entries(PROJECTS)) {
  Deno.test({
    ...needing(
      `${runner}: two branches record one test, and after a merge every run names seal until it is sealed`,
      LACKS_AGENTS,
      project.lacks,
      lacksProgram("git"),
    ),
    fn: () => merged(project),
  });
}

async function merged(
  { command, folder, file, tests, packages, ofPage, files }: (typeof PROJECTS)[keyof typeof PROJECTS],
): Promise<void> {
  await using project = new HelperProject();
  await project.prepare(packages, ofPage, { ...files, ".gitignore": "node_modules\n__pycache__\npython\n" });
  const git = (text: string) => project.passes(`git ${text}`);
  const record = async (...texts: string[]) => {
    project.write(file, tests(...texts));
    await project.passes(command, { REPRISE_RECORD: "missing" });
    await git("add -A");
    await git(`commit -q -m recorded`);
  };
  await git("init -q -b main && git config user.name Ada && git config user.email ada@example.com");
  await record("base");
  await git("checkout -q -b other");
  await record("base", "other");
  await git("checkout -q main");
  await record("base", "own");
  const { output } = await project.runs("git merge other");
  assert.match(output, /CONFLICT \(content\): Merge conflict in fixtures\//);
  const [path = ""] = (await git("diff --name-only --diff-filter=U")).split("\n")
    .filter((name) => name.endsWith("fixture.json")).map((name) => name.replace(/\/fixture\.json$/, ""));
  assert.ok(path.startsWith(folder), path);
  project.write(file, tests("base", "other", "own"));
  for (const mode of ["", "missing", "prune"]) {
    const { code, output } = await project.runs(command, { REPRISE_RECORD: mode });
    assert.notEqual(code, 0, mode);
    assert.match(output.replaceAll(/\s+/g, " "), /reprise fixture seal \S*.* takes both sides/, mode);
  }
  await project.passes(`reprise fixture seal ${path}`);
  await project.passes(command);
  assert.deepEqual(
    exchangesOf(`${project.root}/${path}`).map(({ request }) => request.body.input),
    ["base", "other", "own"],
  );
}
