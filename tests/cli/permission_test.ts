/** Permissions of a run, as it reports them; tests/doors/tools/policy_table.ts has a row for each way to allow and deny. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { events } from "../support/reprise.ts";
import { assertError, Place } from "./harness.ts";
import { calling, EVERYTHING, NEW_RUN } from "./changes.ts";

test.long("a run may only read, unless flags allow more: the decisions are durable before the first call starts", async () => {
  await using place = new Place(calling(...EVERYTHING));
  const called = await place.call([...NEW_RUN, "--allow", "write,shell", "Go"]);
  const lines = events(called).map((event) => event.type === "turn.saved" ? event.kind : event.type);
  assert.ok(lines.indexOf("harness") < lines.indexOf("tool.started"), lines.join(" "));
  assert.deepEqual(place.sandbox.turns("s").map(({ kind }) => kind), [
    ...["user", "model", "harness", "tools", "tools", "tools", "model", "harness"],
  ]);
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
