/** Turns that are not written, and writers that stop. */
import assert from "node:assert/strict";
import { readSession } from "../../../src/store/read/session.ts";
import { test } from "../../support/test.ts";
import { CHANGING, spyFiles, systemError } from "./spy_files.ts";
import { ID, modelDraft, newWriter, portsOn, putPinned, testPorts, userDraft, withHome } from "./support.ts";

Deno.test("a failed fsync of the turn ends the writer: nothing is retried on the same session handle", () =>
  withHome(async (home) => {
    let failing = false;
    let changes = 0;
    const ports = portsOn(spyFiles(({ name }) => {
      // The close fails as well: that must not hide what happened before it.
      if (failing && (name === "sync" || name === "close")) throw systemError("EIO");
      if (CHANGING.has(name)) changes++;
    }));
    const writer = await newWriter(ports, home);
    putPinned(writer);
    failing = true;
    assert.throws(() => writer.append(userDraft("hello")), { code: "storage_failed" });
    failing = false;
    changes = 0;
    assert.throws(() => writer.append(userDraft("hello")), {
      code: "storage_failed",
      message: /has stopped/,
    });
    assert.throws(() => writer.putBlob(new Uint8Array(3)), { code: "storage_failed" });
    assert.equal(changes, 0);
    writer.close();
  }));

test.long("a turn that is too deep or too large to be read again is a storage error, not a broken session", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    const deep = JSON.parse(`${"[".repeat(600)}${"]".repeat(600)}`);
    const item = (value: unknown) =>
      modelDraft([{ type: "provider_item", item: { type: "x", value } as never }]);
    assert.throws(() => writer.append(item(deep)), { code: "storage_failed", message: /deeper than 512/ });
    const large = "x".repeat(64 * 1024 * 1024);
    assert.throws(() => writer.append(item(large)), { code: "storage_failed", message: /more than the cap/ });
    assert.equal(writer.append(item("[".repeat(600))).turn, 2);
    writer.close();
    assert.equal(readSession(testPorts(), home, ID).turns.length, 2);
  }));

Deno.test("two writers that both hold no lock still cannot overwrite: the later one diverges and loses nothing", () =>
  withHome(async (home) => {
    const late = await newWriter(testPorts(), home);
    // A file of another program takes the number, as a writer on a file system without locks would.
    const other = await withHome(async (elsewhere) => {
      const writer = await newWriter(testPorts(), elsewhere);
      writer.append(userDraft("the other's"));
      writer.close();
      return Deno.readFileSync(`${writer.path}/turns/000001.json`);
    });
    Deno.writeFileSync(`${late.path}/turns/000001.json`, other, { mode: 0o600 });
    assert.throws(() => late.append(userDraft("mine")), {
      code: "session_diverged",
      exitCode: 5,
      message:
        /another writer has used that number; this turn is kept in quarantine\/000001\.json\.diverged-/,
    });
    assert.throws(() => late.append(userDraft("mine again")), { code: "session_diverged" });
    late.close();
    assert.deepEqual(Deno.readFileSync(`${late.path}/turns/000001.json`), other);
    const kept = [...Deno.readDirSync(`${late.path}/quarantine`)].map(({ name }) => name);
    assert.equal(kept.length, 1);
    assert.match(Deno.readTextFileSync(`${late.path}/quarantine/${kept[0]}`), /"text":"mine"/);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 1);
  }));
