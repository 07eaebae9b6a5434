/** Counts in messages: a noun that fits its number, and no negative number of anything. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { answer, message, reasoning, type Script } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { events } from "../support/reprise.ts";
import { HELLO, Place, READS_A } from "./harness.ts";

/** `1 turns`, `1 open calls`, and fewer than none of anything. */
const WRONG =
  /\b1 (?:[a-z]+ )?(?:blobs|bytes|calls|events|findings|items|repairs|requests|sessions|tokens|turns)\b|-\d+ of /;

/** The message of the run's error. */
function errorOf(called: Parameters<typeof events>[0]): string {
  const error = events(called).find(({ type }) => type === "error");
  return error?.type === "error" ? String(error.message) : "";
}

/** An answer that reads a.txt, for a given number of input tokens and 40 output tokens. */
function readsFor(input: number) {
  const usage = { input_tokens: input, output_tokens: 40, total_tokens: input + 40 };
  return answer([functionCall("read_file", { path: "a.txt", offset: null, limit: null })], { usage });
}

const SPENT: readonly (readonly [what: string, script: Script, flags: readonly string[], says: string])[] = [
  ["one request", () => READS_A, ["--max-steps", "1"], "Budget exhausted: 1 request was sent (--max-steps)"],
  [
    "two requests",
    () => READS_A,
    ["--max-steps", "2"],
    "Budget exhausted: 2 requests were sent (--max-steps)",
  ],
  [
    "more tokens than there were",
    () => readsFor(200),
    ["--max-tokens", "200"],
    "Budget exhausted: 240 tokens were used, 40 more than 200 (--max-tokens)",
  ],
  [
    "fewer tokens than one request needs",
    () => readsFor(200),
    ["--max-tokens", "14"],
    "The budget of 14 tokens is too small: a response needs at least 16 tokens (--max-tokens)",
  ],
  [
    "a single token",
    () => readsFor(159),
    ["--max-tokens", "200"],
    "Budget exhausted: 1 of 200 tokens is left (--max-tokens)",
  ],
];

for (const [what, script, flags, says] of SPENT) {
  test(`the message about a used-up budget has matching numbers: ${what}`, async () => {
    await using place = new Place(script);
    const called = await place.call(["run", "--json", "--new", ...flags, "Look"]);
    assert.equal(called.code, 4);
    assert.equal(errorOf(called).split("; the run spent ")[0], says);
  });
}

test("no verb counts one thing in the plural: of a session with one request, one item, one finding and one repair", async () => {
  await using place = new Place([answer([reasoning("Hm."), message("Done.")]), HELLO]);
  await place.session("s");
  const exported = `${place.sandbox.directory}/s.jsonl`;
  const said = async (...args: readonly string[]) => {
    const { stdout, stderr } = await place.call(args);
    assert.doesNotMatch(stdout + stderr, WRONG, args.join(" "));
    return stdout + stderr;
  };
  assert.match(await said("fsck", "s", "--requests"), /^s: \d turns, ok, 1 request$/m);
  await said("explain", "s");
  await said("show", "s");
  await said("ls");
  assert.match(await said("doctor"), /1 session\b/);
  await said("export", "s", "-o", exported);
  await said("import", exported, "--dry-run");
  await said("run", "--dry-run", "-m", "m", "Hi");
  await said("rm", "--older-than", "0d", "--dry-run");
  await said("compact", "s", "--dry-run", "--keep-events", "1");
  Deno.removeSync(place.turnPath("s", 3));
  await Deno.remove(`${place.path("s")}/manifest.json`);
  await said("fsck", "s");
  await said("repair", "s", "--dry-run");
  await said("repair", "s");
});
