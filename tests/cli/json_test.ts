/** The output's contract: JSON Lines from `run`, one document elsewhere, and help that helps. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import deno from "../../deno.json" with { type: "json" };
import { type Json, sha256 } from "../support/files.ts";
import { answer, message, rateLimited, unauthorized } from "../support/scripted_api/responses.ts";
import { needing } from "../support/needs.ts";
import { events, Sandbox } from "../support/reprise.ts";
import { assertError, LACKS_MODES, MODEL, Place, readsThenAnswers, WITH_MODES } from "./harness.ts";

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
    ...["state", "exit_code", "session", "run", "turns", "text", "denials", "denied", "usage", "cost_usd"],
    "resume",
  ],
  "error": ["code", "exit_code", "message", "hint", "details"],
};

test("run --json is JSON Lines, and nothing else: the events of a run with a tool in their order, each with its members, which say what is on disk", async () => {
  await using place = new Place(readsThenAnswers);
  const called = await place.call(["run", "--json", "--new", "-s", "s", "Look at a.txt"]);
  assert.deepEqual([called.code, called.stderr], [0, ""]);
  const lines: Json[] = events(called);
  assert.equal(called.stdout, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const types: string[] = lines.map(({ type }) => type);
  // Repeated deltas as one.
  const shape = types.filter((type, index) => !(type.endsWith(".delta") && types[index - 1] === type));
  assert.deepEqual(shape, [
    ...["session", "run.started", "turn.saved"],
    ...["request", "reasoning.delta", "item", "item", "turn.saved", "usage"],
    ...["tool.started", "tool.finished", "turn.saved"],
    ...["request", "reasoning.delta", "item", "text.delta", "item", "turn.saved", "usage"],
    ...["turn.saved", "run.ended"],
  ]);
  for (const line of lines) {
    assert.deepEqual(Object.keys(line), ["type", ...MEMBERS[line.type] ?? []], line.type);
  }
  const turns = place.sandbox.turns("s");
  assert.deepEqual(
    lines.filter(({ type }) => type === "turn.saved").map(({ type: _, ...saved }) => saved),
    turns.map(({ turn, kind, seq, sum }) => ({ turn, kind, seq, sum })),
  );
  assert.deepEqual(
    lines.flatMap(({ item = [] }) => item),
    turns.flatMap((turn) => turn.events).flatMap(({ item = [] }: Json) => item),
  );
  assert.deepEqual(lines[0], { type: "session", id: "s", path: place.path("s"), new: true });
  const request = lines.find(({ type }) => type === "request");
  assert.match(request.fingerprint, new RegExp(`^openai:${MODEL}:[0-9a-f]{8}$`));
  const tokens = { input_tokens: 240, cached_tokens: 0, cache_write_tokens: 0 };
  assert.deepEqual(lines.at(-1), {
    ...{ type: "run.ended", state: "completed", exit_code: 0, session: "s", run: 1, turns: [1, 5] },
    ...{ text: "Hello.", denials: 0, denied: [] },
    usage: { ...tokens, output_tokens: 80, reasoning_tokens: 32 },
    ...{ cost_usd: 0.00256, resume: 'reprise run -s s "…"' },
  });
});

test("run --no-blobs prints encrypted content as its length and sha256, and keeps it on disk", async () => {
  await using place = new Place(readsThenAnswers);
  const { stdout } = await place.call(["run", "--json", "--no-blobs", "--new", "-s", "s", "Look at a.txt"]);
  const items = place.sandbox.turns("s").flatMap((turn) => turn.events).flatMap(({ item = [] }: Json) =>
    item
  );
  const blobs: string[] = items.flatMap(({ encrypted_content = [] }) => encrypted_content);
  assert.equal(blobs.length, 2);
  for (const blob of blobs) {
    assert.ok(!stdout.includes(blob));
    const shown = `"encrypted_content":{"bytes":${blob.length},"sha256":"${sha256(blob)}"}`;
    assert.ok(stdout.includes(shown), stdout);
  }
});

test("a retry is a notice, and an error comes just before run.ended", async () => {
  await using place = new Place([rateLimited({ retryAfter: "0" }), unauthorized()]);
  const called = await place.call(["run", "--json", "Hi"]);
  assert.deepEqual(events(called).map(({ type }) => type), [
    ...["session", "run.started", "turn.saved", "request", "notice", "turn.saved", "error", "run.ended"],
  ]);
  const error = assertError(called, { code: "unauthorized", exit: 8 });
  assert.deepEqual(Object.keys(error), ["type", ...MEMBERS.error ?? []]);
});

test("for people, stdout in a pipe is the answer, unaltered; notices go to stderr, and --quiet drops them but no error", async () => {
  const text = "\x1b[31mred\x1b[0m \x07 \u202e back\r\n";
  await using place = new Place([answer([message(text)])]);
  const called = await place.call(["run", "--new", "-s", "s", "Look at a.txt"]);
  assert.deepEqual(called, { code: 0, stdout: `${text}\n`, stderr: "session s (new)\n" });
  await using limited = new Place(() => rateLimited({ retryAfter: "0" }));
  const reported = await limited.call(["run", "Hi"]);
  assert.match(reported.stderr, /^session .*\nnotice: trying again .*\nnotice: .*\nerror: .*429.*\n/);
  const quiet = await limited.call(["run", "--quiet", "Hi"]);
  assert.match(quiet.stderr, /^error: [^\n]*429[^\n]*\n/);
  assert.deepEqual([reported.code, reported.stdout, quiet.code, quiet.stdout], [9, "", 9, ""]);
});

test("help rules lists each named rule of docs/fixtures.md, and no help names a file", async () => {
  await using sandbox = new Sandbox();
  const { stdout } = await sandbox.call(["help", "rules"]);
  const page = Deno.readTextFileSync(new URL("../../docs/fixtures.md", import.meta.url));
  const [, named = ""] = /\*\*Named rules\*\*([^]*?) Words such as/.exec(page) ?? [];
  const names = Array.from(named.matchAll(/`([a-z]+)`/g), ([, name = ""]) => name);
  assert.equal(names.length, 12);
  const lines = [...names, "--ignore", "--replace", "--context"].map((name) => `\n  ${name} `);
  assert.deepEqual(lines.filter((line) => !stdout.includes(line)), []);
  for (const verb of ["record", "serve", "run", "test"]) {
    assert.doesNotMatch((await sandbox.call(["help", verb])).stdout, /docs\//);
  }
});

test("reprise --help lists every verb on one screen, help codes every exit code, help faults every fault, and each verb has an example", async () => {
  await using sandbox = new Sandbox();
  const help = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await sandbox.call(args);
    assert.deepEqual([code, stderr], [0, ""], args.join(" "));
    return stdout;
  };
  const page = await help("--help");
  const lines = page.trimEnd().split("\n");
  assert.ok(lines.length <= 45 && lines.every(({ length }) => length <= 80), page);
  const shown = lines.flatMap((line) => /^ {2}([a-z]+) +(.*)$/.exec(line)?.slice(1, 2) ?? []);
  // Each verb and its description, as shells complete them.
  const words = (await help("completions", "words", "--", "")).trimEnd().split("\n").map((line) =>
    line.split("\t")
  );
  const listed = words.filter(([verb, about = ""]) => page.includes(`  ${verb} `) && page.includes(about));
  assert.deepEqual(listed.map(([verb]) => verb).sort(), shown.toSorted());
  const hidden = words.map(([verb = ""]) => verb).filter((verb) => !shown.includes(verb));
  assert.deepEqual(hidden, ["completions", "schema", "help"]);
  assert.equal(await help("help"), page);
  const codes = (await help("help", "codes")).match(/^ +\d+ .*$/gm) ?? [];
  const configuration = Deno.readTextFileSync(new URL("../../docs/configuration.md", import.meta.url));
  const promised = Array.from(
    configuration.matchAll(/^\| (\d+) \| (.*?) \|/gm),
    ([, code, meaning]) => `${code} ${meaning}`,
  );
  assert.ok(promised.length > 15);
  assert.deepEqual(codes.map((line) => line.trim().replace(/ +/, " ")), promised);
  const faults = await help("help", "faults");
  const rules = Deno.readTextFileSync(new URL("../../docs/rules.md", import.meta.url));
  const [, tables = ""] = rules.split(/<!-- faults:(?:begin|end) -->/);
  const forms = Array.from(tables.matchAll(/^\| `([^`]+)` \|/gm), ([, form = ""]) => form);
  assert.ok(forms.length > 35);
  assert.deepEqual(forms.filter((form) => !faults.includes(`\n  ${form} `)), []);
  assert.ok(faults.split("\n").every(({ length }) => length <= 100), faults);
  for (const verb of shown) {
    const text = await help(verb, "--help");
    // A group of verbs has commands in place of an example.
    assert.match(text, new RegExp(`^(Examples?:\n  reprise ${verb}\\b|Commands:\n  ls )`, "m"));
    assert.equal(await help("help", verb), text);
  }
  for (const flag of ["--version", "-V"]) assert.equal(await help(flag), `${deno.version}\n`);
  assert.equal((await sandbox.call(["help", "nonsense"])).code, 2);
});

test("the help of verbs with many flags has groups, which leave no flag out", async () => {
  await using sandbox = new Sandbox();
  for (
    const [verb, first] of [
      ["run", "Session"],
      ["certify", "Cells"],
      ["record", "What to record, and where"],
      [
        "serve",
        "What fails",
      ],
    ]
  ) {
    const { stdout } = await sandbox.call([verb ?? "", "--help"]);
    const heads: string[] = stdout.match(/^\S.*:$/gm) ?? [];
    assert.ok(heads.length > 5 && !heads.includes("Options:"), heads.join());
    assert.equal(heads.filter((head) => head !== "Arguments:")[0], `${first}:`);
  }
});

test("a mistyped verb or flag is exit 2 with a suggestion, and no verb at all prints help", async () => {
  await using sandbox = new Sandbox();
  Deno.mkdirSync(`${sandbox.workspace}/f/a`, { recursive: true });
  Deno.writeTextFileSync(`${sandbox.workspace}/f/a/fixture.json`, "{}");
  for (
    const [call, hint] of [
      ["prune f", /^Try: reprise fixture prune f$/],
      ["prune", /^Try: reprise rm --older-than 90d$/],
      ["prune nowhere", /^Try: reprise rm --older-than 90d$/],
      ["verify f/a", /^Try: reprise fixture lint f\/a$/],
      ["verify s", /^Try: reprise fsck ID --requests$/],
      ["lint x", /^Try: reprise fixture lint DIR$/],
      ["fixture list f", /^Try: reprise fixture ls f$/],
      ["fixture list", /^Try: reprise fixture ls DIR$/],
      ["diff f f/a", /^Try: reprise fixture diff f f\/a$/],
      ["diff f", /^Try: reprise fixture diff f DIR$/],
      ["fixture constructor", /^See "reprise fixture --help"$/],
      ["toString f", /^See "reprise --help"$/],
      ["ls f", /^It holds recordings: reprise fixture ls f$/],
      ["learn x", /^See "reprise --help"$/],
      ["init", /^See "reprise --help"$/],
      ["version", /^Try: reprise --version$/],
      ["delete s", /^Try: reprise rm ID$/],
      ["log", /^Try: reprise show ID$/],
      ["shwo", /^Did you mean.*show/],
      ["run --modle x", /^Did you mean.*--model/],
    ] as const
  ) {
    const args = call.split(" ");
    assertError(await sandbox.call([...args, "--json"]), { code: "usage", exit: 2, hint });
    assert.match((await sandbox.call(args)).stderr, /^error: .*\nhint: .*(Did you mean|Try|See|It holds)/);
  }
  const fsck = await sandbox.call(["fsck", "f"]);
  assert.match(fsck.stderr, /\nhint: It holds recordings: reprise fixture lint f\n$/);
  const shown = await sandbox.call(["show", "f/a"]);
  assert.match(shown.stderr, /\nhint: It holds recordings: reprise fixture show f\/a\n$/);
  const { code, stdout, stderr } = await sandbox.call([]);
  assert.equal(code, 2);
  assert.match(stdout + stderr, /Usage: reprise/);
});

test.process(
  needing("a folder that cannot be read is a clear error, in hints and in fixture show", LACKS_MODES),
  async () => {
    await using place = new Place([]);
    const { workspace } = place.sandbox;
    Deno.mkdirSync(`${workspace}/f/closed`, { recursive: true, mode: 0o755 });
    Deno.chmodSync(`${workspace}/f/closed`, 0);
    for (
      const [args, code, says] of [
        [["prune", "f/closed"], 2, /Try: reprise rm/],
        [["lint", "f/closed"], 2, /Try: reprise fixture lint DIR/],
        [["ls", "f/closed"], 2, /Too many arguments[^]*hint: See/],
        [["fixture", "show", "f"], 14, /error: Cannot read the fixture: permission denied/],
        [
          ["fixture", "show", "f", "--html", "f.html"],
          14,
          /error: Cannot read the fixture: permission denied/,
        ],
      ] as const
    ) {
      const called = await place.call(args, { through: WITH_MODES });
      assert.match(called.stderr, says);
      assert.deepEqual([called.code, called.stderr.includes("Uncaught")], [code, false]);
    }
    Deno.chmodSync(`${workspace}/f/closed`, 0o700);
  },
);
