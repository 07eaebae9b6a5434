/** `serve --suite` and `record --suite`: a process of tests ends each test by a line of stdin, and gets its report. */
import assert from "node:assert/strict";
import { exchangesOf } from "../../doors/recordings/recording_files.ts";
import { blocksOf } from "../../support/page.ts";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { Sandbox } from "../../support/reprise.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
import { startResponsesSocket } from "../../support/scripted_api/socket.ts";
import { SocketClient } from "../../support/socket_client.ts";
import { until } from "../harness.ts";
import { writeSuite } from "../serving.ts";
import { SuiteServer } from "../suite_server.ts";
import { TestFolder } from "../test_folder.ts";
import { linesOf } from "./wrapping.ts";

Deno.test("serve --suite reports each test when it ends, and ends with its stdin", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["whole", "half", "changed", "silent", "damaged"]);
  Deno.writeTextFileSync(`${suite}/damaged/exchanges/0001/body`, "{}");
  const server = await SuiteServer.start(sandbox, ["serve", suite, "--rules", "none"]);
  for (
    const [test, input, status] of [
      ["whole", "Hi", 200],
      ["whole", "And?", 200],
      ["half", "Hi", 200],
      ["changed", "Hello", 400],
      ["changed", "Hello", 400],
      ["fresh", "Hi", 400],
    ] as const
  ) assert.equal(await server.ask(test, input), status, test);
  assert.deepEqual(await server.end("whole"), {
    ...{ type: "test.ended", test: "whole", exit_code: 0, served: 2, missed: 0, unused: [], messages: [] },
    ...{ recorded: 0, refused: 0, turned_away: 0, notes: [] },
  });
  const half = await server.end("half");
  assert.deepEqual([half.exit_code, half.served, half.unused], [7, 1, [2]]);
  assert.deepEqual(half.messages, [
    `The test did not use exchange 2 of "${suite}/half". ` +
    "To remove it: run the test with REPRISE_RECORD=prune",
  ]);
  const rows: readonly (readonly [test: string, code: number, says: RegExp])[] = [
    [
      "changed",
      7,
      /request 1 .*nearest is exchange 1 of ".*changed".*at input:\n *recorded "Hi"[^]*run the test with REPRISE_RECORD=all/,
    ],
    ["fresh", 7, /no fixture is at .*To record it: run the test with REPRISE_RECORD=new$/],
    ["nothing", 7, /^No request of the test reached reprise/],
    ["silent", 7, /./],
    ["damaged", 2, /damaged/],
  ];
  for (const [test, code, says] of rows) {
    const { exit_code, messages } = await server.end(test);
    assert.equal(exit_code, code, test);
    assert.match(messages[0], says);
    if (test === "changed") {
      assert.deepEqual(messages.slice(1), [
        "Request 2 (POST /v1/responses) is a miss as request 1, at input",
      ]);
    }
  }
  for (const test of ["silent", "nothing"]) {
    assert.equal((await server.end(test, { allow_unused: true })).exit_code, 0);
  }
  const { code, stderr } = await server.over();
  assert.deepEqual([code, stderr], [0, ""]);
});

Deno.test("an exchange whose answer a fault replaced counts as used, and no recording loses its last one", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["broken", "changed", "silent"]);
  const server = await SuiteServer.start(sandbox, ["serve", suite, "--fault", "*: 529"]);
  for (const input of ["Hi", "Hi"]) assert.equal(await server.ask("broken", input), 529);
  const broken = await server.end("broken");
  assert.deepEqual([broken.exit_code, broken.served, broken.unused], [7, 2, [2]]);
  assert.equal(await server.ask("broken", "Hi"), 529);
  const pruned = await server.end("broken", { prune: true });
  assert.deepEqual([pruned.exit_code, pruned.notes.length, exchangesOf(`${suite}/broken`).length], [0, 1, 1]);
  assert.equal(await server.ask("broken", "Hi"), 529);
  assert.equal((await server.end("broken")).exit_code, 0);

  // A request without a recording gets the fault too, and leaves the exchanges unused.
  for (const [test, inputs] of [["changed", ["Hello"]], ["silent", []]] as const) {
    for (const input of inputs) assert.equal(await server.ask(test, input), 529);
    const { exit_code, unused, messages } = await server.end(test, { prune: true });
    assert.deepEqual([exit_code, unused, exchangesOf(`${suite}/${test}`).length], [7, [1, 2], 2]);
    assert.match(messages[0], /did not use exchanges 1, 2 of .*prune removes none\. .*REPRISE_RECORD=all/);
  }
  assert.equal((await server.over()).code, 0);
});

