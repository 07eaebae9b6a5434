/** The composite action: its steps run here, with a release on a mirror and the real program. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { SHELL_PROGRAM } from "../../support/reprise.ts";
import { answer, message, startResponsesServer } from "../../support/responses_server.ts";
import { ACTION, type Context, type Ran, runAction } from "./action_runner.ts";
import { archiveOf, Mirror } from "./mirror.ts";

const TARGET = Deno.build.arch === "aarch64" ? "linux-arm64" : "linux-x64";

/** Asks each question of its arguments, and fails if one is not answered. */
const CLIENT = `import json, os, sys, urllib.request
for question in sys.argv[1:]:
    request = urllib.request.Request(
        os.environ["OPENAI_BASE_URL"] + "/responses",
        data=json.dumps({"model": "gpt-5.6", "input": question, "store": False}).encode(),
        headers={"authorization": "Bearer " + os.environ["OPENAI_API_KEY"], "content-type": "application/json"},
    )
    urllib.request.urlopen(request).read()
`;

/** A workspace with a client, and a mirror whose release starts the program under test. */
class Job implements AsyncDisposable {
  readonly workspace = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "reprise-action-" }));
  readonly mirror = new Mirror();
  readonly server = startResponsesServer({ script: () => answer([message(this.text)]), key: "sk-none" });
  text = "Paris.";

  static async create(): Promise<Job> {
    const job = new Job();
    Deno.writeTextFileSync(join(job.workspace, "client.py"), CLIENT);
    await job.publish("1.0.0");
    return job;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await this.mirror[Symbol.asyncDispose]();
    Deno.removeSync(this.workspace, { recursive: true });
  }

  /** Publishes a release that starts `command`, by default the program under test, and prints its own version. */
  async publish(version: string, command = SHELL_PROGRAM): Promise<void> {
    const stub = `#!/bin/sh\nif [ "$1" = --version ]; then echo ${version}; else exec ${command} "$@"; fi\n`;
    const archive = await archiveOf(version, TARGET, stub);
    const name = `reprise-${version}-${TARGET}.tar.gz`;
    this.mirror.add(version, name, archive);
    this.mirror.addSums(version, { [name]: archive });
  }

  run(
    inputs: Readonly<Record<string, string>>,
    env: Readonly<Record<string, string>> = {},
    context: Context = {},
  ) {
    return runAction(this.workspace, inputs, {
      HOME: this.workspace,
      REPRISE_DOWNLOAD_URL: this.mirror.url,
      OPENAI_API_KEY: "sk-none",
      OPENAI_BASE_URL: this.server.baseUrl,
      GITHUB_REPOSITORY: "bob/app",
      GITHUB_WORKFLOW: "CI",
      GITHUB_JOB: "test",
      ...env,
    }, context);
  }

  /** Records the answers to questions, and puts the recording at `folder`. */
  async record(folder: string, questions: string): Promise<void> {
    const ran = await this.run({
      command: "record",
      fixtures: folder,
      run: `python3 client.py ${questions}`,
    });
    assert.ok(ran.isSuccess, ran.log);
    Deno.renameSync(ran.outputs["recording"] ?? "", join(this.workspace, folder));
  }
}

function assertFails(ran: Ran, code: string): void {
  assert.equal(ran.isSuccess, false, ran.log);
  assert.equal(ran.outputs["exit-code"], code, ran.log);
}

Deno.test("without a command, the action installs the latest release and adds it to PATH", async () => {
  await using job = await Job.create();
  const ran = await job.run({});
  assert.ok(ran.isSuccess, ran.log);
  assert.equal(ran.outputs["version"], "1.0.0");
  const directory = join(job.workspace, "tools/reprise/1.0.0");
  assert.deepEqual(ran.paths, [directory]);
  assert.equal(Deno.statSync(join(directory, "reprise")).isFile, true);
  assert.deepEqual(ran.caches, [{ path: directory, key: "reprise-1.0.0-Linux-X64" }]);
  assert.equal(ran.summary, "");
});

Deno.test("a release from the cache is not downloaded again, and one of another version is", async () => {
  await using job = await Job.create();
  await job.run({});
  const archives = () => job.mirror.requests.filter((path) => path.endsWith(".gz")).length;
  assert.match((await job.run({})).log, /^reprise 1\.0\.0 comes from the cache$/m);
  assert.equal(archives(), 1);
  Deno.writeTextFileSync(join(job.workspace, "tools/reprise/1.0.0/reprise"), "#!/bin/sh\necho 0.9.0\n");
  assert.ok((await job.run({})).isSuccess);
  assert.equal(archives(), 2);
  assert.deepEqual((await job.run({ cache: "false" })).caches, []);
});

Deno.test("the input, else the tag of the action, names the version", async () => {
  await using job = await Job.create();
  await job.publish("1.1.0");
  const version = async (input: string, ref: string) =>
    (await job.run({ version: input }, {}, { "github.action_ref": ref })).outputs["version"];
  assert.equal(await version("", "main"), "1.1.0");
  assert.equal(await version("", "v1.0.0"), "1.0.0");
  assert.equal(await version("1.1.0", "v1.0.0"), "1.1.0");
  assert.equal((await job.run({ version: "3.0.0" })).isSuccess, false);
});

