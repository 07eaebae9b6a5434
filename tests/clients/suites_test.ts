/** docs/suites.md does what it says, with suites of pytest and vitest: recorded, grown, run again and pruned. */
import assert from "node:assert/strict";
import { readFixture } from "../../src/fixture/read.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { works } from "../cli/harness.ts";
import { textsBelow } from "../support/files.ts";
import { type Block, blocksOf } from "../support/page.ts";
import { installed, NOT_HERE, type Packages, pathWith, RUNS_AGENTS } from "./npm_packages.ts";
import { Project } from "./project.ts";
import { startSuiteApis } from "./suite_apis.ts";

const BLOCKS = blocksOf(Deno.readTextFileSync(new URL("../../docs/suites.md", import.meta.url)));
const SUITES = new URL("suites/", import.meta.url).pathname;
const OUT = "fixtures/suite";
const KEYS = {
  OPENAI_API_KEY: "sk-test-4f1d0c7ea9-of-openai",
  ANTHROPIC_API_KEY: "sk-ant-test-4f1d0c7ea9-of-anthropic",
};

/** A test that comes or goes, with its recording. */
interface SuiteTest {
  readonly file: string;
  readonly recording: string;
}

/** A suite of one of the runners. */
interface Suite {
  readonly runner: "pytest" | "vitest";
  /** Command that runs it, in place of `pytest` in the page. */
  readonly command: string;
  readonly packages: Packages;
  /** A command that must work, and the reason if it does not. */
  readonly needs?: readonly [command: readonly string[], name: string];
  /** Number of requests of each test, by the name of its recording. */
  readonly recorded: Readonly<Record<string, number>>;
  /** Flags that run only the tests of rivers, in place of those of pytest, and their recordings. */
  readonly only: string;
  readonly rivers: readonly string[];
  readonly added: SuiteTest & { readonly text: string };
  readonly obsolete: SuiteTest;
}

const PYTEST: Suite = {
  runner: "pytest",
  command: "pytest",
  packages: [],
  needs: [["/usr/bin/python3", "-c", "import httpx, pytest"], "python3-httpx and python3-pytest"],
  recorded: {
    "test-capital-france": 1,
    "test-capital-peru": 1,
    "test-obsolete": 1,
    "test-parallel-calls": 2,
    "test-river": 1,
    "test-state-of-a-job": 3,
    "test-two-apis-at-once": 2,
  },
  only: "-k river",
  rivers: ["test-river"],
  added: {
    file: "test_added.py",
    recording: "test-added",
    text: `from conversations import ask


def test_added(base_url):
    assert ask(base_url("OPENAI_BASE_URL"), "Are you new?") == "You asked: Are you new?"
`,
  },
  obsolete: { file: "test_obsolete.py", recording: "test-obsolete" },
};

const VITEST: Suite = {
  runner: "vitest",
  command: "npx vitest run",
  packages: [
    "vitest@4.1.12",
    "openai@6.49.0",
    "@anthropic-ai/sdk@1.12.0",
    "@langchain/openai@1.5.8",
    "@langchain/anthropic@1.5.11",
    "@langchain/core@1.4.0",
  ],
  recorded: {
    "a-response": 1,
    "a-streamed-message": 1,
    "a-streamed-response": 1,
    "an-obsolete-test": 1,
    "parallel-calls-of-a-tool": 2,
    "the-state-of-a-job-polled": 3,
    "two-models-at-once": 2,
  },
  only: "tests/langchain.test.ts",
  rivers: ["two-models-at-once"],
  added: {
    file: "added.test.ts",
    recording: "an-added-test",
    text: `import { ChatOpenAI } from "@langchain/openai";
import { expect } from "vitest";
import { test } from "./api.ts";

test("an added test", async ({ baseUrl }) => {
  const model = new ChatOpenAI({ model: "gpt-4o", configuration: { baseURL: baseUrl("OPENAI_BASE_URL") } });
  expect((await model.invoke("Are you new?")).text).toBe("You asked: Are you new?");
});
`,
  },
  obsolete: { file: "obsolete.test.ts", recording: "an-obsolete-test" },
};

/** Runs each file of tests in a process of its own, all at once, as pytest-xdist does; with arguments all in one. */
const PARALLEL_PYTEST = `#!/bin/sh
pytest="/usr/bin/python3 -m pytest -q -p no:cacheprovider"
if [ $# -gt 0 ]; then exec $pytest tests "$@"; fi
for file in tests/test_*.py; do
  $pytest "$file" &
  running="$running $!"
done
for each in $running; do wait "$each" || failed=1; done
exit \${failed:-0}
`;

/** A project with a suite, and the APIs that it is recorded from. */
class SuiteProject extends Project {
  readonly apis = startSuiteApis();
  readonly #suite: Suite;
  #path = "";

