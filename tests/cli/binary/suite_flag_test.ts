/** `serve --suite` and `record --suite`: a process of tests ends each test by a line of stdin, and gets its report. */
import assert from "node:assert/strict";
import { Sandbox, type Started } from "../../support/reprise.ts";
import { exchange, writeSuite } from "../serving.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { blocksOf } from "../../support/page.ts";
import { TestFolder } from "../test_folder.ts";

/** Running server with its stdin. */
class SuiteServer {
  readonly #started: Started;
  readonly #stdin: WritableStreamDefaultWriter<Uint8Array>;
  #ended = 0;
  environment: Readonly<Record<string, string>> = {};

  private constructor(started: Started) {
    this.#started = started;
    this.#stdin = started.process.stdin.getWriter();
  }

  static async start(
    sandbox: Sandbox,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Promise<SuiteServer> {
    const started = sandbox.start([...args, "--suite", "--json"], { stdin: "piped", env });
    const server = new SuiteServer(started);
    await started.printed('"ready"');
    server.environment = JSON.parse(started.stdout.split("\n")[0] ?? "").environment;
    return server;
  }

  /** Asks an API as a client of a test. @returns the status and the answer. */
  async ask(test: string, input: unknown, variable = "OPENAI_BASE_URL") {
    const { origin, pathname } = new URL(this.environment[variable] ?? "");
    const response = await fetch(`${origin}/t/${test}${pathname}/responses`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "gpt-5.6", input }),
    });
    return { status: response.status, body: await response.json() };
  }

  async line(text: string): Promise<void> {
    await this.#stdin.write(new TextEncoder().encode(`${text}\n`));
  }

  /** Ends a test. @returns its report. */
  // deno-lint-ignore no-explicit-any
  async end(test: string, more: object = {}): Promise<any> {
    await this.line(JSON.stringify({ type: "end", test, ...more }));
    await this.#started.printed('"test.ended"', ++this.#ended);
    return JSON.parse(this.#started.stdout.trimEnd().split("\n").at(-1) ?? "");
  }

  /** Closes stdin, as the end of the process of tests does. */
  async over() {
    await this.#stdin.close();
    return await this.#started.ended();
  }

  /** Waits for the end of a server that ends by itself. */
  async ended() {
    const called = await this.#started.ended();
    await this.#stdin.abort().catch(() => {});
    return called;
  }
}

Deno.test("serve --suite reports each test when it ends, and ends with its stdin", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["whole", "half", "changed"]);
  const server = await SuiteServer.start(sandbox, ["serve", suite, "--rules", "none"]);
  for (const input of ["Hi", "And?"]) assert.equal((await server.ask("whole", input)).status, 200);
  assert.equal((await server.ask("half", "Hi")).status, 200);
  assert.equal((await server.ask("changed", "Hello")).status, 400);
  const none = { recorded: 0, refused: 0, turned_away: 0, notes: [] };
  assert.deepEqual(await server.end("whole"), {
    ...{ type: "test.ended", test: "whole", exit_code: 0, served: 2, missed: 0, unused: [], messages: [] },
    ...none,
  });
  const half = await server.end("half");
  assert.deepEqual([half.exit_code, half.served, half.unused], [7, 1, [2]]);
  assert.deepEqual(half.messages, [
    `The test did not use exchange 2 of "${suite}/half". ` +
    "To remove it: run the test with REPRISE_RECORD=prune",
  ]);
  const changed = await server.end("changed");
  assert.deepEqual([changed.exit_code, changed.missed, changed.messages.length], [7, 1, 1]);
  assert.match(
    changed.messages[0],
    /request 1 .*nearest is exchange 1 of ".*changed".*at input: recorded "Hi"/,
  );
  assert.match(changed.messages[0], /To record it: run the test with REPRISE_RECORD=all/);
  const { code, stderr } = await server.over();
  assert.deepEqual([code, stderr], [0, ""]);
});

Deno.test("the line of docs/recording.md ends a test", async () => {
  const page = Deno.readTextFileSync(new URL("../../../docs/recording.md", import.meta.url));
  const line = blocksOf(page).find(({ language }) => language === "json")?.text.trimEnd() ?? "";
  const { test } = JSON.parse(line);
  await using sandbox = new Sandbox();
  const server = await SuiteServer.start(sandbox, ["serve", writeSuite(sandbox, [test]), "--rules", "none"]);
  await server.ask(test, "Hi");
  await server.line(line);
  const { stdout } = await server.over();
  const report = JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "");
  assert.deepEqual([report.test, report.exit_code, report.served, report.unused], [test, 7, 1, [2]]);
});

