/** Permissions of a run, as it reports them; tests/unit/cli/run/permissions_test.ts has a row for each way to allow and deny. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending, events } from "../support/reprise.ts";
import { assertError, Place } from "./harness.ts";
import {
  calling,
  content,
  decisions,
  EVERYTHING,
  names,
  NEW_RUN,
  offered,
  read,
  shellLine,
  statuses,
} from "./changes.ts";

const READING = ["read_file", "list_files", "search_text"];

test("a run may only read, unless flags allow more: writing, editing and the shell are denied, on disk, and the model gets the reason", async () => {
  await using place = new Place(calling(...EVERYTHING, read("a.txt")));
  const called = await place.call([...NEW_RUN, "Go"]);
  assert.equal(called.code, 0, called.stdout);
  assert.equal(ending(called).denials, 3);
  assert.deepEqual(statuses(place), ["denied", "denied", "denied", "ok"]);
  assert.deepEqual(decisions(place), [
    "write_file: denied, not_allowed",
    "edit_file: denied, not_allowed",
    "shell: denied, not_allowed",
  ]);
  assert.deepEqual(names(place), ["a.txt"]);
  assert.equal(content(place, "a.txt"), "alpha\nbeta\n");
  assert.deepEqual(offered(place, 1), READING, "what cannot be allowed is not offered");
  const [first] = place.server.requests[1]?.input.filter(({ type }) => type === "function_call_output") ??
    [];
  assert.match(
    String(first?.output),
    /^Denied: write_file was not run, because the user has not allowed it/,
  );
  const started = events(called).flatMap((event) => event.type === "tool.started" ? [event.name] : []);
  assert.deepEqual(started, ["read_file"]);
});

test.long("a run may only read, unless flags allow more: the decisions are durable before the first call starts", async () => {
  await using place = new Place(calling(...EVERYTHING));
  const called = await place.call([...NEW_RUN, "--allow", "write,shell", "Go"]);
  const lines = events(called).map((event) => event.type === "turn.saved" ? event.kind : event.type);
  assert.ok(lines.indexOf("harness") < lines.indexOf("tool.started"), lines.join(" "));
  assert.deepEqual(place.sandbox.turns("s").map(({ kind }) => kind), [
    ...["user", "model", "harness", "tools", "tools", "tools", "model", "harness"],
  ]);
});

test("a run may only read, unless flags allow more: --fail-on-denied ends with 3 after the first batch with a denial, and says how to allow it", async () => {
  await using place = new Place(calling(shellLine("touch touched"), read("a.txt")));
  const called = await place.call([...NEW_RUN, "--fail-on-denied", "Go"]);
  assertError(called, { code: "permission_denied", exit: 3, says: /denied/, hint: /--allow/ });
  assert.equal(ending(called).state, "failed");
  assert.equal(ending(called).denials, 1);
  assert.deepEqual(statuses(place), ["denied", "ok"], "every call of the batch has its result");
  assert.equal(place.server.requests.length, 1, "no further request is paid");
});

test("a rule that cannot be used is exit 2, before anything is written: each of them", async () => {
  await using place = new Place([]);
  for (
    const [flags, says] of [
      [["--allow", "everything"], /--allow "everything".*neither a tool nor a group/],
      [["--deny", "write,Shell"], /--deny "Shell"/], // names are exact
      [["--allow", "write,,shell"], /--allow ""/],
      [["--allow", "shell:"], /its pattern is empty/],
      [["--allow", "shell:git status; rm"], /operators/],
      [["--allow", "shell:git st*"], /one whole argument/],
      [["--allow", "write:/etc/**"], /relative to the workspace/],
      [["--allow", "write:../**"], /relative to the workspace/],
    ] as const
  ) {
    const called = await place.call([...NEW_RUN, ...flags, "Go"]);
    assertError(called, { code: "usage", exit: 2, says, hint: /Names: .*shell:git status/ });
  }
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  assert.equal(place.server.requests.length, 0);
});
