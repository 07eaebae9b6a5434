/** `fsck --requests`: an edited history is found out, though its seals fit. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { begun, ok, type Place, readsThenAnswers, reseal } from "./harness.ts";

/** A place with the session "s". */
const one = begun(readsThenAnswers, (place) => place.session("s"));

/** Edits a turn as its own writer might have: every sum and every link after it fits again. */
function rewrite(place: Place, turn: number, edit: (text: string) => string): void {
  const sumOf = (path: string) => JSON.parse(Deno.readTextFileSync(path)).sum as string;
  let changed = edit;
  for (let number = turn; number <= place.sandbox.turnNames("s").length; number++) {
    const path = place.turnPath("s", number);
    const old = sumOf(path);
    reseal(path, changed);
    const now = sumOf(path);
    changed = (text) => text.replace(`"prev":"${old}"`, `"prev":"${now}"`);
  }
  Deno.removeSync(`${place.path("s")}/manifest.json`);
}

/** Edits of a turn, the verdicts on both requests, and the exit code. */
const EDITS: Readonly<
  Record<string, readonly [turn: number, from: string, to: string, string[], exit: number]>
> = {
  "a field of a request": [4, '"store":false', '"store":true', ["same", "differs"], 7],
  "a field of the first request": [2, '"store":false', '"store":true', ["differs", "same"], 7],
  "the text of an earlier turn": [1, "Look at a.txt", "Look at b.txt", ["differs", "differs"], 7],
  "the version of the fold, which cannot be judged": [2, '"fold":1', '"fold":99', [
    "other_fold_version",
    "same",
  ], 0],
};

for (const [name, [turn, from, to, verdicts, exit]] of Object.entries(EDITS)) {
  test(`fsck --requests judges a session in which ${name} was edited and sealed again`, async () => {
    await using place = await one();
    rewrite(place, turn, (text) => text.replace(from, to));
    await ok(place, ["fsck", "s"]);
    const { code, stdout } = await place.call(["fsck", "s", "--requests", "--json"]);
    const { ok: isSound, exit_code, sessions: [{ requests }] } = JSON.parse(stdout);
    assert.deepEqual([code, exit_code, isSound], [exit, exit, exit === 0]);
    assert.deepEqual(requests.map(({ verdict }: Json) => verdict), verdicts);
  });
}
