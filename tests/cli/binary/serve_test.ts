/** `serve` as a process: for any client, around a command, and what its exit code and its lines say. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type GivenExchange, writeFixture } from "../../doors/recordings/recording_files.ts";
import { type Called, said, Sandbox } from "../../support/reprise.ts";
import { until } from "../harness.ts";
import { bodyOf, Serving, writeSuite } from "../serving.ts";
import { gotIn, linesOf, running, Wrapping } from "./wrapping.ts";

const STREAM = 'event: response.completed\r\ndata: {"type":"response.completed"}\n\n';
const exchange = (input: string, more: Partial<GivenExchange> = {}): GivenExchange => ({
  request: { body: { model: "m", input, stream: true } },
  body: STREAM,
  ...more,
});
/** A sandbox with a fixture of three exchanges. */
class Place extends Wrapping {
  readonly fixture = writeFixture(`${this.directory}/chat`, [
    exchange("hi"),
    exchange("bye"),
    exchange("wait"),
  ]);

  /** Serves the fixture with these flags to tests or to a script. */
  serve(flags: readonly string[], tests: readonly string[] | string): Promise<Called> {
    return this.around(["serve", "--rules", "none", ...flags, this.fixture], tests);
  }
}

Deno.test("serve plays fixtures to any client until SIGTERM: port file, a line for each request, a summary, exit code 7 after a miss", async () => {
  await using place = new Place();
  const portFile = `${place.directory}/run/port`;
  const server = place.start(["serve", place.fixture, "--json", "--port-file", portFile]);
  await server.printed('"ready"');
  const port = Number(Deno.readTextFileSync(portFile));
  const ask = (input: string) =>
    fetch(`http://127.0.0.1:${port}/v1/responses`, {
      method: "POST",
      body: JSON.stringify({ model: "m", input, stream: true }),
    });
  const hit = await ask("hi");
  assert.deepEqual([hit.status, await hit.text()], [200, STREAM]);
  const miss = await ask("other");
  assert.equal(miss.headers.get("x-should-retry"), "false");
  await miss.body?.cancel();
  server.process.kill("SIGTERM");
  const called = await server.ended();
  assert.deepEqual([called.code, called.stderr], [7, ""]);
  const [ready, played, whole, missed, , ended, ...more] = linesOf(called.stdout);
  assert.deepEqual([whole.type, whole.request], ["answered", 1]);
  assert.deepEqual(
    [ready.type, ready.port, played.type, played.fixture, played.number, missed.type, missed.nearest.fixture],
    ["ready", port, "played", place.fixture, 1, "miss", place.fixture],
  );
  assert.deepEqual(
    [ended.type, ended.exit_code, ended.served, ended.missed, ended.unused, more],
    ["serve.ended", 7, 1, 1, [2, 3].map((number) => ({ fixture: place.fixture, number })), []],
  );
  assert.throws(() => Deno.statSync(portFile), Deno.errors.NotFound);
});

Deno.test("serve without a reader of its events ends with exit code 141, and removes its port file", async () => {
  await using place = new Place();
  const [ready, code, port] = ["ready", "code", "port"].map((name) => `${place.directory}/${name}`);
  const line = `{ "$@"; echo $? >${code}; } | head -n 1 >${ready}`;
  const called = place.call(["serve", place.fixture, "--json", "--port-file", port as string], {
    through: ["sh", "-c", line, "sh"],
  });
  const read = (path = "") => existsSync(path) ? Deno.readTextFileSync(path) : "";
  await until(() => read(ready) !== "", "the end of the reader");
  const { origin } = JSON.parse(read(ready));
  const body = JSON.stringify({ model: "m", input: "hi", stream: true });
  await (await fetch(`${origin}/v1/responses`, { method: "POST", body })).text();
  await called;
  assert.deepEqual([read(code), existsSync(port as string)], ["141\n", false]);
});

