import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { canonicalRoot, listDirectory, locate, openFile } from "../../../src/tools/sandbox_path.ts";
import { ToolFailure } from "../../../src/tools/tool.ts";
import { Workspace } from "./workspace.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const CANARY = "canary-7f3a: never to be read";

function workspaceWithWaysOut(): Workspace {
  const workspace = new Workspace({
    "a.txt": "inside",
    "dir/b.txt": "inside too",
    "dir/deeper/c.txt": "inside as well",
    "to-dir": { link: "dir" },
    "to-file": { link: "dir/b.txt" },
    "self": { link: "self" },
    "nowhere": { link: "missing" },
    "zero": { link: "/dev/zero" },
    "up": { link: ".." },
    "etc": { link: "/etc" },
  });
  workspace.writeOutside("canary.txt", CANARY);
  workspace.writeOutside("sub/canary.txt", CANARY);
  workspace.write("out", { link: workspace.outside });
  workspace.write("dir/out-file", { link: join(workspace.outside, "canary.txt") });
  workspace.write("chain", { link: "dir/out-file" });
  return workspace;
}

Deno.test("confinement resolves what is inside, links included, and shows it relative to the workspace", () => {
  using workspace = workspaceWithWaysOut();
  const shown = (path: string) => locate(workspace.root, path).shown;
  assert.equal(shown("a.txt"), "a.txt");
  assert.equal(shown("./dir//deeper/../b.txt"), "dir/b.txt");
  assert.equal(shown("to-dir/deeper/c.txt"), "dir/deeper/c.txt");
  assert.equal(shown("to-file"), "dir/b.txt");
  assert.equal(shown("."), ".");
  assert.equal(shown("dir/.."), ".");
  assert.equal(shown(join(workspace.root, "dir")), "dir");
});

Deno.test("confinement refuses every way out without naming what lies there", () => {
  using workspace = workspaceWithWaysOut();
  const waysOut = [
    "..",
    "../project-secrets/canary.txt",
    "dir/../../project-secrets/canary.txt",
    join(workspace.outside, "canary.txt"),
    // Shares its first letters with the workspace: a comparison of prefixes would let it in.
    `${workspace.root}-secrets/canary.txt`,
    "/etc/passwd",
    "/",
    "out",
    "out/canary.txt",
    "out/sub/canary.txt",
    "dir/out-file",
    "chain",
    "up/project-secrets/canary.txt",
    "etc/passwd",
    "self",
    "nowhere",
    "zero",
    "a.txt\0.png",
    "\ud800",
    "",
    "x".repeat(5000),
  ];
  for (const path of waysOut) {
    assert.throws(() => locate(workspace.root, path), (error) => {
      assert(error instanceof ToolFailure, `${path}: ${error}`);
      assert(!error.message.includes("project-secrets/canary") || !path.startsWith("/"), error.message);
      assert(!error.message.includes(workspace.root), error.message);
      return true;
    }, path);
  }
});

Deno.test("confinement answers alike for things outside that exist and things that do not", () => {
  using workspace = workspaceWithWaysOut();
  const message = (path: string) => {
    try {
      locate(workspace.root, path);
    } catch (error) {
      return (error as Error).message.replaceAll(path, "PATH");
    }
    throw new Error(`${path} was found`);
  };
  assert.equal(message("../project-secrets/canary.txt"), message("../project-secrets/missing.txt"));
  assert.equal(message("out/canary.txt"), message("out/missing.txt"));
  assert.equal(message("etc/passwd"), message("etc/no-such-file"));
});

Deno.test("confinement says why a text cannot be a path", () => {
  using workspace = workspaceWithWaysOut();
  assert.throws(() => locate(workspace.root, "a.txt\0.png"), /holds a NUL character/);
  assert.throws(() => locate(workspace.root, "a\udc00"), /not valid Unicode/);
  assert.throws(() => locate(workspace.root, "x".repeat(5000)), /path of 5000 characters/);
});

Deno.test("confinement says what is missing and where the path is still right", () => {
  using workspace = workspaceWithWaysOut();
  assert.throws(() => locate(workspace.root, "dir/deeper/no/such.txt"), {
    message:
      'Cannot open "dir/deeper/no/such.txt": no such file or directory (the nearest that exists is "dir/deeper")',
  });
  assert.throws(() => locate(workspace.root, "a.txt/b"), /nearest that exists is "\."/);
});

