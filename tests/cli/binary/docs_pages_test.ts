/** The commands of README.md, the guides and the reference run unchanged, page by page, in a project that has what they name. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { parse } from "yaml";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { ApiProject } from "../../support/api_project.ts";
import type { Json } from "../../support/files.ts";
import { startMessagesServer } from "../../support/scripted_api/messages.ts";
import { says, text } from "../../support/scripted_api/messages_script.ts";
import {
  type Lack,
  lacksBinary,
  lacksCommand,
  lacksProgram,
  lacksPython,
  needing,
} from "../../support/needs.ts";
import { type Block, blocksOf } from "../../support/page.ts";
import { PROGRAM } from "../../support/reprise.ts";
import { answer, message, reasoning, type Script } from "../../support/scripted_api/responses.ts";
import { functionCall, reasoningIds, refuse } from "../../support/scripted_api/responses_script.ts";
import { S3Server } from "../../support/s3_server.ts";
import { CASSETTE, HAR, PERSON, SUMMARY } from "./page_files.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;
const { tasks } = JSON.parse(Deno.readTextFileSync(`${ROOT}deno.json`));

const read = (path: string) => Deno.readTextFileSync(`${ROOT}${path}`);

/** The test of docs/start-tests.md, which other pages name. */
const CHAT = blocksOf(read("docs/start-tests.md"))[0]?.text ?? "";
const TRANSCRIPT = read("tests/doors/transcripts/recorded/codex.jsonl");

const readsFile = functionCall("read_file", { path: "a.txt", offset: null, limit: null });
const runs = (command: string) => functionCall("shell", { command, argv: null, timeout_seconds: null });
const repairs = [
  answer([reasoning(), runs("sh check.sh")]),
  answer([functionCall("edit_file", { path: "src/parse.sh", old_text: "exit 1", new_text: "exit 0" })]),
  answer([runs("sh check.sh")]),
  answer([message("The parser ended with 1. It now ends with 0, and the check passes.")]),
];

/** Calls the tool that the prompt names, answers as a schema or a summary wants it, and else in text. */
const model: Script = ({ input, body }) => {
  const prompt = JSON.stringify(input.findLast(({ role }) => role === "user") ?? body);
  const results = input.filter(({ type }) => type === "function_call_output").length;
  if (JSON.stringify(body).includes('"json_schema"')) {
    return answer([message(prompt.includes("Who wrote") ? '{"name":"Ada"}' : SUMMARY)]);
  }
  if (prompt.includes("Repair")) return repairs[results] ?? answer([message("Done.")]);
  if (prompt.includes("45 times") && results < 45) return answer([reasoning(), readsFile]);
  if (input.at(-1)?.role === "user") {
    if (prompt.includes("Run the check")) return answer([reasoning(), runs("sh check.sh")]);
    if (prompt.includes("a.txt")) return answer([reasoning(), readsFile]);
  }
  if (prompt.includes("capital")) return answer([message("Paris.")]);
  if (prompt.includes("river")) return answer([message("The Seine.")]);
  const said = prompt.includes("its tests") ? "Its tests are in check.sh." : "The parser is in src/parse.sh.";
  return answer([reasoning(), message(said)]);
};

/** Refuses old reasoning in the second run: something for each command of docs/reasoning.md to show. */
const refusing: Script = (request) =>
  reasoningIds(request).length > 0
    ? refuse({ message: "The encrypted content gAAA...DQ== could not be verified." }, "http")
    : model(request);

/** Writes in the workspace, beside it, and where the others of the home are. */
const escaping: Script = ({ input }) =>
  answer(
    input.at(-1)?.role === "user"
      ? [reasoning(), runs('touch inside ../beside "$HOME/.profile"')]
      : [message("It is done.")],
  );

/** Puts an `npx` on the `PATH` that knows the tasks of deno.json: `compile` copies the binary, the others do nothing. */
function writeNpx(project: ApiProject): void {
  const names = Object.keys(tasks).map((name) => `"-y deno@2.9.6 task ${name}"`).join(" | ");
  project.program(
    "tools/npx",
    `#!/bin/sh
case "$*" in
  "-y deno@2.9.6 task compile") mkdir dist && cp '${project.directory}/bin/reprise' dist/ ;;
  ${names}) ;;
  *) exit 127 ;;
esac
`,
  );
}

