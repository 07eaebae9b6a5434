/** Users other than root: opening a file shows whose it is, so that no inspection is needed. */
import assert from "node:assert/strict";
import { lacksBinary, lacksProgram, lacksRoot, needing } from "../../support/needs.ts";
import { PROGRAM } from "../../support/reprise.ts";
import { HELLO, Place } from "../harness.ts";

/** A user and group that own nothing. */
const USER = 51_234;

Deno.test(
  needing(
    "a user reads turns of their own, and no turn of another user that they may read",
    lacksRoot(),
    lacksBinary(),
    lacksProgram("setpriv"),
  ),
  async () => {
    await using place = new Place(() => HELLO);
    const { directory } = place.sandbox;
    await place.session("s");
    const own = `${directory}/reprise`;
    Deno.copyFileSync(PROGRAM[0] as string, own);
    const give = (path: string, user: number) =>
      new Deno.Command("chown", { args: ["-R", `${user}:${user}`, path] }).output();
    await give(directory, USER);
    const asUser = `shift; exec setpriv --reuid ${USER} --regid ${USER} --clear-groups '${own}' "$@"`;
    const run = () =>
      place.call(["run", "--json", "-s", "s", "More"], { through: ["sh", "-c", asUser, "sh"] });
    const first = await run();
    assert.equal(first.code, 0, first.stdout + first.stderr);

    const turn = `${place.path("s")}/turns/000002.json`;
    await give(turn, 0);
    Deno.chmodSync(turn, 0o644);
    const refused = await run();
    assert.match(refused.stdout, /turns\/000002\.json belongs to user 0, not to user 51234/);
    assert.notEqual(refused.code, 0);
    await give(turn, USER);
    assert.equal((await run()).code, 0);
  },
);