Deno.test("SIGINT is an ordinary end of serve; a command gets the signals, and ends in its own way", async () => {
  await using place = new Place();
  const server = place.start(["serve", place.fixture]);
  await server.printed('"ready"');
  server.process.kill("SIGINT");
  const { code, stdout, stderr } = await server.ended();
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^\{"type":"ready","port":\d+[^\n]*\}\n$/);
  assert.match(
    stderr,
    /^serving 3 exchanges of 1 fixture at http:[^]*\nunused: exchange 1 of [^]*, exchange 2 of /,
  );
  const script = "trap 'echo stopped; exit 5' TERM; echo waiting; while :; do sleep 0.05; done";
  const started = place.start(["serve", place.fixture, "--", "sh", "-c", script]);
  await started.printed("waiting");
  started.process.kill("SIGTERM");
  const called = await started.ended();
  assert.deepEqual([called.code, called.stdout], [5, "waiting\nstopped\n"]);
});

Deno.test("a command is led to serve, never given a real key, and has stdout to itself; a token is its key", async () => {
  await using place = new Place();
  const log = `${place.directory}/events`;
  const print =
    "import('node:process').then(({ env }) => console.log(env.OPENAI_API_KEY, env.ANTHROPIC_AUTH_TOKEN))";
  const env = { OPENAI_API_KEY: "sk-real", ANTHROPIC_AUTH_TOKEN: "sk-real" };
  for (
    const [flags, key] of [[[], "reprise-plays-this"], [["--token", "open-sesame"], "open-sesame"]] as const
  ) {
    const serve = ["serve", "--allow-unused", ...flags, place.fixture, "--events", log, "--"];
    const keys = await place.call([...serve, ...running(print)], { env });
    assert.deepEqual([keys.code, keys.stdout], [0, `${key} ${key}\n`], keys.stderr);
  }
  const got = await place.serve(["--strict-usage"], ["hi", "bye", "wait"]);
  assert.equal(got.code, 0, got.stderr);
  assert.deepEqual(
    gotIn(got).map(({ status, body }) => [status, body]),
    Array(3).fill([200, STREAM]),
  );
  assert.deepEqual(place.events.map(({ type }) => type), [
    "ready",
    ...Array(3).fill(["played", "answered"]).flat(),
    "serve.ended",
  ]);
  assert.deepEqual([place.ended.exit_code, place.ended.command_exit_code], [0, 0]);
});

/** Ends of serve around a command: the flags, the acts of the command, the exit code, and a part of stderr. */
const ENDS: Readonly<
  Record<
    string,
    readonly [flags: readonly string[], tests: readonly string[] | string, code: number, says: RegExp]
  >
> = {
  "a miss that the command swallowed": [
    [],
    ["hi", "other"],
    7,
    /2 POST \/v1\/responses: 400, miss: [^]*\n1 served, 1 missed, 0 rejected, 0 warnings\nerror: .*: 1 missed\nhint: .*\n$/,
  ],
  "an unused exchange": [[], ["hi", "bye"], 0, /^unused: exchange 3 of /m],
  "an unused exchange, with --strict-usage": [["--strict-usage"], ["hi", "bye"], 7, /error: .*: 1 unused\n/],
  "no request at all": [
    [],
    "",
    7,
    /error: No exchange was played[^\n]*\nhint: The command sent nothing [^\n]*--allow-unused/,
  ],
  "only a connection check": [
    [],
    'await fetch(Deno.env.get("ANTHROPIC_BASE_URL"), { method: "HEAD" })',
    7,
    /No exchange was played/,
  ],
  "a fault that broke nothing, with --strict-usage": [
    ["--fault", "7: fail", "--strict-usage"],
    ["hi", "bye", "wait"],
    7,
    /error: .*: 1 fault without effect\n/,
  ],
  "a request that was turned away": [
    ["--verbose"],
    `await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses",
      { method: "POST", headers: { "content-encoding": "gzip" }, body: "x" })`,
    7,
    /turned away with 400: [^]*, 1 turned away\n[^]*error: .*: 1 turned away\n/,
  ],
  "a command that failed": [["--strict-usage"], "Deno.exit(3)", 3, /./],
  "a command that was killed": [[], 'Deno.kill(Deno.pid, "SIGKILL")', 137, /./],
};

Deno.test("the exit code of serve says whether all went as recorded, and the command's own comes first", async () => {
  await using place = new Place();
  for (const [name, [flags, tests, code, says]] of Object.entries(ENDS)) {
    const called = await place.serve(flags, tests);
    assert.equal(called.code, code, `${name}: ${said(called)}`);
    assert.match(called.stderr, says, name);
  }
});

