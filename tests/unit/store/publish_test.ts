import assert from "node:assert/strict";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { openHome } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { CHANGING, type Operation, spyFiles, systemError } from "./spy_files.ts";
import { appendRun, ID, newSession, newWriter, portsOn, testPorts, userDraft, withHome } from "./support.ts";

/** Each changing operation as `name path`, with temporary names made equal. */
function shorten({ name, path, to }: Operation, root: string): string {
  const short = (full: string) => full.replace(`${root}/`, "").replace(/\.tmp-\d+-[0-9a-f]+/, "TEMP");
  return to === undefined ? `${name} ${short(path)}` : `${name} ${short(path)} ${short(to)}`;
}

Deno.test("a turn is written, synced, linked to its number and its directory synced before append returns", () =>
  withHome(async (home) => {
    const log: Operation[] = [];
    const writer = await newWriter(portsOn(spyFiles((operation) => log.push(operation))), home);
    log.length = 0;
    writer.append(userDraft("hello"));
    const done = log.filter(({ name }) => CHANGING.has(name)).map((operation) =>
      shorten(operation, writer.path)
    );
    assert.deepEqual(done, [
      "createExclusive TEMP",
      "write TEMP",
      "sync TEMP",
      "close TEMP",
      "link TEMP turns/000001.json",
      "unlink TEMP",
      "syncDirectory turns",
      // The manifest is a cache: replaced after the turn, and never synced.
      "createExclusive TEMP",
      "write TEMP",
      "close TEMP",
      "rename TEMP manifest.json",
    ]);
    writer.close();
  }));

Deno.test("a blob is durable, name and content, before putBlob returns; a second time costs nothing", () =>
  withHome(async (home) => {
    const log: Operation[] = [];
    const writer = await newWriter(portsOn(spyFiles((operation) => log.push(operation))), home);
    log.length = 0;
    const blob = writer.putBlob(new TextEncoder().encode("output"));
    const done = log.filter(({ name }) => CHANGING.has(name)).map((operation) =>
      shorten(operation, writer.path)
    );
    assert.deepEqual(done, [
      "createExclusive TEMP",
      "write TEMP",
      "sync TEMP",
      "close TEMP",
      `link TEMP blobs/${blob.sha256}`,
      "unlink TEMP",
      "syncDirectory blobs",
    ]);
    log.length = 0;
    assert.deepEqual(writer.putBlob(new TextEncoder().encode("output")), blob);
    assert.deepEqual(log, []);
    assert.deepEqual(writer.putBlob(new TextEncoder().encode("bytes"), { lossy: true }).lossy, true);
    writer.close();
  }));

Deno.test("a blob that an earlier writer left is not trusted to be durable: its directory is synced again", () =>
  withHome(async (home) => {
    const bytes = new TextEncoder().encode("output");
    const first = await newWriter(testPorts(), home);
    first.putBlob(bytes);
    appendRun(first);
    first.close();
    const log: Operation[] = [];
    const writer = await SessionWriter.open(portsOn(spyFiles((operation) => log.push(operation))), home, {
      id: ID,
    });
    log.length = 0;
    writer.putBlob(bytes);
    assert.deepEqual(log.filter(({ name }) => CHANGING.has(name)).map(({ name }) => name), ["syncDirectory"]);
    writer.close();
  }));

Deno.test("a new session syncs every directory from its turns up to the one that holds the home", () =>
  withHome(async (_, root) => {
    const log: Operation[] = [];
    const ports = portsOn(spyFiles((operation) => log.push(operation)));
    const home = openHome(ports, `${root}/a/b/own`, { create: true });
    const writer = await SessionWriter.create(ports, home, { id: ID });
    writer.close();
    const made = log.filter(({ name }) => name === "makeDirectory").map(({ path }) => path);
    assert.deepEqual(made.slice(0, 4), [
      `${root}/a`,
      `${root}/a/b`,
      `${root}/a/b/own`,
      `${root}/a/b/own/sessions`,
    ]);
    for (const path of made) {
      const at = log.findIndex((operation) => operation.name === "makeDirectory" && operation.path === path);
      const parent = path.slice(0, path.lastIndexOf("/"));
      const synced = log.slice(at).some(({ name, path }) => name === "syncDirectory" && path === parent);
      assert.ok(synced, `${parent} is not synced after ${path} was made`);
    }
  }));

Deno.test("a session that is opened syncs its turns, in case the last writer was killed before it could", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const log: Operation[] = [];
    const writer = await SessionWriter.open(portsOn(spyFiles((operation) => log.push(operation))), home, {
      id: ID,
    });
    writer.close();
    const changing = log.filter(({ name }) => CHANGING.has(name));
    assert.deepEqual(changing.map((operation) => shorten(operation, writer.path)), ["syncDirectory turns"]);
  }));

Deno.test("short writes are continued until every byte is written", () =>
  withHome(async (home) => {
    const ports = portsOn(spyFiles(() => {}, { take: (bytes) => Math.min(bytes, 7) }));
    const writer = await newSession(ports, home);
    assert.deepEqual(readSession(testPorts(), home, ID).turns, writer.turns);
  }));

Deno.test("a write that takes nothing fails instead of looping", () =>
  withHome(async (home) => {
    let stuck = false;
    const ports = portsOn(spyFiles(() => {}, { take: (bytes) => stuck ? 0 : bytes }));
    const writer = await newWriter(ports, home);
    stuck = true;
    assert.throws(() => writer.append(userDraft("hello")), { code: "storage_failed" });
    stuck = false;
    assert.equal(writer.append(userDraft("hello")).turn, 1);
    writer.close();
  }));

for (const code of ["EPERM", "ENOTSUP", "EXDEV"]) {
  Deno.test(`if links fail with ${code}, a turn is renamed to its free number under the lock`, () =>
    withHome(async (home) => {
      const noLinks = spyFiles(({ name }) => {
        if (name === "link") throw systemError(code);
      });
      const writer = await newSession(portsOn(noLinks), home);
      assert.deepEqual(readSession(testPorts(), home, ID).turns, writer.turns);
      assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
    }));
}

Deno.test("if links do not work, a number that is taken is not overwritten", () =>
  withHome(async (home) => {
    const noLinks = spyFiles(({ name }) => {
      if (name === "link") throw systemError("ENOTSUP");
    });
    const writer = await newWriter(portsOn(noLinks), home);
    Deno.writeTextFileSync(`${writer.path}/turns/000001.json`, "another writer's");
    assert.throws(() => writer.append(userDraft("hello")), { code: "session_diverged" });
    assert.equal(Deno.readTextFileSync(`${writer.path}/turns/000001.json`), "another writer's");
    writer.close();
  }));
