/** A workspace that poses as a git directory: git would take its configuration, and run what that names. */
import assert from "node:assert/strict";
import { shell } from "../../../../src/tools/shell/shell.ts";
import { writeFile } from "../../../../src/tools/writing/write_file.ts";
import { Workspace } from "../workspace.ts";
import { test } from "../../../support/test.ts";

const OPTIONS = { ignore: Deno.build.os === "windows" } as const;
const HEAD = "ref: refs/heads/main\n";
const CONFIG =
  '[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = "."\n\tfsmonitor = "touch ran; false"\n';

function write(workspace: Workspace, path: string, content = "x") {
  return writeFile.run({ path, content }, workspace.context());
}

test.long({
  ...OPTIONS,
  name: "git takes no configuration from a workspace that poses as a git directory",
  async fn() {
    using workspace = new Workspace({
      HEAD,
      config: CONFIG,
      "objects/info/x": "",
      "refs/heads/x": "",
    });
    const environment: Readonly<Record<string, string>> = { PATH: "/usr/bin:/bin", HOME: workspace.outside };
    const context = workspace.context({ env: (name) => environment[name] });
    for (const command of ["git status", "git status; true", "sh -c 'git status'"]) {
      const { output } = await shell.run({ command, argv: null, timeout_seconds: null }, context);
      assert.throws(() => Deno.statSync(`${workspace.root}/ran`), Deno.errors.NotFound, output);
      assert.match(output, /safe\.bareRepository/);
    }
  },
});

test.long({
  ...OPTIONS,
  name: "git works in an ordinary repository, as before",
  async fn() {
    using workspace = new Workspace({ "a.txt": "a" });
    const context = workspace.context({ env: (name) => name === "PATH" ? "/usr/bin:/bin" : undefined });
    const run = (command: string) =>
      shell.run({ command, argv: null, timeout_seconds: null }, context).then(({ output }) => output);
    assert.match(await run("git init -q"), /Exit code 0/);
    assert.match(await run("git status --short"), /\?\? a\.txt/);
  },
});

/** Writes that each complete a git directory: the last one of each row must be refused. */
const SETS: readonly (readonly string[])[] = [
  ["config", "objects/x", "refs/x", "HEAD"],
  ["HEAD", "refs/heads/main", "config", "objects/info/alternates"],
  ["HEAD", "objects/x", "refs/heads/main"],
  ["head", "OBJECTS/x", "Refs/x"],
  ["objects/x", "refs/x", "H\u200dEAD"],
  ["HEAD", "config", "commondir"],
  ["commondir", "HEAD"],
  ["sub/deep/HEAD", "sub/deep/objects/x", "sub/deep/refs/x"],
  [".github/HEAD", ".github/objects/x", ".github/refs/x"],
];

Deno.test({
  ...OPTIONS,
  name: "no write turns a directory of the workspace into a git directory, in any order, case or depth",
  async fn() {
    for (const paths of SETS) {
      using workspace = new Workspace();
      for (const path of paths.slice(0, -1)) {
        assert.equal((await write(workspace, path)).status, "ok", `${path} of ${paths}`);
      }
      const { status, output } = await write(workspace, paths.at(-1) as string);
      assert.equal(status, "error", paths.join(" "));
      assert.match(output, /would be a git directory/);
    }
  },
});

Deno.test({
  ...OPTIONS,
  name: "nothing is written below a directory that is a git directory already",
  async fn() {
    using workspace = new Workspace({
      "bare/HEAD": HEAD,
      "bare/config": CONFIG,
      "bare/objects/x": "",
      "bare/refs/x": "",
    });
    for (const path of ["bare/config", "bare/hooks/post-checkout", "bare/HEAD", "bare/new.txt"]) {
      const { status, output } = await write(workspace, path);
      assert.equal(status, "error", path);
      assert.match(output, /"bare".* git directory/);
    }
    assert.equal((await write(workspace, "other/config")).status, "ok");
  },
});

Deno.test({
  ...OPTIONS,
  name: "a directory with a repository of its own may hold any of these names",
  async fn() {
    using workspace = new Workspace({ ".git/HEAD": HEAD, ".git/objects/x": "", ".git/refs/x": "" });
    for (const path of ["HEAD", "config", "objects/x", "refs/x", "HEAD"]) {
      assert.equal((await write(workspace, path)).status, "ok", path);
    }
  },
});

/** Contents of a `.git` that is no repository: git looks at the directory itself next. */
const BROKEN: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "holds something else": { ".git/x": "" },
  "holds HEAD alone": { ".git/HEAD": HEAD },
  "has no objects": { ".git/HEAD": HEAD, ".git/refs/x": "" },
  "has no refs": { ".git/HEAD": HEAD, ".git/objects/x": "" },
};

Deno.test({
  ...OPTIONS,
  name: "a .git that git takes for no repository leaves the guard on",
  async fn() {
    for (const [what, broken] of Object.entries(BROKEN)) {
      using workspace = new Workspace({ ...broken, HEAD, "objects/x": "" });
      assert.equal((await write(workspace, "refs/x")).status, "error", what);
    }
  },
});
