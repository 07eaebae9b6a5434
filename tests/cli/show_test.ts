/** `show` as a user meets it in a pipe: one run, the file of an export, folded outputs; tests/doors/sessions has its views. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, begun, ok, Place, readsThenAnswers } from "./harness.ts";

/** A place with the session `s`, which has two runs. */
const two = begun(readsThenAnswers, async (place) => {
  await place.session("s");
  await ok(place, ["run", "-s", "s", "And the end?"]);
});

/** Runs `show`, which must succeed silently. */
async function shown(place: Place, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await place.call(["show", ...args]);
  assert.deepEqual([code, stderr], [0, ""]);
  return stdout;
}

test.process("show prints facts about a session above its turns, with local times and the time zone", async () => {
  await using place = await two();
  const text = await place.call(["show", "s"], { env: { TZ: "Asia/Kolkata" } });
  const at = new Date(Date.parse(place.sandbox.turns("s")[0].at) + 5.5 * 60 * 60 * 1000).toISOString();
  const local = at.slice(0, 19).replace("T", " ");
  assert.match(
    text.stdout,
    /^title {6}Look at a\.txt\nsession {4}s · completed\nmodel {6}gpt-5\.6 · openai\n/,
  );
  assert.ok(text.stdout.includes(`── 1 · run 1 · user · ${local} · seq 1\n`), text.stdout);
  assert.match(text.stdout, new RegExp(`time +${local} to .* UTC\\+05:30\n`));
});

test("--run N and --last choose the turns of one run, in every view", async () => {
  await using place = await two();
  const runs = (text: string) => [...new Set([...text.matchAll(/run (\d+)/g)].map(([, run]) => run))];
  for (const [flags, run] of [[["--run", "1"], "1"], [["--last"], "2"], [["--run", "2"], "2"]] as const) {
    assert.deepEqual(runs((await shown(place, "s", "--turns", ...flags)).replace(/2 runs/, "")), [run]);
    assert.equal((await shown(place, "s", ...flags)).includes("And the end?\n"), run === "2");
    assert.ok((await shown(place, "s", "--markdown", ...flags)).includes(`#### Run ${run}\n`));
    const { turns } = JSON.parse(await shown(place, "s", "--json", ...flags));
    assert.deepEqual([...new Set(turns.map((turn: { run: number }) => turn.run))], [Number(run)]);
    const { events } = JSON.parse(await shown(place, "s", "--json", "--events", ...flags));
    assert.equal(events.at(-1).type, "run_ended");
    assert.equal(events.at(-1).run, Number(run));
  }
  assertError(await place.call(["show", "s", "--run", "3", "--json"]), {
    code: "usage",
    exit: 2,
    says: /run 3/,
    hint: /reprise show s --last/,
  });
});

test("show reads the file of an export, from anywhere and from stdin, as it shows the session itself", async () => {
  await using place = await two();
  const file = `${place.sandbox.workspace}/s.jsonl`;
  assert.equal((await place.call(["export", "s", file])).code, 0);
  const whole = await shown(place, "s");
  const home = ["--home", `${place.sandbox.directory}/none`];
  assert.equal(await shown(place, file, ...home), whole);
  assert.equal(await shown(place, "./s.jsonl", ...home), whole);
  const piped = await place.call(["show", "-", ...home], { stdin: Deno.readTextFileSync(file) });
  assert.deepEqual([piped.code, piped.stdout], [0, whole]);
  Deno.renameSync(file, `${place.sandbox.workspace}/plain`);
  assert.equal(await shown(place, "plain", ...home), whole);
  Deno.copyFileSync(`${place.sandbox.workspace}/plain`, `${place.sandbox.workspace}/s`);
  assert.equal(JSON.parse(await shown(place, "s", "--json")).path, place.path("s"), "a session wins");
  const turns = JSON.parse(await shown(place, "plain", ...home, "--json")).turns;
  assert.deepEqual(turns, place.sandbox.turns("s"));
});

test("of an altered or cut export, show prints what is sound, names the rest and exits with 12", async () => {
  await using place = await two();
  const file = `${place.sandbox.workspace}/s.jsonl`;
  await place.call(["export", "s", file]);
  const text = Deno.readTextFileSync(file);
  Deno.writeTextFileSync(file, text.slice(0, text.indexOf('"turns/000003.json"')));
  const cut = await place.call(["show", file]);
  assert.equal(cut.code, 12);
  assert.match(cut.stdout, /── 2 · run 1 · model/);
  assert.match(cut.stderr, /^damaged: .*s\.jsonl line \d+ is cut short/);
  const lines = text.split("\n");
  lines[lines.length - 2] = '{"end":true,"sha256":"00"}';
  Deno.writeTextFileSync(file, lines.join("\n"));
  const altered = await place.call(["show", file, "--json"]);
  assert.equal(altered.code, 12);
  assert.equal(JSON.parse(altered.stdout).turns.length, place.sandbox.turns("s").length);
  assert.match(JSON.parse(altered.stdout).problems[0].message, /they were altered/);
});

test("a file that is no export, and a name that is neither a session nor a file, are refused with what would do", async () => {
  await using place = await two();
  Deno.writeTextFileSync(`${place.sandbox.workspace}/b.txt`, "hello\n");
  const rows: readonly (readonly [args: readonly string[], code: string, says: RegExp])[] = [
    [["b.txt"], "bad_export", /b\.txt/],
    [["no.jsonl"], "usage", /no such file/],
    [["."], "usage", /a directory/],
    [["nowhere"], "no_such_session", /nowhere/],
    [["b.txt", "--raw", "1"], "usage", /--raw/],
    [["s", "--markdown"], "usage", /--markdown/],
  ];
  for (const [args, code, says] of rows) {
    const called = await place.call(["show", ...args, "--json"]);
    assertError(called, { code, exit: code === "bad_export" ? 12 : 2, says });
  }
});

test("a long output is folded, and whole with --full: also where the model was shown a part of it, and from an export", async () => {
  await using place = new Place(readsThenAnswers);
  const lines = Array.from({ length: 1500 }, (_, line) => `this is line ${line + 1} of a file\n`);
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, lines.join(""));
  await place.session("s");
  const text = await shown(place, "s");
  assert.match(text, /this is line 10 of[^\n]*\n {4}… [\d,]+ more lines \(--full shows them\)\n/);
  assert.ok(!text.includes("line 11 of"));
  const file = `${place.sandbox.workspace}/s.jsonl`;
  await place.call(["export", "s", file]);
  for (const name of ["s", file]) {
    const whole = await shown(place, name, "--full");
    for (const line of [1, 700, 750, 800, 1000]) {
      assert.ok(whole.includes(`this is line ${line} of`), `${name} ${line}`);
    }
    assert.doesNotMatch(whole, /more lines|left out here/);
  }
});
