/** Wrong calls, and the commands that their hints name. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { HELLO, ok, Place } from "./harness.ts";

test.process("a forgotten -- before a command is recognised, and the hint is the call with it", async () => {
  await using place = new Place(() => HELLO);
  const folder = place.sandbox.directory;
  const cases: readonly (readonly [string[], string])[] = [
    [["record", "--out", "there", "pytest", "-x", "a b"], "reprise record --out there -- pytest -x 'a b'"],
    [["serve", folder, "npm", "test"], `reprise serve ${folder} -- npm test`],
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
      [["run", "Fix", "the bug"], "reprise run 'Fix the bug'"],
      [["run", "- a list"], "reprise run -- '- a list'"],
    ] as const
  ) {
    const { code, stderr } = await place.call(args);
    assert.deepEqual([code, stderr.includes(command)], [2, true], stderr);
  }
  await ok(place, ["run", "--", "- a list"]);
});

test("flags are accepted before the verb, with their values, and before a verb of fixture", async () => {
  await using place = new Place(() => HELLO);
  const { home, directory } = place.sandbox;
  await place.session("s");
  for (
    const [usual, ...calls] of [
      [["ls", "--json", "--home", home], ["--json", `--home=${home}`, "ls"], [
        "--home",
        home,
        "ls",
        "--json",
      ]],
      [
        ["fixture", "ls", "--json", directory],
        ["fixture", "--json", "ls", directory],
        ["--json", "fixture", "ls", directory],
      ],
    ]
  ) {
    const expected = await place.call(usual as readonly string[]);
    for (const args of calls) assert.deepEqual(await place.call(args), expected, args.join(" "));
  }
  // A value that is also the name of a verb.
  await ok(place, ["-s", "ls", "run", "--new", "Hi"]);
});
