/** Reading many turns: what is read, in which order, and which error comes first. */
import assert from "node:assert/strict";
import type { Files } from "../../../src/domain/ports.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { createLongSession } from "../../support/long_session.ts";
import { ID, portsOn, withHome } from "./support.ts";

const TURNS = 200;
/** Lengths of the texts of turns that are larger than the memory for a small file, or nearly so. */
const LARGE: Readonly<Record<number, number>> = {
  2: 70_000,
  65: 64 * 1024,
  66: 300_000,
  150: 63_000,
  151: 63_000,
};

function textOf(turn: number): string {
  return `Step ${turn} is done.`.padEnd(LARGE[turn] ?? turn * 13);
}

/** Files that note which turns are looked at and opened; opening one of `failing` throws. */
function notingFiles(failing: readonly string[] = []) {
  const looked: string[] = [];
  const opened: string[] = [];
  const open = (path: string) => {
    if (failing.includes(path)) throw new Deno.errors.PermissionDenied(`cannot open ${path}`);
    opened.push(path);
  };
  const files: Files = {
    ...denoFiles,
    facts(path) {
      looked.push(path);
      return denoFiles.facts(path);
    },
    read(path) {
      open(path);
      return denoFiles.read(path);
    },
    openRead(path) {
      open(path);
      return denoFiles.openRead(path);
    },
  };
  return { files, looked, opened };
}

/** Runs `body` with a session of turns of many sizes. */
function withTurns(body: (home: Home, paths: readonly string[]) => void | Promise<void>): Promise<void> {
  return withHome(async (home) => body(home, await createLongSession(home, TURNS, textOf)));
}

Deno.test("all turns are read once and in order, whatever their sizes", () =>
  withTurns((home, paths) => {
    const { files, looked, opened } = notingFiles();
    const { turns } = readSession(portsOn(files), home, ID);
    assert.deepEqual(turns, paths.map((path) => JSON.parse(Deno.readTextFileSync(path))));
    assert.deepEqual(opened.filter((path) => paths.includes(path)), paths);
    assert.deepEqual(looked.filter((path) => paths.includes(path)), paths);
  }));

Deno.test("the first problem of a session is reported", () =>
  withTurns(async (home, paths) => {
    const [damaged, failing] = [paths[69] as string, paths[80] as string];
    const whole = Deno.readFileSync(damaged);
    Deno.truncateSync(damaged, 300);
    const ports = portsOn(notingFiles([failing]).files);
    const read = () => readSession(ports, home, ID);
    assert.throws(read, {
      code: "session_damaged",
      message: /turns\/000070\.json does not end with its checksum/,
    });
    Deno.writeFileSync(damaged, whole);
    assert.throws(read, { code: "storage_denied" });
    await assert.rejects(fsckSession(ports, home, ID), { code: "storage_denied" });
  }));

Deno.test("no turn after a missing one is opened, and a check continues after it", () =>
  withTurns(async (home, paths) => {
    Deno.removeSync(paths[99] as string);
    const { files, opened } = notingFiles();
    const ports = portsOn(files);
    assert.throws(() => readSession(ports, home, ID), {
      code: "session_damaged",
      message: /turns\/000100\.json is missing/,
    });
    assert.equal(opened.filter((path) => paths.includes(path)).length, 99);
    const { findings } = await fsckSession(ports, home, ID);
    assert.deepEqual(
      findings.filter(({ severity }) => severity === "error").map(({ path, code }) => [path, code]),
      [["turns/000100.json", "missing_turn"]],
    );
  }));

Deno.test("a check reports turns in their order, with all that is wrong with each", () =>
  withTurns(async (home, paths) => {
    Deno.chmodSync(paths[12] as string, 0o644);
    Deno.truncateSync(paths[10] as string, 0);
    Deno.chmodSync(paths[10] as string, 0o640);
    const { findings } = await fsckSession(portsOn(denoFiles), home, ID);
    const ofTurns = findings.filter(({ turn, path }) => turn !== undefined || path.startsWith("turns/"));
    assert.deepEqual(
      ofTurns.filter(({ code }) => code !== "open_run" && code !== "manifest_lags").map((
        { path, code },
      ) => [path, code]),
      [["turns/000011.json", "wrong_mode"], ["turns/000011.json", "bad_sum"], [
        "turns/000013.json",
        "wrong_mode",
      ]],
    );
  }));
