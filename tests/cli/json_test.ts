/** The output's contract: JSON Lines from `run`, one document elsewhere, and help that helps. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import deno from "../../deno.json" with { type: "json" };
import { answer, message, rateLimited, unauthorized } from "../support/scripted_api/responses.ts";
import { ending, events, Sandbox } from "../support/reprise.ts";
import { VERBS as ALL_VERBS } from "../../src/cli/verbs.ts";
import { assertError, HELLO, MODEL, Place, readsThenAnswers } from "./harness.ts";

/** The members that scripts rely on, in order. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  "session": ["id", "path", "new"],
  "run.started": ["run", "continues", "model", "provider", "config_rules", "drift"],
  "request": ["step", "items", "reasoning_sent", "reasoning_dropped", "fingerprint"],
  "text.delta": ["delta"],
  "reasoning.delta": ["delta"],
  "item": ["item"],
  "turn.saved": ["turn", "kind", "seq", "sum"],
  "tool.started": ["seq", "call_id", "name", "arguments"],
  "tool.finished": ["seq", "call_id", "name", "status", "output_chars"],
  "usage": ["step", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"],
  "run.ended": [
    "state",
    "exit_code",
    "session",
    "run",
    "turns",
    "text",
    "denials",
    "denied",
    "usage",
    "cost_usd",
    "resume",
  ],
};

/** `types` with repeated deltas as one. */
function shape(types: readonly string[]): string[] {
  return types.filter((type, index) => !(type.endsWith(".delta") && types[index - 1] === type));
}

