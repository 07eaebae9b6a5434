/** Output of `serve -- CMD` and `record -- CMD` beside that of the command. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { bytesBelow } from "../../support/files.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";

const RECORDED = "Summarise the article about whales";

/** A sandbox with a fixture, and a command that prints a dot before each request and no line end. */
class Wrapping extends Sandbox {
  readonly fixture = writeFixture(`${this.directory}/fixture`, [
    { request: { body: { model: "m", input: "Name a river" } }, body: "{}" },
    {
      request: { body: { model: "m", input: RECORDED } },
      response: {
        status: 429,
        headers: { "retry-after": "Fri, 27 Nov 2026 12:00:00 GMT", "retry-after-ms": "2000" },
      },
      body: '{"error":{"message":"slow down"}}',
    },
  ]);

  /** Calls a verb around the command; `stdout` has both streams of both programs, through one pipe. */
  wrap(
    args: readonly string[],
    inputs: readonly string[],
    options: { readonly env?: Record<string, string> } = {},
  ) {
    const script = `
      const url = Deno.env.get("OPENAI_BASE_URL") + "/responses";
      const print = (text) => Deno.stdout.writeSync(new TextEncoder().encode(text));
      for (const input of ${JSON.stringify(inputs)}) {
        print(".");
        const answer = await fetch(url, { method: "POST", body: JSON.stringify({ model: "m", input }) });
        await answer.text();
        print(answer.status === 200 ? "" : "<" + answer.headers.get("retry-after") + " " + answer.headers.get("retry-after-ms") + ">");
      }`;
    const client = [Deno.execPath(), "eval", "--quiet", script];
    return this.call([...args, "--", ...client], {
      ...options,
      through: ["sh", "-c", '"$@" 2>&1; echo "exit $?"', "sh"],
    });
  }
}

const served = (
  sandbox: Wrapping,
  ...flags: string[]
) => ["serve", "--rules", "none", ...flags, sandbox.fixture];

Deno.test("serve -- CMD prints misses, unused exchanges and one summary after the command, never within its line", async () => {
  await using sandbox = new Wrapping();
  const miss = await sandbox.wrap(served(sandbox), ["Name a river", "Summarise the article about sharks"]);
  assert.match(
    miss.stdout,
    /^\.\.<null null>\n2 POST \/v1\/responses: 400, miss: [^\n]* recorded "[^"]*whales", received "[^"]*sharks"\.[^\n]*\nunused: exchange 2 of [^\n]*\n1 served, 1 missed, 0 rejected, 0 warnings\nerror: [^\n]*\nhint: [^\n]*\nexit 7\n$/,
  );
  const good = await sandbox.wrap(served(sandbox, "--allow-unused"), ["Name a river"]);
  assert.match(good.stdout, /^\.\nunused: [^\n]*\n1 served, 0 missed, 0 rejected, 0 warnings\nexit 0\n$/);
  const quiet = await sandbox.wrap(served(sandbox, "--quiet"), ["Name a river"]);
  assert.equal(quiet.stdout, ".exit 0\n");
});

Deno.test("serve --verbose -- CMD prints a line for each request at once", async () => {
  await using sandbox = new Wrapping();
  const { stdout } = await sandbox.wrap(served(sandbox, "--verbose"), ["Name a river", "Name a lake"]);
  assert.match(
    stdout,
    /^serving 2 exchanges [^]*1 POST \/v1\/responses: 200, exchange 1 of [^]*2 POST .*: 400, miss: [^]*1 served/,
  );
});

Deno.test("a recorded retry-after is 0 in the answer at --pace fast, and the recorded one at --pace real", async () => {
  await using sandbox = new Wrapping();
  const before = sha256Hex(JSON.stringify(bytesBelow(sandbox.fixture)));
  const fast = await sandbox.wrap(served(sandbox), [RECORDED]);
  assert.match(fast.stdout, /^\.<0 0>\n/);
  assert.match(fast.stdout, /^1 served, .*, 1 with retry-after 0 \(--pace real keeps it\)$/m);
  const real = await sandbox.wrap(served(sandbox, "--pace", "real"), [RECORDED]);
  assert.match(real.stdout, /^\.<Fri, 27 Nov 2026 12:00:00 GMT 2000>\n/);
  assert.doesNotMatch(real.stdout, /retry-after 0/);
  const asked = await sandbox.wrap(served(sandbox, "--fault", "1: 429 retry-after 2"), [RECORDED]);
  assert.match(asked.stdout, /^\.<2 /, "a wait that a fault asks for stays");
  assert.equal(sha256Hex(JSON.stringify(bytesBelow(sandbox.fixture))), before, "the fixture is unchanged");
});

Deno.test("record -- CMD prints its notes after the command, and record --missing names the key variable that is not set", async () => {
  await using sandbox = new Wrapping();
  const upstream = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ headers }) =>
      headers.has("authorization")
        ? Response.json({ id: "resp_1", object: "response", status: "completed", output: [] })
        : Response.json({ error: { message: "No key", code: "invalid_api_key" } }, { status: 401 }),
  );
  const env = { OPENAI_BASE_URL: `http://127.0.0.1:${upstream.addr.port}/v1`, OPENAI_API_KEY: "", CI: "" };
  try {
    const out = ["record", "--out", `${sandbox.directory}/out`];
    const first = await sandbox.wrap([...out, "--keep-errors", "--missing"], ["Name a river"], { env });
    assert.match(first.stdout, /^\.<null null>\n[^.]*recorded 1 exchange [^\n]*\nexit 0\n$/);
    const again = await sandbox.wrap([...out, "--missing"], ["Name a river", "Name a lake"], { env });
    assert.match(again.stdout, /^\.<null null>\.<null null>\nnot recorded: request 2, [^]*\nexit 8?\d*\n$/);
    assert.match(again.stdout, /^OPENAI_API_KEY is not set: without a key, no request is recorded$/m);
    const keyed = await sandbox.wrap([...out, "--missing"], ["Name a lake"], {
      env: { ...env, OPENAI_API_KEY: "sk-test-aaaaaaaaaaaaaaaaaaaa" },
    });
    assert.doesNotMatch(keyed.stdout, /is not set/);
  } finally {
    await upstream.shutdown();
  }
});
