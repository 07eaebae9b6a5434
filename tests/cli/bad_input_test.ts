/** Sessions, flags and settings that cannot be used: each with its exit code, and what to do instead. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, reasoning } from "../support/responses_server.ts";
import { ending, events, Sandbox } from "../support/reprise.ts";
import { assertError, HELLO, Place, readsThenAnswers, until } from "./harness.ts";

const STALLS = answer([reasoning("Thinking"), message("Hello.")], { end: { kind: "stall" } });

test("a session that cannot be used is named, and nothing is sent: an unknown session is exit 2, and the hint says how to list them", async () => {
  await using place = new Place([]);
  for (
    const verb of [["run", "-s", "nowhere", "Hi"], ["show", "nowhere"], [
      "run",
      "-s",
      "nowhere",
      "--dry-run",
      "--body",
    ]]
  ) {
    assertError(await place.call([...verb, "--json"]), {
      code: "no_such_session",
      exit: 2,
      says: /"nowhere"/,
      hint: /reprise ls/,
    });
  }
  assertError(await place.call(["explain", "nowhere", "--json"]), { code: "no_such_session", exit: 2 });
  assertError(await place.call(["fsck", "nowhere", "--json"]), { code: "no_such_session", exit: 2 });
  assert.equal(place.server.requests.length, 0);
});

test("a session that cannot be used is named, and nothing is sent: a near miss is suggested", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("fix-ci-7k2m");
  const called = await place.call(["show", "fix-ci-7k2m9", "--json"]);
  assertError(called, { code: "no_such_session", exit: 2, hint: /"fix-ci-7k2m"/ });
});

test("a session that cannot be used is named, and nothing is sent: a path instead of an id is exit 2, whatever its shape", async () => {
  await using place = new Place([]);
  const outside = `${place.sandbox.directory}/outside`;
  Deno.mkdirSync(outside);
  const ids = [
    "../outside",
    "..",
    ".",
    "/etc",
    "a/b",
    "a\\b",
    "~",
    ".hidden",
    "-x",
    "",
    "a".repeat(65),
    "Fix-CI",
    "naïve",
    "a b",
    "a\nb",
    "%2e%2e%2f",
    "con.txt",
    "@first",
  ];
  await Promise.all(ids.map(async (id, index) => {
    const args = ["run", "--json", `--session=${id}`, "Hi", ...(index % 2 === 0 ? ["--new"] : [])];
    assertError(await place.call(args), { code: "bad_session_id", exit: 2, says: /a-z/ });
  }));
  assert.deepEqual([...Deno.readDirSync(outside)], []);
  assert.equal(place.server.requests.length, 0);
});

test("a session that cannot be used is named, and nothing is sent: --new with the id of a session that exists is exit 2 and leaves that session alone", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("taken");
  const before = place.sandbox.turns("taken");
  const called = await place.call(["run", "--json", "--new", "-s", "taken", "Hi"]);
  assertError(called, { code: "session_exists", exit: 2, says: /"taken"/ });
  assert.deepEqual(place.sandbox.turns("taken"), before);
});

test("a session that cannot be used is named, and nothing is sent: -c where no session was run is exit 2", async () => {
  await using place = new Place([]);
  const called = await place.call(["run", "--json", "-c", "Hi"]);
  assertError(called, { code: "no_such_session", exit: 2, hint: /reprise ls/ });
});

test("a session that cannot be used is named, and nothing is sent: -c without a prompt when the last run completed is exit 2 and adds no turn", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("done");
  const before = place.sandbox.turnNames("done");
  const called = await place.call(["run", "--json", "-c"]);
  const lines = events(called);
  assert.equal(called.code, 2);
  assert.equal(lines.at(-1)?.type, "error");
  assertError({ ...called, stdout: JSON.stringify(lines.at(-1)) }, {
    code: "nothing_to_continue",
    exit: 2,
    says: /completed/,
    hint: /reprise run -s done/,
  });
  assert.deepEqual(place.sandbox.turnNames("done"), before);
});

test.process("a session that another process writes is left to it: a second writer is exit 5 and names the owner's pid", async () => {
  await using place = new Place([STALLS]);
  const owner = place.start(["run", "--json", "--new", "-s", "busy", "Hi"]);
  await owner.printed('"type":"item"', 2);
  const called = await place.call(["run", "--json", "-s", "busy", "Me too"]);
  const error = assertError(called, { code: "session_locked", exit: 5, hint: /--wait/ });
  assert.match(String(error.message), new RegExp(`\\b${owner.process.pid}\\b`));
  const waited = await place.call(["run", "--json", "-s", "busy", "--wait", "0.3", "Me too"]);
  assertError(waited, { code: "session_locked", exit: 5 });
  owner.process.kill("SIGTERM");
  assert.equal((await owner.ended()).code, 143);
  assert.equal(place.server.requests.length, 1);
});

test.process("a session that another process writes is left to it: --wait succeeds when the owner ends", async () => {
  await using place = new Place([STALLS, HELLO]);
  const owner = place.start(["run", "--json", "--new", "-s", "busy", "Hi"]);
  await owner.printed('"type":"item"', 2);
  const waiting = place.start(["run", "--json", "-s", "busy", "--wait", "60", "Me too"]);
  await new Promise((resolve) => setTimeout(resolve, 400));
  assert.equal(waiting.stdout, "", "nothing happens before the lock is held");
  owner.process.kill("SIGTERM");
  const [first, second] = await Promise.all([owner.ended(), waiting.ended()]);
  assert.equal(first.code, 143);
  assert.equal(ending(second).state, "completed", second.stdout + second.stderr);
  assert.equal(ending(second).run, 2);
});

test.process("a session that another process writes is left to it: a session whose owner was killed is free at once", async () => {
  await using place = new Place([STALLS, HELLO]);
  const owner = place.start(["run", "--json", "--new", "-s", "busy", "Hi"]);
  await owner.printed('"type":"item"', 2);
  owner.process.kill("SIGKILL");
  await owner.ended();
  const called = await place.call(["run", "--json", "-s", "busy", "Me too"]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
});

test.process("a session that another process writes is left to it: SIGINT ends the waiting as interrupted", async () => {
  await using place = new Place([STALLS]);
  const owner = place.start(["run", "--json", "--new", "-s", "busy", "Hi"]);
  await owner.printed('"type":"item"', 2);
  const waiting = place.start(["run", "--json", "-s", "busy", "--wait", "60", "Me too"]);
  await opens(waiting.process.pid, `${place.path("busy")}/lock`);
  waiting.process.kill("SIGINT");
  assertError(await waiting.ended(), { code: "interrupted", exit: 130 });
  owner.process.kill("SIGTERM");
  await owner.ended();
});

/** Waits until a process has a file open; Linux only. */
async function opens(pid: number, path: string): Promise<void> {
  const descriptors = `/proc/${pid}/fd`;
  const names = () => [...Deno.readDirSync(descriptors)].map(({ name }) => `${descriptors}/${name}`);
  await until(() => names().some((name) => linkOf(name) === path), `process ${pid} to open ${path}`);
}

