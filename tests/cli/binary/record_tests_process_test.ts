/** `record` with one recording for each test, around a command, with few descriptors, and when it is killed. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { startAnyApi } from "../any_api.ts";
import { TestFolder } from "../test_folder.ts";

/** Sends requests of two tests to both APIs; each test puts its name in front of the path of the base URLs. */
const CLIENT = `
const baseUrl = (variable, test) => {
  const { origin, pathname } = new URL(Deno.env.get(variable));
  return origin + "/t/" + test + pathname.replace(/\\/$/, "");
};
const send = async (test, variable, path, headers) => {
  const init = { method: "POST", headers, body: JSON.stringify({ model: test, stream: true }) };
  const answer = await fetch(baseUrl(variable, test) + path, init);
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.text();
};
const both = (test) => Promise.all([
  send(test, "OPENAI_BASE_URL", "/responses", { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") }),
  send(test, "ANTHROPIC_BASE_URL", "/v1/messages", { "x-api-key": Deno.env.get("ANTHROPIC_API_KEY") }),
]);
await Promise.all(["one", "two"].map(both));
const head = await fetch(baseUrl("ANTHROPIC_BASE_URL", "one"), { method: "HEAD" });
await head.body?.cancel();
`;
const KEYS = { OPENAI_API_KEY: "key-of-openai-0123456789", ANTHROPIC_API_KEY: "key-of-anthropic-0123456789" };

for (
  const [where, openai, anthropic] of [["the root", "", ""], ["a path", "/gate/openai", "/gate/anthropic"]]
) {
  Deno.test(`around a command, tests use both APIs with their own keys and paths, with upstreams at ${where} of their hosts`, async () => {
    await using sandbox = new Sandbox();
    await using openaiApi = startAnyApi();
    await using anthropicApi = startAnyApi();
    const [out, log] = [`${sandbox.directory}/suite`, `${sandbox.directory}/events`];
    const client = [Deno.execPath(), "eval", "--quiet", CLIENT];
    const { code, stderr } = await sandbox.call(["record", "--out", out, "--events", log, "--", ...client], {
      env: {
        ...KEYS,
        OPENAI_BASE_URL: `${openaiApi.origin}${openai}/v1`,
        ANTHROPIC_BASE_URL: `${anthropicApi.origin}${anthropic}`,
      },
    });
    assert.equal(code, 0, stderr);
    const paths = [`${anthropic}/v1/messages`, `${openai}/v1/responses`];
    assert.deepEqual(
      openaiApi.arrived.map(({ target, headers }) => [target, headers.get("authorization")]),
      [1, 2].map(() => [paths[1], `Bearer ${KEYS.OPENAI_API_KEY}`]),
    );
    const [check] = anthropicApi.arrived.filter(({ headers }) => !headers.has("x-api-key"));
    assert.deepEqual(
      anthropicApi.arrived.filter((request) => request !== check)
        .map(({ target, headers }) => [target, headers.get("x-api-key")]),
      [1, 2].map(() => [paths[0], KEYS.ANTHROPIC_API_KEY]),
    );
    assert.equal(check?.target, anthropic === "" ? "/" : anthropic);
    for (const test of ["one", "two"]) {
      const { exchanges, header } = readFixture(denoFiles, `${out}/${test}`);
      assert.deepEqual(exchanges.map(({ request }) => request.path).toSorted(), paths.toSorted());
      assert.deepEqual(header.models, [test]);
    }
    const events = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line));
    const skipped = events.filter(({ type }) => type === "skipped");
    assert.deepEqual(skipped.map(({ test, reason }) => [test, reason]), [["one", "connection_check"]]);
  });
}

Deno.test("more tests than the process may have files open record, close while they are idle, and continue", async () => {
  await using folder = new TestFolder();
  const few = ["/bin/sh", "-c", 'ulimit -n 160 && exec "$0" "$@"'];
  const server = await folder.record([], { through: few });
  const names = Array.from({ length: 200 }, (_, index) => `t${index}`);
  const round = async (input: number) => {
    for (const test of names) {
      const { status, answer } = await server.post(`/t/${test}/v1/responses`, { input });
      assert.equal(status, 200, `${test}: ${JSON.stringify(answer)}`);
    }
  };
  const open = () => names.filter((test) => folder.names(`${folder.out}/${test}`).includes(".recording"));
  await round(1);
  // 32, and a few whose end is still being written.
  assert.ok(open().length <= 40, `${open().length} are open`);
  assert.deepEqual(folder.inputs("t0"), [1], "a closed recording is whole while others are recorded");
  await round(2);
  const { code, stderr, events } = await server.end();
  assert.equal(code, 0, stderr);
  assert.deepEqual(open(), []);
  for (const test of names) {
    assert.deepEqual(folder.inputs(test), [1, 2]);
    assert.equal(folder.fixture(test).header.recordings, undefined, "it is one recording");
  }
  assert.deepEqual([events.at(-1).tests.length, events.at(-1).published], [200, 400]);
});
