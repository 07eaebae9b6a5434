/** `record --append` of all kinds of exchanges: what a fixture that has grown holds, and that it plays. */
import assert from "node:assert/strict";
import { type Fixture, readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { bytesBelow, textsBelow } from "../../support/files.ts";
import {
  answering,
  COMPLETED,
  RawUpstream,
  STREAM_HEAD,
  write,
  writeChunk,
} from "../../support/raw_upstream.ts";
import { RecordServer, TestFolder } from "../test_folder.ts";

type Request = readonly [path: string, body: unknown, headers?: Readonly<Record<string, string>>];

const ask = (input: string): Request => ["/v1/responses", { model: "m", input }];

/** Sends a request, and returns the answer's status and text. */
async function send(origin: string, [path, body, headers = {}]: Request): Promise<[number, string]> {
  const response = await fetch(`${origin}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return [response.status, await response.text()];
}

/** A folder of one fixture that grows. */
class Growing extends TestFolder {
  /** Adds these requests; returns the exit code, the notes and the events. */
  async add(
    requests: readonly Request[],
    { flags = [], env = {} }: { readonly flags?: readonly string[]; readonly env?: Record<string, string> } =
      {},
  ): Promise<Awaited<ReturnType<RecordServer["end"]>>> {
    const server = await this.record(["--append", ...flags], { env });
    for (const request of requests) await send(server.origin, request).catch(() => {/* it broke off */});
    return await server.end();
  }

  /** Adds the requests of a command that `record` runs. */
  async addOf(command: string, flags: readonly string[], env: Record<string, string> = {}): Promise<void> {
    const run = [Deno.execPath(), "eval", "--quiet", command];
    const { code, stderr } = await this.call(
      ["record", "--append", "--out", this.out, ...flags, "--", ...run],
      { env },
    );
    assert.equal(code, 0, stderr);
  }

  grown(): Fixture {
    return readFixture(denoFiles, this.out);
  }

  /** Plays the fixture strictly to these requests; each must get its recorded answer. */
  async requirePlayed(
    requests: readonly Request[],
    env: Record<string, string> = {},
  ): Promise<void> {
    const served = this.start(["serve", "--json", "--strict-usage", this.out], { env });
    await served.printed('"type":"ready"');
    const { origin } = JSON.parse(served.stdout.split("\n", 1)[0] as string);
    const { exchanges } = this.grown();
    for (const [index, request] of requests.entries()) {
      const { status, body } = exchanges[index]!.response;
      assert.deepEqual(await send(origin, request), [status, new TextDecoder().decode(body)]);
    }
    served.process.kill("SIGINT");
    const { code, stderr } = await served.ended();
    assert.equal(code, 0, stderr);
    const lint = await this.call(["fixture", "lint", this.out], { env });
    assert.equal(lint.code, 0, lint.stdout);
  }
}

Deno.test("an upstream that cannot be reached leaves the fixture unchanged, and so does a command without requests", async () => {
  await using folder = new Growing();
  await folder.add([ask("a")]);
  const before = bytesBelow(folder.out);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const gone = `http://127.0.0.1:${(listener.addr as Deno.NetAddr).port}`;
  listener.close();
  const run = (script: string) =>
    folder.call([
      ...["record", "--append", "--out", folder.out, "--upstream", gone, "--"],
      ...[Deno.execPath(), "eval", "--quiet", script],
    ]);
  const failed = await run(`
    const { status } = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", { method: "POST", body: "{}" });
    console.log(status);`);
  assert.deepEqual([failed.stdout, failed.code], ["502\n", 7], failed.stderr);
  assert.match(failed.stderr, /not recorded: request 1[^]*the upstream could not be reached/);
  assert.match(failed.stderr, /Nothing was recorded: the fixture is unchanged/);
  assert.deepEqual(bytesBelow(folder.out), before);
  const idle = await run("");
  assert.equal(idle.code, 7);
  assert.match(idle.stderr, /Nothing was recorded: the fixture is unchanged/);
  const ended = await run("Deno.exit(3)");
  assert.equal(ended.code, 3);
  assert.deepEqual(bytesBelow(folder.out), before);
});

Deno.test("a fixture that grows counts the secrets of all recordings, and keeps the variables that are not secret", async () => {
  await using folder = new Growing();
  const [token, region] = ["tok-5d1c07ab9e-first", "region-of-mine-1"];
  const env = { MY_API_TOKEN: token, MY_REGION_KEY: region };
  const requests = [ask(`a ${token} ${region}`), ask(`b ${token} ${region}`), ask(`c ${region}`)];
  const flags = ["--not-secret", "MY_REGION_KEY"];
  await folder.add(requests.slice(0, 1), { env, flags });
  const { redactions: first } = folder.grown().header;
  // The second recording knows by the fixture that the region is no secret.
  const { stderr } = await folder.add(requests.slice(1, 2), { env });
  assert.match(stderr, /1 exchange holds replaced text in its request/);
  const { redactions, not_secret: open } = folder.grown().header;
  assert.deepEqual(open, ["MY_REGION_KEY"]);
  assert.deepEqual(
    redactions,
    Object.fromEntries(Object.entries(first ?? {}).map(([kind, n]) => [kind, n * 2])),
  );
  await folder.add(requests.slice(2), { env, flags: ["--not-secret", "OTHER_KEY"] });
  assert.deepEqual(folder.grown().header.not_secret, ["MY_REGION_KEY", "OTHER_KEY"]);
  const texts = [...textsBelow(folder.out).values()].join("\n");
  assert.deepEqual([texts.includes(token), texts.includes(region)], [false, true]);
  await folder.requirePlayed(requests, env);
});

Deno.test("--append keeps a stream without its end only with --keep-cut, and marks it", async () => {
  await using folder = new Growing(
    new RawUpstream(async (connection, request) => {
      if (new TextDecoder().decode(request.body).includes("whole")) {
        return await answering("200 OK\r\ncontent-type: text/event-stream", COMPLETED)(connection, request);
      }
      await write(connection, STREAM_HEAD);
      await writeChunk(connection, 'event: response.created\ndata: {"type":"response.created"}\n\n');
      // The server ends the connection in the middle.
    }),
  );
  await folder.add([ask("whole")]);
  const before = bytesBelow(folder.out);
  const { stderr } = await folder.add([ask("cut")]);
  assert.match(stderr, /not recorded: request 1[^]*--keep-cut keeps the exchange/);
  assert.deepEqual(bytesBelow(folder.out), before);
  await folder.add([ask("cut"), ask("whole again")], { flags: ["--keep-cut"] });
  const { exchanges, header } = folder.grown();
  assert.deepEqual(exchanges.map(({ response }) => [response.ended, response.terminal]), [
    ["complete", true],
    ["cut", false],
    ["complete", true],
  ]);
  assert.deepEqual(header.recordings?.map(({ exchanges }) => exchanges), [[1, 1], [2, 3]]);
});
