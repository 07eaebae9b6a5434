/** `replay()` of the npm package: outcomes of single tests, played and recorded. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { exchangesOf, headerOf } from "../doors/recordings/recording_files.ts";
import { Sandbox, SHELL_PROGRAM } from "../support/reprise.ts";
import { answering, RawUpstream, write } from "../support/raw_upstream.ts";
import { until } from "../cli/harness.ts";
import { echoing } from "../cli/test_folder.ts";

// The helpers start their gateway when they are loaded.
const shim = Deno.makeTempFileSync();
Deno.writeTextFileSync(shim, `#!/bin/sh\nexec ${SHELL_PROGRAM} "$@"\n`);
Deno.chmodSync(shim, 0o755);
process.env.REPRISE_BINARY_PATH = shim;
process.env.REPRISE_RECORD = "new";
const { replay, ReplayError } = await import("../../npm/helpers/index.js");
/** Base URL of the gateway. */
const LED = process.env.OPENAI_BASE_URL ?? "";
type ReplayError = InstanceType<typeof ReplayError>;
type Api = Awaited<ReturnType<typeof replay>>;

/** A folder of recordings, an API, and variables of this process until the end of the test. */
class Case extends Sandbox {
  readonly folder = `${this.directory}/fixtures/chat`;
  readonly upstream: RawUpstream;
  readonly #before = { ...process.env };

  constructor(upstream: RawUpstream = echoing()) {
    super();
    this.upstream = upstream;
    Object.assign(process.env, {
      REPRISE_BINARY_PATH: shim,
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      OPENAI_API_KEY: "sk-test-4f1d0c7ea9-real",
      // Set where the tests themselves run in CI; under it the helpers send nothing.
      CI: "",
    });
    delete process.env.REPRISE_RECORD;
  }

  /** Sets `REPRISE_RECORD`. */
  mode(mode: "new" | "missing" | "all" | "prune" | null): this {
    if (mode === null) delete process.env.REPRISE_RECORD;
    else process.env.REPRISE_RECORD = mode;
    return this;
  }

  async begin(test: string, options: object = {}): Promise<Api> {
    return await replay(this.folder, { test, ...options });
  }

  /** Runs a test that asks these inputs. @returns its error. */
  async run(test: string, inputs: readonly unknown[], options: object = {}): Promise<ReplayError | null> {
    const api = await this.begin(test, options);
    for (const input of inputs) await ask(api, input);
    return await failure(api);
  }

  /** Inputs of the recording of a test. */
  inputs(recording: string): unknown[] {
    return exchangesOf(recording).map(({ request }) => request.body.input);
  }

