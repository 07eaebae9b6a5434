import assert from "node:assert/strict";
import { join } from "node:path";
import { type ToolContext, ToolFailure } from "../../../../src/tools/tool.ts";
import { replaceFile } from "../../../../src/tools/writing/replace_file.ts";
import { writeFile } from "../../../../src/tools/writing/write_file.ts";
import { writeTarget } from "../../../../src/tools/writing/write_target.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

async function write(
  workspace: Workspace,
  path: string,
  content: string,
  options: Partial<ToolContext> = {},
) {
  return await writeFile.run({ path, content }, workspace.context(options));
}

/** Content of the workspace, to show that a refused write left nothing. */
function names(workspace: Workspace): string[] {
  const walk = (directory: string): string[] =>
    [...Deno.readDirSync(directory)].flatMap((entry) => [
      entry.name,
      ...(entry.isDirectory ? walk(join(directory, entry.name)) : []),
    ]);
  return walk(workspace.root).sort();
}

Deno.test("write_file creates a file with the directories on the way, and leaves nothing else", async () => {
  using workspace = new Workspace();
  const { status, output } = await write(workspace, "a/b c/d.txt", "héllo\n");
  assert.deepEqual([status, output], ["ok", "Wrote a/b c/d.txt: 7 bytes (a new file)"]);
  assert.equal(Deno.readTextFileSync(join(workspace.root, "a/b c/d.txt")), "héllo\n");
  assert.deepEqual(names(workspace), ["a", "b c", "d.txt"]);
});

Deno.test("write_file replaces all of a file and says how much was there", async () => {
  using workspace = new Workspace({ "a.txt": "a longer text than the new one" });
  const { output } = await write(workspace, "a.txt", "");
  assert.equal(output, "Wrote a.txt: 0 bytes (it had 30 bytes before)");
  assert.equal(Deno.readTextFileSync(join(workspace.root, "a.txt")), "");
  assert.deepEqual(names(workspace), ["a.txt"]);
});

Deno.test({
  name: "write_file keeps the mode of a file; a new file gets what the umask of the user leaves",
  ignore: Deno.build.os === "windows",
  async fn() {
    using workspace = new Workspace({ "run.sh": "", "private.txt": "" });
    const modeOf = (path: string) => (Deno.statSync(join(workspace.root, path)).mode ?? 0) & 0o7777;
    Deno.chmodSync(join(workspace.root, "run.sh"), 0o755);
    Deno.chmodSync(join(workspace.root, "private.txt"), 0o600);
    const umask = Deno.umask(0o022);
    try {
      for (const [mask, fresh] of [[0o022, 0o644], [0o077, 0o600], [0o000, 0o666]] as const) {
        Deno.umask(mask);
        const path = `new-${mask}.txt`;
        for (const each of ["run.sh", "private.txt", path]) {
          assert.equal((await write(workspace, each, "x")).status, "ok");
        }
        assert.deepEqual(["run.sh", "private.txt", path].map(modeOf), [0o755, 0o600, fresh]);
      }
    } finally {
      Deno.umask(umask);
    }
  },
});

Deno.test("write_file does not change the other name of a hard link", async () => {
  using workspace = new Workspace();
  const outside = workspace.writeOutside("shared.txt", "before");
  Deno.linkSync(outside, join(workspace.root, "a.txt"));
  assert.equal((await write(workspace, "a.txt", "after")).status, "ok");
  assert.equal(Deno.readTextFileSync(join(workspace.root, "a.txt")), "after");
  assert.equal(Deno.readTextFileSync(outside), "before");
});

test.long("write_file refuses what is no regular file, and changes nothing", async () => {
  using workspace = new Workspace({
    "dir/a.txt": "a",
    "to-file": { link: "dir/a.txt" },
    "dangling": { link: "missing.txt" },
    "to-null": { link: "/dev/null" },
  });
  const canary = workspace.writeOutside("canary.txt", "canary");
  workspace.write("out", { link: workspace.outside });
  workspace.write("out-file", { link: canary });
  workspace.makeFifo("fifo");
  const before = names(workspace);
  const rows: [string, RegExp][] = [
    ["dir", /it is a directory/],
    ["dir/", /cannot end with a slash/],
    [".", /it is the workspace itself/],
    ["to-file", /symbolic link; name the file itself/],
    ["dangling", /symbolic link/],
    ["to-null", /symbolic link/],
    ["out-file", /symbolic link/],
    ["out", /symbolic link/],
    ["out/canary.txt", /leads outside the workspace, or nowhere/],
    ["out/new/deep.txt", /leads outside the workspace, or nowhere/],
    ["dangling/x.txt", /leads outside the workspace, or nowhere/],
    ["fifo", /not a regular file/],
    ["dir/a.txt/b.txt", /"dir\/a.txt" is not a directory/],
    ["../project-secrets/new.txt", /outside the workspace/],
    [join(workspace.outside, "new.txt"), /outside the workspace/],
    ["", /empty path/],
    ["a\0b", /NUL/],
    ["\ud800", /Unicode/],
    ["x".repeat(300), /too long/],
  ];
  for (const [path, message] of rows) {
    const { status, output } = await write(workspace, path, "INTRUDER");
    assert.equal(status, "error", path);
    assert.match(output, message, path);
    assert(!output.includes(workspace.root), output);
  }
  assert.deepEqual(names(workspace), before);
  assert.equal(Deno.readTextFileSync(canary), "canary");
  assert.deepEqual([...Deno.readDirSync(workspace.outside)].map(({ name }) => name), ["canary.txt"]);
});

