/** `record` as a process: in front of an API, around a command, and what it refuses before the command starts. */
import assert from "node:assert/strict";
import { exchangesOf, headerOf, writeFixture } from "../../doors/recordings/recording_files.ts";
import { bytesBelow, textsBelow } from "../../support/files.ts";
import { said } from "../../support/reprise.ts";
import { HELLO, KEY, MODEL, Place } from "../harness.ts";
import { linesOf, running, Wrapping } from "./wrapping.ts";

/** A secret of the shell that no list of variables names. */
const CANARY = "canary-4f1d0c7ea9-of-the-shell";

/** Fails if a secret is in the recording or in what was printed. */
function requireClean(out: string, printed: string): void {
  const texts = [...textsBelow(out).values(), printed].join("\n");
  for (const secret of [KEY, CANARY, btoa(CANARY).slice(0, -4)]) assert.ok(!texts.includes(secret), secret);
}

/** A command that sends an input, given as an expression, and ends with a code of its own. */
const client = (code: number, input = '"hi"') =>
  running(`
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
      body: JSON.stringify({ model: "${MODEL}", input: ${input}, stream: true }),
    });
    console.log("the command got " + response.status + " " + (await response.text()).includes("response.completed"));
    Deno.exit(${code});`);

Deno.test("record keeps what passes: in front of an API until it is asked to end", async () => {
  await using place = new Place(() => HELLO);
  const [out, portFile] = ["fixture", "port"].map((name) => `${place.sandbox.directory}/${name}`) as [
    string,
    string,
  ];
  const upstream = new URL(place.server.baseUrl).origin;
  const where = ["--upstream", upstream, "--out", out, "--port-file", portFile];
  const started = place.start(["record", "--json", ...where], { env: { MY_TOOL_TOKEN: CANARY } });
  await started.printed('"type":"ready"');
  const { origin, port } = linesOf(started.stdout)[0];
  assert.equal(Deno.readTextFileSync(portFile), `${port}\n`);
  const answers = [];
  for (const input of [CANARY, "again"]) {
    const response = await fetch(`${origin}/v1/responses`, {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: JSON.stringify({ model: MODEL, input, stream: true, store: false }),
    });
    answers.push(await response.text());
  }
  await started.printed('"type":"exchange"', 2);
  assert.equal(exchangesOf(out).length, 2, "a published fixture is complete at any time");
  started.process.kill("SIGTERM");
  const called = await started.ended();
  assert.equal(called.code, 0, called.stderr);
  const [ready, first, second, ended, ...more] = linesOf(called.stdout);
  assert.deepEqual(
    [ready.type, first.state, first.number, second.state, second.number, ended.type, ended.published, more],
    ["ready", "published", 1, "published", 2, "record.ended", 2, []],
  );
  assert.deepEqual(exchangesOf(out).map(({ text }) => text), answers);
  const { provider, models, base_url } = headerOf(out);
  assert.deepEqual([provider, models, base_url], ["compatible", [MODEL], place.server.baseUrl]);
  requireClean(out, said(called));
  assert.ok(place.server.requests[0]?.text.includes(CANARY));
});

Deno.test("record keeps what passes: around a command, whose stdout, key and exit code are its own", async () => {
  await using place = new Place(() => HELLO);
  const { directory } = place.sandbox;
  const args = ["record", "--out", `${directory}/fixture`, "--events", `${directory}/events`, "--"];
  const called = await place.call([
    ...args,
    ...client(3, `[Deno.cwd(), "hi"].map((content) => ({ role: "user", content }))`),
  ]);
  assert.deepEqual([called.code, called.stdout], [3, "the command got 200 true\n"], called.stderr);
  const events = linesOf(Deno.readTextFileSync(`${directory}/events`));
  assert.deepEqual(events.map(({ type }) => type), ["ready", "exchange", "record.ended"]);
  assert.deepEqual([events[2].exit_code, events[2].match_rules], [3, ["cwd"]]);
  assert.match(
    called.stderr,
    /match rules written: cwd \(input\[0\] of exchange 1\); see "match" in fixture\.json/,
  );
  const { base_url, match } = headerOf(`${directory}/fixture`);
  assert.deepEqual([base_url, match], [place.server.baseUrl, { normalize: ["cwd"] }]);
  assert.equal(exchangesOf(`${directory}/fixture`)[0]?.request.path, "/v1/responses");
  requireClean(`${directory}/fixture`, said(called));
});

