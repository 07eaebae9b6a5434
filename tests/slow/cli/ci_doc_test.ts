/**
 * docs/ci.md does what it says: its blocks are run as they stand, from the first to the last.
 *
 * `sh` blocks that are no files are commands, which end with 0 or with the code that a comment behind them names; a
 * `text` block is lines that the command before it printed; a `diff` is an edit.
 *
 * @module
 */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { parse } from "yaml";
import { blocksOf } from "../../support/page.ts";
import { PROGRAM, Sandbox } from "../../support/reprise.ts";
import { answer, message, reasoning, startResponsesServer } from "../../support/responses_server.ts";
import { writeFixture } from "../../support/fixture.ts";
import { KEY, works } from "../../cli/harness.ts";

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

/** Far longer than any of them takes. */
const SCRIPT_TIMEOUT_MS = 60_000;

/** Functions that a test file imports from vitest. */
const VITEST = `
import assert from "node:assert/strict";
export const test = (name, run) => Deno.test(name, run);
export const expect = (value) => ({
  toBe: (expected) => assert.equal(value, expected),
  toContain: (part) => assert.ok(value.includes(part), value),
});
`;

const BLOCKS = blocksOf(TEXT);

/** A step of a job, as far as it is looked at. */
interface JobStep {
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly run?: string;
  readonly if?: string;
}

/** A reader's project, with `reprise` on the `PATH`, and what this machine may lack. */
class Project extends Sandbox {
  constructor() {
    super();
    const shim = `#!/bin/sh\nexec ${PROGRAM.map((word) => `'${word}'`).join(" ")} "$@"\n`;
    this.#program("bin/reprise", shim);
    this.#program("tools/pytest", PYTEST);
    this.#program("tools/pip", "#!/bin/sh\n");
    this.#program(
      "tools/npx",
      `#!/bin/sh
case "$*" in
  "vitest run") exec '${Deno.execPath()}' test --quiet -A --no-check --no-lock --no-config \\
    --import-map='${this.directory}/tools/imports.json' ;;
  "-y deno@2.9.6 task compile") mkdir dist && cp '${this.directory}/bin/reprise' dist/ ;;
  *) exit 127 ;;
esac
`,
    );
    this.write("tools/imports.json", JSON.stringify({ imports: { vitest: "./vitest.js" } }));
    this.write("tools/vitest.js", VITEST);
  }

  /** Writes a file below the sandbox's directory. */
  write(path: string, text: string): void {
    const full = `${this.directory}/${path}`;
    Deno.mkdirSync(dirname(full), { recursive: true });
    Deno.writeTextFileSync(full, text);
  }

  #program(path: string, text: string): void {
    this.write(path, text);
    Deno.chmodSync(`${this.directory}/${path}`, 0o755);
  }

  /** Runs a script in the project as the shell of a job does: it ends with the first command that fails. */
  async shell(
    script: string,
    env: Readonly<Record<string, string>> = {},
    path = `${this.directory}/bin`,
  ): Promise<{ readonly code: number; readonly output: string }> {
    const child = new Deno.Command("sh", {
      args: ["-e", "-c", script],
      cwd: this.workspace,
      clearEnv: true,
      env: {
        ...this.environment(),
        GIT_CONFIG_NOSYSTEM: "1",
        PYTHONDONTWRITEBYTECODE: "1",
        ...env,
        PATH: `${path}:${this.directory}/tools:/usr/bin:/bin`,
      },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      detached: true,
    }).spawn();
    // A script that waits in vain ends here, with all that it started.
    const timer = setTimeout(() => Deno.kill(-child.pid, "SIGKILL"), SCRIPT_TIMEOUT_MS);
    const { code, stdout, stderr } = await child.output().finally(() => clearTimeout(timer));
    const decoder = new TextDecoder();
    return { code, output: `${decoder.decode(stdout)}${decoder.decode(stderr)}` };
  }

  /** Runs the `run` steps of a job, without the keys of whoever wrote it; makes the folders of checkouts. */
  async job(steps: readonly JobStep[]): Promise<void> {
    this.write("github_path", "");
    for (const step of steps) {
      if (step.uses?.startsWith("actions/checkout@") && step.with?.path !== undefined) {
        Deno.mkdirSync(`${this.workspace}/${step.with.path}`);
      }
      if (step.run === undefined) continue;
      const path = Deno.readTextFileSync(`${this.directory}/github_path`).trim().replaceAll("\n", ":");
      const { code, output } = await this.shell(
        step.run,
        { GITHUB_PATH: `${this.directory}/github_path` },
        path,
      );
      assert.equal(code, 0, `${step.run}\n${output}`);
    }
  }
}

const NEEDED = ["python3", "make", "git"] as const;
const MISSING: string[] = [];
for (const tool of NEEDED) if (!await works([tool, "--version"])) MISSING.push(tool);

