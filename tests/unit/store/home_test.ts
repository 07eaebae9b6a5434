import assert from "node:assert/strict";
import type { SessionId } from "../../../src/domain/ids.ts";
import type { TurnDraft } from "../../../src/domain/turn.ts";
import { listSessions, openHome, resolveSession } from "../../../src/store/home.ts";
import {
  answer,
  ID,
  modelDraft,
  newSession,
  newWriter,
  pinsFor,
  portsOn,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { spyFiles, systemError } from "./spy_files.ts";

const id = (text: string) => text as SessionId;

Deno.test("a home that does not exist lists nothing and is not made by looking", () =>
  withHome((_, root) => {
    const home = openHome(testPorts(), `${root}/none/`);
    assert.deepEqual(listSessions(testPorts(), home), []);
    assert.equal(home.path, `${root}/none`);
    assert.throws(() => Deno.lstatSync(home.path), Deno.errors.NotFound);
  }));

Deno.test("a home that is a file, a link, or unreadable is refused with what was found and what to do", () =>
  withHome((_, root) => {
    Deno.writeTextFileSync(`${root}/file`, "");
    Deno.mkdirSync(`${root}/real`);
    Deno.symlinkSync(`${root}/real`, `${root}/link`);
    const refused = (path: string, code: string, message: RegExp) =>
      assert.throws(() => openHome(testPorts(), path, { create: true }), {
        code,
        exitCode: 14,
        message,
        hint: /--home/,
      });
    refused(`${root}/file`, "storage_failed", /Cannot open the home: ".*\/file" is a file, not a directory/);
    refused(`${root}/link`, "storage_denied", /is a symbolic link/);
    Deno.mkdirSync(`${root}/with-link`);
    Deno.symlinkSync(`${root}/real`, `${root}/with-link/sessions`);
    refused(`${root}/with-link`, "storage_denied", /sessions" is a symbolic link/);
    const unreadable = portsOn(spyFiles(({ path }) => {
      if (path.startsWith(`${root}/locked/`)) throw systemError("EACCES");
    }));
    Deno.mkdirSync(`${root}/locked`);
    assert.throws(() => openHome(unreadable, `${root}/locked`), {
      code: "storage_denied",
      message: /permission denied/,
    });
  }));

Deno.test("sessions are listed newest first, from their manifests alone", () =>
  withHome(async (home) => {
    const clock = testPorts();
    for (const name of ["first", "second", "third"]) await newSession(clock, home, id(name));
    const read: string[] = [];
    const spying = portsOn(spyFiles(({ name, path }) => {
      if (name === "openRead") read.push(path.slice(home.sessions.length));
    }));
    const listed = listSessions(spying, home);
    assert.deepEqual(listed.map(({ id }) => String(id)), ["third", "second", "first"]);
    assert.deepEqual(read.sort(), ["/first/manifest.json", "/second/manifest.json", "/third/manifest.json"]);
    assert.deepEqual(listed.map(({ problem }) => problem), [undefined, undefined, undefined]);
  }));

Deno.test("one bad session never hides the others, and says what is wrong with it", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home, id("good"));
    await newSession(testPorts(), home, id("torn"));
    Deno.truncateSync(`${home.sessions}/torn/manifest.json`, 20);
    await newSession(testPorts(), home, id("lost"));
    Deno.removeSync(`${home.sessions}/lost/manifest.json`);
    Deno.truncateSync(`${home.sessions}/lost/turns/000001.json`, 20);
    Deno.mkdirSync(`${home.sessions}/empty`, { mode: 0o700 });
    Deno.symlinkSync(`${home.sessions}/good`, `${home.sessions}/link`);
    Deno.writeTextFileSync(`${home.sessions}/file`, "");
    Deno.mkdirSync(`${home.sessions}/Not an id`);
    const found = Object.fromEntries(
      listSessions(testPorts(), home).map((
        { id, manifest, problem },
      ) => [id, [manifest?.head.turn, problem]]),
    );
    assert.deepEqual(found, {
      good: [5, undefined],
      torn: [5, "manifest.json is not JSON in UTF-8"],
      lost: [undefined, "manifest.json is missing"],
      empty: [undefined, "manifest.json is missing"],
      link: [undefined, "its directory is a symbolic link, which is never followed"],
      file: [undefined, "its directory is a file, not a directory"],
    });
  }));

Deno.test("a session that the disk refuses to read is a summary too", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home, id("good"));
    await newSession(testPorts(), home, id("bad"));
    const failing = portsOn(spyFiles(({ name, path }) => {
      if (name === "openRead" && path.includes("/bad/")) throw systemError("EIO");
    }));
    const listed = listSessions(failing, home);
    assert.deepEqual(listed.map(({ id }) => String(id)), ["good", "bad"]);
    assert.match(listed[1]?.problem ?? "", /Cannot read it: Injected EIO/);
  }));

