import assert from "node:assert/strict";
import { join } from "node:path";
import { PERMISSION_FLAGS } from "../../../../scripts/compile/build.ts";
import { editFile } from "../../../../src/tools/writing/edit_file.ts";
import { writeFile } from "../../../../src/tools/writing/write_file.ts";
import { whileSwapping } from "../swapping.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";
import { lacksProgram, needing } from "../../../support/needs.ts";
import { scaled } from "../../../support/scale.ts";

const CANARY = "canary-race: neither read nor changed";
const SWAPS = scaled(500, 2000);

/** Everything below a directory, as `path: content`. */
function contentsOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap((entry) => {
    const path = join(directory, entry.name);
    return entry.isDirectory
      ? [entry.name, ...contentsOf(path)]
      : [`${entry.name}: ${Deno.readTextFileSync(path)}`];
  }).sort();
}

interface Race {
  /** Runs one call; its output must never tell the canary. */
  readonly call: (workspace: Workspace, attempt: number) => Promise<{ status: string; output: string }>;
}

/** Calls again and again while `dir` is swapped for a link to the directory outside. */
async function race({ call }: Race): Promise<void> {
  using workspace = new Workspace({ "dir/name.txt": CANARY.replace("canary", "inside") });
  workspace.writeOutside("name.txt", CANARY);
  workspace.writeOutside("sub/name.txt", CANARY);
  const before = contentsOf(workspace.outside);
  const count = { done: 0, refused: 0 };
  await whileSwapping(workspace, "dir", async (swaps) => {
    const isRaced = () => swaps() >= SWAPS && Math.min(count.refused, count.done) > SWAPS / 100;
    for (let attempt = 0; attempt < SWAPS || !isRaced() && attempt < 20 * SWAPS; attempt++) {
      const { status, output } = await call(workspace, attempt);
      if (status === "ok") count.done++;
      else count.refused++;
      assert(!output.includes("canary"), output);
    }
  }, { rest: 0.1 });
  assert.deepEqual(contentsOf(workspace.outside), before);
  // Otherwise the swaps never met a call, and nothing was tested.
  assert(count.refused > SWAPS / 100 && count.done > SWAPS / 100, JSON.stringify(count));
}

test.long("write_file writes nothing outside while a directory on the way is swapped for a link", async () => {
  await race({
    call: (workspace, attempt) =>
      writeFile.run({ path: "dir/name.txt", content: `inside ${attempt}` }, workspace.context()),
  });
});

test.long("write_file creates no directory and no file outside while a directory is swapped for a link", async () => {
  await race({
    call: (workspace, attempt) =>
      writeFile.run({ path: `dir/sub/${attempt}/new.txt`, content: "inside" }, workspace.context()),
  });
});

test.long("edit_file reads and changes nothing outside while a directory on the way is swapped for a link", async () => {
  await race({
    // The text is in both files: an edit of the wrong one would go through.
    call: (workspace, attempt) => {
      const [old_text, new_text] = attempt % 2 === 0 ? ["race", "RACE"] : ["RACE", "race"];
      return editFile.run({ path: "dir/name.txt", old_text, new_text }, workspace.context());
    },
  });
});

test.long(
  needing(
    "with the binary's permissions bare names reach the kernel: no path is walked between check and use",
    lacksProgram("strace"),
  ),
  () => {
    using workspace = new Workspace({ "dir/name.txt": "before" });
    const trace = join(workspace.outside, "trace");
    const program = `
      import { writeFile } from ${
      JSON.stringify(new URL("../../../../src/tools/writing/write_file.ts", import.meta.url).href)
    };
      const context = { root: ${JSON.stringify(workspace.root)}, signal: new AbortController().signal,
        protectedPaths: [], env: () => undefined, isHidden: () => false };
      const { status } = await writeFile.run({ path: "dir/new/name.txt", content: "after" }, context);
      if (status !== "ok") Deno.exit(9);
    `;
    const config = new URL("../../../../deno.json", import.meta.url).pathname;
    const main = join(workspace.outside, "main.ts");
    Deno.writeTextFileSync(main, program);
    const { code } = new Deno.Command("strace", {
      args: ["-f", "-o", trace, "-e", "trace=openat,mkdir,mkdirat,rename,renameat,renameat2", Deno.execPath()]
        .concat("run", ...PERMISSION_FLAGS, "--config", config, main),
      stdout: "null",
      stderr: "null",
    }).outputSync();
    assert.equal(code, 0);
    const calls = Deno.readTextFileSync(trace).split("\n");
    const changing = calls.filter((line) =>
      /mkdir|rename|O_EXCL/.test(line) && /reprise-write|"new"/.test(line)
    );
    assert.equal(changing.length, 3, changing.join("\n"));
    for (const line of changing) assert(!line.includes(workspace.root), line);
  },
);
