/** The program as the first process of a container, which inherits every orphan. */
import assert from "node:assert/strict";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { lacksBinary, lacksCommand, needing } from "../../support/needs.ts";
import { said } from "../../support/reprise.ts";
import { answer } from "../../support/scripted_api/responses.ts";
import { eventsOf, NEW_RUN, shellLine } from "../changes.ts";
import { HELLO, Place } from "../harness.ts";

const AS_FIRST = ["unshare", "--pid", "--fork", "--mount-proc"];
const LACKS = [lacksBinary(), await lacksCommand([...AS_FIRST, "true"], "needs a PID namespace")];

/** Counts the processes that have ended and wait to be collected. */
const COUNT = "cat /proc/[0-9]*/stat | grep -c ') Z ' || true";
/** Orphans: of a group that ends with its command, and of sessions of their own, at once and later. */
const ORPHANS: Readonly<Record<string, string>> = {
  "of a command's group": "(sleep 300 & sleep 300 &) ; echo $$",
  "that left the group": "setsid sh -c 'sleep 0.01 & sleep 0.1 & exit' & setsid true & sleep 0.2; echo $$",
};

for (const [name, line] of Object.entries(ORPHANS)) {
  Deno.test({
    ...needing(
      `as the first process, run leaves no zombie of orphans ${name}, and knows how its commands end`,
      ...LACKS,
    ),
    async fn() {
      const lines = [line, `sleep 0.5; ${COUNT}`, "exit 7", `kill -9 $$`, COUNT];
      await using place = new Place(({ number }) => {
        const next = lines[number - 1];
        return next === undefined ? HELLO : answer([shellLine(next)]);
      });
      const called = await place.start([...NEW_RUN, "--allow", "shell", "Go"], { through: AS_FIRST }).ended();
      assert.equal(called.code, 0, said(called));
      const outputs = eventsOf(place, "tool_result").map(({ output }) => String(output));
      const heads = outputs.map((output) => output.split("\n")[0]?.split(";")[0]?.replace("[", ""));
      assert.deepEqual(heads, [
        "Exit code 0",
        "Exit code 0",
        "Exit code 7",
        "Ended by SIGKILL",
        "Exit code 0",
      ]);
      for (const counted of [outputs[1], outputs[4]]) assert.match(counted ?? "", /\n0\n/, outputs.join());
    },
  });
}

Deno.test({
  ...needing(
    "as the first process, serve collects the orphans of its command, and exits with its code",
    ...LACKS,
  ),
  async fn() {
    await using place = new Place([]);
    const fixture = writeFixture(`${place.sandbox.directory}/f`, [{ body: "{}" }]);
    const script = `(sleep 0.05 & sleep 0.1 &); setsid sh -c 'sleep 0.1 &'; sleep 0.5; ${COUNT}; exit 3`;
    const args = ["serve", fixture, "--allow-unused", "--", "sh", "-c", script];
    const called = await place.start(args, { through: AS_FIRST }).ended();
    assert.deepEqual([called.code, called.stdout], [3, "0\n"], said(called));
  },
});