Deno.test({
  name:
    "every block of docs/ci.md runs as it stands, in order (with stand-ins for pytest, vitest, pip and the " +
    "compilation; actions of GitHub are not run)" +
    (MISSING.length === 0 ? "" : `; not here, without ${MISSING.join(" and ")}`),
  ignore: MISSING.length > 0,
  fn: async () => {
    await using server = startResponsesServer({
      key: KEY,
      script: () => answer([reasoning(), message("Paris, on the Seine.")]),
    });
    await using project = new Project();
    const env = {
      OPENAI_API_KEY: KEY,
      OPENAI_BASE_URL: server.baseUrl,
      ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" },
      ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.com" },
    };
    assert.equal((await project.shell("git init --quiet")).code, 0);

    let printed: readonly string[] = [];
    for (const { language, text, line, path } of BLOCKS) {
      const where = `docs/ci.md:${line}`;
      if (path !== null) {
        project.write(`work/${path}`, text);
        if (language === "yaml") await project.job(parse(text).jobs.replay.steps);
      } else if (language === "sh") {
        const { code, output } = await project.shell(text, env);
        const expected = Number(/# exit code (\d+)$/m.exec(text)?.[1] ?? 0);
        assert.equal(code, expected, `${where}: ${text}${output}`);
        printed = output.replaceAll(new URL(server.baseUrl).origin, "https://api.openai.com").split("\n");
      } else if (language === "text") {
        for (const shown of text.trimEnd().split("\n")) {
          assert.ok(printed.includes(shown), `${where}: not printed: ${shown}\nbut:\n${printed.join("\n")}`);
        }
      } else if (language === "diff") {
        const [removed = "", added = ""] = text.trimEnd().split("\n").map((changed) => changed.slice(1));
        const file = "work/tests/test_chat.py";
        const before = Deno.readTextFileSync(`${project.directory}/${file}`);
        assert.ok(before.includes(removed), `${where}: nothing to change`);
        project.write(file, before.replace(removed, added));
      } else {
        assert.fail(`${where}: nobody knows how to run ${language}`);
      }
    }
    assert.equal(server.requests.length, 4, "two recordings of two requests; nothing else reached the API");
    const elsewhere = await project.shell(
      "git clone --quiet -c core.autocrlf=true . clone && reprise serve clone/fixtures/chat --allow-unused -- true",
    );
    assert.equal(elsewhere.code, 0, `a checkout that changes line ends: ${elsewhere.output}`);
  },
});

/** The script of the page that starts the server by itself, with some command in the place of pytest. */
async function replay(pytest: string, damage?: (fixture: string) => void): Promise<[number, string]> {
  await using project = new Project();
  const script = BLOCKS.find(({ path }) => path === "tests/replay.sh")?.text ?? "";
  project.write("work/tests/replay.sh", script);
  project.write("tools/pytest", `#!/bin/sh\n${pytest}\n`);
  // Left by a server that was killed.
  project.write("work/reprise.port", "1\n");
  const fixture = writeFixture(`${project.workspace}/fixtures/chat`, [{
    request: { body: { model: "gpt-5.6", input: "hi" } },
    body: "{}",
  }]);
  damage?.(fixture);
  const { code, output } = await project.shell("sh tests/replay.sh");
  return [code, output];
}

Deno.test("the script of docs/ci.md without the wrapper tells what went wrong by its exit code: 7 where the tests passed and an exchange was not asked for", async () => {
  const [code, output] = await replay(`[ "$OPENAI_BASE_URL" != http://127.0.0.1:1/v1 ]`);
  assert.equal(code, 7, output);
  assert.match(output, /1 unused/);
});

Deno.test("the script of docs/ci.md without the wrapper tells what went wrong by its exit code: the tests' own where they failed", async () => {
  assert.equal((await replay("exit 3"))[0], 3);
});

Deno.test("the script of docs/ci.md without the wrapper tells what went wrong by its exit code: the server's where it cannot start", async () => {
  const [code, output] = await replay(
    "exit 0",
    (fixture) => Deno.writeTextFileSync(`${fixture}/exchanges/0001/body`, "changed"),
  );
  assert.equal(code, 2, output);
  assert.match(output, /does not have the sum/);
});

Deno.test("docs/ci.md names no flag that neither record nor serve has", async () => {
  await using sandbox = new Sandbox();
  const help = (await sandbox.call(["record", "--help"])).stdout +
    (await sandbox.call(["serve", "--help"])).stdout;
  const flags = [...TEXT.matchAll(/`(--[a-z-]+)/g)].map(([, flag]) => flag as string);
  assert.ok(flags.length >= 5);
  for (const flag of flags) assert.ok(help.includes(`${flag} `), flag);
});
