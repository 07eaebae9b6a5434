/**
 * Clients that do not know their test, with the helpers in real runners: made when the application is imported, or in
 * application code. An API that counts gets none of their requests in a replay, and all in a recording.
 */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { HelperProject, KEY, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

/** Application in Python: a client of its import, and one of each call. Its second API has a key only. */
const PYTHON_APP = `import json, os, urllib.request

class Client:
    def __init__(self, api="OPENAI"):
        self.url = os.environ.get(api + "_BASE_URL") or os.environ["LIVE"]
        self.key = os.environ[api + "_API_KEY"]

    def ask(self, input):
        body = json.dumps({"model": "gpt-5.6", "input": input}).encode()
        headers = {"content-type": "application/json", "authorization": "Bearer " + self.key}
        request = urllib.request.Request(self.url + "/responses", body, headers)
        return json.load(urllib.request.urlopen(request))

early = Client()
early_groq = Client("GROQ")
`;

const PYTHON_TESTS = `import asyncio, os, subprocess, sys, pytest
from app import Client, early, early_groq

pytestmark = pytest.mark.reprise("fixtures/led")
prompt = os.environ.get("PROMPT", "Hi")
replays = os.environ.get("REPRISE_RECORD") is None

def test_client_of_the_import():
    assert early.ask(prompt)["status"] == "completed"

def test_client_of_the_application():
    assert Client().ask(prompt)["status"] == "completed"

def test_key_only():
    assert early_groq.ask(prompt)["status"] == "completed"

def test_concurrency():
    async def both():
        return await asyncio.gather(*(asyncio.to_thread(early.ask, prompt) for _ in range(2)))
    assert [answer["status"] for answer in asyncio.run(both())] == ["completed"] * 2

def test_subprocess():
    subprocess.run([sys.executable, "-c", f"from app import early; early.ask({prompt!r})"], check=True)

def test_hides_its_miss():
    try: early.ask(prompt)
    except OSError: pass

def test_variable():
    assert os.environ.get("REPRISE_REPLAY") == ("1" if replays else None)
    early.ask(prompt)
`;

const JS_APP = `import OpenAI from "openai";
export const early = new OpenAI({ maxRetries: 0 });
export const ask = async (input, client = new OpenAI({ maxRetries: 0 })) =>
  (await client.responses.create({ model: "gpt-5.6", input })).status;
`;

const VITEST_TESTS = `import { ask, early } from "../app.js";
import { describe, expect } from "vitest";
import { test } from "./api.ts";

const prompt = process.env.PROMPT ?? "Hi";
test("client of the import", async ({ api }) => expect(await ask(prompt, early)).toBe("completed"));
test("client of the application", async ({ api }) => expect(await ask(prompt)).toBe("completed"));
test("hides its miss", async ({ api }) => { await ask(prompt, early).catch(() => {}) });
test("variable", async ({ api }) => {
  expect(api.env.REPRISE_REPLAY).toBe(process.env.REPRISE_RECORD ? undefined : "1");
  await ask(prompt);
});
`;

const NODE_TESTS = `import { withReplay } from "@reprise-cli/reprise/node";
import assert from "node:assert/strict";
import test from "node:test";
import { ask, early } from "../app.js";

const prompt = process.env.PROMPT ?? "Hi";
test("client of the import", withReplay("fixtures/led", async () => assert.equal(await ask(prompt, early), "completed")));
test("client of the application", withReplay("fixtures/led", async () => assert.equal(await ask(prompt), "completed")));
test("hides its miss", withReplay("fixtures/led", async () => { await ask(prompt, early).catch(() => {}); }));
`;

/** Suite of a runner. */
interface Suite {
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
  /** Number of requests of all its tests. */
  readonly requests: number;
  /** Number of its tests. */
  readonly tests: number;
}

const PYTEST_FILES = { "conftest.py": 'pytest_plugins = ["pytest_reprise"]\n', "app.py": PYTHON_APP };
const VITEST_FILES = {
  "app.js": JS_APP,
  "vitest.config.js":
    'const reprise = ["@reprise-cli/reprise/vitest"];\nexport default { test: { setupFiles: reprise, globalSetup: reprise } };\n',
  "tests/api.ts": `import { withReplay } from "@reprise-cli/reprise/vitest";
import { test as base } from "vitest";
export const test = base.extend({ api: withReplay("fixtures/led") });
`,
};
const PYTESTS = ["pytest", "pytest -p xdist.plugin -n 2"];

/** Runners, each with two files of the same tests if it runs files at the same time. */
const SUITES: readonly Suite[] = [
  ...PYTESTS.map((command) => ({
    command,
    files: { ...PYTEST_FILES, "tests/test_led.py": PYTHON_TESTS },
    requests: 8,
    tests: 7,
  })),
  {
    command: "npx vitest run",
    files: { ...VITEST_FILES, "tests/led.test.ts": VITEST_TESTS, "tests/other.test.ts": VITEST_TESTS },
    requests: 8,
    tests: 8,
  },
  {
    command: "node --import @reprise-cli/reprise/node --test tests/led.test.mjs tests/other.test.mjs",
    files: { "app.js": JS_APP, "tests/led.test.mjs": NODE_TESTS, "tests/other.test.mjs": NODE_TESTS },
    requests: 6,
    tests: 6,
  },
];

const LACKS_PYTEST = await lacksPython("pytest", "xdist");

/** Defines a test in a project with these files. */
function test(
  promise: string,
  { command, files }: Pick<Suite, "command" | "files">,
  run: (project: HelperProject) => Promise<void>,
): void {
  const isPython = command.startsWith("pytest");
  Deno.test({
    ...needing(`${command}: ${promise}`, LACKS_AGENTS, isPython ? LACKS_PYTEST : null),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(isPython ? [] : PACKAGES, [], files);
      await run(project);
    },
  });
}

