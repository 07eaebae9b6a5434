import { answer } from "../support/responses_server.ts";
import { test } from "../support/test.ts";
import { assertError, Place, readsThenAnswers } from "./harness.ts";

test.process("repair refuses, with what to do next: a session that another process writes to", async () => {
  await using place = new Place(() => answer([], { end: { kind: "stall" } }));
  const writer = place.start(["run", "--json", "--new", "-s", "s", "hi"]);
  await writer.printed("turn.saved");
  for (const more of [[], ["--dry-run"]]) {
    assertError(await place.call(["repair", "s", "--json", ...more]), {
      code: "session_locked",
      exit: 5,
      hint: /interrupt/,
    });
  }
});

test("repair refuses, with what to do next: a session that is not there", async () => {
  await using place = new Place(readsThenAnswers);
  assertError(await place.call(["repair", "none", "--json"]), { code: "no_such_session", exit: 2 });
});
