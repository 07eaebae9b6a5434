/** `serve` of a suite: parent folders, and one recording for each test that a request names. */
import assert from "node:assert/strict";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";
import { bodyOf, exchange, sealOf, Serving, writeSuite } from "./serving.ts";

Deno.test("a parent folder is served as its fixtures would be: in order by name, nested ones too, each exchange once", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["b", "a", "deep/er"]);
  Deno.symlinkSync(`${suite}/a`, `${suite}/link`);
  await using serving = await Serving.start(sandbox, suite);
  const answers = [];
  for (let time = 0; time < 4; time++) {
    const { status, body } = await serving.ask("/v1/responses", "Hi");
    answers.push(status === 200 ? body.answer : body.error.code);
  }
  assert.deepEqual(answers, ["a 1", "b 1", "deep/er 1", "fixture_miss"]);
  const { code, stderr, ended } = await serving.end();
  assert.equal(code, 7);
  assert.match(stderr, /^serving 6 exchanges of 3 fixtures at /m);
  assert.deepEqual(
    ended.fixtures,
    ["a", "b", "deep/er"].map((name) => ({
      path: `${suite}/${name}`,
      seal: sealOf(`${suite}/${name}`),
      used: [1],
    })),
  );
  assert.deepEqual([ended.unused.length, ended.unopened], [3, []]);
});

Deno.test("a fixture that is found twice is refused, and so is a folder without fixtures", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  Deno.mkdirSync(`${sandbox.directory}/empty`);
  for (
    const [directories, message] of [
      [[suite, `${suite}/a`], /Cannot serve ".*\/suite\/a" twice/],
      [[`${suite}/a`, `${suite}/a/`], /Cannot serve ".*\/suite\/a" twice/],
      [[`${sandbox.directory}/empty`], /no fixture\.json is at or under it/],
      [[`${sandbox.directory}/none`], /no such folder/],
    ] as const
  ) {
    const { code, stderr } = await sandbox.call(["serve", ...directories, "--", "true"]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  }
});

Deno.test("each test plays from its own recording, and events name the test and the path without it", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["login", "logout"]);
  await using serving = await Serving.start(sandbox, suite);
  const got = [
    await serving.asksTest("logout", "Hi"),
    await serving.asksTest("login", "Hi"),
    await serving.asksTest("login", "And?"),
    // The other recording has it, and so do requests without a test.
    await serving.asksTest("login", "Hi"),
    await serving.ask("/v1/responses", "Hi"),
  ].map(({ status, body }) => status === 200 ? body.answer : body.error.code);
  assert.deepEqual(got, ["logout 1", "login 1", "login 2", "fixture_miss", "login 1"]);
  const { events, stderr } = await serving.end();
  assert.deepEqual(
    events.filter(({ request }) => request !== undefined).map(({ type, test, path, fixture }) => [
      type,
      test,
      path,
      fixture?.slice(suite.length),
    ]),
    [
      ["played", "logout", "/v1/responses", "/logout"],
      ["played", "login", "/v1/responses", "/login"],
      ["played", "login", "/v1/responses", "/login"],
      ["miss", "login", "/v1/responses", undefined],
      ["played", undefined, "/v1/responses", "/login"],
    ],
  );
  assert.match(stderr, /^logout: 1 POST \/v1\/responses: 200, exchange 1 of /m);
});

Deno.test("a test without a recording is a miss that says how to record it", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  Deno.mkdirSync(`${suite}/empty`);
  Deno.writeTextFileSync(`${suite}/file`, "");
  await using serving = await Serving.start(sandbox, suite);
  for (const test of ["none", "empty", "file"]) {
    const { status, body } = await serving.asksTest(test, "Hi");
    assert.deepEqual([status, body.error.code], [400, "fixture_miss"]);
    assert.match(
      body.error.message,
      /its test has no recording/,
    );
    assert.equal(body.error.message.includes(test), false);
  }
  // A recording that comes later is found.
  writeFixture(`${suite}/none`, [exchange("Hi", "later")]);
  assert.equal((await serving.asksTest("none", "Hi")).body.answer, "later");
  const { code, events, ended } = await serving.end();
  const miss = events.find(({ type }) => type === "miss");
  assert.equal(miss.test, "none");
  assert.equal(
    miss.message,
    `Test "none" has no recording for request 1 (POST /v1/responses): no fixture is at "${suite}/none". ` +
      `To record it: reprise record --missing --out ${suite} -- CMD`,
  );
  assert.deepEqual([code, ended.missed, ended.served], [7, 3, 1]);
});