Deno.test("record prints each note for the user once at its end", async () => {
  await using place = new Place(() => HELLO);
  const record = async (name: string, command: readonly string[], env: Record<string, string> = {}) => {
    const out = `${place.sandbox.directory}/${name}`;
    const upstream = ["--upstream", place.server.baseUrl, "-p", "openai"];
    const called = await place.call(["record", "--out", out, ...upstream, "--", ...command], { env });
    return [called.code, called.stderr.trim().replaceAll(out, "OUT").split("\n")];
  };
  const env = { MY_TOOL_TOKEN: CANARY, DB_PASSWORD: "hunter2" };
  assert.deepEqual(await record("noted", client(0, JSON.stringify(CANARY)), env), [0, [
    "1 exchange holds replaced text in its request: serve matches it only if its environment has the same values, " +
    "or if clients send the replaced text",
    "DB_PASSWORD is too short to look for (under 8 characters): check that no recording holds it",
    'recorded 1 exchange into "OUT", 1 secret replaced',
  ]]);
  assert.deepEqual(await record("plain", client(0)), [0, ['recorded 1 exchange into "OUT"']]);
  assert.deepEqual(await record("unasked", ["true"]), [7, [
    "error: Nothing was recorded: the fixture would hold no exchange",
    "hint: The command sent nothing to the recorder: clients find it by OPENAI_BASE_URL",
    'recorded 0 exchanges into "OUT"',
  ]]);
  assert.equal((await record("failed", ["false"]))[0], 1, "the command's own exit code comes first");
});

Deno.test("a password that is an ordinary word is replaced in URLs and key-like members only, and files that keep it are named", async () => {
  const env = { POSTGRES_PASSWORD: "postgres" };
  const script = `
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses?tenant=postgres", {
      method: "POST",
      body: JSON.stringify({ input: "Which port has postgres?", tools: [{ password: "postgres" }], stream: true }),
    });
    console.log(await response.text());`;
  await using suite = new Wrapping();
  const called = await suite.record([], script, { env });
  assert.equal(called.code, 0, called.stderr);
  const [exchange] = exchangesOf(suite.out);
  assert.equal(exchange?.request.path, "/v1/responses?tenant=REDACTED");
  const { input, tools } = exchange?.request.body;
  assert.deepEqual([input, tools], ["Which port has postgres?", [{ password: "REDACTED" }]]);
  const files = [`${exchange?.folder}/request.json`, `${exchange?.folder}/body`];
  assert.deepEqual(suite.ended.left_alone, [{ name: "POSTGRES_PASSWORD", files }]);
  assert.match(called.stderr, /POSTGRES_PASSWORD in exchanges\/0001/);
  assert.equal((await suite.call(["fixture", "lint", suite.out], { env })).code, 0);
});