/** Runs the `run` steps of a job, without the user's keys; creates the folders of checkouts. */
async function runJob(project: ApiProject, steps: readonly Json[]): Promise<void> {
  const GITHUB_PATH = `${project.directory}/github_path`;
  Deno.writeTextFileSync(GITHUB_PATH, "");
  const env = { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", GITHUB_PATH };
  for (const step of steps) {
    if (step.uses?.startsWith("actions/checkout@") && step.with?.path !== undefined) {
      Deno.mkdirSync(`${project.workspace}/${step.with.path}`);
    }
    if (step.run === undefined) continue;
    const path = Deno.readTextFileSync(GITHUB_PATH).trim().replaceAll("\n", ":");
    const { code, output } = await project.shell(step.run, env, path);
    assert.equal(code, 0, `${step.run}\n${output}`);
  }
}

/** A page, and what a reader of it has. */
interface Plan {
  readonly page: string;
  readonly lacks?: Lack;
  /** @default {model} */
  readonly script?: Script;
  readonly files?: Readonly<Record<string, string>>;
  readonly prepare?: (project: ApiProject) => void | Promise<void>;
  /** Called before each block of commands; returns variables of it. */
  readonly before?: (
    project: ApiProject,
    script: string,
  ) => Record<string, string> | void | Promise<void>;
  /** Called after a block that is a file was written. */
  readonly file?: (project: ApiProject, block: Block) => Promise<void>;
  /** False if blocks of text are no output. @default {true} */
  readonly shows?: boolean;
  /** Called at the end, with what the blocks printed. */
  readonly then?: (project: ApiProject, printed: readonly string[]) => void | Promise<void>;
}

const pytest = await lacksPython("pytest");

const PLANS: readonly Plan[] = [
  {
    page: "README.md",
    shows: false,
    lacks: pytest,
    files: { "test_chat.py": CHAT, "rollout.jsonl": TRANSCRIPT },
    prepare: writeNpx,
    before(project, script) {
      if (script.includes("--missing")) {
        project.write("test_chat.py", CHAT.replace("What is the", "Name the"));
      }
    },
    then(_, printed) {
      for (
        const fact of [/recorded 2 exchanges[^]*2 served, 0 missed/, /1 played, added 1 exchange/, /1 passed/]
      ) {
        assert.match(printed.join(""), fact);
      }
    },
  },
  {
    page: "docs/start-tests.md",
    lacks: pytest,
    before: (_, script) =>
      script.startsWith("reprise serve")
        ? { OPENAI_API_KEY: "", OPENAI_BASE_URL: "", HTTPS_PROXY: "http://127.0.0.1:9" }
        : {},
    then: ({ server }) => assert.equal(server.requests.length, 3, "two tests and one changed prompt"),
  },
  {
    page: "docs/start-sessions.md",
    lacks: lacksProgram("jq"),
    files: { "src/parse.sh": "exit 1\n", "check.sh": "sh src/parse.sh\n" },
    then: ({ workspace }) => assert.equal(Deno.readTextFileSync(`${workspace}/src/parse.sh`), "exit 0\n"),
  },
  {
    page: "docs/debug.md",
    lacks: lacksProgram("/usr/bin/python3"),
    script: ({ input }) =>
      answer([reasoning(), input.at(-1)?.type === "message" ? readsFile : message("It says alpha.")]),
    files: { "a.txt": "alpha\n" },
  },
  {
    page: "docs/coming-from.md",
    lacks: pytest,
    files: {
      "tests/cassettes/chat.yaml": CASSETTE,
      "tests/test_chat.py": CHAT.split("\n\ndef test_river")[0] ?? "",
      "recordings/chat.har": HAR,
      "rollout.jsonl": TRANSCRIPT,
    },
    before({ server }) {
      assert.deepEqual(server.requests, [], "tests and imports send nothing");
    },
  },
  {
    page: "docs/clients.md",
    prepare: (project) =>
      project.program(
        "tools/npm",
        `#!/bin/sh
[ -n "$ACME_BASE_URL" ] && curl -fsS -d '{"model":"gpt-5.6","input":"Hi","store":false,"stream":true}' \\
  -H "authorization: Bearer $OPENAI_API_KEY" "$OPENAI_BASE_URL/responses"
`,
      ),
  },
  {
    page: "docs/keep.md",
    files: { "a.txt": "alpha\n", "rollout.jsonl": TRANSCRIPT },
    prepare: (project) =>
      succeeds(project, 'reprise run --new -s fix-ci --max-steps 60 "Read a.txt 45 times"'),
    before(project, script) {
      // A disk that lost the end of a turn.
      if (!script.includes("exit code 12")) return;
      Deno.truncateSync(`${project.home}/sessions/fix-ci/turns/000003.json`, 100);
    },
  },
  {
    page: "docs/reasoning.md",
    lacks: lacksProgram("jq"),
    script: refusing,
    async prepare(project) {
      await succeeds(project, 'reprise run --new -s demo "Which file holds the parser?"');
      Deno.symlinkSync(`${project.home}/sessions/demo/turns`, `${project.workspace}/turns`);
    },
    then(_, printed) {
      const rows = printed.at(-1)?.trimEnd().split("\n") ?? [];
      assert.ok(
        rows.length > 5 && rows.every((row) => row !== "" && !/\t\t|\tnull|^null/.test(row)),
        `${rows}`,
      );
    },
  },
  {
    page: "docs/run.md",
    lacks: lacksProgram("jq"),
    files: {
      ...{ "a.txt": "alpha\n", "b.txt": "beta\n", "files.txt": "a.txt\nb.txt\n", "person.json": PERSON },
      "spec.pdf": "%PDF-1.7\n",
    },
    prepare({ workspace }) {
      Deno.writeFileSync(`${workspace}/shot.png`, new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]));
    },
  },
  { page: "docs/schemas.md" },
  {
    page: "docs/guarantees.md",
    lacks: lacksBinary() ??
      await lacksCommand(
        ["bwrap", "--ro-bind", "/", "/", "--unshare-all", "true"],
        "bubblewrap does not work",
      ),
    script: escaping,
    prepare(project) {
      // The sandbox empties the home and /tmp, where the checkout may be; it shows the workspace.
      const [binary = ""] = PROGRAM;
      Deno.mkdirSync(`${project.workspace}/tools`);
      try {
        Deno.linkSync(binary, `${project.workspace}/tools/reprise`);
      } catch {
        // It is on another file system.
        Deno.copyFileSync(binary, `${project.workspace}/tools/reprise`);
      }
      project.path = `${project.workspace}/tools:${project.path}`;
    },
    async then(project) {
      assert.ok(existsSync(`${project.workspace}/inside`));
      for (const path of ["beside", ".profile"]) assert.ok(!existsSync(`${project.directory}/${path}`), path);
      const { code, output } = await project.shell(
        "reprise ls --state completed --json && reprise fsck --all",
      );
      assert.equal(code, 0, output);
      assert.match(output, /"title":"Fix the failing test"/);
    },
  },
  {
    page: "docs/ci.md",
    lacks: pytest ?? lacksProgram("make", "git"),
    files: { "tests/test_chat.py": CHAT },
    async prepare(project) {
      writeNpx(project);
      project.program("tools/pip", "#!/bin/sh\n");
      for (const role of ["AUTHOR", "COMMITTER"]) {
        project.env[`GIT_${role}_NAME`] = "Ada";
        project.env[`GIT_${role}_EMAIL`] = "ada@example.com";
      }
      await succeeds(project, "git init -q && reprise record --out fixtures/suite -- pytest");
    },
    async before(project, script) {
      if (!script.startsWith("git merge")) return;
      const branch = async (name: string) => {
        project.write(
          `tests/test_${name}.py`,
          CHAT.split("\n\ndef test_river")[0]?.replace("What is the", `Name ${name}`) ?? "",
        );
        const flags = "--missing --out fixtures/suite";
        await succeeds(
          project,
          `reprise record ${flags} -- pytest && git add -A && git commit -q -m ${name}`,
        );
      };
      await succeeds(project, "git checkout -q -b more-tests");
      await branch("more");
      await succeeds(project, "git checkout -q -");
      await branch("own");
    },
    async file(project, { language, text }) {
      if (language === "yaml") await runJob(project, parse(text).jobs.replay.steps);
    },
    async then(project) {
      assert.equal(
        project.server.requests.length,
        8,
        "two recordings, two branches; nothing else reached the API",
      );
      // A checkout that changes line ends.
      await succeeds(project, "git clone --quiet -c core.autocrlf=true . clone");
      await succeeds(project, "reprise serve clone/fixtures/suite --allow-unused -- true");
    },
  },
];