Deno.test("a fixture that was given itself has no tests: the miss says to serve the folder of recordings", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  writeFixture(`${suite}/a/inner`, [exchange("Hi", "inner")]);
  await using serving = await Serving.start(sandbox, `${suite}/a`);
  const { body } = await serving.asksTest("inner", "Hi");
  assert.equal(body.error.code, "fixture_miss");
  const { events } = await serving.end();
  assert.match(
    events.find(({ type }) => type === "miss").message,
    /only fixtures are served, .* then serve DIR$/,
  );
});

Deno.test("names that break the rule are refused before any file is touched", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "exchanges", "Upper", "a..b"]);
  writeFixture(`${sandbox.directory}/outside`, [exchange("Hi", "outside")]);
  Deno.symlinkSync(`${sandbox.directory}/outside`, `${suite}/link`);
  await using serving = await Serving.start(sandbox, suite);
  const hostile = [
    "/t/Upper",
    "/t/..",
    "/t/a..b",
    "/t/.hidden",
    "/t/exchanges",
    "/t/fixture.json",
    "/t/%2e%2e%2foutside",
    "/t/%61",
    "/t//a",
    "/t/a%00",
    `/t/${"a".repeat(81)}`,
    "/t/-a",
    "/t/link",
    "/t/a/../../outside",
    "/x/../t/a",
    "//t/a",
  ];
  for (const path of hostile) {
    const { status, code } = await rawAsk(serving.port, `${path}/v1/responses`);
    assert.deepEqual([status, code], [400, "test_refused"], path);
  }
  const { code, events, ended } = await serving.end();
  const turnedAway = events.filter(({ type }) => type === "turned_away");
  assert.equal(turnedAway.length, hostile.length);
  assert(turnedAway.every(({ code, status }) => code === "test_refused" && status === 400));
  assert.match(turnedAway.find(({ test }) => test === "link").message, /is a link/);
  assert.deepEqual([code, ended.turned_away, ended.missed, ended.fixtures], [7, hostile.length, 0, []]);
});

