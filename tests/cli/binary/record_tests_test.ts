/** `record` with one recording for each test: `/t/NAME` in a base URL leads to the fixture NAME. */
import assert from "node:assert/strict";
import { bytesBelow } from "../../support/files.ts";
import { echoing, TestFolder } from "../test_folder.ts";

Deno.test("50 tests at once record three requests each into their own folders, in order, and nothing is mixed", async () => {
  await using folder = new TestFolder(echoing({ delayMs: 20 }));
  const server = await folder.record();
  const names = Array.from({ length: 50 }, (_, index) => `test-${index}`);
  const client = async (test: string) => {
    for (const step of [1, 2, 3]) {
      const body = { model: `model-of-${test}`, input: `${test} ${step}` };
      const { status, answer } = await server.post(`/t/${test}/v1/responses`, body);
      assert.deepEqual([status, answer], [200, { path: "/v1/responses", got: JSON.stringify(body) }]);
    }
  };
  await Promise.all(names.map(client));
  const { code, events, stderr } = await server.end();
  assert.equal(code, 0, stderr);
  assert.deepEqual(folder.names(), names.toSorted());
  for (const test of names) {
    const { exchanges, header } = folder.fixture(test);
    assert.deepEqual(header.models, [`model-of-${test}`]);
    assert.deepEqual(folder.inputs(test), [1, 2, 3].map((step) => `${test} ${step}`));
    for (const { request, response } of exchanges) {
      assert.equal(request.path, "/v1/responses");
      assert.equal(JSON.parse(new TextDecoder().decode(response.body)).got, JSON.stringify(request.json));
    }
    assert.deepEqual(folder.names(`${folder.out}/${test}`), [".gitattributes", "exchanges", "fixture.json"]);
    const own = events.filter((event) => event.type === "exchange" && event.test === test);
    assert.deepEqual(
      own.map(({ number, path }) => [number, path]),
      [1, 2, 3].map((n) => [n, "/v1/responses"]),
    );
  }
  const { tests, ...ended } = events.at(-1);
  assert.deepEqual([ended.type, ended.published, ended.before], ["record.ended", 150, 0]);
  // deno-lint-ignore no-explicit-any
  const published = tests.map(({ test, published }: any) => [test, published]);
  assert.deepEqual(published.toSorted(), names.map((test) => [test, 3]).toSorted());
  assert.match(stderr, /recorded 150 exchanges of 50 tests into/);
});

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
  assert.match(
    error.message,
    /Cannot record into ".*\/suite\/a": it is not empty.*--append adds to it/,
  );
  assert.equal(second.code, 7, "the fixture lacks the answers");
  assert.deepEqual(bytesBelow(`${folder.out}/a`), before);
  assert.deepEqual(folder.inputs("b"), [" b"]);
  const turnedAway = second.events.filter(({ type }) => type === "turned_away");
  assert.deepEqual(turnedAway.map(({ test, status, code }) => [test, status, code]), [
    ["a", 400, "test_refused"],
    ["a", 400, "test_refused"],
  ]);
  assert.equal(second.events.at(-1).turned_away, 2);
  const third = await post(["--append"], "a", "c");
  assert.equal(third.code, 0, third.stderr);
  assert.deepEqual(folder.inputs("a"), [" a", "--append a"]);
  assert.deepEqual(folder.fixture("a").header.recordings?.map(({ exchanges }) => exchanges), [[1, 1], [
    2,
    2,
  ]]);
  const { before: all, published, tests } = third.events.at(-1);
  assert.deepEqual([all, published], [1, 2]);
  // deno-lint-ignore no-explicit-any
  assert.deepEqual(tests.map(({ test, before, published }: any) => [test, before, published]), [
    ["a", 1, 1],
    ["c", 0, 1],
  ]);
  assert.deepEqual(folder.names(), ["a", "b", "c"]);
});

Deno.test("a test that another recorder records is refused until that one ends; other tests are not", async () => {
  await using folder = new TestFolder();
  const first = await folder.record();
  assert.equal((await first.post("/t/a/v1/responses", { input: "first" })).status, 200);
  const second = await folder.record(["--append"]);
  const locked = await second.post("/t/a/v1/responses", { input: "second" });
  assert.equal(locked.status, 400);
  assert.match(locked.answer.error.message, new RegExp(`locked by .*${first.started.process.pid}`));
  assert.equal((await second.post("/t/b/v1/responses", { input: "second" })).status, 200);
  assert.equal((await first.post("/t/a/v1/responses", { input: "first again" })).status, 200);
  assert.equal((await first.end()).code, 0);
  assert.equal((await second.post("/t/a/v1/responses", { input: "second again" })).status, 200);
  assert.equal((await second.end()).code, 7);
  assert.deepEqual(folder.inputs("a"), ["first", "first again", "second again"]);
  assert.deepEqual(folder.inputs("b"), ["second"]);
});

Deno.test("a folder that is a link, a file or something else is refused before anything listens", async () => {
  await using folder = new TestFolder();
  Deno.mkdirSync(`${folder.directory}/real/a`, { recursive: true });
  Deno.writeTextFileSync(`${folder.directory}/real/a/fixture.json`, "{}");
  Deno.symlinkSync(`${folder.directory}/real`, folder.out);
  const before = bytesBelow(`${folder.directory}/real`);
  for (const flags of [[], ["--append"], ["--dry-run"]]) {
    const args = ["record", "--upstream", folder.upstream.origin, "--out", folder.out, ...flags];
    const { code, stderr } = await folder.call(args);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /Cannot record into ".*suite": it is a link/);
  }
  assert.deepEqual(bytesBelow(`${folder.directory}/real`), before);
  const notes = `${folder.directory}/notes`;
  Deno.mkdirSync(notes);
  Deno.writeTextFileSync(`${notes}/todo.txt`, "mine");
  const { code, stderr } = await folder.call([
    "record",
    "--upstream",
    folder.upstream.origin,
    "--out",
    notes,
  ]);
  assert.deepEqual([code, /it is not empty/.test(stderr)], [2, true], stderr);
});