Deno.test("a test with faults is recorded whole and meets them, and one whose fault has no effect fails", async () => {
  await using folder = new TestFolder();
  const fault = ["--suite", "--fault", "2: 503"];
  const env = { OPENAI_BASE_URL: `${folder.upstream.origin}/v1`, OPENAI_API_KEY: "sk-real-4f1d0c7ea9" };
  const ask = async (server: SuiteServer, inputs: readonly string[], more: object = {}) => {
    const statuses = [];
    for (const input of inputs) statuses.push(await server.ask("a", input));
    const { exit_code, recorded, messages } = await server.end("a", more);
    return [...statuses, exit_code, recorded, messages.map((text: string) => text.slice(0, 33)).join()];
  };
  const none = 'The fault "2: 503" had no effect:';
  const recorder = await SuiteServer.start(
    folder,
    ["record", "--missing", "--out", folder.out, ...fault],
    env,
  );
  assert.deepEqual(await ask(recorder, ["Hi", "And?", "And?"]), [200, 503, 200, 0, 2, ""]);
  assert.deepEqual(await ask(recorder, ["Hi"]), [200, 7, 0, none]);
  assert.equal((await recorder.over()).code, 0);
  const server = await SuiteServer.start(folder, ["serve", folder.out, ...fault]);
  // A test that runs again meets its faults again.
  for (const _ of [1, 2]) {
    assert.deepEqual(await ask(server, ["Hi", "And?", "And?"]), [200, 503, 200, 0, 0, ""]);
  }
  const unused = "The test did not use exchange 2 o";
  assert.deepEqual(await ask(server, ["Hi"]), [200, 7, 0, unused]);
  assert.deepEqual(await ask(server, ["Hi"], { prune: true }), [200, 7, 0, none]);
  assert.deepEqual(await ask(server, ["Hi"], { allow_unused: true }), [200, 0, 0, ""]);
  assert.equal((await server.over()).code, 0);
});

Deno.test("the dummy key of a test goes to no API: the report names the variable of the key", async () => {
  await using folder = new TestFolder();
  const { origin } = folder.upstream;
  const server = await SuiteServer.start(folder, ["record", "--missing", "--out", folder.out], {
    OPENAI_BASE_URL: `${origin}/v1`,
    ANTHROPIC_BASE_URL: origin,
    OPENAI_API_KEY: "",
  });
  const { OPENAI_API_KEY: key = "", ANTHROPIC_BASE_URL = "" } = server.environment;
  const ask = async (base: string, headers: Readonly<Record<string, string>>) => {
    const answer = await fetch(`${base}/responses`, { method: "POST", headers, body: "{}" });
    return [answer.status, answer.headers.get("x-should-retry"), await answer.text()];
  };
  const [status, retries, text] = await ask(server.baseUrl("a"), { authorization: `Bearer ${key}` });
  assert.deepEqual([status, retries], [401, "false"]);
  assert.match(String(text), /OPENAI_API_KEY is not set, so nothing was sent to http/);
  const { exit_code, messages } = await server.end("a");
  assert.equal(exit_code, 7);
  assert.match(messages.join(), /^turned away with 401: OPENAI_API_KEY is not set[^]*$/);
  assert.doesNotMatch(messages.join(), /keep-errors/);
  const anthropic = `${new URL(ANTHROPIC_BASE_URL).origin}/t/b`;
  assert.match(
    String(await ask(anthropic, { "x-api-key": key })),
    /ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is not set/,
  );
  await server.end("b");
  assert.equal(folder.upstream.requests.length, 0, "a dummy key was sent");
  // A client without a key, or with one of its own, asks an API that decides itself.
  assert.equal((await ask(server.baseUrl("c"), {}))[0], 200);
  assert.equal((await ask(server.baseUrl("c"), { authorization: "Bearer of-the-client" }))[0], 200);
  assert.equal((await server.end("c")).recorded, 2);
  assert.equal((await server.over()).code, 0);
});