test("run --json is JSON Lines, and nothing else reaches stdout: the events of a run with a tool come in their order, each with its members", async () => {
  await using place = new Place(readsThenAnswers);
  const called = await place.call(["run", "--json", "Look at a.txt"]);
  assert.equal(called.code, 0);
  assert.equal(called.stderr, "");
  const lines = events(called);
  assert.equal(called.stdout, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  assert.deepEqual(shape(lines.map(({ type }) => type)), [
    ...["session", "run.started", "turn.saved"],
    ...["request", "reasoning.delta", "item", "item", "turn.saved", "usage"],
    ...["tool.started", "tool.finished", "turn.saved"],
    ...["request", "reasoning.delta", "item", "text.delta", "item", "turn.saved", "usage"],
    ...["turn.saved", "run.ended"],
  ]);
  for (const line of lines) {
    assert.deepEqual(Object.keys(line), ["type", ...MEMBERS[line.type] ?? []], line.type);
  }
});

test("run --json is JSON Lines, and nothing else reaches stdout: what they say is what is on disk", async () => {
  await using place = new Place(readsThenAnswers);
  const called = await place.call(["run", "--json", "--new", "-s", "s", "Look at a.txt"]);
  const lines = events(called);
  const saved = lines.flatMap((line) => line.type === "turn.saved" ? [line] : []);
  assert.deepEqual(
    saved.map(({ turn, kind, seq, sum }) => ({ turn, kind, seq, sum })),
    place.sandbox.turns("s").map(({ turn, kind, seq, sum }) => ({ turn, kind, seq, sum })),
  );
  const session = lines[0];
  assert.deepEqual(session, { type: "session", id: "s", path: place.path("s"), new: true });
  const items = lines.flatMap((line) => line.type === "item" ? [line.item] : []);
  const kept = place.sandbox.turns("s").flatMap((turn) => turn.events)
    .flatMap((event) => event.item === undefined ? [] : [event.item]);
  assert.deepEqual(items, kept);
  assert.deepEqual(ending(called), {
    type: "run.ended",
    state: "completed",
    exit_code: 0,
    session: "s",
    run: 1,
    turns: [1, 5],
    text: "Hello.",
    denials: 0,
    denied: [],
    usage: {
      input_tokens: 240,
      cached_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 80,
      reasoning_tokens: 32,
    },
    cost_usd: 0.00256,
    resume: 'reprise run -s s "…"',
  });
  const request = lines.find((line) => line.type === "request");
  assert.match(String(request?.fingerprint), new RegExp(`^openai:${MODEL}:[0-9a-f]{8}$`));
});

test("the command in resume keeps the limits of the run, and its fixture: what was played is not sent", async () => {
  await using place = new Place(() => HELLO);
  const limited = ["--max-cost", "0.5", "--max-tokens", "20"];
  const spent = ending(await place.call(["run", "--json", "--new", "-s", "s", ...limited, "Hi"]));
  assert.equal(spent.resume, 'reprise run -s s --max-tokens 20 --max-cost 0.5 "…"');
  const recorded = `${place.sandbox.directory}/rec`;
  await place.call(["run", "--json", "--new", "-s", "kept", "--record", recorded, "Hi"]);
  const { length } = place.server.requests;
  const flags = ["--fixture", recorded, "--match", "conversation"];
  const missed = ending(await place.call(["run", "--json", "--new", "-s", "played", ...flags, "Bye"]));
  assert.equal(
    missed.resume,
    `reprise run -s played --fixture ${recorded} --match conversation`,
  );
  assert.equal(place.server.requests.length, length);
});

test("run --json is JSON Lines, and nothing else reaches stdout: the command in resume continues the session, after a failed run and after a completed one", async () => {
  await using place = new Place([answer([message("Half")], { end: { kind: "cut" } }), HELLO, HELLO]);
  const failed = ending(await place.call(["run", "--json", "--new", "-s", "s", "Hi"]));
  assert.equal(failed.resume, "reprise run -s s");
  const next = ending(await place.call([...failed.resume.split(" ").slice(1), "--json"]));
  assert.equal(next.state, "completed");
  const words = next.resume.replace(/^reprise /, "").replace(/ "…"$/, "").split(" ");
  assert.equal((await place.call([...words, "…", "--json"])).code, 0);
});

test("run --json is JSON Lines, and nothing else reaches stdout: a retry is a notice, and an error comes just before run.ended", async () => {
  await using place = new Place([rateLimited({ retryAfter: "0" }), unauthorized()]);
  const called = await place.call(["run", "--json", "Hi"]);
  assert.deepEqual(events(called).map(({ type }) => type), [
    ...["session", "run.started", "turn.saved", "request", "notice", "turn.saved", "error", "run.ended"],
  ]);
  const error = assertError(called, { code: "unauthorized", exit: 8 });
  assert.deepEqual(Object.keys(error), ["type", "code", "exit_code", "message", "hint", "details"]);
});

test("for people, stdout is the answer and stderr the rest: a run in a pipe prints the answer alone, and its session on stderr", async () => {
  await using place = new Place(readsThenAnswers);
  const called = await place.call(["run", "--new", "-s", "s", "Look at a.txt"]);
  assert.deepEqual(called, { code: 0, stdout: "Hello.\n", stderr: "session s (new)\n" });
});

test("for people, stdout is the answer and stderr the rest: text of a model in a pipe is not altered", async () => {
  const text = "\x1b[31mred\x1b[0m \x07 \u202e back\r\n";
  await using place = new Place([answer([message(text)])]);
  assert.equal((await place.call(["run", "Hi"])).stdout, `${text}\n`);
});

test("for people, stdout is the answer and stderr the rest: notices go to stderr, and --quiet drops them but no error", async () => {
  await using place = new Place(() => rateLimited({ retryAfter: "0" }));
  const reported = await place.call(["run", "Hi"]);
  assert.match(reported.stderr, /^session .*\nnotice: trying again .*\nnotice: .*\nerror: .*429.*\n/);
  const quiet = await place.call(["run", "--quiet", "Hi"]);
  assert.match(quiet.stderr, /^error: [^\n]*429[^\n]*\n/);
  assert.deepEqual([reported.code, reported.stdout, quiet.code, quiet.stdout], [9, "", 9, ""]);
});

/** Exit codes that cli.md promises to scripts. */
const EXIT_CODES = `
   0 completed
   1 unexpected error
   2 usage: bad flag, value or configuration, or no such session
   3 permission denied (--fail-on-denied)
   4 budget exhausted (steps, tokens, cost)
   5 session or fixture locked by another writer, or session diverged
   6 ended without a final answer (incomplete, refused)
   7 fixture miss, broken rule, unused fixture, replay divergence
   8 authentication or authorization (401, 403)
   9 rate limit or quota (429)
  10 provider or network failure (5xx, cut stream, DNS, TLS)
  11 context window overflow
  12 session damaged
  13 request refused by the API (other 4xx)
  14 storage: disk full, read-only, or no permission on the home
 124 timeout
 129 SIGHUP
 130 SIGINT
 141 broken pipe
 143 SIGTERM`;

const VERBS = ["run", "interrupt", "ls", "show", "explain", "fsck", "doctor"];

test("help says what there is: reprise --help lists every verb on one screen, and help codes every exit code", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call(["--help"]);
  assert.deepEqual([code, stderr], [0, ""]);
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.length <= 45 && lines.every(({ length }) => length <= 80), stdout);
  const shown = lines.flatMap((line) => /^ {2}([a-z]+) +(.*)$/.exec(line)?.slice(1) ?? []);
  const hidden = ["completions", "schema"];
  const all = [...ALL_VERBS.map(({ name }) => name), "fixture"].filter((name) => !hidden.includes(name));
  assert.deepEqual(shown.filter((_, index) => index % 2 === 0).toSorted(), all.toSorted());
  for (const { name, about } of ALL_VERBS) assert.ok(hidden.includes(name) || shown.includes(about), name);
  assert.deepEqual(await sandbox.call(["help"]), { code: 0, stdout, stderr: "" });
  const codes = (await sandbox.call(["help", "codes"])).stdout;
  const listed = codes.match(/^ +\d+ .*$/gm) ?? [];
  const words = (line: string) => line.trim().replace(/ +/, " ");
  assert.deepEqual(listed.map(words), EXIT_CODES.trim().split("\n").map(words));
});