/** Flags of calls that `record` refuses before it starts a command or writes; `DIR` is a folder with `full` and others. */
const REFUSED: Readonly<Record<string, readonly [flags: readonly string[], says: RegExp]>> = {
  "no upstream, without a command": [["--out", "DIR/new"], /no upstream is given/],
  "a folder with other files": [["--out", "DIR/full", "--upstream", "URL"], /it is not empty/],
  "a FIFO": [["--out", "DIR/fifo", "--upstream", "URL"], /it is a FIFO, a socket or a device/],
  "a damaged fixture": [
    ["--append", "--out", "DIR/damaged", "--upstream", "URL"],
    /exchanges\/0001\/body": its checksum differs[^]*hint: After a manual edit: reprise fixture seal/,
  ],
  "an upstream with a password": [
    ["--out", "DIR/new", "--upstream", `https://u:${CANARY}@example.com`],
    /carries a user name or password/,
  ],
  "an upstream with a user alone": [
    ["--out", "DIR/new", "--upstream", `https://${CANARY}@example.com`],
    /carries a user name or password/,
  ],
  "two upstreams": [
    ["--out", "DIR/new", "--upstream", "URL", "--upstream", `https://u:${CANARY}@b.test`],
    /--upstream is given twice/,
  ],
  "an unknown rule": [
    ["--out", "DIR/new", "--upstream", "URL", "--normalize", "cwd,nothing"],
    /Cannot use --normalize "nothing": it is no named rule and no client profile/,
  ],
};

Deno.test("record refuses what it cannot record into before the command starts, and --dry-run refuses it too", async () => {
  await using place = new Place(() => HELLO);
  const { directory, workspace } = place.sandbox;
  writeFixture(`${workspace}/damaged`, [{ body: "{}" }]);
  Deno.writeTextFileSync(`${workspace}/damaged/exchanges/0001/body`, "changed");
  Deno.mkdirSync(`${workspace}/full`);
  Deno.writeTextFileSync(`${workspace}/full/notes.txt`, "mine");
  const before = bytesBelow(workspace);
  assert.ok(new Deno.Command("mkfifo", { args: [`${workspace}/fifo`] }).outputSync().success);
  for (const [name, [flags, says]] of Object.entries(REFUSED)) {
    const given = flags.map((word) => word.replace("DIR", workspace).replace("URL", "http://127.0.0.1:1"));
    const command = name.includes("without a command") ? [] : ["--", "touch", `${directory}/started`];
    for (const more of [[], ["--dry-run"]]) {
      const called = await place.call(["record", ...given, ...more, ...command]);
      assert.equal(called.code, 2, `${name}: ${said(called)}`);
      assert.match(called.stderr, says, name);
      assert.ok(!called.stderr.includes(CANARY), name);
    }
  }
  assert.match(
    (await place.call(["record", "--out", `${workspace}/new`, "--"])).stderr,
    /No command after --/,
  );
  Deno.removeSync(`${workspace}/fifo`);
  assert.deepEqual(bytesBelow(workspace), before);
  assert.throws(() => Deno.statSync(`${directory}/started`), Deno.errors.NotFound);
});

Deno.test("record --dry-run says what it would do with a folder, starts nothing and changes nothing", async () => {
  await using suite = new Wrapping();
  const plan = async (flags: readonly string[], env: Record<string, string> = {}) => {
    const { code, stdout } = await suite.record([...flags, "--dry-run"], ["a"], { env });
    assert.equal(code, 0, stdout);
    return stdout;
  };
  assert.match(await plan([]), /and keep them in/);
  assert.throws(() => Deno.statSync(suite.out), Deno.errors.NotFound);
  await suite.recorded([], ["a", "b"]);
  const before = bytesBelow(suite.out);
  assert.match(
    await plan(["--append"]),
    /and add them to the 2 exchanges in "[^"]*", while [^]* Nothing was done\./,
  );
  assert.match(
    await plan(["--missing"]),
    /play the 2 exchanges in ".*",\nforward other requests to http.*, and keep them there/,
  );
  assert.match(await plan(["--missing"], { CI: "true" }), /and answer other requests with a miss: CI is set/);
  const { type, before: there, sends, out } = JSON.parse(await plan(["--missing", "--json"]));
  assert.deepEqual([type, there, sends, out], ["dry_run", 2, true, suite.out]);
  assert.deepEqual(bytesBelow(suite.out), before);
  assert.equal(suite.upstream.requests.length, 2);
});