Deno.test("serve and record print their lines after the command, never within its line; --verbose prints each at once", async () => {
  await using place = new Place();
  const dots = (...inputs: readonly string[]) => `
    for (const input of ${JSON.stringify(inputs)}) {
      Deno.stdout.writeSync(new TextEncoder().encode("."));
      const body = JSON.stringify({ model: "m", input, stream: true });
      const headers = Deno.env.get("OPENAI_API_KEY") ? { authorization: "Bearer x" } : {};
      await (await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", { method: "POST", headers, body })).text();
    }`;
  /** Both streams of both programs, through one pipe. */
  const printed = async (args: readonly string[], script: string, env: Record<string, string> = {}) => {
    const through = ["sh", "-c", '"$@" 2>&1; echo "exit $?"', "sh"];
    return (await place.call([...args, "--", ...running(script)], { env, through })).stdout;
  };
  const serve = ["serve", "--rules", "none", place.fixture];
  assert.match(
    await printed(serve, dots("hi", "Go")),
    /^\.\.\n2 POST \/v1\/responses: 400, miss: [^\n]*\n(?: {2}.*\n)+unused: exchange 2 of [^\n]*\n1 served, 1 missed,[^]*exit 7\n$/,
  );
  assert.equal(await printed([...serve, "--quiet"], dots("hi")), ".exit 0\n");
  assert.match(
    await printed([...serve, "--verbose"], dots("hi", "Go")),
    /^serving 3 exchanges [^]*1 POST \/v1\/responses: 200, exchange 1 of [^]*2 POST .*: 400, miss: [^]*1 served/,
  );
  const record = ["record", "--missing", "--out", place.out];
  const env = { OPENAI_BASE_URL: `${place.upstream.origin}/v1`, OPENAI_API_KEY: "", CI: "" };
  assert.match(await printed(record, dots("hi"), env), /^\.\n[^.]*recorded 1 exchange [^\n]*\nexit 0\n$/);
  const again = await printed(record, dots("hi", "error-401"), env);
  assert.match(again, /^\.\.\nnot recorded: request 2, [^]*\nexit 7\n$/);
  assert.match(again, /^OPENAI_API_KEY is not set: without a key, no request is recorded$/m);
  assert.doesNotMatch(await printed(record, dots("hi"), { ...env, OPENAI_API_KEY: "sk-a" }), /is not set/);
});

Deno.test("serve plays a recording from another directory, and names the rules that it needed", async () => {
  await using suite = new Wrapping();
  const client = (prompt = "Fix the test", output = "1 failed") => `
    const cwd = Deno.cwd();
    const input = [
      { role: "user", content: "<cwd>" + cwd + "</cwd>" },
      { role: "user", content: ${JSON.stringify(prompt)} + " in " + cwd + "/tests" },
      { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: ${JSON.stringify(output)} },
    ];
    const body = JSON.stringify({ model: "m", input, stream: true });
    const headers = { "content-type": "application/json" };
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", { method: "POST", headers, body });
    console.log(await response.text());`;
  const recorded = await suite.record([], client());
  assert.equal(recorded.code, 0, recorded.stderr);
  const cwd = `${suite.directory}/elsewhere/deep`;
  Deno.mkdirSync(cwd, { recursive: true });
  const serve = (flags: readonly string[], script: string) =>
    suite.around(["serve", "--rules", "none", "--verbose", ...flags, suite.out], script, { cwd });
  const there = await serve(["--strict-usage"], client());
  assert.deepEqual([there.code, there.stdout], [0, recorded.stdout], there.stderr);
  assert.deepEqual(suite.ended.tiers, { exact: 0, semantic: 0, rules: 1, conversation: 0 });
  assert.match(there.stderr, /: 200, exchange 1 of .*fixture, needed cwd$/m);
  assert.match(there.stderr, /^1 matched: 1 with rules \(cwd 1\)$/m);
  const failed = await serve(
    ["--match", "conversation", "--fail-on", "tool-output"],
    client("Fix the test", "2 failed"),
  );
  assert.deepEqual([failed.code, suite.ended.tool_outputs_differ], [7, 1]);
  assert.match(failed.stderr, /Not every exchange went as recorded: 1 tool output not as recorded/);
});

