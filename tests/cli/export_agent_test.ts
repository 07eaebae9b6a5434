/** export --to: a new file of another agent, which import reads again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { AGENT_NAMES } from "../../src/agents/agent_session.ts";
import { assertError, Place } from "./harness.ts";
import { answer, message, reasoning } from "../support/scripted_api/responses.ts";
import { functionCall } from "../support/scripted_api/responses_script.ts";

async function withSession(): Promise<Place> {
  const at = new Place([
    answer([reasoning("Hm"), functionCall("read_file", { path: "a.txt" })]),
    answer([reasoning("Yes"), message("It says alpha.")]),
  ]);
  await at.session("one");
  return at;
}

test("export --to writes a private file without reasoning, which import reads again", async () => {
  await using at = await withSession();
  for (const to of AGENT_NAMES) {
    const path = `${at.sandbox.workspace}/${to}.jsonl`;
    const dry = await at.call(["export", "one", "--to", to, "-o", path, "--dry-run", "--json"]);
    assert.equal(JSON.parse(dry.stdout).changes[0].id ?? path, path);
    assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    const called = await at.call(["export", "one", "--to", to, "-o", path, "--json"]);
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const { messages, answers, results, lost, place, bytes } = JSON.parse(called.stdout);
    assert.deepEqual([messages, answers, results, lost], [1, 2, 1, []]);
    assert.match(place, /^~\/\.(codex|claude|pi)\/.*\.jsonl$/);
    const { mode, size } = Deno.statSync(path);
    assert.deepEqual([(mode ?? 0) & 0o777, size], [0o600, bytes]);
    assert.ok(!/encrypted_content|"reasoning"/.test(Deno.readTextFileSync(path)));

    const imported = await at.call(["import", path, "--json"]);
    const { from, session } = JSON.parse(imported.stdout);
    const { reasoning, ...kept } = from.kept;
    assert.deepEqual([from.agent, from.lost, reasoning], [to, [], 0]);
    assert.deepEqual([kept.messages, kept.calls, kept.results], [1, 1, 1]);
    const shown = await at.call(["show", session]);
    for (const text of ["Look at a.txt", "alpha", "It says alpha."]) {
      assert.match(shown.stdout, new RegExp(text));
    }
  }
});

test("export --to names the place and the command, and replaces no file", async () => {
  await using at = await withSession();
  const path = `${at.sandbox.workspace}/x.jsonl`;
  const called = await at.call(["export", "one", "--to", "claude", "-o", path]);
  assert.deepEqual([called.code, called.stdout], [0, ""]);
  assert.match(called.stderr, /exported one: 1 message, 2 answers, 1 result, without reasoning\n/);
  assert.match(
    called.stderr,
    /move it to ~\/\.claude\/projects\/\S+ .* and call: claude --resume [0-9a-f-]{36}\n$/,
  );
  const before = Deno.readTextFileSync(path);
  assertError(await at.call(["export", "one", "--to", "pi", "-o", path, "--json"]), {
    code: "usage",
    exit: 2,
    says: /"[^"]*x\.jsonl": the file exists$/,
    hint: /--force/,
  });
  assert.equal(Deno.readTextFileSync(path), before);
});

test("exports and pages name the directory that is missing, also with --dry-run", async () => {
  await using at = await withSession();
  const path = `${at.sandbox.workspace}/none/x.jsonl`;
  for (
    const args of [
      ["export", "one", "--to", "pi", "-o", path],
      ["export", "one", "--to", "pi", "-o", path, "--dry-run"],
      ["export", "one", path],
      ["export", "one", path, "--dry-run"],
      ["show", "one", "--html", path],
    ]
  ) {
    assertError(await at.call([...args, "--json"]), {
      ...{ code: "usage", exit: 2, says: /: there is no directory ".*\/none"$/, hint: /Create/ },
    });
  }
});

test("export --to refuses a missing name, a second name, --redact, an unknown agent and -o without --to", async () => {
  await using at = await withSession();
  const to = ["export", "one", "--to", "pi"];
  for (
    const [args, says] of [
      [to, /the new file has no name/],
      [[...to, "-o", ""], /the new file has no name/],
      [[...to, "-o", "-"], /the new file has no name/],
      [["export", "one", "x", "--to", "pi"], /the new file is named by -o/],
      [[...to, "-o", "x", "--redact"], /--redact is for exports of ours/],
      [["export", "one", "--to", "other", "-o", "x"], /Allowed choices are codex, claude, pi/],
      [["export", "one", "-o", "x"], /it is for --to/],
    ] as const
  ) assertError(await at.call([...args, "--json"]), { code: "usage", exit: 2, says });
  assert.deepEqual([...Deno.readDirSync(at.sandbox.workspace)].map(({ name }) => name), ["a.txt"]);
});
