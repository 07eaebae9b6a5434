/** Hints of real errors: each names a command, and the command is one that the program accepts. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, httpError, reasoning } from "../support/scripted_api/responses.ts";
import { write } from "../support/calls.ts";
import { commandsIn, refusalOf } from "../unit/cli/commands_in_texts.ts";
import { events } from "../support/reprise.ts";
import { HELLO, Place } from "./harness.ts";

/** Calls with `--json`, which must fail; returns the commands in the hint, which must be accepted. */
async function commandsOf(place: Place, args: readonly string[], env: Record<string, string> = {}) {
  const called = await place.call([...args, "--json"], { env });
  const [error, ...others]: Json[] = events(called).filter(({ type }) => type === "error");
  assert.ok(error !== undefined && others.length === 0, `${args.join(" ")}: ${called.stdout}`);
  const commands = commandsIn(error.hint);
  assert.ok(commands.length > 0, `${args.join(" ")}: ${error.code}: no command in the hint: ${error.hint}`);
  for (const command of commands) assert.equal(refusalOf(command), null, `${args.join(" ")}: ${command}`);
  return commands;
}

/** Wrong calls of a home with the session "s". */
const CALLS: readonly string[] = [
  ...["run", "run -s unknown Hi", "run -s s", "run -s s --new Hi", "run --new -c Hi"],
  ...["run -o no/such/dir/file Hi", "run --output-schema a.txt Hi", "run --fixture nowhere Hi"],
  ...["run --record a --fixture b Hi", "run --instructions @nowhere Hi", "run -w nowhere Hi"],
  ...["run --allow nothing Hi", "run --base-url http://example.com/v1 Hi", "show unknown", "fsck"],
  ...["compact s --undo", "fork s --to-seq 99", "export s", "import nowhere", "rm s", "rm"],
  ...["ls --since never", "record", "record --out there", "serve nowhere", "serve .", "test nowhere"],
  ...["fixture show nowhere", "fixture ls nowhere", "fixture diff nowhere"],
  ...["fixture import nowhere there", "fixture rm nowhere --events nowhere"],
];

test.process("the hint of every wrong call names a command that the program accepts", async () => {
  await using place = new Place(() => HELLO);
  await place.session("s");
  for (const call of CALLS) await commandsOf(place, call.split(" "));
  for (const name of ["OPENAI_API_KEY", "REPRISE_MODEL"]) {
    await commandsOf(place, ["run", "Hi"], { [name]: "" });
  }
});

test("the hint of every failed run names a command with its session, and the command is accepted", async () => {
  const call = write("b.txt", "b");
  const cases = [
    [httpError(401, { message: "Bad key", code: "invalid_api_key" })],
    [httpError(400, { message: "Wrong", code: "wrong" })],
    [httpError(404, { message: "The model does not exist", code: "model_not_found" })],
    [httpError(400, { message: "Too long", code: "context_length_exceeded" })],
    [httpError(429, { message: "No credit", code: "insufficient_quota" })],
    [answer([reasoning("Only thinking")])],
    [answer([call]), "--max-steps", "1"],
    [answer([call]), "--fail-on-denied"],
  ] as const;
  for (const [response, ...flags] of cases) {
    await using place = new Place(() => response);
    const commands = await commandsOf(place, ["run", "--new", "-s", "s", ...flags, "Hi"]);
    assert.ok(commands.some((command) => / s\b/.test(command)), commands.join());
  }
});

test("commands in hints have the home of the call", async () => {
  await using place = new Place(() => HELLO);
  const home = `${place.sandbox.directory}/other home`;
  await place.call(["run", "--home", home, "--new", "-s", "s", "Hi"]);
  const { stderr } = await place.call(["show", "unknown", "--home", home]);
  assert.match(stderr, /hint: .*reprise --home '[^']*other home' ls/);
  const near = await place.call(["show", "ss", "--home", home]);
  assert.match(near.stderr, /hint: Did you mean "s"\? See "reprise --home /);
});
