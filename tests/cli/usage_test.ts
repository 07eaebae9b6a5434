/** Wrong calls, and the commands that their hints name. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { assertError, HELLO, Place } from "./harness.ts";

test.process("a usage error names the help of its own verb, and that command works", async () => {
  await using place = new Place(() => HELLO);
  const cases: readonly (readonly [string[], string])[] = [
    [["ls", "--nope"], "reprise ls --help"],
    [["show"], "reprise show --help"],
    [["run", "--max-steps", "none", "x"], "reprise run --help"],
    [["fixture", "show", "--nope"], "reprise fixture show --help"],
    [["fixture"], "reprise fixture --help"],
    [["nope"], "reprise --help"],
    // Not the parser's own errors.
    [["run", "-s", "a", "-c", "x"], "reprise run --help"],
    [["rm"], "reprise rm --help"],
    [["record", "--nope"], "reprise record --help"],
  ];
  for (const [args, help] of cases) {
    const error = assertError(await place.call([...args, "--json"]), { code: "usage", exit: 2 });
    assert.ok(String(error.hint).includes(help), `${args.join(" ")}: ${error.hint}`);
    const shown = await place.call(help.split(" ").slice(1));
    assert.equal(shown.code, 0, help);
    assert.match(shown.stdout, /^Usage: reprise/, help);
  }
});

test.process("a forgotten -- before a command is recognised, and the hint is the call with it", async () => {
  await using place = new Place(() => HELLO);
  const folder = place.sandbox.directory;
  const cases: readonly (readonly [string[], string])[] = [
    [["record", "--out", "there", "npm", "test"], "reprise record --out there -- npm test"],
    [["record", "--out", "there", "pytest", "-x", "a b"], "reprise record --out there -- pytest -x 'a b'"],
    [["serve", folder, "npm", "test"], `reprise serve ${folder} -- npm test`],
    [["serve", folder, "--port", "0", "npm", "--x"], `reprise serve ${folder} --port 0 -- npm --x`],
  ];
  for (const [args, command] of cases) {
    const { code, stdout, stderr } = await place.call(args);
    assert.deepEqual([code, stdout], [2, ""], stderr);
    assert.ok(stderr.includes(`hint: Put -- before the command: ${command}\n`), stderr);
  }
  // A folder with the name of a program is a command, unless it is a fixture.
  const named = `${place.sandbox.workspace}/npm`;
  Deno.mkdirSync(named);
  const hintOf = async () => (await place.call(["serve", folder, "npm", "test"])).stderr;
  assert.match(await hintOf(), / -- npm test\n/);
  Deno.writeTextFileSync(`${named}/fixture.json`, "{}");
  assert.match(await hintOf(), / npm -- test\n/);
  // A folder that is not there is no command.
  const other = await place.call(["serve", folder, "./not/there"]);
  assert.doesNotMatch(other.stderr, /Put --/);
});

test("a prompt of several arguments is recognised, and so is one that begins with a dash", async () => {
  await using place = new Place(() => HELLO);
  for (
    const [args, command] of [
      [["run", "--no-stdin", "Fix", "the bug"], "reprise run --no-stdin 'Fix the bug'"],
      [["run", "- a list"], "reprise run -- '- a list'"],
    ] as const
  ) {
    const { code, stderr } = await place.call(args.filter((arg) => arg !== "--no-stdin"));
    assert.equal(code, 2);
    assert.ok(stderr.includes(command.replace(" --no-stdin", "")), stderr);
  }
  assert.equal((await place.call(["run", "--", "- a list"])).code, 0);
});

test("flags are accepted before the verb, with their values, and before a verb of fixture", async () => {
  await using place = new Place(() => HELLO);
  await place.session("s");
  const after = await place.call(["ls", "--json", "--home", place.sandbox.home]);
  for (
    const args of [
      ["--json", "--home", place.sandbox.home, "ls"],
      ["--json", `--home=${place.sandbox.home}`, "ls"],
      ["--home", place.sandbox.home, "ls", "--json"],
    ]
  ) {
    const called = await place.call(args);
    assert.deepEqual([called.code, called.stdout], [0, after.stdout], args.join(" "));
  }
  const run = await place.call(["--json", "-m", "gpt-5.6", "run", "-s", "s", "More"]);
  assert.equal(run.code, 0, run.stdout);
  // A value that is also the name of a verb.
  const named = await place.call(["--json", "-s", "ls", "run", "--new", "Hi"]);
  assert.equal(named.code, 0, named.stdout);
  const [inside, before] = [
    await place.call(["fixture", "--json", "ls", place.sandbox.directory]),
    await place.call(["--json", "fixture", "ls", place.sandbox.directory]),
  ];
  const usual = await place.call(["fixture", "ls", "--json", place.sandbox.directory]);
  assert.deepEqual([inside.stdout, before.stdout], [usual.stdout, usual.stdout]);
  const wrong = assertError(await place.call(["--json", "--nope", "ls"]), { code: "usage", exit: 2 });
  assert.match(String(wrong.message), /--nope|--json/);
  const flag = assertError(await place.call(["--hme", "x", "ls", "--json"]), { code: "usage", exit: 2 });
  assert.deepEqual([flag.message, String(flag.hint).slice(0, 20)], [
    "Unknown option '--hme'",
    "Did you mean --home?",
  ]);
  for (const args of [["--json", "lss"], ["--home", "x", "--json", "lss"], ["fixture", "--json", "lss"]]) {
    const mistyped = assertError(await place.call(args), { code: "usage", exit: 2 });
    assert.deepEqual([mistyped.message, String(mistyped.hint).slice(0, 16)], [
      "Unknown command 'lss'",
      "Did you mean ls?",
    ]);
  }
});
