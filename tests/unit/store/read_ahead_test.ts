/** The second thread of a long check: it passes on good files only, and no report depends on it. */
import assert from "node:assert/strict";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { FileAhead, Files, FilesAhead, NumberedFiles } from "../../../src/domain/ports.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { Home } from "../../../src/store/home.ts";
import { readFilesAhead } from "../../../src/store/read_ahead.ts";
import { createLongSession } from "../../support/long_session.ts";
import { ID, newSession, portsOn, testPorts, testProcess, withHome } from "./support.ts";

const UNHASHED = 10;
/** Enough time for another thread to start on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

function numbered(directory: string, number: number): string {
  return `${directory}/${String(number).padStart(6, "0")}.json`;
}

/** Takes all files again and again until each of `wanted` was passed on once; returns all that were passed on. */
function takenFrom(files: NumberedFiles, wanted: readonly number[]): Map<number, FileAhead> {
  const taken = new Map<number, FileAhead>();
  const deadline = performance.now() + PATIENCE;
  while (!wanted.every((number) => taken.has(number)) && performance.now() < deadline) {
    const ahead = readFilesAhead(files);
    assert.ok(ahead !== null);
    pause(200);
    for (let number = files.first; number <= files.last; number++) {
      const file = ahead.take(number);
      if (file !== null) taken.set(number, { ...file, bytes: file.bytes.slice() });
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

Deno.test("files that are read ahead have their bytes, their mode, and the sum of all but their end", async () => {
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

Deno.test("files that are missing, too large, too short or not regular are left to the caller", async () => {
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

Deno.test({
  name: "files of another owner are left to the caller",
  ignore: Deno.build.os === "windows",
  async fn() {
    await withFiles((directory, files) => {
      const ahead = readFilesAhead({ ...files, user: (Deno.uid() as number) + 1 });
      pause(500);
      assert.ok(range(1, 100).every((number) => ahead?.take(number) === null), directory);
      ahead?.close();
    });
  },
});

Deno.test("without a second thread all files are left to the caller", async () => {
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

/** Files whose second thread gets the time to read ahead; counts the files that it passes on. */
function slowedFiles(): Files & { readonly passed: () => number } {
  let passed = 0;
  const readAhead = (files: NumberedFiles): FilesAhead | null => {
    const ahead = readFilesAhead(files);
    pause(200);
    return ahead && {
      close: () => ahead.close(),
      take(number) {
        const file = ahead.take(number);
        if (file !== null) passed++;
        if (number % 32 === 0) pause(1);
        return file;
      },
    };
  };
  return { ...denoFiles, readAhead, passed: () => passed };
}

const TURNS = 5200;

/** Changes of a long session, each at a place of its own. */
const DAMAGE: Readonly<Record<string, (path: (turn: number) => string) => void>> = {
  "of good turns": () => {},
  "of turns that are edited, cut short, empty, nothing but zero bytes, or too large to be read ahead": (
    path,
  ) => {
    const edit = (turn: number, text: string) => {
      Deno.writeTextFileSync(path(turn), Deno.readTextFileSync(path(turn)).replace("is done", text));
    };
    edit(5000, "is open");
    Deno.truncateSync(path(5010), 500);
    Deno.truncateSync(path(5020), 0);
    Deno.writeFileSync(path(5030), new Uint8Array(700));
    edit(5040, "is done".padEnd(64 * 1024));
  },
  "of turns that are missing, or changed places": (path) => {
    for (const turn of [4980, 4981, 4990, 5100]) Deno.removeSync(path(turn));
    Deno.renameSync(path(5010), path(TURNS + 1));
    Deno.renameSync(path(5011), path(5010));
    Deno.renameSync(path(TURNS + 1), path(5011));
  },
  "of a directory, a link, a FIFO and another mode among the turns": (path) => {
    for (const turn of [5000, 5010, 5020]) Deno.renameSync(path(turn), `${path(turn)}.old`);
    Deno.mkdirSync(path(5000));
    if (Deno.build.os === "windows") return;
    Deno.symlinkSync(`${path(5010)}.old`, path(5010));
    new Deno.Command("mkfifo", { args: [path(5020)] }).outputSync();
    Deno.chmodSync(path(5030), 0o644);
  },
};

for (const [name, damage] of Object.entries(DAMAGE)) {
  Deno.test(`a second thread changes nothing in the report ${name}`, async () => {
    await withHome(async (home) => {
      const paths = await createLongSession(home, TURNS);
      damage((turn) => paths[turn - 1] ?? `${paths[0]}.other`);
      await assertSameReport(home);
    });
  });
}

Deno.test({
  name: "a second thread changes nothing in the report of turns of another owner",
  ignore: Deno.uid() === null,
  async fn() {
    await withHome(async (home) => {
      await createLongSession(home, TURNS);
      await assertSameReport(home, testProcess({ user: (Deno.uid() as number) + 1 }));
    });
  },
});

async function assertSameReport(home: Home, process = testProcess()): Promise<void> {
  const { readAhead: _, ...alone } = denoFiles;
  const expected = await fsckSession(testPorts({ process, files: alone }), home, ID);
  const deadline = performance.now() + PATIENCE;
  for (;;) {
    const files = slowedFiles();
    assert.deepEqual(await fsckSession(testPorts({ process, files }), home, ID), expected);
    // The directories of another owner are not entered.
    if (files.passed() > 100 || expected.turns === 0) return;
    assert.ok(performance.now() < deadline, "the second thread read nothing");
  }
}

Deno.test("a short session is checked without a second thread", async () => {
  await withHome(async (home) => {
    await newSession(testPorts(), home);
    const readAhead = () => assert.fail("a second thread was started");
    const { findings } = await fsckSession(portsOn({ ...denoFiles, readAhead }), home, ID);
    assert.deepEqual(findings, []);
  });
});