/** Sends a path that any client library would change. */
async function rawAsk(
  port: number,
  path: string,
): Promise<{ readonly status: number; readonly code: string }> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const body = JSON.stringify(bodyOf("Hi"));
  const head = `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\n` +
    `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(`${head}${body}`));
  const answer = await new Response(connection.readable).text();
  return {
    status: Number(answer.split(" ")[1]),
    code: /"code":"([a-z_]+)"/.exec(answer)?.[1] ?? "",
  };
}

Deno.test("a test with two recordings is refused, not played from either", async () => {
  await using sandbox = new Sandbox();
  const [one, two] = [writeSuite(sandbox, ["a", "b"], "one"), writeSuite(sandbox, ["a"], "two")];
  await using serving = await Serving.start(sandbox, one, two);
  const { status, body } = await serving.asksTest("a", "Hi");
  assert.deepEqual([status, body.error.code], [400, "test_refused"]);
  assert.match(body.error.message, /two folders have a recording of the test/);
  assert.equal((await serving.asksTest("b", "Hi")).body.answer, "b 1");
});

Deno.test("a damaged fixture fails its own test with a clear answer, and no other", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["body", "header", "whole"]);
  Deno.writeTextFileSync(`${suite}/body/exchanges/0002/body`, "{}");
  Deno.writeTextFileSync(`${suite}/header/fixture.json`, "{");
  await using serving = await Serving.start(sandbox, suite);
  const ofBody = await serving.asksTest("body", "Hi");
  const ofHeader = await serving.asksTest("header", "Hi");
  const whole = await serving.asksTest("whole", "Hi");
  assert.deepEqual([ofBody.status, ofHeader.status, whole.status], [400, 400, 200]);
  assert.match(ofBody.body.error.message, /suite\/body\/exchanges\/0002\/body": its checksum differs/);
  assert.match(ofHeader.body.error.message, /suite\/header\/fixture\.json": it is not JSON/);
  // Requests without a test may play from every fixture.
  const direct = await serving.ask("/v1/responses", "Hi");
  assert.deepEqual([direct.status, direct.body.error.code], [400, "bad_fixture"]);
  const { code, events, stderr } = await serving.end();
  assert.equal(code, 7);
  assert.deepEqual(
    events.filter(({ type }) => type === "turned_away").map(({ test, code }) => [test, code]),
    [["body", "bad_fixture"], ["header", "bad_fixture"], [undefined, "bad_fixture"]],
  );
  assert.match(stderr, /^body: turned away with 400: Cannot read the fixture file /m);
});

Deno.test("a damaged fixture that was given itself is refused at the start", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a", "b"]);
  Deno.writeTextFileSync(`${suite}/a/exchanges/0002/body`, "{}");
  const { code, stderr } = await sandbox.call(["serve", `${suite}/a`, `${suite}/b`, "--", "true"]);
  assert.equal(code, 2);
  assert.match(stderr, /its checksum differs from fixture\.json/);
});

Deno.test("a path that a fixture recorded below /t/ is played unchanged, and is no test", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["a"]);
  const literal = writeFixture(`${sandbox.directory}/literal`, [
    exchange("Hi", "literal", "/t/a/v1/responses"),
    exchange("Hi", "upper", "/t/A%20/x"),
  ]);
  const inner = exchange("Hi", "inner", "/t/x/v1/responses");
  writeFixture(`${suite}/nested`, [inner]);
  await using serving = await Serving.start(sandbox, literal, suite);
  assert.equal((await serving.ask("/t/a/v1/responses", "Hi")).body.answer, "literal");
  assert.equal((await serving.ask("/t/A%20/x", "Hi")).body.answer, "upper");
  assert.equal((await serving.ask("/t/nested/t/x/v1/responses", "Hi")).body.answer, "inner");
  const { events } = await serving.end();
  assert.deepEqual(events.filter(({ type }) => type === "played").map(({ test, path }) => [test, path]), [
    [undefined, "/t/a/v1/responses"],
    [undefined, "/t/A%20/x"],
    ["nested", "/t/x/v1/responses"],
  ]);
});

/** Sends a request for each test at each base URL, with `/t/NAME` before its path; prints the answers. */
const CLIENT = `
for (const test of Deno.args) {
  for (const [variable, resource] of [["OPENAI_BASE_URL", "/responses"], ["ANTHROPIC_BASE_URL", "/v1/messages"]]) {
    const url = new URL(Deno.env.get(variable));
    const path = "/t/" + test + url.pathname.replace(/[/]$/, "") + resource;
    const init = { method: "POST", body: JSON.stringify({ model: "m", input: test }) };
    console.log(variable, (await (await fetch(url.origin + path, init)).text()));
  }
}
`;

Deno.test("under -- CMD each API has its port with the tests of that API, under the path of its base URL", async () => {
  await using sandbox = new Sandbox();
  const suite = `${sandbox.directory}/suite`;
  const base_urls = {
    OPENAI_BASE_URL: "https://api.groq.com/openai/v1",
    ANTHROPIC_BASE_URL: "https://api.anthropic.com",
  };
  const recorded = (test: string, variable: string, path: string) => ({
    request: { path, variable, body: { model: "m", input: test } },
    response: { headers: { "content-type": "application/json" } },
    body: `${variable} of ${test}`,
  });
  for (const test of ["one", "two"]) {
    const base_url = base_urls.OPENAI_BASE_URL;
    writeFixture(`${suite}/${test}`, [
      recorded(test, "OPENAI_BASE_URL", "/openai/v1/responses"),
      recorded(test, "ANTHROPIC_BASE_URL", "/v1/messages"),
    ], { provider: "compatible", base_url, base_urls });
  }
  Deno.writeTextFileSync(`${sandbox.directory}/client.js`, CLIENT);
  const client = [Deno.execPath(), "run", "-A", "--quiet", `${sandbox.directory}/client.js`];
  const called = await sandbox.call(["serve", "--strict-usage", suite, "--", ...client, "two", "one"]);
  assert.deepEqual([called.code, called.stdout.trim().split("\n")], [0, [
    "OPENAI_BASE_URL OPENAI_BASE_URL of two",
    "ANTHROPIC_BASE_URL ANTHROPIC_BASE_URL of two",
    "OPENAI_BASE_URL OPENAI_BASE_URL of one",
    "ANTHROPIC_BASE_URL ANTHROPIC_BASE_URL of one",
  ]], called.stderr);
  const selected = await sandbox.call(["serve", "--strict-usage", suite, "--", ...client, "two"]);
  assert.equal(selected.code, 0, selected.stderr);
  assert.match(selected.stderr, /^not opened: 1 recording, one$/m);
});
