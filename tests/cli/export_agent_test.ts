/** export --to: a new file of another agent, which import reads again. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { assertError, begun, HELLO, json, ok, READS_A } from "./harness.ts";

const details = { cached_tokens: 50 };
const usage = { input_tokens: 120, input_tokens_details: details, output_tokens: 40, total_tokens: 160 };
const options = { usage };
const one = begun(
  ({ input }) => ({ ...input.at(-1)?.type === "message" ? READS_A : HELLO, options }),
  (place) => place.session("one"),
);

test("export --to writes a private file without reasoning, which import reads again", async () => {
  await using at = await one();
  for (const to of ["codex", "claude", "pi"]) {
    const path = `${at.sandbox.workspace}/${to}.jsonl`;
    const args = ["export", "one", "--to", to, "-o", path];
    await json(at, [...args, "--dry-run"]);
    assert.throws(() => Deno.statSync(path), Deno.errors.NotFound);
    const { messages, answers, results, lost, place, bytes } = await json(at, args);
    assert.deepEqual([messages, answers, results, lost], [1, 2, 1, []]);
    assert.match(place, /^~\/\.(codex|claude|pi)\/.*\.jsonl$/);
    const { mode, size } = Deno.statSync(path);
    assert.deepEqual([(mode ?? 0) & 0o777, size], [0o600, bytes]);
    assert.doesNotMatch(Deno.readTextFileSync(path), /encrypted_content|"reasoning"/);

    const { from, session } = await json(at, ["import", path]);
    const { reasoning, ...kept } = from.kept;
    assert.deepEqual([from.agent, from.lost, reasoning], [to, [], 0]);
    assert.deepEqual([kept.messages, kept.calls, kept.results], [1, 1, 1]);
    assert.match(await ok(at, ["show", session]), /Look at a\.txt[^]*alpha[^]*Hello\./);
    if (to === "codex") continue;
    const { sessions } = await json(at, ["ls"]);
    const counts = ({ reasoning_tokens: _, ...counts }: Json) => counts;
    const [written, before] = [session, "one"].map((id) =>
      counts(sessions.find((one: Json) => one.id === id).usage)
    );
    assert.ok(before.input_tokens > before.cached_tokens && before.cached_tokens > 0, JSON.stringify(before));
    assert.deepEqual(written, before);
  }
});

test("export --to names the place and the command, and replaces no file", async () => {
  await using at = await one();
  const path = `${at.sandbox.workspace}/x.jsonl`;
  const called = await at.call(["export", "one", "--to", "claude", "-o", path]);
  assert.deepEqual([called.code, called.stdout], [0, ""]);
  const says =
    /exported one: 1 message, 2 answers, 1 result, without reasoning\n[^]*move it to ~\/\.claude\/projects\/\S+ .* and call: claude --resume [0-9a-f-]{36}\n$/;
  assert.match(called.stderr, says);
  const before = Deno.readTextFileSync(path);
  const again = await at.call(["export", "one", "--to", "pi", "-o", path, "--json"]);
  assertError(again, { code: "usage", exit: 2, says: /"[^"]*x\.jsonl": the file exists$/, hint: /--force/ });
  assert.equal(Deno.readTextFileSync(path), before);
});

test("exports and pages refuse wrong names, and name the directory that is missing, also with --dry-run", async () => {
  await using at = await one();
  const to = ["export", "one", "--to", "pi"];
  const missing = /: there is no directory "none"$|: there is no directory ".*\/none"$/;
  for (
    const [args, says] of [
      [to, /the new file has no name/],
      [["export", "one", "x", "--to", "pi"], /the new file is named by -o/],
      [[...to, "-o", "x", "--redact"], /--redact is for exports of ours/],
      [["export", "one", "--to", "other", "-o", "x"], /Allowed choices are codex, claude, pi/],
      [["export", "one", "-o", "x"], /it is for --to/],
      [[...to, "-o", "none/x"], missing],
      [["export", "one", "none/x"], missing],
      [["show", "one", "--html", "none/x"], missing],
    ] as const
  ) assertError(await at.call([...args, "--json"]), { code: "usage", exit: 2, says });
  assert.deepEqual([...Deno.readDirSync(at.sandbox.workspace)].map(({ name }) => name), ["a.txt"]);
});
