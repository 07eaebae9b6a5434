/** Sessions whose directory cannot be renamed, such as those of an overlay's lower layer. */
import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { removeSession } from "../../../src/store/lifecycle/remove.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { test } from "../../support/test.ts";
import { spyFiles, systemError } from "./spy_files.ts";
import { ID, newSession, portsOn, testPorts, withHome } from "./support.ts";

function names(home: Home): string[] {
  return [...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort();
}

test.long("if its directory cannot be renamed, rm removes a session in its place; stopped anywhere, it leaves a whole or a refused session, and a second rm finishes", () =>
  withHome(async (home) => {
    const open = async () => {
      const writer = await SessionWriter.open(testPorts(), home, { id: ID });
      writer.close();
      return writer.turns.length;
    };
    const quick = portsOn(spyFiles(() => {}, { syncs: false }));
    for (const manifest of ["kept", "lost"]) {
      let refused = 0;
      for (let at = 1, done = false; !done; at++) {
        if (!names(home).includes(ID)) await newSession(quick, home);
        if (manifest === "lost") Deno.removeSync(`${home.sessions}/${ID}/manifest.json`);
        let count = 0;
        const files = spyFiles(({ name }) => {
          if (name === "rename") throw systemError("EXDEV");
          if (++count >= at) throw new Deno.errors.Interrupted("stopped");
        });
        done = await removeSession(portsOn(files), home, ID).then(() => true, () => false);
        if (names(home).includes(ID)) {
          const found = await open().catch((error) => error);
          const { findings } = await fsckSession(testPorts(), home, ID).catch(() => ({ findings: [] }));
          if (found === 5) assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
          else {
            refused++;
            // Without turns and manifest it looks like a creation that was cut short.
            assert.ok(["session_damaged", "no_such_session"].includes(found.code), `${at}: ${found}`);
          }
          await removeSession(testPorts(), home, ID);
        }
        assert.deepEqual(names(home), [], `before operation ${at}`);
        assert.ok(at < 200, "it never ends");
      }
      assert.ok(refused >= 10, `${refused} with the manifest ${manifest}`);
    }
  }));
