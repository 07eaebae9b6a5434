import assert from "node:assert/strict";
import type { Files } from "../../../src/domain/ports.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { type Home, openHome } from "../../../src/store/home.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readBlob, readSession } from "../../../src/store/read/session.ts";
import { readForShow } from "../../../src/store/read/show.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import {
  ID,
  INSTRUCTIONS,
  newSession,
  newWriter,
  portsOn,
  testPorts,
  testProcess,
  userDraft,
  withHome,
} from "./support.ts";
import { test } from "../../support/test.ts";

/** Places inside a session where something else may be planted, and who must refuse it. */
const FILES = ["turns/000001.json", "turns/000005.json", "manifest.json"];
const DIRECTORIES = [".", "turns"];

for (const inside of [...FILES, ...DIRECTORIES]) {
  Deno.test(`a symbolic link at ${inside} is refused, even when it leads to the real thing`, () =>
    withHome(async (home, root) => {
      await newSession(testPorts(), home);
      const path = `${home.sessions}/${ID}/${inside}`.replace(/\/\.$/, "");
      Deno.renameSync(path, `${root}/real`);
      Deno.symlinkSync(`${root}/real`, path);
      await assertRefused(home, "symlink");
    }));
}

async function assertRefused(home: Home, code: string, ports = testPorts()): Promise<void> {
  const fits = (error: { code?: string; details?: { finding?: string } }) =>
    error.code === "session_damaged" && error.details?.finding === code;
  assert.throws(() => readSession(ports, home, ID), fits);
  await assert.rejects(SessionWriter.open(ports, home, { id: ID }), fits);
  const { findings } = await fsckSession(ports, home, ID);
  assert.ok(findings.some((finding) => finding.severity === "error" && finding.code === code));
}

for (const inside of FILES) {
  test.long(`a FIFO at ${inside} is refused without being opened, which would block for ever`, () =>
    withHome(async (home) => {
      await newSession(testPorts(), home);
      const path = `${home.sessions}/${ID}/${inside}`;
      Deno.removeSync(path);
      const { success } = await new Deno.Command("mkfifo", { args: [path] }).output();
      assert.ok(success);
      await assertRefused(home, "not_a_file");
    }));
}

Deno.test("a file or directory of another owner is refused, wherever it lies", async () => {
  for (const inside of [...FILES, ...DIRECTORIES]) {
    await withHome(async (home) => {
      await newSession(testPorts(), home);
      const path = `${home.sessions}/${ID}/${inside}`.replace(/\/\.$/, "");
      // Only root can give a file away; for everybody else the port says that somebody did.
      if (Deno.uid() === 0) Deno.chownSync(path, 12345, null);
      const files: Files = {
        ...denoFiles,
        facts(asked) {
          const facts = denoFiles.facts(asked);
          return facts !== null && asked === path && Deno.uid() !== 0 ? { ...facts, owner: 12345 } : facts;
        },
      };
      await assertRefused(home, "foreign_owner", portsOn(files));
    });
  }
});

Deno.test("a session and a home of another user are refused", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const other = testPorts({ process: testProcess({ user: (Deno.uid() ?? 0) + 1 }) });
    assert.throws(() => readSession(other, home, ID), {
      code: "session_damaged",
      message: /belongs to user/,
    });
    assert.throws(() => openHome(other, home.path), { code: "storage_denied", message: /belongs to user/ });
  }));

for (const inside of ["lock", "blobs"]) {
  Deno.test(`a symbolic link at ${inside} is refused by the writer and leads nowhere`, () =>
    withHome(async (home, root) => {
      await newSession(testPorts(), home);
      const path = `${home.sessions}/${ID}/${inside}`;
      Deno.removeSync(path, { recursive: true });
      if (inside === "blobs") Deno.mkdirSync(`${root}/target`);
      else Deno.writeTextFileSync(`${root}/target`, "precious");
      Deno.symlinkSync(`${root}/target`, path);
      await assert.rejects(SessionWriter.open(testPorts(), home, { id: ID }), { code: "session_damaged" });
      if (inside === "lock") assert.equal(Deno.readTextFileSync(`${root}/target`), "precious");
      const { findings } = await fsckSession(testPorts(), home, ID);
      assert.ok(findings.some(({ severity, code }) => severity === "error" && code === "symlink"));
    }));
}

