import assert from "node:assert/strict";
import { listDirectory, locate, openFile } from "../../../src/tools/sandbox_path.ts";
import { ToolFailure } from "../../../src/tools/tool.ts";
import { whileSwapping } from "./swapping.ts";
import { Workspace } from "./workspace.ts";
import { test } from "../../support/test.ts";

const CANARY = "canary-race";
const TRIES = 4000;

test.long("confinement never reads a canary while a directory is swapped for a link to it", async () => {
  using workspace = new Workspace({ "dir/name.txt": "inside" });
  workspace.writeOutside("name.txt", CANARY);
  const seen = { inside: 0, refused: 0 };
  await whileSwapping(workspace, "dir", async () => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      try {
        const file = openFile(workspace.root, locate(workspace.root, "dir/name.txt"));
        const buffer = new Uint8Array(64);
        const length = await file.read(buffer);
        file.close();
        assert.equal(new TextDecoder().decode(buffer.subarray(0, length)), "inside");
        seen.inside++;
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        seen.refused++;
      }
    }
  });
  // Otherwise the swaps never met an open, and nothing was tested.
  assert(seen.refused > TRIES / 100, JSON.stringify(seen));
});

test.long("confinement never lists names from outside while a directory is swapped for a link to it", async () => {
  using workspace = new Workspace({ "dir/name.txt": "inside" });
  workspace.writeOutside("secret-name.txt", CANARY);
  let refused = 0;
  await whileSwapping(workspace, "dir", () => {
    for (let attempt = 0; attempt < TRIES; attempt++) {
      try {
        const names = listDirectory(workspace.root, locate(workspace.root, "dir")).map((entry) => entry.name);
        assert(!names.includes("secret-name.txt"));
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error;
        refused++;
      }
    }
  });
  assert(refused > TRIES / 100, `only ${refused} attempts met a swap`);
});
