/** Counts in messages: a noun that fits its number, and no negative number of anything. */
import assert from "node:assert/strict";
import { answer, message, reasoning } from "../support/responses_server.ts";
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

Deno.test("the message about a used-up budget has matching numbers: one request", async () => {
  await using place = new Place(() => READS_A);
  const called = await place.call(["run", "--json", "--new", "--max-steps", "1", "Look"]);
  assert.deepEqual([called.code, errorOf(called)], [
    4,
    "Budget exhausted: 1 request was sent (--max-steps); the run spent 120 input tokens and 40 output tokens, $0.0013",
  ]);
});

Deno.test("the message about a used-up budget has matching numbers: two requests", async () => {
  await using place = new Place(() => READS_A);
  const called = await place.call(["run", "--json", "--new", "--max-steps", "2", "Look"]);
  assert.equal(
    errorOf(called),
    "Budget exhausted: 2 requests were sent (--max-steps); the run spent 240 input tokens and 80 output tokens, $0.0026",
  );
});

Deno.test("the message about a used-up budget has matching numbers: more tokens than there were", async () => {
  await using place = new Place(() => readsFor(200));
  const called = await place.call(["run", "--json", "--new", "--max-tokens", "200", "Look"]);
  assert.equal(
    errorOf(called),
    "Budget exhausted: 240 tokens were used, 40 more than 200 (--max-tokens); the run spent 200 input tokens and " +
      "40 output tokens, $0.0016",
  );
});

Deno.test("the message about a used-up budget has matching numbers: fewer tokens than one request needs", async () => {
  await using place = new Place(() => readsFor(200));
  const called = await place.call(["run", "--json", "--new", "--max-tokens", "14", "Look"]);
  assert.equal(
    errorOf(called),
    "The budget of 14 tokens is too small: a response needs at least 16 tokens (--max-tokens)",
  );
});

Deno.test("the message about a used-up budget has matching numbers: a single token", async () => {
  await using place = new Place(() => readsFor(159));
  const called = await place.call(["run", "--json", "--new", "--max-tokens", "200", "Look"]);
  assert.equal(
    errorOf(called),
    "Budget exhausted: 1 of 200 tokens is left (--max-tokens); the run spent 159 input tokens and 40 output tokens, " +
      "$0.0014",
  );
});

Deno.test("no verb counts one thing in the plural: of a session with one request, one item, one finding and one repair", async () => {
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
