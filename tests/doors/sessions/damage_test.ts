/** Each damage of a session on disk: what `fsck` finds, whether readers refuse it, and what `repair` makes of it. */
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { DAMAGE } from "./damage.ts";
import { withHome } from "./home.ts";
import { call, ended, model, user, write } from "./session_files.ts";

const isError = (line: string) => line.startsWith("error");

for (const [name, { damage, found, refused = found.some(isError) }] of Object.entries(DAMAGE)) {
  withHome(
    `fsck finds ${name}${refused ? ", and readers refuse it" : ""}; repair mends that alone`,
    async (home) => {
      const session = home.session();
      damage(session);
      const before = bytesBelow(session.path, "lock");
      assert.deepEqual(await home.findings(), found);
      assert.equal(await home.refuses(), refused);
      assert.deepEqual(bytesBelow(session.path, "lock"), before, "looking changed something");

      const { actions, lost_blobs } = await home.json(["repair", session.id]);
      const paths = found.map((line) => line.split(" ").at(-1));
      // Of two turns that do not fit, either may be the wrong one; a manifest follows from repaired turns.
      const others = actions.filter(({ turn, action }: Json) =>
        turn === undefined && action !== "rebuild_manifest"
      );
      assert.deepEqual(others.filter(({ path }: Json) => !paths.includes(path)), [], "fsck overlooks it");
      const lost = lost_blobs.map(({ sha256 }: Json) => `blobs/${sha256}`);
      const left = (await home.damage()).filter((line) => !lost.includes(line.split(" ").at(-1)));
      assert.deepEqual(left, [], "repair leaves it");
      assert.equal(await home.refuses(), false);
      // No byte is gone: it is in its place, or in quarantine. A manifest only says what the turns say.
      const after = [...bytesBelow(session.path, "lock").values()].map(String);
      for (const [path, bytes] of before) {
        if (path === "manifest.json" || path.startsWith(".tmp-")) continue;
        assert.ok(after.includes(String(bytes)), `the bytes of ${path} are gone`);
      }
      assert.equal(
        (await home.json(["repair", session.id])).actions.length,
        0,
        "a second repair finds something to do",
      );
    },
  );
}

/** Files that a later version may write, each with its finding. */
const LATER: Record<string, [was: string, is: string]> = {
  newer_format: ["reprise.turn/1", "reprise.turn/7"],
  newer_kind: ['"kind":"harness"', '"kind":"later"'],
};

for (const [code, [was, is]] of Object.entries(LATER)) {
  withHome(
    `a turn of a ${code} is a warning that a run stops at and that repair leaves alone`,
    async (home) => {
      const session = home.session();
      session.edit(session.turn(5), (text) => text.replace(was, is));
      assert.deepEqual(await home.findings(), [`warning ${code} turns/000005.json`]);
      const run = await home.json(["run", "--dry-run", "-s", session.id, "Go on"], 2);
      // Nothing beside it is repaired either.
      write(session.turn(2), "");
      const before = bytesBelow(session.path, "lock");
      const repair = await home.json(["repair", session.id], 2);
      assert.deepEqual([run.code, repair.code], ["format_too_new", "format_too_new"]);
      assert.deepEqual(bytesBelow(session.path, "lock"), before);
    },
  );
}

withHome("calls of a response that failed are never run, so nothing is missing there", async (home) => {
  const failed = model([call("call_x")], 1, { response: { id: null, status: "failed" } });
  home.session([user("Read it."), failed, ended(1, "failed", 10)]);
  assert.deepEqual(await home.findings(), []);
});

withHome(
  "a session that was begun without a turn is named as that; no session at all is an error",
  async (home) => {
    const session = home.session();
    Deno.removeSync(`${session.path}/turns`, { recursive: true });
    Deno.truncateSync(session.manifest, 10);
    const found = async () => (await home.findings()).filter((line) => !line.includes("unreferenced_blob"));
    assert.deepEqual(await found(), [
      "error missing_turn turns/000001.json",
      "warning manifest_garbled manifest.json",
    ]);
    Deno.removeSync(session.manifest);
    assert.deepEqual(await found(), ["warning no_turns ."]);
    assert.equal((await home.json(["fsck", "other"], 2)).code, "no_such_session");
  },
);