Deno.test("write_file follows links to directories inside, and judges the place where they lead", async () => {
  using workspace = new Workspace({
    "real/x": "",
    "way": { link: "real" },
    "hooks": { link: ".git" },
    ".git/x": "",
  });
  const subject = writeFile.subject({ path: "way/new/a.txt", content: "" }, workspace.context());
  assert.deepEqual(subject.target, { kind: "path", path: "real/new/a.txt" });
  assert.equal(
    (await write(workspace, "way/new/a.txt", "a")).output,
    "Wrote real/new/a.txt: 1 bytes (a new file)",
  );
  assert.match((await write(workspace, "hooks/pre-commit", "x")).output, /"\.git" is a protected name/);
});

Deno.test("write_file refuses protected names before any decision, whether they exist or not", async () => {
  using workspace = new Workspace({ ".env": "KEY=1" });
  for (const path of [".env", ".git/config", "sub/.GIT/hooks/x", ".github/workflows/new.yml", ".bashrc"]) {
    assert.throws(() => writeFile.subject({ path, content: "" }, workspace.context()), ToolFailure, path);
    assert.match((await write(workspace, path, "x")).output, /protected name that no tool writes$/);
  }
  assert.deepEqual(names(workspace), [".env"]);
});

Deno.test("write_file never writes into our own home, even where that lies in the workspace", async () => {
  using workspace = new Workspace({ "data/sessions/x": "", "way": { link: "data" } });
  const protectedPaths = [join(workspace.root, "data"), join(workspace.root, "later")];
  for (
    const path of ["data/new", "data/sessions/x", "DATA/new", "way/new", "later/x", "later", "LATER/y/z"]
  ) {
    const { output } = await write(workspace, path, "x", { protectedPaths });
    assert.match(output, /belongs to reprise itself|is a directory/, path);
  }
  assert.equal((await write(workspace, "database/x", "x", { protectedPaths })).status, "ok");
});

Deno.test("write_file takes no text that is not Unicode: nothing is changed without a word", async () => {
  using workspace = new Workspace();
  assert.match((await write(workspace, "a.txt", "a\ud800")).output, /content is not valid Unicode/);
  assert.deepEqual(names(workspace), []);
});

Deno.test("write_file refuses a file that is marked read-only", async () => {
  using workspace = new Workspace({ "a.txt": "before" });
  Deno.chmodSync(join(workspace.root, "a.txt"), 0o444);
  assert.match((await write(workspace, "a.txt", "after")).output, /read-only/);
  assert.equal(Deno.readTextFileSync(join(workspace.root, "a.txt")), "before");
});

Deno.test("write_file refuses to run where the judged path leads elsewhere by now", async () => {
  using workspace = new Workspace({ "a/x": "", "b/x": "", "way": { link: "a" } });
  const args = { path: "way/new.txt", content: "x" };
  const judged = writeFile.subject(args, workspace.context()).target;
  Deno.removeSync(join(workspace.root, "way"));
  workspace.write("way", { link: "b" });
  const { status, output } = await writeFile.run(args, workspace.context({ judged }));
  assert.deepEqual([status, output], [
    "error",
    "Cannot run the call: its path leads elsewhere since it was permitted",
  ]);
  assert.deepEqual([...Deno.readDirSync(join(workspace.root, "b"))].map(({ name }) => name), ["x"]);
});

for (
  const [change, before, after] of [
    ["was changed", "before", "theirs!"],
    ["was changed without another size", "before", "theirs"],
    ["was created", null, "theirs"],
    ["was removed", "before", null],
  ] as const
) {
  Deno.test(`a file that ${change} while it is replaced is left alone, and the call fails`, () => {
    using workspace = new Workspace(before === null ? {} : { "a.txt": before });
    const path = join(workspace.root, "a.txt");
    // An old time: even a clock that ticks slowly shows the change.
    if (before !== null) Deno.utimeSync(path, 1, 1);
    const replace = () =>
      replaceFile(workspace.root, writeTarget("a.txt", workspace.context()), () => {
        if (after === null) Deno.removeSync(path);
        else Deno.writeTextFileSync(path, after);
        return new TextEncoder().encode("ours");
      });
    assert.throws(replace, { name: "ToolFailure", message: /"a\.txt": it changed while it was written/ });
    assert.deepEqual(names(workspace), after === null ? [] : ["a.txt"]);
    if (after !== null) assert.equal(Deno.readTextFileSync(path), after);
  });
}

Deno.test("write_file puts the process back where it was, after a refusal too", async () => {
  using workspace = new Workspace({ "file": "" });
  const before = Deno.cwd();
  await write(workspace, "a/b.txt", "x");
  await write(workspace, "file/b.txt", "x");
  assert.equal(Deno.cwd(), before);
});
