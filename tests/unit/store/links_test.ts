/** File systems without hard links: files are renamed or copied, and nothing is overwritten. */
import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId } from "../../../src/domain/ids.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { spyFiles, systemError } from "./spy_files.ts";
import { appendRun, ID, newSession, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";

/** Ports on which each `link` fails. */
function withoutLinks(code: string) {
  return portsOn(spyFiles(({ name }) => {
    if (name === "link") throw systemError(code);
  }));
}

for (const code of ["EPERM", "ENOTSUP", "ENOSYS", "EXDEV", "EMLINK"]) {
  Deno.test(`if links fail with ${code}, a turn is renamed to its free number under the lock`, () =>
    withHome(async (home) => {
      const writer = await newWriter(withoutLinks(code), home);
      appendRun(writer);
      writer.close();
      assert.deepEqual(readSession(testPorts(), home, ID).turns, writer.turns);
      assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
    }));
}

Deno.test("if links do not work, a number that is taken is not overwritten", () =>
  withHome(async (home) => {
    const writer = await newWriter(withoutLinks("ENOTSUP"), home);
    Deno.writeTextFileSync(`${writer.path}/turns/000001.json`, "another writer's");
    assert.throws(() => writer.append(userDraft("hello")), { code: "session_diverged" });
    assert.equal(Deno.readTextFileSync(`${writer.path}/turns/000001.json`), "another writer's");
    writer.close();
  }));

Deno.test("without links a fork copies the files, with our modes", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const id = parseSessionId("child");
    const plan = planFork(testPorts(), home, { parent: ID });
    await forkSession(withoutLinks("EPERM"), home, plan, { id, summary: null, usage: NO_USAGE });
    const [mine, theirs] = [ID, id].map((each) =>
      Deno.lstatSync(`${home.sessions}/${each}/turns/000001.json`)
    );
    assert.notEqual(mine?.ino, theirs?.ino);
    assert.deepEqual([(theirs?.mode ?? 0) & 0o777, theirs?.size], [0o600, mine?.size]);
    assert.deepEqual((await fsckSession(testPorts(), home, id)).findings, []);
  }));
