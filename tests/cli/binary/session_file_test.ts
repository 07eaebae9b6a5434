/**
 * `session.json` and the reports of `test`: files that the program refuses, each with its place, and texts that
 * would mean something to a reader of a report.
 */
import assert from "node:assert/strict";
import { parse } from "yaml";
import type { Json } from "../../support/files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { copyBelow, SESSIONS } from "./session_copies.ts";

const WHOLE = `${SESSIONS}read`;
const FORMAT = "reprise.session_test/1";

/** Plays folders, each a copy of one test with another session.json; returns the line of each. */
async function played(sandbox: Sandbox, files: readonly string[]): Promise<readonly Json[]> {
  for (const [index, text] of files.entries()) {
    const folder = `${sandbox.workspace}/tests/${String(index).padStart(3, "0")}`;
    copyBelow(WHOLE, folder);
    Deno.writeTextFileSync(`${folder}/session.json`, text);
  }
  const called = await sandbox.call(["test", "--json", "tests"]);
  const lines = called.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  assert.equal(lines.length, files.length + 2, called.stdout + called.stderr);
  return lines.slice(1, -1);
}

const steps = (...list: readonly object[]) => JSON.stringify({ format: FORMAT, steps: list });
const STEP = { args: ["run", "Hi"], exit: 0 };
const KILL = { after: "turn.saved", turn: 2 };

/** Texts of session.json, each with what is wrong; `null` where nothing is. */
const FILES: readonly (readonly [text: string, says: RegExp | null])[] = [
  [steps({ ...STEP, fixture: "1", kill: KILL }), null],
  ["{", /it is not JSON/],
  [JSON.stringify({ format: FORMAT, steps: "x" }), /steps: .*expected array/],
  [steps(STEP, { ...STEP, kil: 1, env: {} }), /steps\[1\]: .*"kil", "env"/],
  [steps({ ...STEP, kill: KILL }), /steps\[0\]\.kill: only a run with a fixture can be stopped/],
  ...["..", "a/../b", "/a", ""].map((fixture) => [steps({ ...STEP, fixture }), /session\.json/] as const),
  ...["..a", ".hidden/x"].map((fixture) => [steps({ ...STEP, fixture }), null] as const),
];

/** Arguments of a step, each with the place of what its player sets; `null` where a step may have them. */
const ARGUMENTS: readonly (readonly [args: readonly string[], at: number | null])[] = [
  [["run", "-c", "--", "--home=/tmp"], null],
  [["run", "--new", "--instructions", "-write less", "Hi"], null],
  [["run", "-c", "--deny", "--home=/tmp", "Hi"], null],
  [["rm", "a", "--yes"], null],
  [["rm", "a", "--yes", "--home", "/tmp"], 3],
  [["run", "-cw/", "Hi"], 1],
  [["run", "--record=/tmp/x", "Hi"], 1],
  [["run", "-s", "--", "--home=/tmp", "--", "Hi"], 3],
  [["run", "a prompt", "too", "many", "--record=x"], 4],
  [["compact", "a", "--fixture", "x"], 2],
  [["serve", "."], 0],
  [["export", "a", "/tmp/x"], 0],
];