test.long("confinement refuses FIFOs and devices before it opens them", () => {
  using workspace = workspaceWithWaysOut();
  workspace.makeFifo("pipe");
  assert.throws(() => locate(workspace.root, "pipe"), {
    message: 'Cannot open "pipe": it is a FIFO, not a file',
  });
  assert.throws(() => locate("/dev", "null"), /it is a device/);
});

test.long("confinement notices a file that was swapped between look and open", () => {
  using workspace = workspaceWithWaysOut();
  const swaps: [string, () => void][] = [
    ["another file", () => Deno.renameSync(join(workspace.root, "dir/b.txt"), join(workspace.root, "a.txt"))],
    ["a link to a file outside", () => {
      Deno.removeSync(join(workspace.root, "a.txt"));
      workspace.write("a.txt", { link: join(workspace.outside, "canary.txt") });
    }],
    ["a FIFO", () => {
      Deno.removeSync(join(workspace.root, "a.txt"));
      workspace.makeFifo("a.txt");
    }],
    ["nothing", () => Deno.removeSync(join(workspace.root, "a.txt"))],
  ];
  const path = join(workspace.root, "a.txt");
  for (const [what, swap] of swaps) {
    Deno.removeSync(path);
    workspace.write("a.txt", "inside");
    const located = locate(workspace.root, "a.txt");
    swap();
    assert.throws(() => openFile(workspace.root, located), ToolFailure, what);
    if (what === "nothing") workspace.write("a.txt", "");
  }
});

Deno.test("confinement notices a directory on the way that became a link, even to the same file", () => {
  using workspace = workspaceWithWaysOut();
  const located = locate(workspace.root, "dir/b.txt");
  const listed = locate(workspace.root, "dir");
  Deno.renameSync(join(workspace.root, "dir"), join(workspace.outside, "moved"));
  workspace.write("dir", { link: join(workspace.outside, "moved") });
  assert.throws(() => openFile(workspace.root, located), ToolFailure);
  assert.throws(() => listDirectory(workspace.root, listed), ToolFailure);
});

Deno.test("confinement lists names in code unit order and distinguishes links from files", () => {
  using workspace = new Workspace({ "b": "", "a-b": "", "a/x": "", "Z": "", "é": "", "l": { link: "b" } });
  const entries = listDirectory(workspace.root, locate(workspace.root, "."));
  assert.deepEqual(entries.map((entry) => `${entry.name}:${entry.kind}`), [
    "Z:file",
    "a:directory",
    "a-b:file",
    "b:file",
    "l:symlink",
    "é:file",
  ]);
});

test.long(`confinement lets none of ${samples(100_000)} generated paths reach a file outside`, () => {
  using workspace = workspaceWithWaysOut();
  const segment = fc.constantFrom(
    ...[
      "..",
      ".",
      "",
      "a.txt",
      "dir",
      "deeper",
      "b.txt",
      "c.txt",
      "to-dir",
      "to-file",
      "out",
      "out-file",
      "chain",
    ],
    ...[
      "up",
      "etc",
      "self",
      "nowhere",
      "zero",
      "project",
      "project-secrets",
      "canary.txt",
      "sub",
      "passwd",
      "...",
    ],
    ...["\\..\\", "%2e%2e", "..\u0000", "C:", "CON", "a.txt ", "A.TXT", "e\u0301", "\ud800"],
  );
  const start = fc.constantFrom(
    "",
    "",
    "",
    "/",
    "//",
    `${workspace.root}/`,
    `${workspace.outside}/`,
    "~/",
    "file://",
  );
  const paths = fc.tuple(start, fc.array(segment, { maxLength: 7 })).map(([first, rest]) =>
    first + rest.join("/")
  );
  let found = 0;
  fc.assert(
    fc.property(paths, (path) => {
      let located;
      try {
        located = locate(workspace.root, path);
      } catch (error) {
        assert(error instanceof ToolFailure, `${JSON.stringify(path)}: ${error}`);
        return;
      }
      found++;
      assert(located.path === workspace.root || located.path.startsWith(`${workspace.root}/`), located.path);
      if (located.kind === "file") assert.notEqual(Deno.readTextFileSync(located.path), CANARY);
    }),
    { numRuns: samples(100_000) },
  );
  assert(found > samples(1000), `only ${found} paths led anywhere`);
});

Deno.test("confinement takes a directory as workspace, by its canonical name, and nothing else", () => {
  using workspace = workspaceWithWaysOut();
  assert.equal(canonicalRoot(join(workspace.root, "to-dir")), join(workspace.root, "dir"));
  assert.throws(() => canonicalRoot(join(workspace.root, "a.txt")), Deno.errors.NotADirectory);
});