Deno.test("a link planted where the manifest goes is replaced, never written through", () =>
  withHome(async (home, root) => {
    const writer = await newWriter(testPorts(), home);
    Deno.writeTextFileSync(`${root}/precious`, "precious");
    Deno.symlinkSync(`${root}/precious`, `${writer.path}/manifest.json`);
    writer.append(userDraft("hello"));
    writer.close();
    assert.equal(Deno.readTextFileSync(`${root}/precious`), "precious");
    assert.ok(Deno.lstatSync(`${writer.path}/manifest.json`).isFile);
  }));

Deno.test("a hard link is ours: sessions that share a turn's file are both readable", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    Deno.linkSync(`${home.sessions}/${ID}/turns/000001.json`, `${root}/second-name`);
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5);
  }));

Deno.test("a turn file over the cap is refused before it is read", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const path = `${home.sessions}/${ID}/turns/000002.json`;
    Deno.truncateSync(path, 64 * 1024 * 1024 + 1);
    assert.throws(() => readSession(testPorts(), home, ID), {
      code: "session_damaged",
      message: /more than the cap/,
    });
    assert.deepEqual(readForShow(testPorts(), home, ID).problems.map(({ path }) => path), [
      "turns/000002.json",
    ]);
  }));

Deno.test("a blob is checked against its name when it is read", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const sha256 = sha256Hex(INSTRUCTIONS);
    assert.deepEqual(readBlob(testPorts(), home, ID, sha256), INSTRUCTIONS);
    Deno.writeTextFileSync(`${home.sessions}/${ID}/blobs/${sha256}`, "You are a careless agent");
    assert.throws(() => readBlob(testPorts(), home, ID, sha256), {
      code: "session_damaged",
      message: /blobs\//,
    });
    assert.throws(() => readBlob(testPorts(), home, ID, sha256Hex("none")), {
      code: "session_damaged",
      message: /missing/,
    });
    assert.throws(() => readBlob(testPorts(), home, ID, "../manifest.json"), TypeError);
  }));

for (const umask of ["000", "022", "077", "277", "777"]) {
  test.long(`under umask ${umask} directories are 0700 and files 0600`, () =>
    withHome(async (_, root) => {
      // In a process of its own: the umask belongs to the process, and other tests may run beside this one.
      const program = new URL("./umask_program.ts", import.meta.url).pathname;
      const config = new URL("../../../deno.json", import.meta.url).pathname;
      const { success, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "-A", "--no-check", "--config", config, program, umask, `${root}/new/home`],
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
      const seen = modesBelow(`${root}/new`);
      for (const name of ["/lock", "/manifest.json", "/turns/000001.json", "/blobs/", "/quarantine/"]) {
        assert.ok(seen.some((line) => line.includes(name)), `${name} in ${seen}`);
      }
      assert.deepEqual(seen.filter((line) => !/^(d 700|f 600) /.test(line)), []);
    }));
}

function modesBelow(path: string): string[] {
  const info = Deno.lstatSync(path);
  const line = `${info.isDirectory ? "d" : "f"} ${((info.mode ?? 0) & 0o777).toString(8)} ${path}`;
  if (!info.isDirectory) return [line];
  return [line, ...Array.from(Deno.readDirSync(path)).flatMap(({ name }) => modesBelow(`${path}/${name}`))];
}

Deno.test("a blob that is there with another size is damage, and is not overwritten", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    const bytes = new TextEncoder().encode("output");
    const path = `${writer.path}/blobs/${sha256Hex(bytes)}`;
    Deno.writeTextFileSync(path, "half", { mode: 0o600 });
    assert.throws(() => writer.putBlob(bytes), {
      code: "session_damaged",
      message: /has 4 bytes, but its content has 6/,
    });
    assert.equal(Deno.readTextFileSync(path), "half");
    writer.close();
  }));
