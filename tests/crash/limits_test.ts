import assert from "node:assert/strict";
import { lacksLinux, needing } from "../support/needs.ts";
import { commandOf } from "./programs.ts";
import { withDirectory } from "./trace.ts";
import { scaled } from "../support/scale.ts";

const TURNS = scaled(2000, 10_000);
const MEBIBYTES = scaled(64, 1024);
/** Memory of an idle process, and some ten kilobytes a turn: a blob is never whole in memory. */
const MOST_MIB = 120 + Math.ceil(TURNS / 100);
/** Base64 makes strings of every byte, which are collected only now and then. */
const MOST_MIB_EXPORTING = 400;
/** Many times what it takes, for a busy machine with a slow disk: what grew faster than the session would not end. */
const MOST_MS = 10_000 + TURNS * 20 + MEBIBYTES * 100;

/** TMPDIR may be in memory, which is too small for a soak. */
const DISK = "/var/tmp";

interface Measured {
  readonly counted: number;
  readonly peakMiB: number;
  readonly ms: number;
}

async function measure(...args: string[]): Promise<Measured> {
  const [deno, ...program] = await commandOf("limits_program") as [string, ...string[]];
  const { success, stdout, stderr } = await new Deno.Command(deno, {
    args: [...program, ...args],
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  return JSON.parse(decoder.decode(stdout));
}

Deno.test({
  ...needing(
    `a session of ${TURNS} turns and ${MEBIBYTES} MiB of tool output opens, folds, runs, checks and exports in little memory`,
    lacksLinux(),
  ),
  fn: () =>
    withDirectory(async (root) => {
      const home = `${root}/home`;
      const wrong: string[] = [];
      const done: Record<string, number> = {};
      for (const mode of ["make", "open", "fold", "run", "fsck", "export"]) {
        const more = mode === "make" ? [String(TURNS), String(MEBIBYTES)] : [];
        const { counted, peakMiB, ms } = await measure(mode, home, ...more);
        done[mode] = counted;
        if (peakMiB > (mode === "export" ? MOST_MIB_EXPORTING : MOST_MIB)) {
          wrong.push(`${mode} took ${peakMiB} MiB`);
        }
        if (ms > MOST_MS) wrong.push(`${mode} took ${ms} ms`);
      }
      assert.deepEqual(wrong, []);
      assert.equal(done.open, TURNS);
      assert.equal(done.fold, TURNS / 5 * 6, "prompt, reasoning, call, result, reasoning, answer");
      assert.equal(done.run, TURNS + 3);
      assert.equal(done.fsck, 0);
      assert.ok((done.export ?? 0) > MEBIBYTES * 1024 * 1024);
    }, { dir: DISK }),
});
