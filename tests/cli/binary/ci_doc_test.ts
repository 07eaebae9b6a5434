/** docs/ci.md does what it says: its blocks run unchanged, from the first to the last. */
import assert from "node:assert/strict";
import { lacksProgram, needing } from "../../support/needs.ts";
import { parse } from "yaml";
import { blocksOf } from "../../support/page.ts";
import { PageProject } from "../../support/page_project.ts";
import { answer, message, reasoning, startResponsesServer } from "../../support/scripted_api/responses.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { KEY } from "../harness.ts";

const TEXT = Deno.readTextFileSync(new URL("../../../docs/ci.md", import.meta.url));

/** Runs the functions named `test_…`, as `pytest [-k PART]` does. */
const PYTEST = `#!/usr/bin/env python3
import glob, runpy, sys, traceback
part = sys.argv[sys.argv.index("-k") + 1] if "-k" in sys.argv else ""
tests = [item for path in glob.glob("tests/test_*.py") for item in runpy.run_path(path).items()]
chosen = [test for name, test in tests if name.startswith("test_") and part in name]
failed = 0
for test in chosen:
    try:
        test()
    except Exception:
        traceback.print_exc()
        failed = 1
sys.exit(failed if chosen else 5)
`;

/** A step of a job, as far as it is looked at. */
interface JobStep {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly if?: string;
}

/** A project with what this machine may lack. */
class Project extends PageProject {
  constructor() {
    super();
    this.program("tools/pytest", PYTEST);
    this.program("tools/pip", "#!/bin/sh\n");
    this.program(
      "tools/npx",
      `#!/bin/sh
case "$*" in
  "-y deno@2.9.6 task compile") mkdir dist && cp '${this.directory}/bin/reprise' dist/ ;;
  *) exit 127 ;;
esac
`,
    );
  }

  /** Runs the `run` steps of a job, without the user's keys; creates the folders of checkouts. */
  async job(steps: readonly JobStep[]): Promise<void> {
    this.write("../github_path", "");
    const keys = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "" };
    for (const step of steps) {
      if (step.uses?.startsWith("actions/checkout@") && step.with?.path !== undefined) {
        Deno.mkdirSync(`${this.workspace}/${step.with.path}`);
      }
      if (step.run === undefined) continue;
      const path = Deno.readTextFileSync(`${this.directory}/github_path`).trim().replaceAll("\n", ":");
      const { code, output } = await this.shell(
        step.run,
        { ...keys, GITHUB_PATH: `${this.directory}/github_path` },
        path,
      );
      assert.equal(code, 0, `${step.run}\n${output}`);
    }
  }
}

Deno.test({
  ...needing(
    "every block of docs/ci.md runs unchanged, in order (with stubs of pytest, pip and the " +
      "compilation; actions of GitHub are not run)",
    lacksProgram("python3", "make", "git"),
  ),
  fn: async () => {
    await using server = startResponsesServer({
      key: KEY,
      script: () => answer([reasoning(), message("Paris, on the Seine.")]),
    });
    await using project = new Project();
    Object.assign(project.env, {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: server.baseUrl,
      ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" },
      ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" },
    });
    project.origins.set(new URL(server.baseUrl).origin, "https://api.openai.com");
    const [tests] = blocksOf(Deno.readTextFileSync(new URL("../../../docs/start-tests.md", import.meta.url)));
    project.write("tests/test_chat.py", tests?.text ?? "");
    const recorded = await project.shell("git init -q && reprise record --out fixtures/suite -- pytest");
    assert.equal(recorded.code, 0, recorded.output);
    await project.runPage("docs/ci.md", {
      file: async ({ language, text }) => {
        if (language === "yaml") await project.job(parse(text).jobs.replay.steps);
      },
    });
    assert.equal(server.requests.length, 4, "two recordings of two requests; nothing else reached the API");
    const elsewhere = await project.shell(
      "git clone --quiet -c core.autocrlf=true . clone && reprise serve clone/fixtures/suite --allow-unused -- true",
    );
    assert.equal(elsewhere.code, 0, `a checkout that changes line ends: ${elsewhere.output}`);
  },
});

/** The script of the page that starts the server by itself, with a command in place of pytest. */
async function replay(pytest: string, damage?: (fixture: string) => void): Promise<[number, string]> {
  await using project = new Project();
  const script = blocksOf(TEXT).find(({ path }) => path === "tests/replay.sh")?.text ?? "";
  project.write("tests/replay.sh", script);
  project.program("tools/pytest", `#!/bin/sh\n${pytest}\n`);
  // Left by a server that was killed.
  project.write("reprise.port", "1\n");
  const fixture = writeFixture(`${project.workspace}/fixtures/suite`, [{
    request: { body: { model: "gpt-5.6", input: "hi" } },
    body: "{}",
  }]);
  damage?.(fixture);
  const { code, output } = await project.shell("sh tests/replay.sh");
  return [code, output];
}

Deno.test("the script of docs/ci.md without the wrapper exits with 7 if the tests passed and an exchange is unused", async () => {
  const [code, output] = await replay(`[ "$OPENAI_BASE_URL" != http://127.0.0.1:1/v1 ]`);
  assert.equal(code, 7, output);
  assert.match(output, /1 unused/);
});

Deno.test("the script of docs/ci.md without the wrapper exits with the code of tests that failed", async () => {
  assert.equal((await replay("exit 3"))[0], 3);
});

Deno.test("the script of docs/ci.md without the wrapper exits with the code of a server that cannot start", async () => {
  const [code, output] = await replay(
    "exit 0",
    (fixture) => Deno.writeTextFileSync(`${fixture}/exchanges/0001/body`, "changed"),
  );
  assert.equal(code, 2, output);
  assert.match(output, /checksum differs/);
});
