/** The second thread of a long check: no report depends on it. */
import assert from "node:assert/strict";
import type { Files, FilesAhead, NumberedFiles } from "../../../src/domain/ports.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import type { Home } from "../../../src/store/home.ts";
import { readFilesAhead } from "../../../src/store/read_ahead.ts";
import { createLongSession } from "../../support/long_session.ts";
import { ID, testPorts, testProcess, withHome } from "./support.ts";
import { test } from "../../support/test.ts";

/** Enough time for another thread to start on a busy machine, in milliseconds. */
const PATIENCE = 60_000;

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}

/** Files whose second thread gets the time to read ahead; counts the files that it passes on. */
function slowedFiles(): Files & { readonly passed: () => number } {
  let passed = 0;
  const readAhead = (files: NumberedFiles): FilesAhead | null => {
    const ahead = readFilesAhead(files);
    pause(200);
    return ahead && {
      close: () => ahead.close(),
      take(number, into) {
        const file = ahead.take(number, into);
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
    Deno.symlinkSync(`${path(5010)}.old`, path(5010));
    new Deno.Command("mkfifo", { args: [path(5020)] }).outputSync();
    Deno.chmodSync(path(5030), 0o644);
  },
};

for (const [name, damage] of Object.entries(DAMAGE)) {
  test.long(`a second thread changes nothing in the report ${name}`, async () => {
    await withHome(async (home) => {
      const paths = await createLongSession(home, TURNS);
      damage((turn) => paths[turn - 1] ?? `${paths[0]}.other`);
      await assertSameReport(home);
    });
  });
}

test.long({
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