  constructor(suite: Suite) {
    super();
    this.#suite = suite;
    Deno.writeTextFileSync(`${this.directory}/bin/pytest`, PARALLEL_PYTEST, { mode: 0o755 });
    for (const [name, text] of textsBelow(`${SUITES}/${suite.runner}`)) this.write(`tests/${name}`, text);
    for (const { path, text } of BLOCKS) if (path !== null) this.write(path, text);
  }

  async prepare(): Promise<void> {
    const { packages } = this.#suite;
    this.#path = await pathWith(packages);
    if (packages.length > 0) this.link(await installed(packages));
  }

  /** Runs a block of the page, which must succeed, with the runner of the suite. @returns its output. */
  async block({ text }: Block, env: Readonly<Record<string, string>> = {}): Promise<string> {
    return await this.shell(this.#ours(text), this.#path, env);
  }

  /** Runs a block of the page that records. */
  async recording({ text }: Block, env: Readonly<Record<string, string>> = {}) {
    return await this.attempt(this.#ours(text), this.#path, { ...this.apis.env, ...KEYS, ...env });
  }

  #ours(command: string): string {
    const { command: runner, only } = this.#suite;
    return command.replaceAll("pytest -k river", `${runner} ${only}`).replaceAll("pytest", runner);
  }

  /** Names of the recordings, with the number of their exchanges. */
  recordings(): Record<string, number> {
    const names = [...Deno.readDirSync(`${this.root}/${OUT}`)].map(({ name }) => name).sort();
    return Object.fromEntries(names.map((name) => [name, this.fixture(name).exchanges.length]));
  }

  fixture(name: string) {
    return readFixture(denoFiles, `${this.root}/${OUT}/${name}`);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.apis[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

function total(recordings: Readonly<Record<string, number>>): number {
  return Object.values(recordings).reduce((sum, count) => sum + count, 0);
}

for (const suite of [PYTEST, VITEST]) {
  const [command, name] = suite.needs ?? [["true"], ""];
  const lacks = await works(command) ? NOT_HERE : ` (ignored: ${name} are not there)`;
  Deno.test({
    name:
      `docs/suites.md, ${suite.runner}: tests recorded apart at once, one added with a single request, run twice, ` +
      `one pruned${lacks}`,
    ignore: !RUNS_AGENTS || lacks !== "",
    async fn() {
      const [record, replay, only, missing, twice, prune, ...others] = BLOCKS.filter(({ path }) =>
        path === null
      );
      assert(record && replay && only && missing && twice && prune);
      assert.deepEqual(others, []);
      await using project = new SuiteProject(suite);
      await project.prepare();
      const { requests, keys } = project.apis;
      const { recorded, rivers, added, obsolete } = suite;

      const first = await project.recording(record);
      assert.equal(first.code, 0, first.output);
      assert.deepEqual(project.recordings(), recorded);
      assert.equal(requests.length, total(recorded));
      assert(requests.every((request) => !request.includes("/t/")), requests.join("\n"));
      for (const test of Object.keys(recorded)) {
        const { exchanges } = project.fixture(test);
        for (const { request } of exchanges) {
          assert.match(request.path, /^\/v1\/(?:responses|messages|chat\/completions)$/);
        }
      }
      // Each API got its own key, and no recording has one.
      assert.deepEqual([...keys.openai], [KEYS.OPENAI_API_KEY]);
      assert.deepEqual([...keys.anthropic], [KEYS.ANTHROPIC_API_KEY]);
      for (const [file, text] of textsBelow(`${project.root}/fixtures`)) {
        for (const key of Object.values(KEYS)) assert(!text.includes(key), file);
      }

      await project.block(replay);
      const some = await project.block(only);
      const unopened = /^not opened: \d+ recordings, (.+)$/m.exec(some)?.[1]?.split(", ");
      assert.deepEqual(unopened, Object.keys(recorded).filter((test) => !rivers.includes(test)), some);

      project.write(`tests/${added.file}`, added.text);
      const inCi = await project.recording(missing, { CI: "true" });
      assert.notEqual(inCi.code, 0, inCi.output);
      assert.equal(requests.length, total(recorded), "CI sent a request");
      const grown = await project.recording(missing);
      assert.equal(grown.code, 0, grown.output);
      assert.equal(requests.length, total(recorded) + 1, requests.join("\n"));
      const whole = { ...recorded, [added.recording]: 1 };
      assert.deepEqual(project.recordings(), whole);
      const nothing = await project.recording(missing);
      assert.equal(nothing.code, 0, nothing.output);
      assert.equal(requests.length, total(whole), "a recorded request was sent");

      await project.block(twice);

      Deno.removeSync(`${project.root}/tests/${obsolete.file}`);
      await project.block(prune);
      const { [obsolete.recording]: _gone, ...kept } = whole;
      assert.deepEqual(project.recordings(), kept);
      await project.block(replay);
      assert.equal(requests.length, total(whole), "a replay sent a request");
    },
  });
}
