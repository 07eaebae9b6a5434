/** The second thread of a long check: it passes on good files only. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { FileAhead, NumberedFiles } from "../../../src/domain/ports.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { readFilesAhead } from "../../../src/store/read_ahead.ts";
import { ID, newSession, portsOn, testPorts, withHome } from "./support.ts";
import { test } from "../../support/test.ts";

const UNHASHED = 10;
/** Enough time for another thread to start on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function numbered(directory: string, number: number): string {
  return `${directory}/${String(number).padStart(6, "0")}.json`;
}

/** More than any file that is passed on. */
const ROOM = 64 * 1024;

type Taken = FileAhead & { readonly bytes: Uint8Array };

/** Takes all files again and again until each of `wanted` was passed on once; returns all that were passed on. */
function takenFrom(
  files: NumberedFiles,
  wanted: readonly number[],
  roomFor: (number: number) => number = () => ROOM,
): Map<number, Taken> {
  const taken = new Map<number, Taken>();
  const deadline = performance.now() + PATIENCE;
  while (!wanted.every((number) => taken.has(number)) && performance.now() < deadline) {
    const ahead = readFilesAhead(files);
    assert.ok(ahead !== null);
    pause(200);
    for (let number = files.first; number <= files.last; number++) {
      const into = new Uint8Array(roomFor(number));
      const file = ahead.take(number, into);
      if (file !== null) taken.set(number, { ...file, bytes: into.subarray(0, file.size) });
      if (number % 16 === 0) pause(1);
    }
    ahead.close();
  }
  return taken;
}

function range(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** Runs `body` with 300 numbered files of many sizes. */
async function withFiles(body: (directory: string, files: NumberedFiles) => void): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "reprise-ahead-" });
  try {
    for (const number of range(1, 300)) {
      const bytes = new Uint8Array(UNHASHED + number * 100).map((_, index) => index * number);
      Deno.writeFileSync(numbered(directory, number), bytes, { mode: 0o600 });
    }
    body(directory, { directory, first: 1, last: 300, user: Deno.uid(), unhashed: UNHASHED });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

test.long("files that are read ahead have their bytes, their mode, and the sum of all but their end", async () => {
  await withFiles((directory, files) => {
    if (Deno.build.os !== "windows") Deno.chmodSync(numbered(directory, 7), 0o640);
    const taken = takenFrom(files, range(1, 300));
    assert.equal(taken.size, 300);
    for (const [number, { bytes, mode, sum }] of taken) {
      const path = numbered(directory, number);
      assert.deepEqual(bytes, Deno.readFileSync(path), path);
      assert.equal(mode, denoFiles.facts(path)?.mode, path);
      assert.equal(sum, sha256Hex(bytes.subarray(0, -UNHASHED)), path);
    }
  });
});

test.long("files that are missing, too large, too short or not regular are left to the caller", async () => {
  await withFiles((directory, files) => {
    const replaced: Record<number, (path: string) => void> = {
      20: () => {},
      40: (path) => Deno.writeFileSync(path, new Uint8Array(64 * 1024)),
      60: (path) => Deno.writeFileSync(path, new Uint8Array(UNHASHED)),
      80: (path) => Deno.mkdirSync(path),
      ...(Deno.build.os === "windows" ? {} : {
        100: (path: string) => {
          // As long as the link itself, so that its size does not give it away.
          const target = `${directory}/target`;
          Deno.writeFileSync(target, new Uint8Array(target.length));
          Deno.symlinkSync(target, path);
        },
        120: (path: string) => new Deno.Command("mkfifo", { args: [path] }).outputSync(),
      }),
    };
    for (const [number, replace] of Object.entries(replaced)) {
      Deno.removeSync(numbered(directory, Number(number)));
      replace(numbered(directory, Number(number)));
    }
    const others = range(1, 300).filter((number) => replaced[number] === undefined);
    assert.deepEqual([...takenFrom(files, others).keys()].toSorted((a, b) => a - b), others);
  });
});

test.long("a file is left to a caller that has no room for it", async () => {
  await withFiles((_, files) => {
    const sizeOf = (number: number) => UNHASHED + number * 100;
    const fitting = range(1, 300).filter((number) => number % 2 === 0);
    const taken = takenFrom(files, fitting, (number) => sizeOf(number) - number % 2);
    assert.deepEqual([...taken.keys()].toSorted((a, b) => a - b), fitting);
  });
});

test.long({
  name: "files of another owner are left to the caller",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFiles((directory, files) => {
      const ahead = readFilesAhead({ ...files, user: (Deno.uid() as number) + 1 });
      pause(500);
      assert.ok(
        range(1, 100).every((number) => ahead?.take(number, new Uint8Array(ROOM)) === null),
        directory,
      );
      ahead?.close();
    });
  },
});

test.long("without a second thread all files are left to the caller", async () => {
  await withFiles((_, files) => {
    const { Worker } = globalThis;
    globalThis.Worker = class {
      constructor() {
        throw new Error("no more threads");
      }
    } as unknown as typeof Worker;
    try {
      assert.equal(readFilesAhead(files), null);
    } finally {
      globalThis.Worker = Worker;
    }
    assert.equal(readFilesAhead({ ...files, last: 2 ** 31 }), null);
  });
});

Deno.test("a short session is checked without a second thread", async () => {
  await withHome(async (home) => {
    await newSession(testPorts(), home);
    const readAhead = () => assert.fail("a second thread was started");
    const { findings } = await fsckSession(portsOn({ ...denoFiles, readAhead }), home, ID);
    assert.deepEqual(findings, []);
  });
});