Deno.test("serve --suite reports a test that sent nothing, one without a recording, and a damaged recording", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["silent", "damaged"]);
  Deno.writeTextFileSync(`${suite}/damaged/exchanges/0001/body`, "{}");
  const server = await SuiteServer.start(sandbox, ["serve", suite, "--rules", "none"]);
  const silent = await server.end("silent");
  assert.deepEqual([silent.exit_code, silent.unused], [7, [1, 2]]);
  assert.equal((await server.end("silent", { allow_unused: true })).exit_code, 0);
  const nothing = await server.end("nothing");
  assert.match(nothing.messages[0], /^No request of the test reached reprise/);
  assert.equal((await server.end("nothing", { allow_unused: true })).exit_code, 0);
  await server.ask("fresh", "Hi");
  const fresh = await server.end("fresh");
  assert.match(fresh.messages[0], /no fixture is at .*To record it: run the test with REPRISE_RECORD=new$/);
  const damaged = await server.end("damaged");
  assert.equal(damaged.exit_code, 2);
  assert.match(damaged.messages[0], /damaged/);
  await server.over();
});

Deno.test("serve --suite plays nothing from a folder that is not there yet, and gives dummy keys", async () => {
  await using sandbox = new Sandbox();
  const key = "sk-real-4f1d0c7ea9";
  const server = await SuiteServer.start(sandbox, ["serve", `${sandbox.directory}/none`], {
    OPENAI_API_KEY: key,
  });
  const { OPENAI_API_KEY = "", ANTHROPIC_API_KEY = "", ...urls } = server.environment;
  assert.deepEqual([OPENAI_API_KEY, ANTHROPIC_API_KEY], ["reprise-plays-this", "reprise-plays-this"]);
  assert.match(urls["ANTHROPIC_BASE_URL"] ?? "", /^http:\/\/127\.0\.0\.1:\d+$/);
  assert.equal((await server.ask("a", "Hi")).status, 400);
  await server.over();
});

Deno.test("--suite refuses a command, a second folder, and lines that it does not know", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  writeFixture(`${sandbox.directory}/other`, [exchange("Hi", "other")]);
  for (
    const [args, message] of [
      [["serve", suite, "--suite", "--", "true"], /Cannot use --suite: a command is given/],
      [["serve", suite, `${sandbox.directory}/other`, "--suite"], /Cannot use --suite: several folders/],
      [
        ["record", "--out", `${sandbox.directory}/out`, "--suite", "--", "true"],
        /--suite: a command is given/,
      ],
      [["serve"], /Cannot serve: no folder is given/],
      [
        ["serve", "--suite"],
        /Cannot use REPRISE_RECORD="always"\nhint: It is one of new, missing, all, prune/,
      ],
    ] as const
  ) {
    const { code, stderr } = await sandbox.call(args, { env: { REPRISE_RECORD: "always" } });
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
  for (
    const line of ["end a", '{"type":"end","test":"../a"}', '{"type":"begin","test":"a"}', "x".repeat(70_000)]
  ) {
    const server = await SuiteServer.start(sandbox, ["serve", suite]);
    await server.line(line);
    const { code, stdout } = await server.ended();
    assert.equal(code, 2);
    assert.match(stdout, /Cannot read this line of stdin/);
  }
});

Deno.test("record --suite records tests of several processes into one folder, and reports each", async () => {
  await using folder = new TestFolder();
  const args = ["record", "--missing", "--allow-live", "--out", folder.out];
  const env = {
    OPENAI_BASE_URL: `${folder.upstream.origin}/v1`,
    OPENAI_API_KEY: "sk-real-4f1d0c7ea9",
    CI: "true",
  };
  const servers = await Promise.all([1, 2].map(() => SuiteServer.start(folder, args, env)));
  for (const [index, server] of servers.entries()) {
    assert.equal((await server.ask(`test-${index}`, index)).status, 200);
  }
  for (const [index, server] of servers.entries()) {
    const { exit_code, recorded, served } = await server.end(`test-${index}`);
    assert.deepEqual([exit_code, recorded, served], [0, 1, 0]);
    // The recording is complete, and the server continues with others.
    assert.deepEqual(folder.inputs(`test-${index}`), [index]);
  }
  const [first] = servers;
  assert.ok(first);
  await first.ask("test-0", 0);
  const again = await first.end("test-0");
  assert.deepEqual([again.exit_code, again.recorded, again.served], [0, 0, 1]);
  await first.ask("test-0", "new");
  const grown = await first.end("test-0");
  assert.deepEqual([grown.exit_code, grown.recorded, grown.notes.length], [0, 1, 1]);
  assert.match(grown.notes[0], /^"POST .*", exchange 1 of ".*", is obsolete/);
  assert.match((await first.end("silent")).messages[0], /^No request of the test reached reprise/);
  for (const server of servers) assert.equal((await server.over()).code, 0);
});