Deno.test("serve plays a recording that record made, and the summary counts", async () => {
  await using job = await Job.create();
  await job.record("fixtures", "Capital?");
  await job.server.stop();
  const ran = await job.run({ command: "serve", fixtures: "fixtures", run: "python3 client.py Capital?" });
  assert.ok(ran.isSuccess, ran.log);
  assert.equal(ran.outputs["exit-code"], "0");
  assert.match(ran.summary, /^### reprise serve: 1 served, 0 missed, 0 rejected, 0 unused\n/);
  assert.ok(Deno.readTextFileSync(ran.outputs["events"] ?? "").includes('"type":"serve.ended"'));
});

Deno.test("a changed prompt fails the job, and the summary shows the difference", async () => {
  await using job = await Job.create();
  await job.record("fixtures", "Capital?");
  const ran = await job.run({
    command: "serve",
    fixtures: "fixtures",
    flags: "--strict-usage\n--max-age\n90\n",
    run: "python3 client.py 'Name it </code> @alice'",
  });
  assertFails(ran, "1");
  assert.match(ran.summary, /^### reprise serve: 0 served, 1 missed, 0 rejected, 1 unused\n/);
  const details = ran.summary.split("\n").slice(2, -3);
  assert.ok(details.length > 0 && details.every((line) => line.startsWith("    ")), ran.summary);
  assert.match(ran.summary, /^ {4}.*recorded "Capital\?", received "Name it <\/code> @alice"/m);
});

Deno.test("a wrong flag fails the job with the exit code in the summary", async () => {
  await using job = await Job.create();
  const ran = await job.run({ command: "serve", fixtures: "fixtures", flags: "--no-such-flag", run: "true" });
  assertFails(ran, "2");
  assert.match(ran.summary, /^### reprise serve: exit code 2\n/);
  assert.equal(ran.outputs["events"], "");
});

Deno.test("record compares with the committed fixture, and leaves it alone", async () => {
  await using job = await Job.create();
  await job.record("fixtures", "Capital?");
  const before = Deno.readTextFileSync(join(job.workspace, "fixtures/fixture.json"));
  const again = { command: "record", fixtures: "fixtures", run: "python3 client.py Capital?" };
  const same = await job.run(again);
  assert.ok(same.isSuccess, same.log);
  assert.match(
    same.summary,
    /^### reprise record: 1 recorded, 0 played, 1 compared, 0 with breaking drift\n/,
  );
  const more = await job.run({ ...again, run: "python3 client.py Capital? River?" });
  assertFails(more, "7");
  assert.match(more.summary, /1 compared, 1 with breaking drift\n/);
  assert.match(more.summary, /exchange 2 is only in the second recording/);
  assert.equal(Deno.readTextFileSync(join(job.workspace, "fixtures/fixture.json")), before);
});

Deno.test("record compares the fixture of each test, and names new and missing ones", async () => {
  await using job = await Job.create();
  const asks = (tests: string) =>
    `base=$OPENAI_BASE_URL; for t in ${tests}; do OPENAI_BASE_URL=\${base%/v1}/t/$t/v1 python3 client.py $t; done`;
  const first = await job.run({ command: "record", fixtures: "fixtures", run: asks("one two") });
  assert.ok(first.isSuccess, first.log);
  assert.match(first.summary, /2 recorded, 0 played, 0 compared/);
  Deno.renameSync(first.outputs["recording"] ?? "", join(job.workspace, "fixtures"));
  const second = await job.run({ command: "record", fixtures: "fixtures", run: asks("two three") });
  assert.ok(second.isSuccess, second.log);
  assert.match(second.summary, /2 recorded, 0 played, 1 compared, 0 with breaking drift\n/);
  assert.match(second.summary, /^ {4}not recorded again: fixtures\/.*one/m);
  assert.match(second.summary, /^ {4}new: fixtures\/.*three/m);
});

Deno.test("test plays sessions, and fails with them", async () => {
  await using job = await Job.create();
  const sessions = Deno.realPathSync("tests/sessions/fork");
  const ran = await job.run({ command: "test", fixtures: sessions });
  assert.ok(ran.isSuccess, ran.log);
  assert.match(ran.summary, /^### reprise test: 1 passed, 0 failed\n/);
  const failed = await job.run({ command: "test", fixtures: join(job.workspace, "<b>@missing") });
  assertFails(failed, "2");
  assert.match(failed.summary, /^### reprise test: exit code 2\n/);
});

Deno.test("a long report is cut at the end of a line, so that it fits into a comment", async () => {
  await using job = await Job.create();
  await job.publish("2.0.0", `sh -c 'seq 100000; echo "2 passed"'`);
  const ran = await job.run({ command: "test", fixtures: "sessions" });
  assert.ok(ran.isSuccess, ran.log);
  assert.ok(ran.summary.length > 50_000 && ran.summary.length < 65_000, String(ran.summary.length));
  const lines = ran.summary.trimEnd().split("\n");
  assert.deepEqual(lines.slice(0, 3), ["### reprise test: 2 passed", "", "    1"]);
  assert.deepEqual(lines.slice(-3), ["    … the log of the job has the rest", "", "Exit code 0"]);
});

Deno.test("inputs are never part of a script, and text of a user is data", async () => {
  for (const { run = "" } of ACTION.runs.steps) assert.ok(!run.includes("${{"), run);
  await using job = await Job.create();
  const ran = await job.run({
    command: "test",
    fixtures: "$(touch injected); `touch injected`",
    flags: "'; touch injected",
  });
  assert.equal(ran.isSuccess, false);
  const names = Array.from(Deno.readDirSync(job.workspace), ({ name }) => name);
  assert.ok(!names.includes("injected"), ran.log);
});

Deno.test("an incomplete or unknown command is refused before anything is downloaded", async () => {
  await using job = await Job.create();
  for (
    const inputs of [
      { command: "play" },
      { command: "serve", run: "true" },
      { command: "serve", fixtures: "fixtures" },
      { command: "record", fixtures: "fixtures" },
      { command: "test" },
    ]
  ) {
    const ran = await job.run(inputs);
    assert.equal(ran.isSuccess, false);
    assert.match(ran.log, /^::error title=reprise::.*input/m);
  }
  assert.deepEqual(job.mirror.requests, []);
});
