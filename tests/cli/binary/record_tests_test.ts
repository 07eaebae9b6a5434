/** `record` with one recording for each test: `/t/NAME` in a base URL leads to the fixture NAME. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { exchangesOf, headerOf } from "../../doors/recordings/recording_files.ts";
import { bytesBelow, type Json } from "../../support/files.ts";
import { startAnyApi } from "../any_api.ts";
import type { Serving } from "../serving.ts";
import { TestFolder } from "../test_folder.ts";
import { Wrapping } from "./wrapping.ts";

const inputsOf = ({ out }: TestFolder, test: string) =>
  exchangesOf(`${out}/${test}`).map(({ request }) => request.body.input);

Deno.test("record refuses a test that has a recording, and --append adds to it", async () => {
  await using folder = new TestFolder();
  const post = async (flags: readonly string[], ...names: readonly string[]) => {
    const server = await folder.record(flags);
    const answers = [];
    for (const test of names) {
      answers.push(await server.post(`/t/${test}/v1/responses`, { input: `${flags} ${test}` }));
    }
    return { answers, ...await server.end() };
  };
  assert.equal((await post([], "a")).code, 0);
  const before = bytesBelow(`${folder.out}/a`);
  const second = await post([], "a", "b", "a");
  assert.deepEqual(second.answers.map(({ status }) => status), [400, 200, 400]);
  const { error } = second.answers[0]?.answer ?? {};
  assert.equal(error.code, "test_refused");
  assert.match(error.message, /Cannot record into ".*\/suite\/a": it is not empty.*--append adds to it/);
  assert.deepEqual([second.code, second.events.at(-1).turned_away], [7, 2], "the fixture lacks the answers");
  const turnedAway = second.events.filter(({ type }) => type === "turned_away");
  assert.deepEqual(turnedAway.map(({ test, status, code }) => [test, status, code]), [
    ["a", 400, "test_refused"],
    ["a", 400, "test_refused"],
  ]);
  assert.deepEqual(bytesBelow(`${folder.out}/a`), before);
  const third = await post(["--append"], "a", "c");
  assert.equal(third.code, 0, third.stderr);
  assert.deepEqual(["a", "b"].map((test) => inputsOf(folder, test)), [[" a", "--append a"], [" b"]]);
  const ended = third.events.at(-1);
  assert.deepEqual([ended.before, ended.published], [1, 2]);
  assert.deepEqual(ended.tests.map(({ test, before, published }: Json) => [test, before, published]), [
    ["a", 1, 1],
    ["c", 0, 1],
  ]);
});

Deno.test("a test that another recorder records is refused until that one ends; other tests are not", async () => {
  await using folder = new TestFolder();
  const ask = (server: Serving, test: string, input: number) =>
    server.post(`/t/${test}/v1/responses`, { input });
  const first = await folder.record();
  assert.equal((await ask(first, "a", 1)).status, 200);
  const second = await folder.record(["--append"]);
  const { status, answer } = await ask(second, "a", 2);
  assert.equal(status, 400);
  assert.match(answer.error.message, new RegExp(`locked by .*${first.started.process.pid}`));
  assert.equal((await ask(second, "b", 3)).status, 200);
  assert.equal((await ask(first, "a", 4)).status, 200);
  assert.equal((await first.end()).code, 0);
  assert.equal((await ask(second, "a", 5)).status, 200);
  assert.equal((await second.end()).code, 7);
  assert.deepEqual(["a", "b"].map((test) => inputsOf(folder, test)), [[1, 4, 5], [3]]);
});

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
`;
const KEYS = { OPENAI_API_KEY: "key-of-openai-0123456789", ANTHROPIC_API_KEY: "key-of-anthropic-0123456789" };

Deno.test("around a command, tests use both APIs with their own keys and paths", async () => {
  const path = "/gate";
  await using suite = new Wrapping();
  await using openai = startAnyApi();
  await using anthropic = startAnyApi();
  const { code, stderr } = await suite.around(["record", "--out", suite.out], CLIENT, {
    env: {
      ...KEYS,
      OPENAI_BASE_URL: `${openai.origin}${path}/v1`,
      ANTHROPIC_BASE_URL: `${anthropic.origin}${path}`,
    },
  });
  assert.equal(code, 0, stderr);
  const paths = [`${path}/v1/messages`, `${path}/v1/responses`];
  assert.deepEqual(
    openai.arrived.map(({ target, headers }) => [target, headers.get("authorization")]),
    [1, 2].map(() => [paths[1], `Bearer ${KEYS.OPENAI_API_KEY}`]),
  );
  assert.deepEqual(
    anthropic.arrived.map(({ target, headers }) => `${target} ${headers.get("x-api-key")}`),
    [1, 2].map(() => `${paths[0]} ${KEYS.ANTHROPIC_API_KEY}`),
  );
  for (const test of ["one", "two"]) {
    const recorded = exchangesOf(`${suite.out}/${test}`).map(({ request }) => request.path);
    assert.deepEqual([recorded.sort(), headerOf(`${suite.out}/${test}`).models], [paths, [test]]);
  }
  const served = await suite.around(["serve", "--strict-usage", suite.out], CLIENT);
  assert.equal(served.code, 0, served.stderr);
});

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
  const open = () => names.filter((test) => existsSync(`${folder.out}/${test}/.recording`));
  await round(1);
  // 32, and a few whose end is still being written.
  assert.ok(open().length <= 40, `${open().length} are open`);
  assert.deepEqual(inputsOf(folder, "t0"), [1], "a closed recording is whole while others are recorded");
  await round(2);
  const { code, stderr, events } = await server.end();
  assert.equal(code, 0, stderr);
  assert.match(stderr, /recorded 400 exchanges of 200 tests into/);
  assert.deepEqual([open(), events.at(-1).tests.length, events.at(-1).published], [[], 200, 400]);
  for (const test of names) {
    assert.deepEqual(inputsOf(folder, test), [1, 2]);
    assert.equal(headerOf(`${folder.out}/${test}`).recordings, undefined, "it is one recording");
  }
});
