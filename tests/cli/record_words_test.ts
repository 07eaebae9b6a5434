/** Recording where a password is an ordinary word: `POSTGRES_PASSWORD=postgres`. */
import assert from "node:assert/strict";
import { leftAloneNote } from "../../src/cli/serve/recording_notes.ts";
import { readFixture } from "../../src/fixture/read.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { answering, RawUpstream, sse } from "../support/raw_upstream.ts";
import { events, Sandbox } from "../support/reprise.ts";
import { HELLO, Place } from "./harness.ts";

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

Deno.test("run --record says where it left a word, and takes --not-secret", async () => {
  await using place = new Place(() => HELLO);
  const run = async (name: string, ...flags: string[]) => {
    const out = `${place.sandbox.directory}/${name}`;
    const args = ["run", "--json", "--record", out, ...flags, INPUT];
    const called = await place.call(args, { env: ENV });
    assert.equal(called.code, 0, called.stderr);
    const notice = events(called).find((event) => event.type === "notice" && event.kind === "recorded");
    return { notice, header: readFixture(denoFiles, out).header };
  };
  const left = await run("left");
  assert.equal(left.notice?.tested, true, JSON.stringify(left.notice));
  const [{ name, files }] = left.notice?.left_alone as [{ name: string; files: string[] }];
  assert.equal(name, "POSTGRES_PASSWORD");
  for (const file of ["exchanges/0001/request.json", "session.json"]) {
    assert(files.includes(file), files.join());
  }
  const kept = await run("kept", "--not-secret", "POSTGRES_PASSWORD");
  assert.deepEqual([kept.header.not_secret, kept.notice?.left_alone], [["POSTGRES_PASSWORD"], undefined]);
});

Deno.test("a note advises --not-secret for variables only: a key header has no such name", () => {
  const note = (...names: string[]) => leftAloneNote(names.map((name) => ({ name, files: ["body"] }))) ?? "";
  assert.match(note("x-api-key"), /x-api-key in body/);
  assert.doesNotMatch(note("x-api-key"), /--not-secret/);
  assert.match(
    note("x-api-key", "PATH"),
    /--not-secret NAME marks the value of a variable as not secret$/,
  );
});
