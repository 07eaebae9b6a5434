import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { ToolFailure } from "../../../src/tools/tool.ts";
import { writeFile } from "../../../src/tools/writing/write_file.ts";
import { writeTarget } from "../../../src/tools/writing/write_target.ts";
import { isInside } from "../../../src/tools/sandbox_path.ts";
import { Workspace } from "./workspace.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const PATHS = samples(100_000);
const WRITTEN = 2000;

/** Steps that lead in, out, through links, and to names that are awkward on some system. */
const STEPS = [
  "..",
  ".",
  "",
  "dir",
  "a.txt",
  "in",
  "out",
  "up",
  "self",
  "gone",
  "project",
  "project-secrets",
  "canary.txt",
  "\u202e",
  "e\u0301",
  "é",
  "a\\b",
  "..\\..",
  "%2e%2e",
  "....",
  ". .",
  "~",
  "-",
  "CON",
  "a:b",
  "\0",
  "\ud800",
  "*",
  "new",
] as const;

const paths = fc.tuple(
  fc.constantFrom("", "", "", "/", "./", "../"),
  fc.array(fc.constantFrom(...STEPS), { maxLength: 6 }),
)
  .map(([start, steps]) => start + steps.join("/"));

function workspaceOfLinks(): { readonly workspace: Workspace; readonly canary: string } {
  const workspace = new Workspace({
    "a.txt": "a",
    "dir/a.txt": "a",
    "dir/up": { link: "../.." },
    "in": { link: "dir" },
    "up": { link: ".." },
    "self": { link: "self" },
    "gone": { link: "missing/deep" },
  });
  const canary = workspace.writeOutside("canary.txt", "canary");
  workspace.write("out", { link: workspace.outside });
  workspace.write("dir/out", { link: canary });
  return { workspace, canary };
}

test.long(`writing never resolves one of ${PATHS} generated paths to a place outside`, () => {
  const { workspace } = workspaceOfLinks();
  using _ = workspace;
  const context = workspace.context();
  const absolute = paths.map((path) => path.replace(/^\//, () => `${workspace.root}/`));
  let inside = 0;
  for (const path of fc.sample(fc.oneof(paths, absolute), { numRuns: PATHS, seed: 1 })) {
    try {
      const target = writeTarget(path, context);
      assert(isInside(workspace.root, target.path) && target.path !== workspace.root, path);
      // Canonical as far as it exists, so that nothing is left to be followed.
      const parent = join(target.path, "..");
      if (target.exists) assert.equal(Deno.realPathSync(parent), parent);
      inside++;
    } catch (error) {
      assert(error instanceof ToolFailure, `${path}: ${error}`);
    }
  }
  assert(inside > PATHS / 50, `only ${inside} paths could be written`);
});

test.long(`writing to ${WRITTEN} generated paths changes nothing outside`, async () => {
  const { workspace, canary } = workspaceOfLinks();
  using _ = workspace;
  let written = 0;
  for (const path of fc.sample(paths, { numRuns: WRITTEN, seed: 2 })) {
    const { status } = await writeFile.run({ path, content: "INTRUDER" }, workspace.context());
    if (status === "ok") written++;
  }
  assert(written > WRITTEN / 50, `only ${written} were written`);
  assert.equal(Deno.readTextFileSync(canary), "canary");
  assert.deepEqual([...Deno.readDirSync(workspace.outside)].map(({ name }) => name), ["canary.txt"]);
  const beside = [...Deno.readDirSync(join(workspace.root, ".."))].map(({ name }) => name).sort();
  assert.deepEqual(beside, ["project", "project-secrets"]);
});