Deno.test("the line of docs/recording.md ends a test, of a folder that is not there yet too; keys are dummies", async () => {
  const page = Deno.readTextFileSync(new URL("../../../docs/recording.md", import.meta.url));
  const line = blocksOf(page).find(({ language }) => language === "json")?.text.trimEnd() ?? "";
  await using sandbox = new Sandbox();
  const args = ["serve", `${sandbox.directory}/none`];
  const server = await SuiteServer.start(sandbox, args, { OPENAI_API_KEY: "sk-real-4f1d0c7ea9" });
  const { OPENAI_API_KEY, ANTHROPIC_API_KEY } = server.environment;
  assert.deepEqual([OPENAI_API_KEY, ANTHROPIC_API_KEY], ["reprise-plays-this", "reprise-plays-this"]);
  const { test } = JSON.parse(line);
  assert.equal(await server.ask(test, "Hi"), 400);
  await server.line(line);
  const report = linesOf((await server.over()).stdout).at(-1);
  assert.deepEqual([report.test, report.exit_code, report.missed], [test, 7, 1]);
});

Deno.test("the gateway forwards to the test that runs, and to none while no test or two tests run", async () => {
  await using sandbox = new Sandbox();
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: application/json", "{}"));
  const server = await SuiteServer.start(sandbox, ["serve"]);
  const gateway = `${server.environment.OPENAI_BASE_URL}/responses`;
  const ask = async () => {
    const answer = await fetch(gateway, { method: "POST", body: "{}" });
    return [answer.status, (await answer.json()).error?.message?.match(/ of its test: (.*?)[,.] /)?.[1]];
  };
  const begin = async (test: string) => {
    const environment = { OPENAI_BASE_URL: `${upstream.origin}/t/${test}/v1` };
    await server.line(JSON.stringify({ type: "begin", test, environment }));
    await server.began(test);
  };
  assert.deepEqual(await server.strays(), []);
  assert.deepEqual(await ask(), [400, "no test with a recording runs"]);
  assert.deepEqual(await server.strays(), ["POST /v1/responses"]);
  assert.deepEqual(await server.strays(), [], "a request is listed once");
  await begin("a");
  assert.deepEqual(await ask(), [200, undefined]);
  await begin("b");
  assert.deepEqual(await ask(), [400, "2 tests run"]);
  // Each test that runs may have sent it.
  assert.deepEqual([(await server.end("a")).turned_away, await ask()], [1, [200, undefined]]);
  assert.equal((await server.end("b")).turned_away, 1);
  assert.deepEqual(await server.strays(), [], "those of tests are in the reports of these");
  assert.deepEqual(await ask(), [400, "no test with a recording runs"]);
  assert.deepEqual(await server.strays(), ["POST /v1/responses"]);
  assert.deepEqual(
    upstream.requests.map(({ head }) => head.split(" ")[1]),
    ["a", "b"].map((test) => `/t/${test}/v1/responses`),
  );
  assert.equal((await server.over()).code, 0);
});

Deno.test("the gateway names the base URLs of known APIs: the usual ones, and those of its environment", async () => {
  await using sandbox = new Sandbox();
  const env = {
    OPENAI_BASE_URL: "http://127.0.0.1:9/v2",
    OLLAMA_HOST: "127.0.0.1:8",
    AZURE_OPENAI_ENDPOINT: "",
  };
  const server = await SuiteServer.start(sandbox, ["serve"], env);
  const of = (variable: string) => server.upstreams.filter((line) => line.startsWith(`${variable} `));
  assert.deepEqual(of("OPENAI_BASE_URL"), [
    "OPENAI_BASE_URL http://127.0.0.1:9/v2",
    "OPENAI_BASE_URL https://api.openai.com/v1",
  ]);
  assert.deepEqual(of("ANTHROPIC_BASE_URL"), ["ANTHROPIC_BASE_URL https://api.anthropic.com/"]);
  assert.deepEqual(of("OLLAMA_HOST"), ["OLLAMA_HOST http://127.0.0.1:8/"]);
  // A server on this machine is known only if a variable names it.
  assert.deepEqual(of("OLLAMA_BASE_URL"), []);
  assert.equal((await server.over()).code, 0);
});

Deno.test("the gateway forwards what follows the path of its base URL, and refuses any other path", async () => {
  await using sandbox = new Sandbox();
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: application/json", "{}"));
  const server = await SuiteServer.start(sandbox, ["serve"]);
  const environment = { OPENAI_BASE_URL: `${upstream.origin}/t/a/openai/v1` };
  await server.line(JSON.stringify({ type: "begin", test: "a", environment }));
  await server.began("a");
  const { origin } = new URL(server.environment.OPENAI_BASE_URL ?? "");
  const refused: string[] = [];
  for (
    const path of ["/v1/responses", "/v1", "/v1?x=1", "/v1/", "/responses", "/v1responses", "/v2/v1/x", "/"]
  ) {
    const answer = await fetch(origin + path, { method: "POST", body: "{}" });
    const { error } = await answer.json();
    if (answer.status === 200) continue;
    refused.push(path);
    assert.equal(answer.status, 400);
    assert.match(error.message, /its path is not below \/v1, that of OPENAI_BASE_URL/);
  }
  assert.deepEqual(refused, ["/responses", "/v1responses", "/v2/v1/x", "/"]);
  assert.deepEqual(
    upstream.requests.map(({ head }) => head.split(" ")[1]),
    ["/responses", "", "?x=1", "/"].map((rest) => `/t/a/openai/v1${rest}`),
  );
  assert.equal((await server.end("a")).turned_away, 4);
  assert.equal((await server.over()).code, 0);
});