for (const { command, files, requests, tests } of SUITES) {
  test(
    "tests at a time are recorded; no client of a replay reaches an API, and a changed prompt fails each",
    { command, files },
    async (project) => {
      const live = project.apis.env["OPENAI_BASE_URL"] ?? "";
      const env = { GROQ_API_KEY: `${KEY}-groq`, LIVE: live };
      const recorded = await project.passes(command, { ...env, GROQ_BASE_URL: live, REPRISE_RECORD: "new" });
      assert.equal(project.apis.requests.length, requests);
      assert.deepEqual([...project.apis.keys.openai].filter((key) => !key.startsWith(KEY)), []);
      assert.equal(Object.keys(project.recordings("fixtures/led")).length, tests);

      const replayed = await project.passes(command, env);
      // Each file of node:test has a process of its own, which reports what it recorded.
      const count = (output: string) => output.match(/reprise: \d+ played, \d+ recorded/g) ?? [];
      if (command.startsWith("node")) assert.equal(count(recorded).length, 2);
      else {
        assert.deepEqual(count(recorded), [`reprise: 0 played, ${requests} recorded`]);
        assert.deepEqual(count(replayed), [`reprise: ${requests} played, 0 recorded`]);
      }
      const changed = await project.runs(command, { ...env, PROMPT: "Changed" });
      assert.notEqual(changed.code, 0, changed.output);
      assert.equal(project.apis.requests.length, requests, "a replay sent a request to an API");
      const failed = /Tests +(\d+) failed|# fail (\d+)|^(?:=+ )?(\d+) failed/m.exec(changed.output);
      assert.equal(failed?.slice(1).find((count) => count !== undefined), String(tests), changed.output);
      await project.ends();
    },
  );
}

/** Suites with recordings that lose their tests. */
const LEFT: readonly (Pick<Suite, "command" | "files"> & { readonly path: string })[] = [
  ...PYTESTS.map((command) => ({
    command,
    files: {
      ...PYTEST_FILES,
      "tests/test_other.py":
        "import pytest\n\n@pytest.mark.skip\n@pytest.mark.reprise('fixtures/led')\ndef test_skipped(): pass\n",
    },
    path: "tests/test_led.py",
  })),
  {
    command: "npx vitest run",
    files: {
      ...VITEST_FILES,
      "tests/other.test.ts":
        'import { test } from "./api.ts";\ntest.skip("skipped", async ({ api }) => {});\n',
    },
    path: "tests/led.test.ts",
  },
];

/** Tests with these names in the language of the file. */
function testsOf(path: string, names: readonly string[]): string {
  const [head, test] = path.endsWith(".py")
    ? [
      'import pytest\nfrom app import early\npytestmark = pytest.mark.reprise("fixtures/led")\n',
      'def test_NAME(): early.ask("NAME")\n',
    ]
    : [
      'import { ask } from "../app.js";\nimport { test } from "./api.ts";\n',
      'test("NAME", async ({ api }) => { await ask("NAME"); });\n',
    ];
  return head + names.map((name) => test.replaceAll("NAME", name)).join("");
}

for (const { command, files, path } of LEFT) {
  test(
    "recordings that belong to no test are reported after a whole session, and pruned",
    { command, files },
    async (project) => {
      const env = { GROQ_API_KEY: KEY, LIVE: "" };
      const run = (rest = "", more = {}) => project.passes(command + rest, { ...env, ...more });
      const count = () => Object.keys(project.recordings("fixtures/led")).length;
      project.write(path, testsOf(path, ["a", "b"]));
      await run("", { REPRISE_RECORD: "new" });
      project.write(path, testsOf(path, ["a", "b", "c"]));
      await run("", { REPRISE_RECORD: "missing" });
      assert.equal(project.apis.requests.length, 3);
      // A recording of other tools has a name of its own.
      Deno.mkdirSync(`${project.root}/fixtures/led/shared`);
      assert.doesNotMatch(await run(), /to no test/);
      project.write(path, testsOf(path, ["a"]));
      assert.match(
        await run(),
        /^2 recordings in \S*fixtures\/led belong to no test: REPRISE_RECORD=prune removes them$/m,
      );
      assert.doesNotMatch(await run(` ${path}`), /to no test/);
      await run(` ${path}`, { REPRISE_RECORD: "prune" });
      Deno.removeSync(`${project.root}/fixtures/led/shared`);
      assert.equal(count(), 3);
      assert.match(
        await run("", { REPRISE_RECORD: "prune" }),
        /^removed \S*fixtures\/led\/.*: it belongs to no test$/m,
      );
      assert.equal(count(), 1);
      assert.doesNotMatch(await run(), /to no test/);
    },
  );
}
