/** `serve` of a suite: parent folders, and one recording for each test that a request names. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { exchange, sealOf, Serving, writeSuite } from "../serving.ts";

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
