/** `fixture learn` as a user calls it; the rules that it finds are tested beside its source. */
import assert from "node:assert/strict";
import type { JsonValue } from "../../src/domain/json.ts";
import { readHeader } from "../../src/fixture/read.ts";
import type { FixtureHeader } from "../../src/fixture/seal.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { writeFixture } from "../support/fixture.ts";
import { Sandbox } from "../support/reprise.ts";

const STREAM = 'event: response.created\ndata: {"type":"response.created","response":{"id":"resp_1"}}\n\n' +
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"resp_1","status":"completed",' +
  '"output":[]}}\n\n';

function ask(cwd: string, prompt = "Fix the test"): JsonValue {
  const input = [`<cwd>${cwd}</cwd>`, prompt].map((content) => ({ role: "user", content }));
  return { model: "gpt-5.6", input };
}

/** Calls `fixture learn` with recordings `a` and `b` of these requests. */
class Learning extends Sandbox {
  record(name: string, requests: readonly JsonValue[], header: Partial<FixtureHeader> = {}): void {
    const exchanges = requests.map((body) => ({ request: { body }, body: STREAM }));
    writeFixture(`${this.directory}/${name}`, exchanges, header);
  }

  learn(...flags: string[]) {
    return this.call(["fixture", "learn", "a", "b", ...flags], { cwd: this.directory });
  }

  header(name: string) {
    return readHeader(denoFiles, `${this.directory}/${name}`);
  }
}

Deno.test("fixture learn prints the rules with an example and the command that adds them, and writes nothing", async () => {
  await using sandbox = new Learning();
  sandbox.record("a", [ask("/srv/a"), ask("/srv/a", "Thanks")]);
  sandbox.record("b", [ask("/opt/b"), ask("/opt/b", "Thanks")]);
  const before = [sandbox.header("a"), sandbox.header("b")];
  for (const flags of [[], ["--dry-run"], ["--write", "--dry-run"]]) {
    const { code, stdout, stderr } = await sandbox.learn(...flags);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^rule cwd: explains 1 difference, such as input\[0\]\.content in exchange 1/);
    assert.match(stdout, / {2}first {3}"<cwd>\/srv\/a<\/cwd>"\n {2}second {2}"<cwd>\/opt\/b<\/cwd>"/);
    assert.match(stdout, /"match": \{\n {2}"normalize": \[\n {4}"cwd"\n {2}\]\n\}/);
    assert.match(stdout, /2 of 2 pairs of requests match both ways with these rules/);
    assert.match(stderr, /nothing was written; [^\n]*: reprise fixture learn a b --write/);
  }
  assert.deepEqual([sandbox.header("a"), sandbox.header("b")], before);
});

Deno.test("fixture learn --write adds the rules to both recordings and keeps their other rules and sums", async () => {
  await using sandbox = new Learning();
  const match = { normalize: ["date"], ignore: ["job"] };
  sandbox.record("a", [ask("/srv/a")], { match, note: "Kept" });
  sandbox.record("b", [ask("/opt/b")]);
  const before = ["a", "b"].map((name) => sandbox.header(name).files);
  const { code, stdout } = await sandbox.learn("--write", "--json");
  const { written, match: learned, rules, ...report } = JSON.parse(stdout);
  assert.deepEqual([code, written, learned, rules.length], [0, true, { normalize: ["cwd"] }, 1]);
  assert.deepEqual(report, {
    ...{ a: "a", b: "b", exit_code: 0, pairs: 1, matching: 1 },
    ...{ unexplained: [], withheld: [], only: { a: [], b: [] } },
  });
  const [a, b] = [sandbox.header("a"), sandbox.header("b")];
  assert.deepEqual([a.match, a.note], [{ normalize: ["date", "cwd"], ignore: ["job"] }, "Kept"]);
  assert.deepEqual(b.match, { normalize: ["cwd"] });
  assert.deepEqual([a.files, b.files], before);
  const again = await sandbox.learn("--write", "--json");
  assert.deepEqual([JSON.parse(again.stdout).match, JSON.parse(again.stdout).written], [{}, false]);
});

Deno.test("fixture learn names what no rule explains and ends with 7", async () => {
  await using sandbox = new Learning();
  sandbox.record("a", [ask("/srv/a"), ask("/srv/a", "Add it")]);
  sandbox.record("b", [ask("/opt/b"), ask("/opt/b", "Delete it")]);
  const { code, stdout, stderr } = await sandbox.learn("--write");
  assert.equal(code, 7);
  assert.match(stdout, /no rule explains input\[1\]\.content in exchange 2\n {2}first {3}"Add it"\n/);
  assert.match(stdout, /1 of 2 pairs of requests match both ways with these rules/);
  // The rules of the other requests are good.
  assert.match(stderr, /added the rules to "match" of a and b/);
  assert.deepEqual(sandbox.header("b").match, { normalize: ["cwd"] });
});

Deno.test("fixture learn writes nothing if one of the recordings cannot hold the rules", async () => {
  await using sandbox = new Learning();
  sandbox.record("a", [ask("/srv/a")]);
  const ignore = Array.from({ length: 100 }, (_, index) => `metadata.x${index}`);
  sandbox.record("b", [ask("/opt/b")], { match: { ignore } });
  const { code, stderr } = await sandbox.learn("--write");
  assert.equal(code, 2);
  assert.match(stderr, /b\/fixture\.json.*has 101 rules, more than 100/);
  assert.equal(sandbox.header("a").match, undefined);
});
