/**
 * Stops `record --mode all` at each system call that changes something in its folder: a kill there leaves the old recording
 * or the new one, and what others put beside it.
 */
import assert from "node:assert/strict";
import { lacksBinary, lacksProgram, needing } from "../support/needs.ts";
import { PROGRAM } from "../support/reprise.ts";
import { seenFixture } from "./fixture_oracle.ts";
import { Place } from "./fixture_steps.ts";
import { copyDirectory, isChange, stopAtEach } from "./trace.ts";

/** Sends requests with these inputs from the environment of a wrapped command. */
const client = (inputs: readonly string[]) => [
  ...[Deno.execPath(), "eval"],
  `for (const input of ${JSON.stringify(inputs)}) {
    const request = { method: "POST", body: JSON.stringify({ model: "gpt-5.6", input, store: false, stream: true }) };
    await (await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", request)).text();
  }`,
];

/** Inputs of the recording before, and of the one that replaces it: the first request stays, a few go, one comes. */
const OLD = ["same", "old 1", "old 2"];
const NEW = ["same", "new"];

Deno.test({
  ...needing(
    "record --mode all that is killed leaves the old recording or the new one, whatever it did by then",
    lacksProgram("strace"),
    lacksBinary(),
  ),
  async fn() {
    await using place = new Place();
    const { directory } = place.sandbox;
    await place.record(place.base, [], OLD.map((input) => ({ test: null, input })));
    Deno.writeTextFileSync(`${place.base}/README`, "of someone else");
    const seen = new Set<string>();
    const flags = ["--mode", "all", "--allow-live", "--upstream", place.api.origin, "--out", place.base];
    const command = [...PROGRAM, "record", ...flags, "--", ...client(NEW)];
    const { code, stderr } = await stopAtEach(command, null, async (calls) => {
      const last = calls.at(-1);
      if (last === undefined || !isChange(last, directory)) return true;
      const copy = `${directory}/copy`;
      await copyDirectory(place.base, copy).catch(() =>
        assert.fail(`no recording after ${JSON.stringify(last)}`)
      );
      assert.equal(Deno.readTextFileSync(`${copy}/README`), "of someone else");
      Deno.removeSync(`${copy}/README`);
      seen.add(seenFixture(copy)?.exchanges.map(({ input }) => input).join() ?? "none");
      Deno.removeSync(copy, { recursive: true });
      return true;
    });
    assert.equal(code, 0, stderr);
    assert.deepEqual([...seen], [OLD.join(), NEW.join()]);
    assert.deepEqual([...Deno.readDirSync(directory)].filter(({ name }) => name.startsWith(".base")), []);
    Deno.removeSync(`${place.base}/README`);
    await place.record(place.base, ["--append"], [{ test: null, input: "last" }]);
    assert.equal(seenFixture(place.base)?.exchanges.length, NEW.length + 1);
  },
});