Deno.test("--suite refuses a command, a second folder, and lines that it does not know", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  const other = writeSuite(sandbox, ["a"], "other");
  for (
    const [args, message] of [
      [["serve", suite, "--suite", "--", "true"], /Cannot use --suite: a command is given/],
      [["serve", suite, other, "--suite"], /Cannot use --suite: several folders/],
      [["record", "--out", "out", "--suite", "--", "true"], /--suite: a command is given/],
      [["serve"], /Cannot serve: no folder is given/],
      [["serve", "--suite"], /REPRISE_RECORD="always"\nhint: It is one of new, missing, all, prune/],
    ] as const
  ) {
    const { code, stderr } = await sandbox.call(args, { env: { REPRISE_RECORD: "always" } });
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
  for (const line of ["end a", '{"type":"end","test":"../a"}', '{"type":"begin"}', "x".repeat(70_000)]) {
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
  const OPENAI_BASE_URL = `${folder.upstream.origin}/v1`;
  const env = { OPENAI_BASE_URL, OPENAI_API_KEY: "sk-real-4f1d0c7ea9", CI: "true" };
  const servers = await Promise.all([1, 2].map(() => SuiteServer.start(folder, args, env)));
  for (const [index, server] of servers.entries()) {
    assert.equal(await server.ask(`test-${index}`, index), 200);
  }
  for (const [index, server] of servers.entries()) {
    const { exit_code, recorded, served } = await server.end(`test-${index}`);
    assert.deepEqual([exit_code, recorded, served], [0, 1, 0]);
    // The recording is complete, and the server continues with others.
    const [exchange] = exchangesOf(`${folder.out}/test-${index}`);
    assert.equal(exchange?.request.body.input, index);
  }
  const [first] = servers as [SuiteServer];
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

Deno.test("a test that is ended twice at once, and asks meanwhile, gets each report and a recording for what came later", async () => {
  await using folder = new TestFolder();
  await using upstream = new RawUpstream(async (connection, request) => {
    const stays = new TextDecoder().decode(request.body).includes("stays");
    while (stays && await connection.read(new Uint8Array(1)) !== null);
    await answering("200 OK\r\ncontent-type: application/json", "{}")(connection, request);
  });
  const args = ["record", "--append", "--upstream", upstream.origin, "--out", folder.out];
  await using server = await SuiteServer.start(folder, args);
  assert.equal(await server.ask("a", "first"), 200);
  const broken = server.ask("a", "stays");
  await until(() => upstream.requests.length === 2, "the second request");
  await server.line('{"type":"end","test":"a"}\n{"type":"end","test":"a"}');
  const later = server.ask("a", "later");
  const reports = await server.reports(2);
  assert.deepEqual(reports.map(({ test, recorded }) => [test, recorded]), [["a", 1], ["a", 0]]);
  assert.match(reports[1].messages[0], /^No request of the test reached reprise/);
  assert.deepEqual([await broken.catch(() => 502), await later], [502, 200]);
  assert.equal((await server.end("a")).recorded, 1);
  assert.equal((await server.over()).code, 0);
  const inputs = exchangesOf(`${folder.out}/a`).map(({ request }) => request.body.input);
  assert.deepEqual(inputs, ["first", "later"]);
});

Deno.test("the end of a test closes its WebSockets, and reports its exchanges", async () => {
  await using upstream = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const origin = upstream.baseUrl.replace(/\/v1$/, "");
  const args = ["record", "--upstream", origin, "--out", `${sandbox.directory}/out`];
  const server = await SuiteServer.start(sandbox, args);
  await using client = await SocketClient.open(server.baseUrl("a"));
  await client.ask({
    type: "response.create",
    model: "m",
    store: false,
    input: [{ role: "user", content: "hi" }],
  });
  const { exit_code, recorded } = await server.end("a");
  assert.deepEqual([exit_code, recorded, (await client.closed).code], [0, 1, 1001]);
  assert.equal((await server.over()).code, 0);
});
