/** The verbs of `reprise fixture`, as a user calls them; what they find is tested beside their sources. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { Sandbox } from "../support/reprise.ts";

const STREAM = 'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' +
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed",' +
  '"output":[]}}\n\n';
const ASKED = { body: { model: "gpt-5.6", input: "Hi" } };

const CASSETTE = `interactions:
- request:
    method: POST
    uri: https://api.openai.com/v1/responses
    headers: {}
    body: '{"model":"gpt-5.6","input":"Hi"}'
  response:
    status: {code: 200, message: OK}
    headers:
      content-type: [application/json]
    body: {string: '{"id":"resp_1","object":"response","status":"completed","output":[]}'}
version: 1
`;

test("fixtures are listed, shown, linted, redacted, compared, imported and sealed from the command line", async () => {
  await using sandbox = new Sandbox();
  const root = `${sandbox.directory}/fixtures`;
  const secret = "sk-proj-0123456789abcdefghijklmn";
  writeFixture(`${root}/a`, [{ request: ASKED, body: STREAM }]);
  writeFixture(`${root}/b`, [{ request: ASKED, body: STREAM.replace(',"output":[]', "") }]);
  writeFixture(`${root}/c`, [{
    request: ASKED,
    body: STREAM.replace('"output":[]', `"output":[],"note":"key ${secret}"`),
  }]);
  const call = (...args: string[]) => sandbox.call(["fixture", ...args], { cwd: sandbox.directory });
  const json = async (exit: number, ...args: string[]) => {
    const { code, stdout, stderr } = await call(...args, "--json");
    assert.equal(code, exit, `${args.join(" ")}: ${stdout}${stderr}`);
    return JSON.parse(stdout);
  };

  assert.equal((await call("ls", "fixtures")).stdout.trimEnd().split("\n").length, 3);
  const shown = await call("show", "fixtures/a");
  assert.match(shown.stdout, /POST \/v1\/responses · gpt-5\.6[^]*response\.completed/);

  await json(0, "lint", "fixtures/a");
  assert.match(JSON.stringify(await json(7, "lint", "fixtures/c")), /secret/);
  assert.match(JSON.stringify(await json(7, "lint", "fixtures/a", "--max-age", "0")), /old|age/);
  await json(0, "redact", "fixtures/c");
  await json(0, "lint", "fixtures/c");

  assert.equal((await json(0, "diff", "fixtures/a", "fixtures/a")).verdict, "identical");
  assert.equal((await json(7, "diff", "fixtures/a", "fixtures/b")).verdict, "breaking");
  assert.equal((await json(2, "diff", "fixtures/a", "--exchange", "1:2")).type, "error");

  Deno.writeTextFileSync(`${sandbox.directory}/a.sse`, STREAM);
  await json(0, "import", "a.sse", "fixtures/d");
  // The library that reads YAML is another one in the bundle of the binary.
  Deno.writeTextFileSync(`${sandbox.directory}/b.yaml`, CASSETTE);
  assert.match(JSON.stringify(await json(0, "import", "b.yaml", "fixtures/e")), /vcr/);
  Deno.writeTextFileSync(`${root}/a/README.md`, "What this is.\n");
  assert.deepEqual((await json(0, "seal", "fixtures/a")).added, ["README.md"]);
  assert.equal((await call("show", "fixtures/none")).code, 2);
  assert.equal((await call()).code, 2);
});

test("ls, show and diff name the recordings of a fixture that has grown, and their days", async () => {
  await using sandbox = new Sandbox();
  const [first, second] = ["2026-11-01T08:00:00.000Z", "2026-11-11T08:00:00.000Z"] as const;
  const exchanges = ["a", "b", "c"].map((input, index) => ({
    request: { body: { model: "gpt-5.6", input }, at_ms: 1000 * index },
    body: STREAM,
  }));
  writeFixture(`${sandbox.directory}/grown`, exchanges, {
    created: first,
    recordings: [
      { created: first, producer: "reprise 1.0.0", exchanges: [1, 2] },
      { created: second, exchanges: [3, 3] },
    ],
  });
  writeFixture(`${sandbox.directory}/single`, exchanges, { created: first });
  const call = async (...args: string[]) => {
    const { code, stdout, stderr } = await sandbox.call(["fixture", ...args], { cwd: sandbox.directory });
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const recordings = [
    { created: first, producer: "reprise 1.0.0", exchanges: [1, 2] },
    { created: second, producer: null, exchanges: [3, 3] },
  ];

  assert.match(await call("ls", "grown"), / 2026-11-01 to 2026-11-11, 2 recordings {2}/);
  assert.match(await call("ls", "single"), / 3 exchanges {2}2026-11-01 {2}/);
  assert.deepEqual(JSON.parse(await call("ls", "grown", "--json")).fixtures[0].recordings, recordings);

  assert.deepEqual(
    (await call("show", "grown")).match(/^(?:grown|Recording|── exchange).*$/gm)?.map((line) =>
      line.replace(/ · POST .*$/, "")
    ),
    [
      "grown: openai at https://api.openai.com/v1, gpt-5.6, 2026-11-01 to 2026-11-11, 2 recordings",
      `Recording 1 of 2, ${first}`,
      "── exchange 1",
      "── exchange 2",
      `Recording 2 of 2, ${second}`,
      "── exchange 3",
    ],
  );
  assert.match(
    await call("show", "grown", "--exchange", "2"),
    new RegExp(`Recording 1 of 2, ${first}\n\n── exchange 2`),
  );
  assert.match(await call("show", "single"), new RegExp(`, ${first}\n\n── exchange 1`));
  assert.deepEqual(
    JSON.parse(await call("show", "grown", "--exchange", "3", "--json")).recordings,
    recordings,
  );

  assert.match(
    await call("diff", "grown", "single"),
    /^first recording: grown, 2026-11-01 to 2026-11-11, 2 recordings, .*\nsecond recording: single, 2026-11-01, openai/,
  );
});
