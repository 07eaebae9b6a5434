/** `record --append` of several processes: one writes at a time, and the others can record after a kill. */
import assert from "node:assert/strict";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { bytesBelow } from "../../support/files.ts";
import { TestFolder } from "../test_folder.ts";

/** A command that leaves a file, as proof that it ran. */
function proof(folder: TestFolder): { readonly file: string; readonly command: readonly string[] } {
  const file = `${folder.directory}/ran`;
  return { file, command: [Deno.execPath(), "eval", "--quiet", `Deno.writeTextFileSync("${file}", "")`] };
}

const inputsOf = ({ out }: TestFolder) =>
  readFixture(denoFiles, out).exchanges.map(({ request }) => (request.json as { input: string }).input);

const ask = (input: string) => ["/v1/responses", { model: "m", input }] as const;

Deno.test("a second recorder of a folder is refused at once with exit code 5, before its command runs", async () => {
  await using folder = new TestFolder();
  const first = await folder.record(["--append"]);
  const { file, command } = proof(folder);
  const where = ["record", "--upstream", folder.upstream.origin, "--out", folder.out];
  for (const flags of [["--append"], [], ["--append", "--dry-run"]]) {
    const { code, stderr } = await folder.call([...where, ...flags, "--", ...command]);
    assert.equal(code, 5, stderr);
    assert.match(stderr, new RegExp(`locked by process ${first.started.process.pid} on host `));
    assert.match(stderr, /hint: Wait until it has ended/);
  }
  assert.equal(denoFiles.facts(file), null);
  // The first one does not notice.
  assert.equal((await first.post(...ask("a"))).status, 200);
  assert.equal((await first.end()).code, 0);
  const second = await folder.record(["--append"]);
  await second.post(...ask("b"));
  assert.equal((await second.end()).code, 0);
  assert.deepEqual(inputsOf(folder), ["a", "b"]);
});

Deno.test("a damaged fixture is refused with exit code 2 before the command runs, also by --dry-run", async () => {
  await using folder = new TestFolder();
  const server = await folder.record();
  await server.post(...ask("a"));
  await server.end();
  Deno.writeTextFileSync(`${folder.out}/exchanges/0001/body`, "another answer");
  const before = bytesBelow(folder.out);
  const { file, command } = proof(folder);
  const where = ["record", "--upstream", folder.upstream.origin, "--out", folder.out, "--append"];
  for (const flags of [[], ["--dry-run"]]) {
    const { code, stderr } = await folder.call([...where, ...flags, "--", ...command]);
    assert.equal(code, 2, stderr);
    assert.match(stderr, /exchanges\/0001\/body": its checksum differs from fixture\.json/);
    assert.match(stderr, /hint: After a manual edit: reprise fixture seal/);
  }
  assert.equal(denoFiles.facts(file), null);
  assert.deepEqual(bytesBelow(folder.out), before);
  // A person who wants the edit says so.
  assert.equal((await folder.call(["fixture", "seal", folder.out])).code, 0);
  const { code, stderr } = await folder.call([...where, "--", ...command]);
  assert.equal(code, 7, stderr);
  assert.match(stderr, /Nothing was recorded: the fixture is unchanged/);
});

Deno.test("record --append --dry-run says what it would add to, and changes nothing", async () => {
  await using folder = new TestFolder();
  const where = [
    "record",
    "--upstream",
    folder.upstream.origin,
    "--out",
    folder.out,
    "--append",
    "--dry-run",
  ];
  const none = await folder.call(where);
  assert.deepEqual([none.code, none.stdout.includes("and keep them in")], [0, true]);
  assert.equal(denoFiles.facts(folder.out), null);
  const server = await folder.record();
  await server.post(...ask("a"));
  await server.end();
  const before = bytesBelow(folder.out);
  const { code, stdout } = await folder.call(where);
  assert.equal(code, 0);
  assert.match(stdout, /and add them to the 1 exchange in "[^"]*"\. Nothing was done\./);
  const json = JSON.parse((await folder.call([...where, "--json"])).stdout);
  assert.deepEqual([json.type, json.before, json.out], ["dry_run", 1, folder.out]);
  assert.deepEqual(bytesBelow(folder.out), before);
});
