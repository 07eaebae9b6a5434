/** docs/recording.md does what it says, with a suite of pytest: recorded, grown, run again and pruned. */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { exchangesOf } from "../doors/recordings/recording_files.ts";
import { textsBelow } from "../support/files.ts";
import { type Block, blocksOf, sectionOf } from "../support/page.ts";
import { Project } from "./project.ts";
import { startSuiteApis } from "./suite_apis.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/recording.md", import.meta.url));
const BLOCKS = blocksOf(sectionOf(PAGE, "A suite of tests"));
const CONFTEST = blocksOf(PAGE).find(({ path }) => path === "tests/conftest.py");
const SUITE = new URL("suites/pytest", import.meta.url).pathname;
const PATH = "/usr/bin:/bin";
const OUT = "fixtures/suite";
const KEYS = {
  OPENAI_API_KEY: "sk-test-4f1d0c7ea9-of-openai",
  ANTHROPIC_API_KEY: "sk-ant-test-4f1d0c7ea9-of-anthropic",
};

/** Number of requests of each test, by the name of its recording. */
const RECORDED: Readonly<Record<string, number>> = {
  "test-capital-france": 1,
  "test-capital-peru": 1,
  "test-obsolete": 1,
  "test-parallel-calls": 2,
  "test-river": 1,
  "test-state-of-a-job": 3,
  "test-two-apis-at-once": 2,
};

const ADDED = `from conversations import ask


def test_added(base_url):
    assert ask(base_url("OPENAI_BASE_URL"), "Are you new?") == "You asked: Are you new?"
`;

/** Runs each file of tests in a process of its own, all at once, as pytest-xdist does; after the first time all in one. */
const PARALLEL_PYTEST = `#!/bin/sh
pytest="/usr/bin/python3 -m pytest -q -p no:cacheprovider"
if [ -e "$HOME/recorded" ]; then exec $pytest tests "$@"; fi
touch "$HOME/recorded"
for file in tests/test_*.py; do
  $pytest "$file" &
  running="$running $!"
done
for each in $running; do wait "$each" || failed=1; done
exit \${failed:-0}
`;

/** A project with the suite, and the APIs that it is recorded from. */
class SuiteProject extends Project {
  readonly apis = startSuiteApis();

  constructor() {
    super();
    Deno.writeTextFileSync(`${this.directory}/bin/pytest`, PARALLEL_PYTEST, { mode: 0o755 });
    for (const [name, text] of textsBelow(SUITE)) this.write(`tests/${name}`, text);
    this.write("tests/conftest.py", CONFTEST?.text ?? "");
  }

  /** Runs a block of the page, which must succeed, and print what the page shows. @returns its output. */
  async block(block: Block): Promise<string> {
    const output = await this.shell(block.text, PATH, {});
    this.shows(block, output);
    return output;
  }

  /** Fails if `output` lacks a line that the page shows after the block. */
  shows(block: Block, output: string): void {
    const { language, text = "" } = BLOCKS[BLOCKS.indexOf(block) + 1] ?? {};
    const printed = output.replaceAll(this.root, "/srv/project").split("\n");
    const missing = text.trimEnd().split("\n").filter((line) => line !== "…" && !printed.includes(line));
    assert.deepEqual(language === "text" ? missing : [], [], output);
  }

  /** Runs a block of the page that records. */
  async recording({ text }: Block, env: Readonly<Record<string, string>> = {}) {
    return await this.attempt(text, PATH, { ...this.apis.env, ...KEYS, ...env });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.apis[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

function total(recordings: Readonly<Record<string, number>>): number {
  return Object.values(recordings).reduce((sum, count) => sum + count, 0);
}

const LACKS_PYTEST = await lacksPython("httpx", "pytest");

Deno.test({
  ...needing(
    "docs/recording.md: tests recorded apart at once, one added with a single request, run twice, one pruned",
    LACKS_PYTEST,
  ),
  async fn() {
    const [record, replay, only, missing, twice, prune, ...others] = BLOCKS.filter(({ language }) =>
      language === "sh"
    );
    assert(record && replay && only && missing && twice && prune);
    assert.deepEqual(others, []);
    await using project = new SuiteProject();
    const { requests, keys } = project.apis;

    const first = await project.recording(record);
    assert.equal(first.code, 0, first.output);
    project.shows(record, first.output);
    assert.deepEqual(project.recordings(OUT), RECORDED);
    assert.equal(requests.length, total(RECORDED));
    assert(requests.every((request) => !request.includes("/t/")), requests.join("\n"));
    for (const test of Object.keys(RECORDED)) {
      for (const { request } of exchangesOf(`${project.root}/${OUT}/${test}`)) {
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
    assert.deepEqual(unopened, Object.keys(RECORDED).filter((test) => test !== "test-river"), some);

    project.write("tests/test_added.py", ADDED);
    const inCi = await project.recording(missing, { CI: "true" });
    assert.notEqual(inCi.code, 0, inCi.output);
    assert.equal(requests.length, total(RECORDED), "CI sent a request");
    const grown = await project.recording(missing);
    assert.equal(grown.code, 0, grown.output);
    project.shows(missing, grown.output);
    assert.equal(requests.length, total(RECORDED) + 1, requests.join("\n"));
    const whole: Record<string, number> = { ...RECORDED, "test-added": 1 };
    assert.deepEqual(project.recordings(OUT), whole);
    const nothing = await project.recording(missing);
    assert.equal(nothing.code, 0, nothing.output);
    assert.equal(requests.length, total(whole), "a recorded request was sent");

    await project.block(twice);

    Deno.removeSync(`${project.root}/tests/test_obsolete.py`);
    await project.block(prune);
    const { "test-obsolete": _gone, ...kept } = whole;
    assert.deepEqual(project.recordings(OUT), kept);
    await project.block(replay);
    assert.equal(requests.length, total(whole), "a replay sent a request");
  },
});
