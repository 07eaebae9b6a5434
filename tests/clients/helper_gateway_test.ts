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
  readonly name: string;
  readonly command: string;
  readonly files: Readonly<Record<string, string>>;
  /** Number of requests of all its tests. */
  readonly requests: number;
  /** Number of its tests. */
  readonly tests: number;
  readonly usesNpm: boolean;
}

const PYTEST_FILES = { "conftest.py": 'pytest_plugins = ["pytest_reprise"]\n', "app.py": PYTHON_APP };
const VITEST_FILES = {
  "app.js": JS_APP,
  "vitest.config.js": 'export default { test: { setupFiles: ["@reprise-cli/reprise/vitest"] } };\n',
  "tests/api.ts": `import { withReplay } from "@reprise-cli/reprise/vitest";
import { test as base } from "vitest";
export const test = base.extend({ api: withReplay("fixtures/led") });
`,
};

const SUITES: readonly Suite[] = [
  ...["pytest", "pytest -n 2"].map((command) => ({
    name: command,
    command,
    files: { ...PYTEST_FILES, "tests/test_led.py": PYTHON_TESTS },
    requests: 8,
    tests: 7,
    usesNpm: false,
  })),
  {
    name: "vitest",
    command: "npx vitest run",
    files: { ...VITEST_FILES, "tests/led.test.ts": VITEST_TESTS },
    requests: 4,
    tests: 4,
    usesNpm: true,
  },
  {
    name: "node:test",
    command: "node --import @reprise-cli/reprise/node --test tests/led.test.mjs",
    files: { "app.js": JS_APP, "tests/led.test.mjs": NODE_TESTS },
    requests: 3,
    tests: 3,
    usesNpm: true,
  },
];

const LACKS_PYTEST = await lacksPython("pytest", "xdist");

for (const { name, command, files, requests, tests, usesNpm } of SUITES) {
  Deno.test({
    ...needing(
      `${name}: no client of a replay reaches an API, and a changed prompt fails each test`,
      LACKS_AGENTS,
      usesNpm ? null : LACKS_PYTEST,
    ),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(usesNpm ? PACKAGES : [], []);
      for (const [path, text] of Object.entries(files)) project.write(path, text);
      const live = project.apis.env["OPENAI_BASE_URL"] ?? "";
      const env = {
        GROQ_API_KEY: `${KEY}-groq`,
        LIVE: live,
        PYTHONPATH: `${project.root}/python:${project.root}`,
      };
      const record = { ...env, GROQ_BASE_URL: live, REPRISE_RECORD: "new" };
      const recorded = await project.runs(command, record);
      assert.equal(recorded.code, 0, recorded.output);
      assert.equal(project.apis.requests.length, requests);
      assert.deepEqual([...project.apis.keys.openai].filter((key) => !key.startsWith(KEY)), []);
      assert.equal(Object.keys(project.recordings("fixtures/led")).length, tests);

      const replayed = await project.runs(command, env);
      assert.equal(replayed.code, 0, replayed.output);
      const changed = await project.runs(command, { ...env, PROMPT: "Changed" });
      assert.notEqual(changed.code, 0, changed.output);
      assert.equal(project.apis.requests.length, requests, "a replay sent a request to an API");
      const failed = /(?:# fail|Tests)? +(\d+) failed|# fail (\d+)|=+ (\d+) failed|^(\d+) failed/m.exec(
        changed.output,
      );
      assert.equal(failed?.slice(1).find((count) => count !== undefined), String(tests), changed.output);
    },
  });
}

Deno.test({
  ...needing("vitest: a request without a test fails each of the tests that run at a time", LACKS_AGENTS),
  async fn() {
    await using project = new HelperProject();
    await project.prepare(PACKAGES, []);
    for (const [path, text] of Object.entries(VITEST_FILES)) project.write(path, text);
    project.write(
      "tests/led.test.ts",
      `import { ask, early } from "../app.js";
import { test } from "./api.ts";
const both = Promise.withResolvers();
let begun = 0;
for (const name of ["a", "b"]) {
  test.concurrent(name, async ({ api }) => {
    if (++begun === 2) both.resolve();
    await both.promise;
    await ask(name, early).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
  });
}
`.replace(
        "Promise.withResolvers()",
        "(() => { let resolve; const promise = new Promise((r) => resolve = r); return { promise, resolve }; })()",
      ),
    );
    for (const mode of [{ REPRISE_RECORD: "new" }, {}]) {
      const { code, output } = await project.runs("npx vitest run", mode);
      assert.equal(code, 1, output);
      assert.match(output, /2 failed/);
      assert.match(output, /2 tests run, and the request does not say which/);
    }
    assert.equal(project.apis.requests.length, 0);
  },
});