/** Calls of serve that are refused before anything listens or starts. */
const REFUSED: Readonly<Record<string, readonly [code: number, args: readonly string[], says: RegExp]>> = {
  "other machines without a token": [2, ["FIXTURE", "--host", "0.0.0.0"], /without a token/],
  "a command that is not there": [
    2,
    ["FIXTURE", "--", "no-such-program"],
    /Cannot start the command "no-such/,
  ],
  "no command": [
    2,
    ["FIXTURE", "--"],
    /^error: No command after --\nhint: Did a shell variable expand to nothing/,
  ],
  "no folder": [2, ["FIXTURE-gone"], /chat-gone": no such folder/],
  "a changed body": [2, ["DAMAGED"], /exchanges\/0002\/body": its checksum differs/],
  "a FIFO": [2, ["DAMAGED-fifo"], /it is a FIFO, a socket or a device/],
};

Deno.test("a fixture that cannot be served is refused before anything listens", async () => {
  await using sandbox = new Sandbox();
  const [fixture, damaged] = ["chat", "damaged"].map((name) =>
    writeFixture(`${sandbox.directory}/${name}`, [exchange("hi"), exchange("bye", { body: "data: 1\n\n" })])
  ) as [string, string];
  Deno.writeTextFileSync(`${damaged}/exchanges/0002/body`, "changed");
  const fifo = `${writeFixture(`${damaged}-fifo`, [exchange("hi")])}/exchanges/0001/request.json`;
  Deno.removeSync(fifo);
  new Deno.Command("mkfifo", { args: [fifo] }).outputSync();
  for (const [name, [code, args, says]] of Object.entries(REFUSED)) {
    const given = args.map((word) => word.replace("FIXTURE", fixture).replace("DAMAGED", damaged));
    const called = await sandbox.call(["serve", ...given]);
    assert.deepEqual([called.code, called.stdout], [code, ""], `${name}: ${said(called)}`);
    assert.match(called.stderr, says, name);
  }
});

Deno.test("serve names the tests of a suite, those that it did not open, and how to record one that is missing", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b", "deep/er"]);
  const log = `${sandbox.directory}/events`;
  Deno.symlinkSync(`${suite}/a`, `${suite}/link`);
  {
    const flags = ["--rules", "none", "--strict-usage", "--events", log];
    await using serving = await Serving.start(sandbox, ["serve", ...flags, suite]);
    for (const input of ["Hi", "And?"]) {
      assert.equal((await serving.post("/t/a/v1/responses", bodyOf(input))).status, 200);
    }
    const { code, stderr } = await serving.end();
    const ended = linesOf(Deno.readTextFileSync(log)).at(-1);
    assert.deepEqual([code, ended.unused, ended.unopened], [0, [], ["b", "deep/er"]]);
    assert.match(stderr, /^serving 6 exchanges of 3 fixtures at /m);
    assert.match(stderr, /^a: 1 POST \/v1\/responses: 200, exchange 1 of /m);
    assert.match(stderr, /^not opened: 2 recordings, b, deep\/er$/m);
  }
  await using serving = await Serving.start(sandbox, ["serve", "--json", suite]);
  const { status, answer } = await serving.post("/t/none/v1/responses", bodyOf("Hi"));
  assert.deepEqual([status, answer.error.code], [400, "fixture_miss"]);
  const { code, events } = await serving.end();
  assert.equal(code, 7);
  assert.equal(
    events.find(({ type }) => type === "miss").message,
    `Test "none" has no recording for request 1 (POST /v1/responses): no fixture is at "${suite}/none". ` +
      `To record it: reprise record --missing --out ${suite} -- CMD`,
  );
});

Deno.test("a client that ends its side of the connection after its request gets its answer", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  for (const flags of [[], ["--no-websocket"]]) {
    await using serving = await Serving.start(sandbox, ["serve", "--rules", "none", ...flags, suite]);
    const port = Number(new URL(serving.origin).port);
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    const body = JSON.stringify(bodyOf("Hi"));
    const head = `POST /t/a/v1/responses HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`;
    await connection.write(new TextEncoder().encode(`${head}Content-Length: ${body.length}\r\n\r\n${body}`));
    await connection.closeWrite();
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 200 [^]*"a 1"/, String(flags));
    assert.equal((await serving.end()).code, 0);
  }
});
