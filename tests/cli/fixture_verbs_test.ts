/** The verbs of `reprise fixture`, as a user calls them; what they find is tested beside their sources. */
import assert from "node:assert/strict";
import { writeFixture } from "../support/fixture.ts";
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

Deno.test("fixtures are listed, shown, linted, redacted, compared, imported and sealed from the command line", async () => {
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
  assert.match(shown.stdout, /POST \/v1\/responses, gpt-5\.6[^]*response\.completed/);

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
