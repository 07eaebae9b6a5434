/** Recording where a password is an ordinary word: `POSTGRES_PASSWORD=postgres`. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { answering, RawUpstream, sse } from "../../support/raw_upstream.ts";
import { Sandbox } from "../../support/reprise.ts";

const ENV = { POSTGRES_PASSWORD: "postgres" };
const INPUT = "Which port has postgres?";
const STREAM = sse({
  type: "response.completed",
  response: { id: "resp_1", output: [], note: "postgres has 5432" },
});

/** A command that asks about postgres, with its password in the URL and in a tool. */
function client(): string[] {
  const script = `
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses?tenant=postgres", {
      method: "POST",
      body: JSON.stringify({ input: ${
    JSON.stringify(INPUT)
  }, tools: [{ password: "postgres" }], stream: true }),
    });
    console.log(await response.text());`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

/** Records the command with these flags, plays it to the command again, and returns the request and the reports. */
async function recorded(flags: readonly string[]) {
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: text/event-stream", STREAM));
  await using sandbox = new Sandbox();
  const out = `${sandbox.directory}/fixture`;
  const log = `${sandbox.directory}/events`;
  const called = await sandbox.call([
    ...["record", "--upstream", upstream.origin, "--out", out, "--events", log, ...flags, "--"],
    ...client(),
  ], { env: ENV });
  assert.equal(called.code, 0, called.stderr);
  const served = await sandbox.call(["serve", "--strict-usage", out, "--", ...client()], { env: ENV });
  assert.deepEqual([served.code, served.stdout], [0, called.stdout], served.stderr);
  const { header, exchanges: [exchange] } = readFixture(denoFiles, out);
  const last = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line)).at(-1);
  assert.equal((await sandbox.call(["fixture", "lint", out], { env: ENV })).code, 0);
  return { exchange, header, leftAlone: last.left_alone, stderr: called.stderr };
}

Deno.test("record replaces a word in URLs and key-like members only, says where it left it, and serve finds the request", async () => {
  const { exchange, header, leftAlone, stderr } = await recorded([]);
  assert.equal(exchange?.request.path, "/v1/responses?tenant=REDACTED");
  assert.deepEqual(exchange?.request.json, {
    input: INPUT,
    tools: [{ password: "REDACTED" }],
    stream: true,
  });
  assert.equal(new TextDecoder().decode(exchange?.response.body), STREAM);
  assert.equal(header.not_secret, undefined);
  const files = ["exchanges/0001/request.json", "exchanges/0001/body"];
  assert.deepEqual(leftAlone, [{ name: "POSTGRES_PASSWORD", files }]);
  assert.match(stderr, /POSTGRES_PASSWORD in exchanges\/0001\/request\.json, exchanges\/0001\/body/);
});

Deno.test("record --not-secret keeps a variable's value everywhere, and the fixture passes its name to serve and lint", async () => {
  const { exchange, header, leftAlone, stderr } = await recorded(["--not-secret", "POSTGRES_PASSWORD"]);
  assert.equal(exchange?.request.path, "/v1/responses?tenant=postgres");
  assert.deepEqual(exchange?.request.json, {
    input: INPUT,
    tools: [{ password: "postgres" }],
    stream: true,
  });
  assert.deepEqual([header.not_secret, leftAlone], [["POSTGRES_PASSWORD"], []]);
  assert.doesNotMatch(stderr, /POSTGRES_PASSWORD/);
});
