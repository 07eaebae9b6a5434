/** The helpers in real runners: killed runners, the outcomes of pytest, and the types of a consumer. */
import assert from "node:assert/strict";
import { lacksPython, needing } from "../support/needs.ts";
import { BLOCKS, HelperProject, PACKAGES } from "./helper_project.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";

/** A runner whose test does not end. */
interface Hanging {
  readonly runner: string;
  readonly path: string;
  readonly text: string;
  readonly command: readonly string[];
}

const HANGING: readonly Hanging[] = [
  {
    runner: "node",
    path: "tests/hang.mjs",
    text: `import { replay } from "@reprise-cli/reprise";
const api = await replay("fixtures/hang", { test: "hangs" });
const body = JSON.stringify({ model: "gpt-5.6", input: "Hi" });
const headers = { "content-type": "application/json" };
await (await fetch(api.openai + "/responses", { method: "POST", headers, body })).text();
console.log("hangs");
setInterval(() => {}, 1000);
`,
    command: ["node", "tests/hang.mjs"],
  },
  {
    runner: "pytest",
    path: "tests/test_hang.py",
    text: `import time, httpx, pytest
@pytest.mark.reprise("fixtures/hang")
def test_hangs(reprise):
    httpx.post(reprise.openai + "/responses", json={"model": "gpt-5.6", "input": "Hi"})
    print("hangs", flush=True)
    time.sleep(100)
`,
    command: ["/usr/bin/python3", "-m", "pytest", "-s", "-p", "pytest_reprise", "-p", "no:cacheprovider"],
  },
];

const LACKS_PYTEST = await lacksPython("httpx", "pytest");

for (const { runner, path, text, command } of HANGING) {
  const lacks = [LACKS_AGENTS, runner === "pytest" ? LACKS_PYTEST : null];
  for (const mode of ["new", ""]) {
    Deno.test({
      ...needing(
        `a killed ${runner} leaves no process ${mode === "" ? "that plays" : "that records"}`,
        ...lacks,
      ),
      async fn() {
        await using project = new HelperProject();
        await project.prepare([], [], { [path]: text });
        const child = project.spawn(command, { REPRISE_RECORD: mode });
        const output = child.stdout.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]();
        let printed = "";
        while (!printed.includes("hangs\n")) {
          const { value, done } = await output.next();
          assert.ok(!done, printed);
          printed += value;
        }
        assert.equal(project.processes().length, 3, "the runner, its gateway and one server");
        child.kill("SIGKILL");
        await child.status;
        await output.return?.();
        await project.ends();
        // The finished exchange is in a whole recording.
        if (mode === "new") assert.deepEqual(Object.values(project.recordings("fixtures/hang")), [1]);
      },
    });
  }
}

/** Tests of pytest with each outcome. */
const OUTCOMES = `import httpx, os, pytest
pytestmark = pytest.mark.reprise("fixtures/outcomes")
changed = os.environ.get("CHANGED") == "1"

def ask(input):
    body = {"model": "gpt-5.6", "input": input}
    return httpx.post(os.environ["OPENAI_BASE_URL"] + "/responses", json=body).status_code

def test_hides_a_miss():
    ask("changed" if changed else "first")

def test_leaves_one():
    ask("first")
    if not changed: ask("second")

@pytest.mark.reprise("fixtures/outcomes", allow_unused=True)
def test_may_leave_one():
    ask("first")
    if not changed: ask("second")

def test_fails_itself():
    ask("first")
    assert not changed
    ask("second")

class TestGroup:
    @pytest.mark.parametrize("n", [1, 2])
    def test_passes(self, reprise, n):
        assert (reprise.records, ask(f"number {n}")) == (not changed and os.environ.get("REPRISE_RECORD") == "new", 200)

@pytest.mark.skipif(changed, reason="changed")
def test_skipped():
    ask("first")

def test_without_a_request():
    if not changed: ask("first")
`;

Deno.test({
  ...needing(
    "pytest: a miss, an unused exchange and no request fail a test that would pass",
    LACKS_AGENTS,
    LACKS_PYTEST,
  ),
  async fn() {
    await using project = new HelperProject();
    await project.prepare([], ["conftest.py"], { "tests/test_outcomes.py": OUTCOMES });
    await project.passes("pytest", { REPRISE_RECORD: "new" });
    await project.goOffline();
    await project.passes("pytest");
    const { code, output } = await project.runs("pytest -vv", { CHANGED: "1" });
    assert.equal(code, 1, output);
    const outcomes = [...output.matchAll(/^tests\/test_outcomes\.py::(\S+) (PASSED|FAILED|SKIPPED|ERROR)/gm)];
    assert.deepEqual(outcomes.map(([, test, outcome]) => `${test} ${outcome}`), [
      "test_hides_a_miss FAILED",
      "test_leaves_one FAILED",
      "test_may_leave_one PASSED",
      "test_fails_itself FAILED",
      "TestGroup::test_passes[1] PASSED",
      "TestGroup::test_passes[2] PASSED",
      "test_skipped SKIPPED",
      "test_without_a_request FAILED",
    ]);
    assert.equal(output.split("The test did not use exchange").length, 3, output);
    assert.match(output, /"test_leaves_one" does not match[^]*did not use exchange 2 of/);
    assert.match(output, /"test_without_a_request" does not match[^]*did not use exchange 1 of/);
  },
});

Deno.test({
  ...needing(
    `a consumer in TypeScript compiles with the types of the helpers, and mistakes do not`,
    LACKS_AGENTS,
  ),
  async fn() {
    await using project = new HelperProject();
    const files = BLOCKS.flatMap(({ path }) => path?.endsWith(".ts") === true ? [path] : []);
    await project.prepare(PACKAGES, files, {
      "tests/river.test.ts": BLOCKS.find(({ path }) => path === "tests/river.test.mjs")?.text ?? "",
      "tests/deno.d.ts": DENO_TYPES,
      "tests/wrong.ts":
        `import { replay } from "@reprise-cli/reprise";\nawait replay("x", { tests: "y" });\n`,
    });
    const options =
      "--noEmit --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess --module nodenext " +
      "--target es2022 --lib es2022,dom,esnext.disposable --allowImportingTsExtensions --types node";
    const { output } = await project.runs(`npx tsc ${options} tests/*.ts`);
    const errors = output.split("\n").filter((line) => line.includes("error TS"));
    assert.equal(errors.length, 1, output);
    assert.match(errors[0] ?? "", /^tests\/wrong\.ts.*'tests' does not exist in type 'ReplayOptions'/);
  },
});

/** The part of Deno's types that the page needs. */
const DENO_TYPES = `declare namespace Deno {
  interface TestContext { readonly name: string; readonly origin: string; readonly parent?: TestContext }
  interface TestDefinition {
    name: string;
    fn: (t: TestContext) => void | Promise<void>;
    sanitizeOps?: boolean;
    sanitizeResources?: boolean;
  }
  function test(definition: TestDefinition): void;
}
`;
