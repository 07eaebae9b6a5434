/** Turns are read in batches: what is read, in which order, and which error comes first. */
import assert from "node:assert/strict";
import type { Files } from "../../../src/domain/ports.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { Home } from "../../../src/store/home.ts";
import { sessionPaths } from "../../../src/store/layout.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { BRIEF_LENGTH } from "../../../src/store/read/safe_open.ts";
import { readTurns } from "../../../src/store/read/turns.ts";
import { createLongSession } from "../../support/long_session.ts";
import { ID, portsOn, withHome } from "./support.ts";

const TURNS = 200;
/** Turns that are larger than the memory for a small file, or than that of a batch; one begins a batch of usual ones. */
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

/** Bytes of a file that fills a batch. */
const FILLS_A_BATCH = 256 * 1024;

/** Systems that show the owner of a file only to an inspection, and those that show it when a file is opened. */
const SYSTEMS = { "that inspect": false, "that open at once": true } as const;

/** Files that note which turns are looked at and opened; opening one of `failing` throws. */
function notingFiles({ failing = [], atOnce = false }: {
  readonly failing?: readonly string[];
  readonly atOnce?: boolean;
} = {}) {
  const { readOwn: _, ...inspecting } = denoFiles;
  const looked: string[] = [];
  const opened: string[] = [];
  const open = (path: string) => {
    if (failing.includes(path)) throw new Deno.errors.PermissionDenied(`cannot open ${path}`);
    opened.push(path);
  };
  const readOwn = (path: string, into: Uint8Array) => {
    const count = failing.includes(path) ? null : denoFiles.readPlain?.(path, into) ?? null;
    if (count !== null && count < into.length) opened.push(path);
    return count;
  };
  const files: Files = {
    ...inspecting,
    ...(atOnce ? { readOwn } : {}),
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

for (const [systems, atOnce] of Object.entries(SYSTEMS)) {
  Deno.test(`all turns are read once and in order, whatever their sizes, on systems ${systems}`, () =>
    withTurns((home, paths) => {
      const { files, looked, opened } = notingFiles({ atOnce });
      const { turns } = readSession(portsOn(files), home, ID);
      assert.deepEqual(turns, paths.map((path) => JSON.parse(Deno.readTextFileSync(path))));
      assert.deepEqual(opened.filter((path) => paths.includes(path)), paths);
      for (const path of paths) {
        const isBrief = Deno.statSync(path).size < BRIEF_LENGTH;
        assert.equal(looked.filter((each) => each === path).length, atOnce && isBrief ? 0 : 1, path);
      }
    }));

  Deno.test(`the first problem of a session is reported, although later turns were read by then, on systems ${systems}`, () =>
    withTurns(async (home, paths) => {
      const [damaged, failing] = [paths[69] as string, paths[80] as string];
      const whole = Deno.readFileSync(damaged);
      Deno.truncateSync(damaged, 300);
      const ports = portsOn(notingFiles({ failing: [failing], atOnce }).files);
      const read = () => readSession(ports, home, ID);
      assert.throws(read, {
        code: "session_damaged",
        message: /turns\/000070\.json does not end with its checksum/,
      });
      Deno.writeFileSync(damaged, whole);
      assert.throws(read, { code: "storage_denied" });
      await assert.rejects(fsckSession(ports, home, ID), { code: "storage_denied" });
    }));

  Deno.test(`no turn after a missing one is opened, and a check continues after it, on systems ${systems}`, () =>
    withTurns(async (home, paths) => {
      Deno.removeSync(paths[99] as string);
      const { files, opened } = notingFiles({ atOnce });
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
}

Deno.test("a turn that is cut short when it is opened at once is read again", () =>
  withTurns((home, paths) => {
    const { files } = notingFiles({ atOnce: true });
    const cut: Files = {
      ...files,
      readOwn: (path, into) => Math.min(files.readOwn?.(path, into) ?? 0, path === paths[3] ? 100 : Infinity),
    };
    assert.equal(readSession(portsOn(cut), home, ID).turns.length, TURNS);
  }));

Deno.test("a check reports the turns of one batch in their order, with all that is wrong with each", () =>
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

Deno.test("turns that fill a batch are not read ahead: memory for one of them is enough", () =>
  withHome(async (home) => {
    const paths = await createLongSession(home, 5, () => "".padEnd(FILLS_A_BATCH));
    const { files, opened } = notingFiles();
    const turns = readTurns(portsOn(files), sessionPaths(home.sessions, ID), { at: (index) => index + 1 });
    // The first turn is the user's message.
    const reads = [2, 2, 3, 4, 5].map((atMost) => {
      const { value } = turns.next();
      assert.equal(opened.length, atMost);
      return value?.read.status;
    });
    assert.deepEqual(reads, paths.map(() => "ok"));
  }));
