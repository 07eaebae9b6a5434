/** `record --append` of several processes, of growing secrets, and on a disk that refuses. */
import assert from "node:assert/strict";
import { exchangesOf } from "../../doors/recordings/recording_files.ts";
import { bytesBelow, textsBelow } from "../../support/files.ts";
import { fill, lacksMount, withMount } from "../../support/mounts.ts";
import { needing } from "../../support/needs.ts";
import { Serving } from "../serving.ts";
import { TestFolder } from "../test_folder.ts";
import { Wrapping } from "./wrapping.ts";

const ask = (input: string) => ["/v1/responses", { model: "m", input }] as const;

Deno.test("a second recorder of a folder is refused at once with exit code 5, before its command runs", async () => {
  await using folder = new TestFolder();
  const first = await folder.record(["--append"]);
  const proof = `${folder.directory}/ran`;
  const where = ["record", "--upstream", folder.upstream.origin, "--out", folder.out];
  for (const flags of [["--append"], [], ["--append", "--dry-run"]]) {
    const { code, stderr } = await folder.call([...where, ...flags, "--", "touch", proof]);
    assert.equal(code, 5, stderr);
    assert.match(stderr, new RegExp(`locked by process ${first.started.process.pid} on host `));
    assert.match(stderr, /hint: Wait until it has ended/);
  }
  assert.throws(() => Deno.statSync(proof), Deno.errors.NotFound);
  // The first one does not notice.
  assert.equal((await first.post(...ask("a"))).status, 200);
  assert.equal((await first.end()).code, 0);
  const second = await folder.record(["--append"]);
  await second.post(...ask("b"));
  assert.equal((await second.end()).code, 0);
  assert.deepEqual(exchangesOf(folder.out).map(({ request }) => request.body.input), ["a", "b"]);
});

Deno.test("a fixture that grows counts the secrets of all recordings, and keeps the variables that are not secret", async () => {
  await using suite = new Wrapping();
  const [token, region] = ["tok-5d1c07ab9e-first", "region-of-mine-1"];
  const env = { MY_API_TOKEN: token, MY_REGION_KEY: region };
  const inputs = [`a ${token} ${region}`, `b ${token} ${region}`, `c ${region}`];
  const add = (index: number, ...flags: string[]) =>
    suite.record(["--append", ...flags], inputs.slice(index, index + 1), { env });
  await add(0, "--not-secret", "MY_REGION_KEY");
  const { redactions: first } = suite.header;
  // The second recording knows by the fixture that the region is no secret.
  assert.match((await add(1)).stderr, /1 exchange holds replaced text in its request/);
  assert.deepEqual(suite.header.not_secret, ["MY_REGION_KEY"]);
  const twice = Object.entries<number>(first).map(([kind, count]) => [kind, count * 2]);
  assert.deepEqual(suite.header.redactions, Object.fromEntries(twice));
  await add(2, "--not-secret", "OTHER_KEY");
  assert.deepEqual(suite.header.not_secret, ["MY_REGION_KEY", "OTHER_KEY"]);
  const texts = [...textsBelow(suite.out).values()].join("\n");
  assert.deepEqual([texts.includes(token), texts.includes(region)], [false, true]);
  const keyed = { env: { ...env, OPENAI_API_KEY: "x" } };
  const served = await suite.around(["serve", "--strict-usage", suite.out], inputs, keyed);
  assert.equal(served.code, 0, served.stderr);
});

Deno.test(
  needing(
    "record --append on a full or read-only disk ends with 14, and the fixture does not change",
    await lacksMount("tmpfs"),
  ),
  async () => {
    await using folder = new TestFolder();
    const at = `${folder.directory}/at`;
    const flags = ["--append", "--upstream", folder.upstream.origin, "--out", `${at}/fixture`];
    const add = async (input: string) => {
      const server = await Serving.start(folder, ["record", "--json", ...flags]);
      assert.equal((await server.post(...ask(input))).status, 200, "the client gets its answer all the same");
      return await server.end();
    };
    const remount = (mode: "ro" | "rw") =>
      assert.ok(new Deno.Command("mount", { args: ["-o", `remount,${mode}`, at] }).outputSync().success);
    Deno.mkdirSync(at);
    await withMount(at, { type: "tmpfs", options: "size=256k" }, async () => {
      assert.equal((await add("a")).code, 0);
      const before = bytesBelow(`${at}/fixture`);
      fill(`${at}/other`);
      const full = await add("b".repeat(8192));
      assert.equal(full.code, 14, full.stderr);
      assert.deepEqual([full.events.at(-2).code, full.events.at(-1).published], ["storage_full", 0]);
      assert.match(full.events.at(-2).message, /^Cannot record: the disk or the quota is full/);
      assert.deepEqual(bytesBelow(`${at}/fixture`), before);
      remount("ro");
      const denied = await folder.call(["record", ...flags, "--", "false"]);
      assert.equal(denied.code, 14, denied.stderr);
      assert.match(denied.stderr, /Cannot begin the recording: the file system is read-only/);
      assert.deepEqual(bytesBelow(`${at}/fixture`), before);
      remount("rw");
      Deno.removeSync(`${at}/other`);
      const { code, events } = await add("c");
      assert.deepEqual([code, events[0].before, events.at(-1).published], [0, 1, 1]);
    });
  },
);
