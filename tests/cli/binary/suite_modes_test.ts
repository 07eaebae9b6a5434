/** `record --suite --mode all`, and tests that fail elsewhere: what happens to their recordings. */
import assert from "node:assert/strict";
import { exchangesOf, headerOf } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { writeSuite } from "../serving.ts";
import { SuiteServer } from "../suite_server.ts";
import { TestFolder } from "../test_folder.ts";

const inputsOf = (path: string) => exchangesOf(path).map(({ request }) => request.body.input);

/** Starts `record --suite` in front of the folder's upstream. */
function recording(folder: TestFolder, flags: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const OPENAI_BASE_URL = `${folder.upstream.origin}/v1`;
  const key = { OPENAI_API_KEY: "sk-real-4f1d0c7ea9" };
  return SuiteServer.start(folder, ["record", "--out", folder.out, ...flags], {
    ...{ OPENAI_BASE_URL, ...key },
    ...env,
  });
}

Deno.test("--mode all replaces the recording of each test that passed, with its rules, and no other", async () => {
  await using folder = new TestFolder();
  const tests = ["passes", "fails", "silent", "breaks-off"];
  await using before = await recording(folder, ["--mode", "missing", "--ignore", "$.user"]);
  for (const test of tests) {
    for (const input of ["a", "b"]) assert.equal(await before.ask(test, input), 200);
    assert.equal((await before.end(test)).exit_code, 0);
  }
  assert.equal((await before.over()).code, 0);
  Deno.writeTextFileSync(`${folder.out}/README`, "a folder of tests may hold anything beside them");

  await using server = await recording(folder, ["--mode", "all"]);
  const end = async (test: string, inputs: readonly string[], more: object = {}) => {
    for (const input of inputs) assert.equal(await server.ask(test, input), 200);
    const { exit_code, recorded, served, notes } = await server.end(test, more);
    const said = notes.map((note: string) => note.slice(note.indexOf(" was ")));
    return [exit_code, recorded, served, ...said, ...inputsOf(`${folder.out}/${test}`)];
  };
  assert.deepEqual(await end("passes", ["a", "c"], { passed: true }), [0, 2, 0, "a", "c"]);
  // Only what is known to have passed has.
  for (const passed of [false, "false"]) {
    const failed = [0, 1, 0, " was replaced: the test failed", "a", "b"];
    assert.deepEqual(await end("fails", ["c"], { passed, allow_unused: true }), failed);
  }
  assert.deepEqual(await end("silent", []), [7, 0, 0, "a", "b"]);
  assert.deepEqual(await end("fresh", ["d"]), [0, 1, 0, "d"]);
  // The same test once more, as a runner that retries does.
  assert.deepEqual(await end("passes", ["e"]), [0, 1, 0, "e"]);
  // Its process of tests is killed before it ends.
  assert.equal(await server.ask("breaks-off", "c"), 200);
  const { code, stderr } = await server.over();
  assert.equal(code, 0);
  assert.match(stderr, /^nothing in ".*breaks-off" was replaced: the test was not ended$/m);
  assert.deepEqual(inputsOf(`${folder.out}/breaks-off`), ["a", "b"]);
  for (const test of tests) {
    assert.deepEqual(headerOf(`${folder.out}/${test}`).match, { ignore: ["$.user"] }, test);
  }
  assert.deepEqual(
    [...Deno.readDirSync(folder.directory)].filter(({ name }) => name.includes("recording")),
    [],
  );
});

Deno.test("--mode all in CI sends nothing, and the report of each test says why", async () => {
  await using folder = new TestFolder();
  await using server = await recording(folder, ["--mode", "all"], { CI: "true" });
  assert.equal(await server.ask("a", "Hi"), 400);
  const { exit_code, messages } = await server.end("a");
  assert.deepEqual([exit_code, folder.upstream.requests.length], [7, 0]);
  assert.match(messages[0], /CI is set, so nothing is sent. REPRISE_ALLOW_LIVE=1 allows it/);
  assert.equal((await server.over()).code, 0);
});

Deno.test("a test that failed loses no exchange to prune", async () => {
  await using sandbox = new Sandbox();
  const suite = writeSuite(sandbox, ["whole"]);
  await using server = await SuiteServer.start(sandbox, ["serve", suite, "--rules", "none"]);
  for (const [passed, left] of [[false, 2], [true, 1]] as const) {
    assert.equal(await server.ask("whole", "Hi"), 200);
    const { exit_code } = await server.end("whole", { prune: true, passed, allow_unused: !passed });
    assert.deepEqual([exit_code, exchangesOf(`${suite}/whole`).length], [0, left]);
  }
  assert.equal((await server.over()).code, 0);
});
