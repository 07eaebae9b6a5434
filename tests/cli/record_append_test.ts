/** `record --append`: a fixture that grows, one recorder at a time, and never over damage. */
import assert from "node:assert/strict";
import { readFixture } from "../../src/fixture/read.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { bytesBelow } from "../support/files.ts";
import { type Called, Sandbox } from "../support/reprise.ts";
import { answering, COMPLETED, RawUpstream } from "../support/raw_upstream.ts";

/** A command that sends these inputs to the API. */
function client(...inputs: readonly string[]): string[] {
  const script = `
    for (const input of ${JSON.stringify(inputs)}) {
      const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ model: "m-" + input, input, stream: true }),
      });
      await response.text();
    }`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

/** A sandbox with an upstream. */
class Suite implements AsyncDisposable {
  readonly upstream = new RawUpstream(answering("200 OK\r\ncontent-type: text/event-stream", COMPLETED));
  readonly sandbox = new Sandbox();
  readonly out = `${this.sandbox.directory}/fixture`;
  readonly log = `${this.sandbox.directory}/events`;

  /** Records the inputs with these flags. */
  record(flags: readonly string[], ...inputs: readonly string[]): Promise<Called> {
    const { upstream, out, log } = this;
    const where = ["--upstream", upstream.origin, "--out", out, "--events", log];
    return this.sandbox.call(["record", ...where, ...flags, "--", ...client(...inputs)]);
  }

  /** Records the inputs, which must succeed. */
  async recorded(flags: readonly string[], ...inputs: readonly string[]): Promise<Called> {
    const called = await this.record(flags, ...inputs);
    assert.equal(called.code, 0, called.stderr);
    return called;
  }

  /** The events of the last recording. */
  events() {
    return Deno.readTextFileSync(this.log).trimEnd().split("\n").map((line) => JSON.parse(line));
  }

  async [Symbol.asyncDispose]() {
    await this.upstream[Symbol.asyncDispose]();
    await this.sandbox[Symbol.asyncDispose]();
  }
}

const inputsOf = (path: string) =>
  readFixture(denoFiles, path).exchanges.map(({ request }) => (request.json as { input: string }).input);

Deno.test("record --append adds exchanges to a fixture, and names its recordings", async () => {
  await using suite = new Suite();
  await suite.recorded(["--append"], "a", "b");
  const first = readFixture(denoFiles, suite.out).header;
  assert.equal(first.recordings, undefined);
  const { stderr } = await suite.recorded(["--append"], "c");
  assert.deepEqual(inputsOf(suite.out), ["a", "b", "c"]);
  const { header } = readFixture(denoFiles, suite.out);
  const { created, producer } = header;
  assert.deepEqual([created, producer], [first.created, first.producer]);
  assert.deepEqual(header.models, ["m-a", "m-b", "m-c"]);
  const [one, two, ...more] = header.recordings ?? [];
  assert.deepEqual([one, more], [{ created, producer, exchanges: [1, 2] }, []]);
  assert.deepEqual([two?.exchanges, two?.producer], [[3, 3], producer]);
  assert.ok(Date.parse(two?.created ?? "") > Date.parse(created));
  assert.match(stderr, /added 1 exchange to the 2 in/);
  const events = suite.events();
  assert.deepEqual([events[0].type, events[0].before], ["ready", 2]);
  assert.deepEqual([events[1].type, events[1].number], ["exchange", 3]);
  assert.deepEqual([events.at(-1).type, events.at(-1).before, events.at(-1).published], [
    "record.ended",
    2,
    1,
  ]);
  assert.deepEqual([...bytesBelow(suite.out).keys()].filter((name) => name.startsWith(".recording")), []);
});

Deno.test("record without --append refuses a fixture, and says that --append adds to it", async () => {
  await using suite = new Suite();
  await suite.recorded([], "a");
  const before = bytesBelow(suite.out);
  const { code, stderr } = await suite.record([], "b");
  assert.equal(code, 2);
  assert.match(stderr, /it is not empty[^]*--append adds to it/);
  assert.deepEqual(bytesBelow(suite.out), before);
});