Deno.test("an exact id, even one that is another's prefix, and an unambiguous prefix choose a session", () =>
  withHome(async (home) => {
    for (const name of ["fix", "fix-ci", "fix-it", "other-1"]) await newSession(testPorts(), home, id(name));
    const resolve = (selector: string) =>
      resolveSession(testPorts(), home, { selector, workspace: "/workspace" });
    assert.equal(resolve("fix"), "fix");
    assert.equal(resolve("fix-c"), "fix-ci");
    assert.equal(resolve("o"), "other-1");
    assert.throws(() => resolve("fix-"), {
      code: "ambiguous_session",
      exitCode: 2,
      message: /2 ids start with it: "fix-ci", "fix-it"/,
    });
    assert.throws(() => resolve("ther"), {
      code: "no_such_session",
      exitCode: 2,
      hint: 'Did you mean "other-1"?',
    });
    assert.throws(() => resolve("zzz"), { code: "no_such_session", hint: /reprise ls/ });
    for (const bad of ["../fix", "/etc", "a/b", "", "Fix", "fix.", "a".repeat(65), "@first", "fix\0"]) {
      assert.throws(() => resolve(bad), { code: "bad_session_id", exitCode: 2 }, bad);
    }
  }));

Deno.test("@last is the latest session of this workspace", () =>
  withHome(async (home) => {
    const clock = testPorts();
    for (const [name, workspace] of [["one", "/a"], ["two", "/a"], ["three", "/b"]] as const) {
      const writer = await newWriter(clock, home, id(name));
      writer.append({ ...userDraft("hello"), pins: pinsFor(workspace) } as TurnDraft);
      writer.close();
    }
    const last = (workspace: string) => resolveSession(testPorts(), home, { selector: "@last", workspace });
    assert.equal(last("/a"), "two");
    assert.equal(last("/b"), "three");
    assert.throws(() => last("/c"), { code: "no_such_session", message: /workspace "\/c"/ });
    Deno.removeSync(`${home.sessions}/three/manifest.json`);
    assert.equal(last("/b"), "three", "a lost manifest does not lose the session");
  }));

Deno.test("@last is the newest session though its files are damaged, never an older one", () =>
  withHome(async (home) => {
    const clock = testPorts();
    for (const [name, workspace] of [["old", "/a"], ["new", "/a"], ["other", "/b"]] as const) {
      const writer = await newWriter(clock, home, id(name));
      writer.append({ ...userDraft("hello"), pins: pinsFor(workspace) } as TurnDraft);
      writer.append(modelDraft([answer("Done.")]));
      writer.close();
    }
    const last = (workspace: string) => resolveSession(testPorts(), home, { selector: "@last", workspace });
    const path = (name: string) => `${home.sessions}/new/${name}`;
    const restore = ["manifest.json", "turns/000001.json", "turns/000002.json"]
      .map((name) => [path(name), Deno.readFileSync(path(name))] as const);
    const damages: Readonly<Record<string, () => void>> = {
      "the newest turn is torn": () => Deno.truncateSync(path("turns/000002.json"), 300),
      "its first turn is torn": () => Deno.truncateSync(path("turns/000001.json"), 20),
      "its newest turn is empty": () => Deno.truncateSync(path("turns/000002.json")),
      "its first turn is gone": () => Deno.removeSync(path("turns/000001.json")),
      "its newest turn is a link": () => {
        Deno.removeSync(path("turns/000002.json"));
        Deno.symlinkSync("/dev/null", path("turns/000002.json"));
      },
    };
    for (const [what, damage] of Object.entries(damages)) {
      for (
        const lose of [
          () => Deno.removeSync(path("manifest.json")),
          () => Deno.truncateSync(path("manifest.json"), 9),
        ]
      ) {
        damage();
        lose();
        assert.equal(last("/a"), "new", what);
        for (const [name, bytes] of restore) {
          Deno.writeFileSync(`${name}.whole`, bytes, { mode: 0o600 });
          Deno.renameSync(`${name}.whole`, name);
        }
      }
    }
    // Damage that is older than another session hides nothing, and damage elsewhere is not of this workspace.
    Deno.removeSync(`${home.sessions}/old/manifest.json`);
    Deno.truncateSync(`${home.sessions}/old/turns/000002.json`, 300);
    Deno.utimeSync(`${home.sessions}/old/turns`, 0, 0);
    assert.equal(last("/a"), "new");
    assert.equal(last("/b"), "other");
    Deno.removeSync(`${home.sessions}/other/manifest.json`);
    Deno.truncateSync(`${home.sessions}/other/turns/000001.json`, 20);
    assert.equal(last("/a"), "other", "unless the damage hides which workspace it is of");
    Deno.removeSync(`${home.sessions}/other`, { recursive: true });
    // The remains of a killed creation are no session.
    Deno.mkdirSync(`${home.sessions}/begun/turns`, { recursive: true, mode: 0o700 });
    assert.equal(last("/a"), "new");
    Deno.renameSync(`${home.sessions}/new`, `${home.path}/moved`);
    Deno.symlinkSync(`${home.path}/moved`, `${home.sessions}/new`);
    assert.equal(last("/a"), "new", "a session that was replaced by a link is not passed over either");
  }));

Deno.test("ids that are read from files never become paths", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const paths: string[] = [];
    const spying = portsOn(spyFiles(({ path }) => paths.push(path)));
    listSessions(spying, home);
    assert.ok(paths.every((path) => path.startsWith(home.path)));
    assert.equal(listSessions(testPorts(), home)[0]?.id, ID);
  }));