Deno.test("a session.json of another shape is refused, with what is wrong and where; one that leads out of its folder too", async () => {
  await using sandbox = new Sandbox();
  const lines = await played(sandbox, FILES.map(([text]) => text));
  for (const [index, [text, says]] of FILES.entries()) {
    const { error } = lines[index];
    if (says === null) assert.doesNotMatch(error?.message ?? "", /session\.json"/, text);
    else assert.match(`${error?.code} ${error?.message}`, new RegExp(`^bad_fixture .*${says.source}`), text);
  }
});

Deno.test("a step has every flag that a recorded run writes, and none that its player sets, wherever it stands", async () => {
  await using sandbox = new Sandbox();
  const lines = await played(sandbox, ARGUMENTS.map(([args]) => steps({ args, exit: 0 })));
  for (const [index, [args, at]] of ARGUMENTS.entries()) {
    const message = lines[index].error?.message ?? "";
    const said = /steps\[0\]\.args\[(\d+)\]: .*(?:is not allowed in a step|is no verb of a step)/.exec(
      message,
    );
    assert.equal(said === null ? null : Number(said[1]), at, `${args.join(" ")}: ${message}`);
  }
});

/** Text that means something to every report. */
const NASTY = `# TODO <b> & "x" \\ ]]> ok 9 - \u001b[31m é 🙂\r\n...\nnot ok 7\n--- |`;

Deno.test("a report of TAP or JUnit stays one, whatever the texts in it", async () => {
  await using sandbox = new Sandbox();
  const noted = { ...JSON.parse(Deno.readTextFileSync(`${WHOLE}/session.json`)), note: NASTY };
  await played(sandbox, [JSON.stringify(noted), "{", steps({ args: ["show", NASTY], exit: 0 })]);
  const report = async (name: string) => (await sandbox.call(["test", "--reporter", name, "tests"])).stdout;
  const tap = await report("tap");
  assert.deepEqual(tap.split("\n").slice(0, 2), ["TAP version 14", "1..3"]);
  const points = tap.split("\n").filter((line) => /^(?:not )?ok /.test(line));
  assert.deepEqual(points.map((line) => line.slice(0, 8)), ["ok 1 - t", "not ok 2", "not ok 3"]);
  assert.ok(!points.some((line) => /(?<!\\)#/.test(line)), "no point has a directive");
  for (const block of tap.match(/^ {2}---\n[^]*?\n {2}\.\.\.$/gm) ?? []) {
    parse(block.replace(/^ {2}---\n/, "").replace(/\n {2}\.\.\.$/, "\n"));
  }
  const xml = await report("junit");
  const count = (pattern: RegExp) => xml.match(pattern)?.length;
  assert.deepEqual([/<testcase /g, /<failure /g, /<error /g].map(count), [3, 1, 1]);
  const open: string[] = [];
  for (const [, end, name = "", alone] of xml.matchAll(/<(\/?)([a-z]+)(?: [a-z]+="[^"<>]*")*(\/?)>/g)) {
    if (end === "/") assert.equal(open.pop(), name);
    else if (alone === "") open.push(name);
  }
  assert.deepEqual(open, []);
  assert.doesNotMatch(xml.replace(/<\?xml[^>]*>|<\/?[a-z]+(?: [a-z]+="[^"<>]*")*\/?>/g, ""), /[<>]/);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(xml, /&(?!(?:amp|lt|gt|quot|#10);)|[\u0001-\u0008\u000b-\u001f]/);
});

Deno.test("tests are found at and below the folders, once each, in order, and none inside of another", async () => {
  await using sandbox = new Sandbox();
  const { workspace } = sandbox;
  for (const name of ["b/2", "b/10", "a", "a/inner", "c"]) {
    Deno.mkdirSync(`${workspace}/${name}`, { recursive: true });
    if (name !== "c") Deno.writeTextFileSync(`${workspace}/${name}/session.json`, "{}");
  }
  const found = async (...names: string[]) => {
    const { stdout } = await sandbox.call(["test", "--json", ...names]);
    return stdout.trimEnd().split("\n").map((line) => JSON.parse(line)).flatMap(({ dir }) => dir ?? []);
  };
  assert.deepEqual(await found("b/", "a", "a/"), ["b/10", "b/2", "a"]);
  assert.deepEqual(await found("-k", "b/1", "a", "b"), ["b/10"]);
  const unnamed = await sandbox.call(["test", "-k", "nothing-like-it", "a"]);
  assert.deepEqual([unnamed.code, unnamed.stdout], [2, ""]);
  assert.match(unnamed.stderr, /No test has "nothing-like-it" in its path/);
  const none = await sandbox.call(["test", "a", "c"]);
  assert.match(none.stderr, /no session\.json[^]*run --record writes: a folder/);
  Deno.mkdirSync(`${workspace}/c/recorded`);
  Deno.writeTextFileSync(`${workspace}/c/recorded/fixture.json`, "{}");
  assert.match((await sandbox.call(["test", "c"])).stderr, /use run --fixture or serve/);
  Deno.symlinkSync("../b", `${workspace}/c/linked`);
  Deno.symlinkSync("..", `${workspace}/c/up`);
  assert.deepEqual(await found("c"), ["c/linked/10", "c/linked/2", "c/up/a", "c/up/b/10", "c/up/b/2"]);
});
