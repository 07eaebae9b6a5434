/** Lists read small files without inspecting them first: only what is plain, and only where that is safe. */
import assert from "node:assert/strict";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { listSessions } from "../../../src/store/home.ts";
import { judgeSessions } from "../../../src/store/read/status.ts";
import { readQuickly } from "../../../src/store/read/safe_open.ts";
import { ID, newSession, portsOn, testPorts, withHome } from "./support.ts";
import type { Files } from "../../../src/domain/ports.ts";
import { test } from "../../support/test.ts";

test.long("only a plain, small file that is not empty is read quickly", () =>
  withHome(async (_home, root) => {
    const at = (name: string) => `${root}/${name}`;
    Deno.writeTextFileSync(at("plain"), "plain");
    Deno.writeTextFileSync(at("empty"), "");
    Deno.writeFileSync(at("large"), new Uint8Array(64 * 1024));
    Deno.symlinkSync(at("plain"), at("link"));
    Deno.mkdirSync(at("directory"));
    assert.ok((await new Deno.Command("mkfifo", { args: [at("fifo")] }).output()).success);
    const read = (name: string) => {
      const bytes = readQuickly(testPorts(), at(name));
      return bytes === null ? null : new TextDecoder().decode(bytes);
    };
    assert.equal(read("plain"), "plain");
    for (const name of ["empty", "large", "link", "directory", "fifo", "missing"]) {
      assert.equal(read(name), null, name);
    }
  }));

/** The paths that `ls` inspects, and its sessions. */
function inspected(home: Parameters<typeof listSessions>[1]) {
  const paths: string[] = [];
  const files: Files = {
    ...denoFiles,
    facts(path) {
      if (path.startsWith(`${home.sessions}/${ID}`)) paths.push(path.slice(`${home.sessions}/${ID}/`.length));
      return denoFiles.facts(path);
    },
  };
  const sessions = judgeSessions(portsOn(files), home, listSessions(portsOn(files), home));
  return { sessions, paths };
}

Deno.test("a manifest is inspected if others may put files into the directory of its session", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const own = inspected(home);
    assert.ok(!own.paths.includes("manifest.json"));
    Deno.chmodSync(`${home.sessions}/${ID}`, 0o770);
    const shared = inspected(home);
    assert.ok(shared.paths.includes("manifest.json"));
    assert.deepEqual(shared.sessions, own.sessions);
  }));

Deno.test("a newest turn that is a link to a copy, or altered, is inspected and reported", () =>
  withHome(async (home, root) => {
    await newSession(testPorts(), home);
    const { sessions: [sound] } = inspected(home);
    const path = `${home.sessions}/${ID}/turns/${String(sound?.manifest?.head.turn).padStart(6, "0")}.json`;
    const bytes = Deno.readFileSync(path);
    Deno.renameSync(path, `${root}/copy`);
    Deno.symlinkSync(`${root}/copy`, path);
    const linked = inspected(home);
    assert.equal(linked.sessions[0]?.state, "damaged");
    assert.match(linked.sessions[0]?.problem ?? "", /is a symbolic link/);
    Deno.removeSync(path);
    bytes[bytes.length >> 1]! ^= 1;
    Deno.writeFileSync(path, bytes);
    const altered = inspected(home);
    assert.equal(altered.sessions[0]?.state, "damaged");
    assert.match(altered.sessions[0]?.problem ?? "", /does not fit its checksum/);
  }));
