import assert from "node:assert/strict";
import { listFiles, walk } from "../../../../src/tools/reading/list_files.ts";
import { locate } from "../../../../src/tools/sandbox_path.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

type Args = { path?: string; pattern?: string; depth?: number };
const call = (workspace: Workspace, { path, pattern, depth }: Args = {}) =>
  listFiles.run({ path: path ?? null, pattern: pattern ?? null, depth: depth ?? null }, workspace.context());

const TREE = {
  "b.ts": "",
  "a-b": "",
  "a/z.ts": "",
  "a/inner/deep.md": "",
  "Z": "",
  ".git/config": "",
  "a/node_modules/x/index.js": "",
  "link": { link: "a" },
};

test.long("list_files lists everything once, directories before what is in them, in code unit order", async () => {
  using workspace = new Workspace(TREE);
  workspace.makeFifo("pipe");
  const { status, output } = await call(workspace);
  assert.equal(status, "ok");
  assert.deepEqual(output.split("\n"), [
    ".git/ [not entered]",
    "Z",
    "a/",
    "a/inner/",
    "a/inner/deep.md",
    "a/node_modules/ [not entered]",
    "a/z.ts",
    "a-b",
    "b.ts",
    "link [link]",
    "pipe [special]",
  ]);
});

Deno.test("list_files gives the same text whatever order the files were made in", async () => {
  using workspace = new Workspace(TREE);
  using other = new Workspace(Object.fromEntries(Object.entries(TREE).reverse()));
  assert.equal((await call(workspace)).output, (await call(other)).output);
});

Deno.test("list_files narrows by path, depth and pattern", async () => {
  using workspace = new Workspace(TREE);
  assert.equal(
    (await call(workspace, { path: "a", depth: 1 })).output,
    "a/inner/\na/node_modules/ [not entered]\na/z.ts",
  );
  assert.equal((await call(workspace, { pattern: "*.ts" })).output, "a/z.ts\nb.ts");
  assert.equal((await call(workspace, { pattern: "a/**/*.md" })).output, "a/inner/deep.md");
  assert.equal((await call(workspace, { pattern: "*.py" })).output, "[Nothing fits the pattern]");
  assert.equal((await call(workspace, { path: ".git" })).output, ".git/config");
  assert.equal((await call(workspace, { path: "link", depth: 1, pattern: "*.ts" })).output, "a/z.ts");
});

Deno.test("list_files says what it cannot list", async () => {
  using workspace = new Workspace({ ...TREE, "out": { link: "/etc" } });
  Deno.mkdirSync(`${workspace.root}/empty`);
  assert.equal((await call(workspace, { path: "empty" })).output, "[The directory is empty]");
  assert.match((await call(workspace, { path: "b.ts" })).output, /it is a file/);
  assert.match((await call(workspace, { path: "out" })).output, /leads outside/);
  assert.match((await call(workspace, { depth: 0 })).output, /1 or more/);
});

test.long("list_files stops at its cap and says so", async () => {
  using workspace = new Workspace();
  for (let file = 0; file <= 5000; file++) workspace.write(`f${String(file).padStart(5, "0")}`, "");
  const { output, full } = await call(workspace);
  assert.match(output, /f00000\n.*characters left out.*f04999\n\[Stopped after 5000 entries: [^\n]*\]$/s);
  assert.equal(new TextDecoder().decode(full?.bytes).split("\n").length, 5001);
});

Deno.test("list_files stops when the run is aborted", async () => {
  using workspace = new Workspace();
  for (let file = 0; file < 1000; file++) workspace.write(`f${file}`, "");
  const controller = new AbortController();
  const running = listFiles.run(
    { path: null, pattern: null, depth: null },
    workspace.context({ signal: controller.signal }),
  );
  controller.abort(new Error("stop"));
  await assert.rejects(running, /stop/);
});

Deno.test("list_files walks no further once the run is aborted", async () => {
  using workspace = new Workspace({ "a": "", "b": "", "c": "" });
  const controller = new AbortController();
  const { root } = workspace;
  const steps: string[] = [];
  await assert.rejects(async () => {
    for await (
      const step of walk(locate(root, "."), {
        root,
        signal: controller.signal,
        isHidden: () => false,
      })
    ) {
      if (step.kind !== "stopped") steps.push(step.shown);
      controller.abort(new Error("stop"));
    }
  }, /stop/);
  assert.deepEqual(steps, ["a"]);
});