async function succeeds(project: ApiProject, script: string): Promise<void> {
  const { code, output } = await project.shell(script);
  assert.equal(code, 0, `${script}\n${output}`);
}

for (const { page, lacks = null, script = model, files = {}, prepare, before, file, shows, then } of PLANS) {
  Deno.test({
    ...needing(`the commands of ${page} run unchanged, in order, and print what the page shows`, lacks),
    async fn() {
      await using store = new S3Server();
      await using project = new ApiProject(script, script === refusing ? "none" : "openai");
      const { REPRISE_REMOTE: _, ...keys } = store.env;
      Object.assign(project.env, keys, { REPRISE_MODEL: "gpt-5.6" });
      for (const [name, content] of Object.entries(files)) project.write(name, content);
      await prepare?.(project);
      const printed = await project.runPage(page, {
        shows: shows ?? true,
        env: async (script) => await before?.(project, script) ?? {},
        file: (block) => file?.(project, block) ?? Promise.resolve(),
      });
      await then?.(project, printed);
    },
  });
}

Deno.test("the command of docs/clients.md continues a session of OpenAI with a model of Anthropic", async () => {
  await using project = new ApiProject(model);
  await using anthropic = startMessagesServer({ script: () => says([text("I agree.")]) });
  await succeeds(project, 'reprise run -m gpt-5.6 "Where is the parser?"');
  project.env["ANTHROPIC_BASE_URL"] = anthropic.baseUrl;
  project.env["ANTHROPIC_API_KEY"] = "sk-ant-test-0123456789";
  const block = blocksOf(read("docs/clients.md")).find(({ text }) => text.includes("-p anthropic"));
  const { code, output } = await project.shell(block?.text ?? "exit 9");
  assert.equal(code, 0, output);
  assert.match(output, /I agree\./);
  assert.match(JSON.stringify(anthropic.requests[0]?.body), /The parser is in/);
});

Deno.test("the script of docs/ci.md without the wrapper ends with the code of the tests, of the replay, or of a server that cannot start", async () => {
  await using project = new ApiProject(model);
  const script = blocksOf(read("docs/ci.md")).find(({ path }) => path === "tests/replay.sh")?.text ?? "";
  project.write("tests/replay.sh", script);
  const fixture = writeFixture(`${project.workspace}/fixtures/suite`, [{ body: "{}" }]);
  const replayed = async (pytest: string, code: number, says: RegExp) => {
    project.program("tools/pytest", `#!/bin/sh\n${pytest}\n`);
    // Left by a server that was killed.
    project.write("reprise.port", "1\n");
    const result = await project.shell("sh tests/replay.sh");
    assert.equal(result.code, code, result.output);
    assert.match(result.output, says);
  };
  await replayed(`[ "$OPENAI_BASE_URL" != http://127.0.0.1:1/v1 ]`, 7, /1 unused/);
  await replayed("exit 3", 3, /1 unused/);
  Deno.writeTextFileSync(`${fixture}/exchanges/0001/body`, "changed");
  await replayed("exit 0", 2, /checksum differs/);
});
