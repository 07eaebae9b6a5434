/** Sessions, flags and settings that cannot be used: each with its exit code, and what to do instead. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending, Sandbox } from "../support/reprise.ts";
import { assertError, configure, type ExpectedError, HELLO, holdLock, Place, until } from "./harness.ts";

test("a session that exists is not created again, and a completed run is not continued", async () => {
  await using place = new Place(() => HELLO);
  await place.session("s");
  const before = place.sandbox.turns("s");
  const rows: readonly (readonly [readonly string[], Omit<ExpectedError, "exit">])[] = [
    [["--new", "-s", "s", "Hi"], { code: "session_exists", says: /"s"/ }],
    [["-c"], { code: "nothing_to_continue", says: /completed/, hint: /reprise run -s s/ }],
    [["-s", "s"], { code: "nothing_to_continue" }],
  ];
  for (const [args, expected] of rows) {
    const called = await place.call(["run", "--json", ...args]);
    const last = called.stdout.trimEnd().split("\n").at(-1) ?? "";
    assertError({ ...called, stdout: last }, { ...expected, exit: 2 });
  }
  assert.deepEqual(place.sandbox.turns("s"), before);
  assert.equal(place.server.requests.length, 1);
});

test.process("a session that another process writes is left to it; --wait waits until it is free, or for SIGINT", async () => {
  await using place = new Place(() => HELLO);
  await place.session("s");
  const lock = `${place.path("s")}/lock`;
  const run = (...flags: readonly string[]) => ["run", "--json", "-s", "s", ...flags, "Me too"];
  {
    using _held = holdLock(lock);
    const says = new RegExp(`\\b${Deno.pid}\\b`);
    const locked = { code: "session_locked", exit: 5, says, hint: /--wait/ };
    assertError(await place.call(run()), locked);
    assertError(await place.call(run("--wait", "0.3")), { code: "session_locked", exit: 5 });
    const stopped = place.start(run("--wait", "60"));
    await opens(stopped.process.pid, lock);
    stopped.process.kill("SIGINT");
    assertError(await stopped.ended(), { code: "interrupted", exit: 130 });
  }
  const held = holdLock(lock);
  const waiting = place.start(run("--wait", "60"));
  await opens(waiting.process.pid, lock);
  assert.deepEqual([waiting.stdout, place.server.requests.length], ["", 1]);
  held[Symbol.dispose]();
  const { state, run: number } = ending(await waiting.ended());
  assert.deepEqual([state, number], ["completed", 2]);
});

/** Waits until a process has a file open; Linux only. */
async function opens(pid: number, path: string): Promise<void> {
  const descriptors = `/proc/${pid}/fd`;
  const isOpen = () =>
    [...Deno.readDirSync(descriptors)].some(({ name }) => {
      try {
        return Deno.readLinkSync(`${descriptors}/${name}`) === path;
      } catch {
        return false;
      }
    });
  await until(isOpen, `process ${pid} to open ${path}`);
}

/** Calls, and the flag or value that the error names. */
const WRONG: readonly (readonly [args: readonly string[], names: RegExp])[] = [
  [["run", "--nonsense", "Hi"], /--nonsense/],
  [["run", "one", "two"], /too many arguments/i],
  [["run", "--max-steps", "0", "Hi"], /--max-steps/],
  // More milliseconds than a timer counts: it would fire at once.
  [["run", "--timeout", "2147484", "Hi"], /--timeout/],
  [["run", "-m"], /--model/],
  [["run", "-p", "acme", "Hi"], /acme/],
  [["run", "-s", "a", "-c", "Hi"], /--continue/],
  [["run", "--new", "-c", "Hi"], /--new/],
  [["run", "-w", "a.txt", "Hi"], /"a\.txt"/],
  [["run", "--instructions", "@nowhere.md", "Hi"], /nowhere\.md/],
  [["run", "--output-schema", "a.txt", "Hi"], /a\.txt/],
  [["run", "-o", "no/such/directory/answer.txt", "Hi"], /answer\.txt/],
  [["run", "--fixture", "nowhere", "Hi"], /nowhere/],
  [["run", "--record", "kept", "--max-cost", "1", "Hi"], /--record and --max-cost/],
  [["run", " \n"], /empty/],
  [["ls", "--since", "yesterday"], /yesterday/],
  [["ls", "--state", "runing"], /"runing".*running/],
  [["show", "x", "--raw", "0"], /--raw/],
  [["show", "x", "--force"], /--force without --html/],
  [["fsck", "x", "--all"], /--all/],
];
const OTHER_CODES: Readonly<Record<string, string>> = { "--fixture": "bad_fixture", " \n": "no_prompt" };

test("flags that make no sense are exit 2, with the flag named and nothing done", async () => {
  await using place = new Place([]);
  for (const [[verb = "", ...args], names] of WRONG) {
    const called = await place.call([verb, "--json", ...args]);
    const { message, hint } = assertError(called, { code: OTHER_CODES[args[0] ?? ""] ?? "usage", exit: 2 });
    assert.match(`${message} ${hint}`, names, args.join(" "));
    assert.equal(called.stderr, "");
  }
  const people = await place.call(["run", "--max-steps", "none", "Hi"]);
  assert.deepEqual([people.code, people.stdout], [2, ""]);
  assert.match(people.stderr, /^error: [^\n]+\nhint: [^\n]+\n$/);
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

/** Variables of a run, and its error. */
const SETTINGS: readonly (readonly [env: Readonly<Record<string, string>>, Omit<ExpectedError, "exit">])[] = [
  ...["", "  "].map((key) =>
    [{ OPENAI_API_KEY: key }, { code: "missing_key", hint: /OPENAI_API_KEY/ }] as const
  ),
  // Keys that no header can carry.
  ...["sk-two\nlines", "sk-ключ"].map((key) =>
    [{ OPENAI_API_KEY: key }, { code: "missing_key", says: /^(?!.*sk).*OPENAI_API_KEY/ }] as const
  ),
  [{ REPRISE_MODEL: "" }, { code: "no_model", hint: /-m MODEL/ }],
  [{ REPRISE_IDLE_TIMEOUT: "soon" }, { code: "bad_configuration", says: /REPRISE_IDLE_TIMEOUT/ }],
];

test("settings that are missing or wrong are exit 2 before anything is sent or written", async () => {
  await using place = new Place([]);
  for (const [env, expected] of SETTINGS) {
    assertError(await place.call(["run", "--json", "Hi"], { env }), { ...expected, exit: 2 });
  }
  for (const content of ["{", "[]", '{"model":7}', "\xff"]) {
    configure(place.sandbox, {});
    Deno.writeTextFileSync(`${place.sandbox.directory}/.config/reprise/config.json`, content);
    const called = await place.call(["run", "--json", "Hi"]);
    assertError(called, { code: "bad_configuration", exit: 2, says: /config\.json/ });
  }
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  await using sandbox = new Sandbox();
  const homeless = await sandbox.call(["ls", "--json"], { env: { HOME: "", REPRISE_HOME: "" } });
  assertError(homeless, { code: "usage", exit: 2, hint: /REPRISE_HOME/ });
});
