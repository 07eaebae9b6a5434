/** The strongest race there is for a path: its directory and a link change places in one system call. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { PERMISSION_FLAGS } from "../../../../scripts/compile/build.ts";
import { whileSwapping } from "../swapping.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

const WRITES = 4000;
const CANARY = "outside";
const ROOT = new URL("../../../../", import.meta.url);

/** Writes again and again, and prints how many writes were done and how many were refused. */
const PROGRAM = `
  import { writeFile } from ${JSON.stringify(new URL("src/tools/writing/write_file.ts", ROOT).href)};
  const context = { root: Deno.args[0], signal: new AbortController().signal, protectedPaths: [],
    env: () => undefined, isHidden: () => false };
  const count = { ok: 0, error: 0 };
  for (let number = 0; number < ${WRITES}; number++) {
    const { status } = await writeFile.run({ path: "dir/name.txt", content: "inside " + number }, context);
    count[status]++;
  }
  console.log(JSON.stringify(count));
`;

test.long(
  "with the binary's permissions nothing outside changes while a directory and a link are exchanged",
  { ignore: Deno.build.os !== "linux" },
  async () => {
    using workspace = new Workspace({ "dir/name.txt": "inside" });
    workspace.writeOutside("name.txt", CANARY);
    workspace.writeOutside("main.ts", PROGRAM);
    const program = join(workspace.outside, "main.ts");
    await whileSwapping(workspace, "dir", async (swaps) => {
      const config = new URL("deno.json", ROOT).pathname;
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        args: ["run", "--no-check", "--config", config, ...PERMISSION_FLAGS, program, workspace.root],
      }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const { ok, error } = JSON.parse(new TextDecoder().decode(stdout));
      // Otherwise no swap met a write, or no write succeeded, and nothing was tested.
      assert(
        ok > 10 && error > WRITES / 10 && swaps() > WRITES,
        JSON.stringify({ ok, error, swaps: swaps() }),
      );
    }, { exchange: true });
    assert.equal(Deno.readTextFileSync(join(workspace.outside, "name.txt")), CANARY);
    assert.deepEqual([...Deno.readDirSync(workspace.outside)].map(({ name }) => name).sort(), [
      "main.ts",
      "name.txt",
    ]);
    assert.match(Deno.readTextFileSync(join(workspace.root, "dir/name.txt")), /^inside \d+$/);
  },
);