/** Suite with recordings that lose their tests. */
const LEFT: readonly (Pick<Suite, "name" | "command" | "files" | "usesNpm"> & {
  readonly path: string;
  /** Rest of the command that selects a part of the tests. */
  readonly part: string;
})[] = [
  ...["pytest", "pytest -n 2"].map((command) => ({
    name: command,
    command,
    files: {
      ...PYTEST_FILES,
      "tests/test_other.py":
        "import pytest\n\n@pytest.mark.skip\n@pytest.mark.reprise('fixtures/led')\ndef test_skipped(): pass\n",
    },
    path: "tests/test_led.py",
    part: " tests/test_led.py",
    usesNpm: false,
  })),
  {
    name: "vitest",
    command: "npx vitest run",
    files: {
      ...VITEST_FILES,
      "vitest.config.js":
        'const reprise = ["@reprise-cli/reprise/vitest"];\nexport default { test: { setupFiles: reprise, globalSetup: reprise } };\n',
      "tests/other.test.ts":
        'import { test } from "./api.ts";\ntest.skip("skipped", async ({ api }) => {});\n',
    },
    path: "tests/led.test.ts",
    part: " tests/led.test.ts",
    usesNpm: true,
  },
];

/** Tests with these names in the language of the file. */
function testsOf(path: string, names: readonly string[]): string {
  if (path.endsWith(".py")) {
    const head = 'import pytest\nfrom app import early\npytestmark = pytest.mark.reprise("fixtures/led")\n';
    return head + names.map((name) => `def test_${name}(): early.ask("${name}")\n`).join("");
  }
  const head = 'import { ask } from "../app.js";\nimport { test } from "./api.ts";\n';
  return head +
    names.map((name) => `test("${name}", async ({ api }) => { await ask("${name}"); });\n`).join("");
}

for (const { name, command, files, path, part, usesNpm } of LEFT) {
  Deno.test({
    ...needing(
      `${name}: recordings that belong to no test are reported after a whole session, and pruned`,
      LACKS_AGENTS,
      usesNpm ? null : LACKS_PYTEST,
    ),
    async fn() {
      await using project = new HelperProject();
      await project.prepare(usesNpm ? PACKAGES : [], []);
      for (const [path, text] of Object.entries(files)) project.write(path, text);
      const env = { GROQ_API_KEY: KEY, PYTHONPATH: `${project.root}/python:${project.root}`, LIVE: "" };
      const run = async (rest = "", more = {}) => {
        const { code, output } = await project.runs(command + rest, { ...env, ...more });
        assert.equal(code, 0, output);
        return output;
      };
      const count = () => Object.keys(project.recordings("fixtures/led")).length;
      project.write(path, testsOf(path, ["a", "b", "c"]));
      await run("", { REPRISE_RECORD: "new" });
      // A recording of other tools has a name of its own.
      Deno.mkdirSync(`${project.root}/fixtures/led/shared`);
      assert.doesNotMatch(await run(), /to no test/);
      project.write(path, testsOf(path, ["a"]));
      assert.match(
        await run(),
        /^2 recordings in fixtures\/led belong to no test: REPRISE_RECORD=prune removes them$/m,
      );
      assert.doesNotMatch(await run(part), /to no test/);
      await run(part, { REPRISE_RECORD: "prune" });
      Deno.removeSync(`${project.root}/fixtures/led/shared`);
      assert.equal(count(), 3);
      assert.match(
        await run("", { REPRISE_RECORD: "prune" }),
        /^removed fixtures\/led\/.*: it belongs to no test$/m,
      );
      assert.equal(count(), 1);
      assert.doesNotMatch(await run(), /to no test/);
    },
  });
}