  /** Numbers of the obsolete exchanges of a recording. */
  readonly obsolete = (recording: string): readonly number[] => headerOf(recording).obsolete ?? [];

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const name of Object.keys(process.env)) if (!(name in this.#before)) delete process.env[name];
    Object.assign(process.env, this.#before);
    await this.upstream[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

async function ask(api: Api, input: unknown, base = api.openai) {
  const response = await fetch(`${base}/responses`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${api.env.OPENAI_API_KEY}` },
    body: JSON.stringify({ model: "gpt-5.6", input }),
  });
  return { status: response.status, body: await response.json() };
}

async function failure(api: Api): Promise<ReplayError | null> {
  try {
    await api.end();
    return null;
  } catch (error) {
    assert.ok(error instanceof ReplayError, String(error));
    return error;
  }
}

/** Defines a test. The server of the helpers stays for later ones. */
function test(name: string, fn: (place: Case) => Promise<void>, upstream?: () => RawUpstream): void {
  Deno.test({
    name,
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      await using place = new Case(upstream?.());
      await fn(place);
    },
  });
}

test("new records a test without a recording, and plays one with a recording", async (place) => {
  assert.equal(await place.mode("new").run("a", [1, 1]), null);
  const { requests } = place.upstream;
  assert.equal(requests.length, 2);
  const error = await place.run("a", [1, 2]);
  assert.match(error?.message ?? "", /input:\n *recorded 1\n *received 2\n/);
  assert.equal(requests.length, 2);
});

test("missing adds requests, marks exchanges that a passed test no longer uses, and prune removes them", async (place) => {
  await place.mode("new").run("a", [1]);
  const api = await place.mode("missing").begin("a");
  assert.equal((await ask(api, 1)).status, 200);
  assert.equal((await ask(api, 2)).status, 200);
  assert.equal(await failure(api), null);
  assert.deepEqual(place.inputs(api.recording), [1, 2]);
  assert.equal(place.upstream.requests.length, 2);
  // Without a mark, an unused exchange fails the test.
  const unused = await place.mode(null).run("a", [2]);
  assert.match(unused?.message ?? "", /did not use exchange 1 .* run the test with REPRISE_RECORD=prune/);
  const { obsolete } = place;
  // A test that failed may have stopped too early, and one with allowUnused says so itself.
  const failed = await place.mode("missing").begin("a");
  await ask(failed, 2);
  await failed.explain(new Error("own"));
  assert.equal(await place.run("a", [2], { allowUnused: true }), null);
  assert.deepEqual(obsolete(api.recording), []);
  assert.equal(await place.run("a", [2]), null);
  assert.deepEqual(obsolete(api.recording), [1]);
  assert.equal(await place.mode(null).run("a", [2]), null);
  assert.equal(await place.run("a", [1, 2]), null);
  assert.equal(await place.mode("missing").run("a", [1, 2]), null);
  assert.deepEqual(obsolete(api.recording), []);
  assert.equal(await place.run("a", [2, 3]), null);
  assert.deepEqual(obsolete(api.recording), [1]);
  assert.notEqual(await place.mode("prune").run("a", [2, 4]), null);
  assert.deepEqual(place.inputs(api.recording), [1, 2, 3]);
  assert.equal(await place.run("a", [2, 3]), null);
  assert.deepEqual([place.inputs(api.recording), obsolete(api.recording)], [[2, 3], []]);
  assert.equal(await place.mode(null).run("a", [2, 3]), null);
  assert.equal(place.upstream.requests.length, 3);
});

test("under CI nothing is sent, unless REPRISE_ALLOW_LIVE allows it", async (place) => {
  process.env.CI = "true";
  for (const mode of ["new", "missing", "all"] as const) {
    const error = await place.mode(mode).run(mode, [1]);
    assert.match(error?.message ?? "", /CI is set, so nothing is sent. REPRISE_ALLOW_LIVE=1 allows it/);
  }
  assert.equal(place.upstream.requests.length, 0);
  process.env.REPRISE_ALLOW_LIVE = "1";
  // Servers read it when they start.
  assert.equal(await place.mode("new").run("live", [1], { record: ["--keep-errors"] }), null);
  assert.equal(place.upstream.requests.length, 1);
});

test("all replaces a recording when it is complete, and keeps the old one otherwise", async (place) => {
  await place.mode("new").run("a", [1, 2]);
  const api = await place.mode("all").begin("a");
  await ask(api, 3);
  // Until the test has ended, the old one is there.
  assert.deepEqual(place.inputs(api.recording), [1, 2]);
  assert.equal(await failure(api), null);
  assert.deepEqual(place.inputs(api.recording), [3]);
  assert.notEqual(await place.run("a", []), null);
  assert.deepEqual(place.inputs(api.recording), [3]);
  assert.deepEqual([...Deno.readDirSync(`${place.directory}/fixtures`)].map(({ name }) => name), ["chat"]);
});

test("without REPRISE_RECORD nothing is sent or written, whether or not a key is set", async (place) => {
  const error = await place.run("a", [1]);
  assert.match(error?.message ?? "", /To record it: run the test with REPRISE_RECORD=new/);
  assert.equal(place.upstream.requests.length, 0);
  assert.equal(existsSync(place.folder), false);
});

test("a test that sends nothing fails, unless it may leave exchanges unused", async (place) => {
  for (const mode of ["new", null] as const) {
    assert.match(
      (await place.mode(mode).run("a", []))?.message ?? "",
      /No request of the test reached reprise/,
    );
    assert.equal(await place.run("a", [], { allowUnused: true }), null);
  }
});

test(
  "an error of the API fails the test and is not recorded, unless --keep-errors is given",
  async (place) => {
    const error = await place.mode("new").run("a", [1]);
    assert.match(error?.message ?? "", /not recorded: request 1.* 401: the API did not accept its key/);
    assert.equal(existsSync(`${place.folder}/${error?.report.test}`), false);
    for (const mode of ["new", null] as const) {
      const api = await place.mode(mode).begin("a", { record: ["--keep-errors"] });
      assert.equal((await ask(api, 1)).status, 401);
      assert.equal(await failure(api), null);
    }
  },
  () => new RawUpstream(answering("401 Unauthorized\r\ncontent-type: application/json", '{"error":{}}')),
);

test(
  "a request that still runs when its test ends is broken off, reported and not recorded",
  async (place) => {
    const api = await place.mode("new").begin("a");
    const asked = ask(api, 1).catch(() => "broken off");
    await until(() => place.upstream.requests.length === 1, "the request");
    const error = await failure(api);
    assert.match(error?.message ?? "", /not recorded: request 1.*still running/);
    assert.equal(await asked, "broken off");
    assert.equal(existsSync(api.recording), false);
  },
  () =>
    new RawUpstream(async (connection) => {
      await write(connection, "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n");
      await connection.read(new Uint8Array(1));
    }),
);

test("tests at the same time play their own recordings, and one recording serves one test at a time", async (place) => {
  const names = Array.from({ length: 12 }, (_, index) => `test ${index}`);
  for (const mode of ["new", null] as const) {
    place.mode(mode);
    const errors = await Promise.all(names.map((name) => place.run(name, [name, "same"])));
    assert.deepEqual(errors, names.map(() => null));
  }
  assert.equal(place.upstream.requests.length, 24);
  const api = await place.begin("test 0");
  await assert.rejects(place.begin("test 0"), /Two tests at a time use the recording .*test-0-/);
  await api.explain(undefined);
  assert.equal(await place.run("test 0", ["test 0", "same"]), null);
});

test("a test with faults is recorded without them, meets them in the same run, and keeps its recording", async (place) => {
  for (
    const [name, options, statuses] of [
      ["limit", { faults: ["1: 429 retry-after 1"] }, [429, 200]],
      ["permanent", { faults: ["*: 529"] }, [529, 529, 529]],
      ["context", { serve: ["--fault", "1: 400 context length"] }, [400]],
      ["policy", { serve: ["--fault=1: 400 content policy"] }, [400]],
    ] as const
  ) {
    for (
      const [mode, sent] of [["new", 1], ["new", 0], ["missing", 0], ["all", 1], ["prune", 0], [
        null,
        0,
      ]] as const
    ) {
      const before = place.upstream.requests.length;
      const api = await place.mode(mode).begin(name, options);
      const asked = [];
      for (const _ of statuses) asked.push((await ask(api, name)).status);
      assert.equal((await failure(api))?.message, undefined);
      assert.deepEqual(
        [asked, place.upstream.requests.length - before],
        [statuses, sent],
        `${name}, ${mode}`,
      );
      assert.deepEqual(place.inputs(api.recording), [name]);
    }
  }
});

test("without a key, a request is not sent, and its test fails with the name of the variable", async (place) => {
  process.env.OPENAI_API_KEY = "";
  // Servers read it when they start.
  const error = await place.mode("new").run("a", [1], { record: ["--keep-cut"] });
  assert.match(error?.message ?? "", /OPENAI_API_KEY/);
  assert.equal(place.upstream.requests.length, 0);
});

test("base URLs and keys are in env, and lead clients without a test to the gateway", async (place) => {
  await place.mode("new").run("a", [1]);
  const api = await place.mode(null).begin("a");
  assert.match(api.openai, /^http:\/\/127\.0\.0\.1:\d+\/t\/a-[0-9a-f]{8}\/v1$/);
  assert.match(api.anthropic, /^http:\/\/127\.0\.0\.1:\d+\/t\/a-[0-9a-f]{8}$/);
  assert.equal(api.env.OPENAI_API_KEY, "reprise-plays-this");
  assert.deepEqual([api.env.OPENAI_BASE_URL, api.env.PATH], [api.openai, process.env.PATH]);
  assert.throws(
    () => api.url("HOUSE_BASE_URL"),
    /No base URL is known for HOUSE_BASE_URL, only for OPENAI_BASE_URL/,
  );
  assert.equal((await ask(api, 1, LED)).status, 200);
  assert.equal(await failure(api), null);
  // Between tests, the gateway has no server to forward to.
  assert.equal((await ask(api, 1, LED)).status, 400);
  assert.equal(place.upstream.requests.length, 1);
});

test("a request that names no test fails each of the tests that run at the time", async (place) => {
  for (const mode of ["new", null] as const) {
    const apis = [await place.mode(mode).begin("a"), await place.begin("b")] as const;
    assert.equal((await ask(apis[0], 1, LED)).status, 400);
    for (const api of apis) {
      const error = await failure(api);
      assert.match(error?.message ?? "", /2 tests run, and the request does not say which/);
    }
  }
  assert.equal(place.upstream.requests.length, 0);
});

test("upstreams adds an API, which is played by its variable", async (place) => {
  const upstreams = { HOUSE_BASE_URL: `${place.upstream.origin}/house/v1` };
  for (const mode of ["new", null] as const) {
    const api = await place.mode(mode).begin("a", { upstreams });
    const { status, body } = await ask(api, 1, api.url("HOUSE_BASE_URL"));
    assert.deepEqual([status, body.path], [200, "/house/v1/responses"]);
    assert.equal(await failure(api), null);
  }
  assert.equal(place.upstream.requests.length, 1);
});

test("a test that failed itself has the report as well, but no unused exchanges", async (place) => {
  await place.mode("new").run("a", [1, 2]);
  const own = new Error("own");
  const stopped = await place.mode(null).begin("a");
  await ask(stopped, 1);
  assert.equal(await stopped.explain(own), own);
  const missed = await place.begin("a");
  await ask(missed, 3);
  const error = await missed.explain(own);
  assert.ok(error instanceof ReplayError);
  assert.match(error.message, /received 3[^]*The test failed with: own$/);
  assert.equal(error.cause, own);
  assert.equal(await failure(missed), null, "a test ends once");
});

test("a server that cannot start is an error with its message", async (place) => {
  await assert.rejects(place.mode(null).begin("a", { serve: ["--match", "none"] }), /--match/);
  process.env.REPRISE_BINARY_PATH = `${place.directory}/none`;
  await assert.rejects(
    place.begin("a", { serve: ["--repeat"] }),
    /from REPRISE_BINARY_PATH=.*: there is no such file\nhint: /,
  );
});
