import assert from "node:assert/strict";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { spyFiles } from "./spy_files.ts";
import {
  call,
  ID,
  modelDraft,
  newSession,
  portsOn,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

Deno.test("calls without results are a warning, unless a writer is at work on them", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    writer.append(userDraft("go on", 2));
    writer.append(modelDraft([call("call_x"), call("call_y")], 2));
    writer.append({ kind: "tools", run: 2, events: [result("call_x", 12)] });
    writer.putBlob(new TextEncoder().encode("for the next turn"));
    const busy = await fsckSession(testPorts(), home, ID);
    assert.deepEqual([busy.in_use, busy.findings], [true, []]);
    writer.close();
    const idle = await fsckSession(testPorts(), home, ID);
    assert.equal(idle.in_use, false);
    assert.deepEqual(idle.findings.map(({ severity, code, turn }) => [severity, code, turn]), [
      ["info", "unreferenced_blob", undefined],
      ["warning", "orphan_call", 7],
      ["info", "open_run", 8],
    ]);
  }));

test.long("a session that is removed or replaced while fsck checks it is reported as gone, whenever that happens", () =>
  withHome(async (home) => {
    for (const how of ["removed", "replaced"]) {
      for (let at = 1, done = false; !done; at++) {
        const { path } = await newSession(portsOn(spyFiles(() => {}, { syncs: false })), home);
        let count = 0;
        const files = spyFiles(() => {
          if (++count !== at) return;
          Deno.renameSync(path, `${home.path}/away`);
          if (how === "replaced") Deno.mkdirSync(path, { mode: 0o700 });
        });
        const outcome = await fsckSession(portsOn(files), home, ID).catch((error) => error);
        done = count < at;
        if (done) assert.deepEqual(outcome.findings, []);
        else if (at > 1) {
          assert.equal(outcome.code, "no_such_session", `${how} before operation ${at}: ${outcome}`);
        }
        for (const left of [path, `${home.path}/away`]) {
          if (testPorts().files.facts(left) !== null) Deno.removeSync(left, { recursive: true });
        }
        assert.ok(done || at < 200);
      }
    }
  }));