function linkOf(path: string): string | null {
  try {
    return Deno.readLinkSync(path);
  } catch {
    return null;
  }
}

test("flags that make no sense are exit 2, with the flag named and nothing done: every one of them", async () => {
  await using place = new Place([]);
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [["run", "--nonsense", "Hi"], /--nonsense/],
    [["run", "--modle", "x", "Hi"], /--modle/],
    [["run", "one", "two"], /too many arguments/i],
    [["run", "--max-steps", "0", "Hi"], /--max-steps/],
    [["run", "--max-steps", "1e3", "Hi"], /--max-steps/],
    [["run", "--max-tokens", "-5", "Hi"], /--max-tokens/],
    [["run", "--timeout", "soon", "Hi"], /--timeout/],
    // More milliseconds than a timer counts: it would fire at once.
    [["run", "--timeout", "2147484", "Hi"], /--timeout/],
    [["run", "--wait", "-1", "Hi"], /--wait/],
    [["run", "-m"], /--model/],
    [["run", "-p", "acme", "Hi"], /acme/],
    [["run", "-s", "a", "-c", "Hi"], /--continue/],
    [["run", "--new", "-c", "Hi"], /--new/],
    [["run", "-w", "nowhere", "Hi"], /"nowhere"/],
    [["run", "-w", "a.txt", "Hi"], /"a\.txt"/],
    [["run", "--instructions", "@nowhere.md", "Hi"], /nowhere\.md/],
    [["run", "--output-schema", "nowhere.json", "Hi"], /nowhere\.json/],
    [["run", "--output-schema", "a.txt", "Hi"], /a\.txt/],
    [["run", "-o", "no/such/directory/answer.txt", "Hi"], /answer\.txt/],
    [["run", "-o", ".", "Hi"], /"\."/],
    [["run", "--fixture", "nowhere", "Hi"], /nowhere/],
    [["run", ""], /empty/],
    [["run", " \n"], /empty/],
    [["ls", "--since", "yesterday"], /yesterday/],
    [["ls", "--limit", "0"], /--limit/],
    [["show"], /id/],
    [["show", "x", "--raw", "0"], /--raw/],
    [["show", "x", "--turns", "--events"], /--turns/],
    [["fsck"], /--all/],
    [["fsck", "x", "--all"], /--all/],
    [["nonsense"], /nonsense/],
  ];
  for (const [[verb = "", ...rest], says] of rows) {
    const called = await place.call([verb, "--json", ...rest]);
    const shown = `${verb} ${rest.join(" ")}: ${called.stdout}`;
    assert.equal(called.code, 2, shown);
    const error = assertError(called, { code: codeOf(rest), exit: 2 });
    assert.match(`${error.message} ${error.hint}`, says, shown);
    assert.equal(called.stderr, "", shown);
  }
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test("flags that make no sense are exit 2, with the flag named and nothing done: the same for people is one error line and one hint line on stderr", async () => {
  await using place = new Place([]);
  const called = await place.call(["run", "--max-steps", "none", "Hi"]);
  assert.equal(called.code, 2);
  assert.equal(called.stdout, "");
  assert.match(called.stderr, /^error: [^\n]+\nhint: [^\n]+\n$/);
});

function codeOf(args: readonly string[]): string {
  if (args.includes("--fixture")) return "bad_fixture";
  return args.length === 1 && args[0]?.trim() === "" ? "no_prompt" : "usage";
}

test("settings that are missing or wrong are exit 2 before anything is sent or written: a missing key", async () => {
  await using place = new Place([]);
  for (const OPENAI_API_KEY of ["", "  "]) {
    const called = await place.call(["run", "--json", "Hi"], { env: { OPENAI_API_KEY } });
    assertError(called, { code: "missing_key", exit: 2, hint: /OPENAI_API_KEY/ });
  }
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test("settings that are missing or wrong are exit 2 before anything is sent or written: a key that no header can carry, without quoting it", async () => {
  await using place = new Place([]);
  for (const OPENAI_API_KEY of ["sk-two\nlines", "sk with spaces", "sk-ключ"]) {
    const called = await place.call(["run", "--json", "Hi"], { env: { OPENAI_API_KEY } });
    assertError(called, { code: "missing_key", exit: 2, says: /OPENAI_API_KEY/ });
    assert.ok(!called.stdout.includes("sk"));
  }
});

test("settings that are missing or wrong are exit 2 before anything is sent or written: no model", async () => {
  await using place = new Place([]);
  const called = await place.call(["run", "--json", "Hi"], { env: { REPRISE_MODEL: "" } });
  assertError(called, { code: "no_model", exit: 2, hint: /-m MODEL/ });
});

test("settings that are missing or wrong are exit 2 before anything is sent or written: a configuration file that is wrong", async () => {
  await using place = new Place([]);
  const directory = `${place.sandbox.directory}/.config/reprise`;
  Deno.mkdirSync(directory, { recursive: true });
  for (const content of ["{", "[]", '{"api_key":"x"}', '{"model":7}', "\xff"]) {
    Deno.writeTextFileSync(`${directory}/config.json`, content);
    const called = await place.call(["run", "--json", "Hi"]);
    assertError(called, { code: "bad_configuration", exit: 2, says: /config\.json/ });
  }
});

test("settings that are missing or wrong are exit 2 before anything is sent or written: a timeout variable that is no number", async () => {
  await using place = new Place([]);
  const called = await place.call(["run", "--json", "Hi"], { env: { REPRISE_IDLE_TIMEOUT: "soon" } });
  assertError(called, { code: "bad_configuration", exit: 2, says: /REPRISE_IDLE_TIMEOUT/ });
  assert.equal(place.server.requests.length, 0);
});

test("settings that are missing or wrong are exit 2 before anything is sent or written: neither HOME nor another place for sessions", async () => {
  await using sandbox = new Sandbox();
  const called = await sandbox.call(["ls", "--json"], { env: { HOME: "", REPRISE_HOME: "" } });
  assertError(called, { code: "usage", exit: 2, hint: /REPRISE_HOME/ });
});
