/** A history that exceeds the model's window, and the commands that the hints name. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, httpError, message, reasoning } from "../support/scripted_api/responses.ts";
import { functionCall, type ScriptedResponse } from "../support/scripted_api/responses_script.ts";
import { shellWords } from "../../src/tools/permission/shell_words.ts";
import { assertError, Place } from "./harness.ts";

/** Input characters that the server accepts. */
const WINDOW = 20_000;
const TOO_LONG = { message: "Your input exceeds the context window.", code: "context_length_exceeded" };

/** A server with a small window whose model reads a.txt once. */
function smallWindow(): Place {
  const place = new Place(({ input }): ScriptedResponse => {
    if (JSON.stringify(input).length > WINDOW) return httpError(400, TOO_LONG);
    const newest = input.at(-1);
    if (newest?.type === "function_call_output" || JSON.stringify(newest).includes("No call")) {
      return answer([reasoning("Done"), message("It is long.")]);
    }
    const args = { path: "a.txt", offset: null, limit: null };
    return answer([reasoning("Looking"), functionCall("read_file", args)]);
  });
  const long = Array.from({ length: 900 }, (_, line) => `line ${line}: ${"word ".repeat(5)}`).join("\n");
  Deno.writeTextFileSync(`${place.sandbox.workspace}/a.txt`, long);
  return place;
}

/** The command that a hint names. */
function commandIn(hint: unknown): string[] {
  const text = /reprise [^"]*/.exec(String(hint))?.[0] ?? "";
  return (shellWords(text) ?? []).slice(1);
}

test("after an overflow by one result, the command of the hint succeeds, and the run continues", async () => {
  await using place = smallWindow();
  const first = await place.call(["run", "--json", "--new", "-s", "s", "Read a.txt"]);
  const error = assertError(first, { code: "context_overflow", exit: 11, hint: /reprise compact s/ });
  const before = await place.call(["run", "-s", "s", "--dry-run", "--body"]);
  const files = place.sandbox.turnNames("s").length;
  const plan = await place.call(["compact", "s", "--dry-run", "--json"]);
  assert.equal(place.sandbox.turnNames("s").length, files);
  const compacted = await place.call([...commandIn(error.hint), "--json"]);
  assert.equal(compacted.code, 0, compacted.stdout);
  const [planned, done] = [JSON.parse(plan.stdout), JSON.parse(compacted.stdout)];
  assert.deepEqual(done.elided, planned.elided);
  assert.equal(done.elided.length, 1);
  assert.ok(done.after.tokens <= done.before.tokens / 2);
  const event = place.sandbox.turns("s").at(-1).events.find(({ type }: JsonObject) =>
    type === "result_elided"
  );
  assert.match(event.kept, /^.*line 0: word.*characters left out here to shorten the history.*line 899/s);
  const result = place.sandbox.turns("s").flatMap(({ events }: JsonObject) => events as JsonObject[]).find((
    each,
  ) => each.seq === event.result_seq);
  assert.ok(
    result?.type === "tool_result" && String(result.output).length > WINDOW,
    "the log keeps the result",
  );
  const explained = await place.call(["explain", "s"]);
  assert.match(explained.stdout, /is sent shortened since it was compacted/);
  const next = await place.call(["run", "--json", "-s", "s"]);
  assert.equal(next.code, 0, next.stdout);
  for (const args of [["fsck", "s", "--requests"], ["show", "s"]]) {
    assert.equal((await place.call(args)).code, 0, args[0]);
  }
  // The same session elsewhere, and from a fork.
  const exported = await place.call(["export", "s", "s.export"]);
  assert.equal(exported.code, 0, exported.stderr);
  await place.call(["rm", "s", "--yes"]);
  assert.equal((await place.call(["import", "s.export"])).code, 0);
  const forked = await place.call(["fork", "s"]);
  assert.equal(forked.code, 0, forked.stderr);
  assert.equal((await place.call(["fsck", "--all", "--requests"])).code, 0);
  const undone = JSON.parse((await place.call(["compact", "s", "--undo", "--json"])).stdout);
  assert.deepEqual(undone.restored_results, [event.result_seq]);
  assert.ok(
    (await place.call(["run", "-s", "s", "--dry-run", "--body"])).stdout.includes(
      JSON.stringify(result?.output).slice(1, 2_000),
    ),
  );
  assert.ok(before.stdout.length > WINDOW);
});