test("help says what there is: --help of each verb gives an example of it, and help VERB is the same", async () => {
  await using sandbox = new Sandbox();
  await Promise.all(VERBS.map(async (verb) => {
    const { code, stdout } = await sandbox.call([verb, "--help"]);
    assert.equal(code, 0);
    assert.match(stdout, new RegExp(`^Example:\n  reprise ${verb}\\b`, "m"));
    assert.match(stdout, /--json/);
    assert.deepEqual(await sandbox.call(["help", verb]), { code: 0, stdout, stderr: "" });
  }));
});

test("help says what there is: a mistyped verb or flag is exit 2 with a suggestion", async () => {
  await using sandbox = new Sandbox();
  for (
    const [args, hint] of [
      [["version"], /^Try: reprise --version$/],
      [["delete", "s"], /^Try: reprise rm ID$/],
      [["log"], /^Try: reprise show ID$/],
    ] as const
  ) assertError(await sandbox.call([...args, "--json"]), { code: "usage", exit: 2, hint });
  for (
    const [args, hint] of [[["shwo"], /show/], [["lss"], /ls/], [
      ["run", "--modle", "x"],
      /--model/,
    ]] as const
  ) {
    assertError(await sandbox.call([...args, "--json"]), { code: "usage", exit: 2, hint });
    const reported = await sandbox.call(args);
    assert.match(reported.stderr, /^error: .*\nhint: .*Did you mean/);
  }
});

test.long("help says what there is: no verb at all prints help and is exit 2", async () => {
  await using sandbox = new Sandbox();
  const { code, stdout, stderr } = await sandbox.call([]);
  assert.equal(code, 2);
  assert.match(stdout + stderr, /Usage: reprise/);
});

test("help says what there is: help for a verb that is not there is exit 2", async () => {
  await using sandbox = new Sandbox();
  assert.equal((await sandbox.call(["help", "nonsense"])).code, 2);
});

test("help says what there is: --version prints the version alone", async () => {
  await using sandbox = new Sandbox();
  for (const flag of ["--version", "-V"]) {
    assert.deepEqual(await sandbox.call([flag]), { code: 0, stdout: `${deno.version}\n`, stderr: "" });
  }
});
