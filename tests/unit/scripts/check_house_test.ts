import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { checkHouse } from "../../../scripts/check_house.ts";
import { formatFinding } from "../../../scripts/house/finding.ts";
import { readTree } from "../../../scripts/house/tree.ts";
import { run } from "../../../scripts/process.ts";
import { test } from "../../support/test.ts";

const SCRIPT = resolve(import.meta.dirname ?? ".", "../../../scripts/check_house.ts");

/** Writes `files` into a new temp directory, reads them back as a checkout and returns the findings as lines. */
async function findingsIn(files: Readonly<Record<string, string>>, machine: readonly string[] = []) {
  return await withTree(files, async (root) => checkHouse(await readTree(root), machine).map(formatFinding));
}

async function withTree<T>(
  files: Readonly<Record<string, string>>,
  use: (root: string) => Promise<T>,
): Promise<T> {
  const root = await Deno.makeTempDir({ prefix: "reprise-house-" });
  try {
    for (const [path, text] of Object.entries(files)) {
      await Deno.mkdir(join(root, path, ".."), { recursive: true });
      await Deno.writeTextFile(join(root, path), text);
    }
    return await use(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

/** `count` lines, each ending in a newline. */
function lines(count: number): string {
  return "export {};\n".repeat(count);
}

/** A literal that this file must not hold in one piece, being checked itself. */
function joined(...parts: readonly string[]): string {
  return parts.join("");
}

Deno.test("a tree that keeps all rules has no findings", async () => {
  const found = await findingsIn({
    "main.ts": 'import { main } from "./src/cli/main.ts";\nDeno.exit(await main(Deno.args));\n',
    "src/domain/a.ts": 'import { createHash } from "node:crypto";\nimport { b } from "./b.ts";\n',
    "src/cli/main.ts":
      'import { Command } from "commander";\nexport const m = await import("../run/run.ts");\n',
    "src/run/run.ts": 'import { open } from "../store/open.ts";\n',
    "src/fixture/cassette.ts": 'import { parse } from "yaml";\n',
    "tests/a_test.ts": 'import { a } from "../src/domain/a.ts";\nconsole.log(a);\n',
  });
  assert.deepEqual(found, []);
});

Deno.test("an import against the matrix is found, with its line and what is allowed", async () => {
  const found = await findingsIn({
    "src/store/a.ts": '\nimport {\n  fold,\n} from "../fold/fold.ts";\n',
    "src/domain/b.ts": 'export type { A } from "../store/a.ts";\n',
    "src/run/c.ts": 'const cli = await import("../cli/main.ts");\n',
    "src/fixture/d.ts": 'import "../run/c.ts";\n',
  });
  assert.deepEqual(found, [
    'src/domain/b.ts:1: Imports "src/store/a.ts": src/domain may import nothing of ours',
    'src/fixture/d.ts:1: Imports "src/run/c.ts": src/fixture may import domain, apis, transport',
    'src/run/c.ts:1: Imports "src/cli/main.ts": src/run may import domain, store, fold, compaction, apis, transport, tools',
    'src/store/a.ts:2: Imports "src/fold/fold.ts": src/store may import domain',
  ]);
});

Deno.test("a source that imports from tests, or main.ts from elsewhere than src/cli, is found", async () => {
  const found = await findingsIn({
    "main.ts": 'import "./src/run/run.ts";\n',
    "src/run/run.ts": 'import "../../tests/support/reprise.ts";\n',
  });
  assert.deepEqual(found, [
    'main.ts:1: main.ts imports "src/run/run.ts": it may import src/cli only',
    'src/run/run.ts:1: Imports "tests/support/reprise.ts": src/ may not import what lies outside it',
  ]);
});

Deno.test("a wrapped library outside its folder is found, subpaths and dynamic imports included", async () => {
  const found = await findingsIn({
    "src/run/a.ts": 'import { Command } from "commander";\n',
    "src/apis/b.ts": 'import { parse } from "yaml/browser";\n',
    "src/store/c.ts": 'const c = await import("commander");\n',
  });
  assert.deepEqual(found, [
    'src/apis/b.ts:1: Imports "yaml/browser": only src/fixture may',
    'src/run/a.ts:1: Imports "commander": only src/cli may',
    'src/store/c.ts:1: Imports "commander": only src/cli may',
  ]);
});

Deno.test("inline npm names, missing endings, computed imports and unknown folders are found", async () => {
  const found = await findingsIn({
    "tests/a_test.ts": joined('import * as z from "', "npm:", 'zod@4";\n'),
    "src/cli/b.ts": 'import "./c";\nconst verb = await import(`./${name}.ts`);\n',
    "src/helpers/d.ts": "export {};\n",
  });
  assert.deepEqual(found, [
    'src/cli/b.ts:1: Imports "./c": a relative import ends with its file\'s extension',
    "src/cli/b.ts:2: Imports a computed name: the binary would lack the module",
    'src/helpers/d.ts:1: Folder "src/helpers" has no row in the import matrix',
    'tests/a_test.ts:1: Imports "npm:zod@4": name it in the import map of deno.json',
  ]);
});

Deno.test("printing, reading stdin and exiting outside src/cli are found", async () => {
  const found = await findingsIn({
    "src/run/a.ts": 'console.error("x");\nDeno.exit(1);\n',
    "src/tools/b.ts": "Deno.stdin.readSync(new Uint8Array(1));\nprocess.stdout.write('');\n",
    "src/cli/live_ports.ts": "export const out = Deno.stdout;\n",
  });
  assert.deepEqual(found, [
    'src/run/a.ts:1: Uses "console.": only src/cli may',
    'src/run/a.ts:2: Uses "Deno.exit": only src/cli may',
    'src/tools/b.ts:1: Uses "Deno.stdin": only src/cli may',
    'src/tools/b.ts:2: Uses "process.stdout": only src/cli may',
  ]);
});

Deno.test("printing past the output is found", async () => {
  const found = await findingsIn({
    "src/cli/live_ports.ts": "export const out = Deno.stdout;\n",
    "src/cli/a.ts": "Deno.stderr.writeSync(new Uint8Array(1));\nconsole.log(1);\n",
  });
  assert.deepEqual(found, [
    'src/cli/a.ts:1: Uses "Deno.stderr": print with src/cli/output.ts',
    'src/cli/a.ts:2: Uses "console.": print with src/cli/output.ts',
  ]);
});

Deno.test("a verb that takes stdin, the working directory or its exit past the ports is found", async () => {
  const found = await findingsIn({
    "src/cli/live_ports.ts": "export const exit = (code: number) => Deno.exit(code);\n",
    "src/cli/run/a.ts": "const typed = Deno.stdin;\nconst here = Deno.cwd();\nDeno.exit(1);\n",
  });
  assert.deepEqual(found, [
    'src/cli/run/a.ts:1: Uses "Deno.stdin": take it from ProgramPorts of src/cli/live_ports.ts',
    'src/cli/run/a.ts:2: Uses "Deno.cwd": take it from ProgramPorts of src/cli/live_ports.ts',
    'src/cli/run/a.ts:3: Uses "Deno.exit": take it from ProgramPorts of src/cli/live_ports.ts',
  ]);
});

Deno.test("reading the environment elsewhere than in its own module is found", async () => {
  const found = await findingsIn({
    "src/cli/environment.ts": 'export const home = Deno.env.get("HOME");\n',
    "src/cli/a.ts": 'export const home = Deno.env.get("HOME");\n',
    "src/tools/b.ts": "export const { HOME } = process.env;\n",
  });
  assert.deepEqual(found, [
    'src/cli/a.ts:1: Uses "Deno.env": take readVariable of src/cli/environment.ts, or Ports.env',
    'src/tools/b.ts:1: Uses "process.env": take readVariable of src/cli/environment.ts, or Ports.env',
  ]);
});

Deno.test("loading a library, or code that is not part of the program, is found", async () => {
  const found = await findingsIn({
    "src/store/a.ts": 'export const libc = Deno.dlopen("libc.so.6", {});\n',
    "src/run/b.ts": 'export const worker = new Worker("b.js");\n',
    "src/run/c.ts": 'import { Script } from "node:vm";\n',
    "src/cli/start/embedded_script.ts": 'import { Script } from "node:vm";\n',
  });
  assert.deepEqual(found, [
    'src/run/b.ts:1: Uses "new Worker": the program loads its own modules only',
    'src/run/c.ts:1: Uses "node:vm": the program loads its own modules only',
    'src/store/a.ts:1: Uses "Deno.dlopen": the program loads its own modules only',
  ]);
});

Deno.test("a clock, randomness or the runtime in a pure folder is found", async () => {
  const found = await findingsIn({
    "src/fold/a.ts":
      "export const a = Date.now();\nexport const b = new Date(0);\nexport const c = new Date();\n",
    "src/domain/b.ts": "export const id = crypto.randomUUID();\n",
    "src/store/c.ts": "export const pid = Deno.pid;\n",
  });
  assert.deepEqual(found, [
    'src/domain/b.ts:1: Uses "crypto.randomUUID" in a pure folder: take it as an argument or a port',
    'src/fold/a.ts:1: Uses "Date.now" in a pure folder: take it as an argument or a port',
    'src/fold/a.ts:3: Uses "new Date()" in a pure folder: take it as an argument or a port',
  ]);
});

Deno.test("a file of 400 lines passes and one of 401 is found, main.ts at 41", async () => {
  const found = await findingsIn({
    "main.ts": lines(41),
    "src/run/long.ts": lines(401),
    "src/run/limit.ts": lines(400),
    "tests/long_test.ts": lines(401),
    "docs/long.md": lines(500),
  });
  assert.deepEqual(found, [
    "main.ts:41: Has 41 lines, more than 40: split it by idea",
    "src/run/long.ts:401: Has 401 lines, more than 400: split it by idea",
    "tests/long_test.ts:401: Has 401 lines, more than 400: split it by idea",
  ]);
});

Deno.test("comments that show imports and calls are no findings", async () => {
  const found = await findingsIn({
    "src/domain/a.ts": [
      "/**",
      ' * import { x } from "../store/x.ts";',
      " * console.log(Date.now());",
      " */",
      '// import "../store/x.ts"; Deno.exit(1)',
      "export const a = 1; // not Date.now()",
      "",
    ].join("\n"),
  });
  assert.deepEqual(found, []);
});

Deno.test("paths in a home directory are found in any text file, made-up homes are not", async () => {
  const found = await findingsIn({
    "docs/a.md": joined("See /ho", "me/jane.doe/notes\nand /Us", "ers/Jane/x and /ro", "ot/.cache\n"),
    "docs/b.md": joined(
      "Try /ho",
      "me/you/project, https://example.com/ho",
      "me/page and $HOME/ro",
      "ot/x\n",
    ),
  });
  assert.deepEqual(found, [
    joined("docs/a.md:1: Names a path in somebody's home: \"/ho", 'me/jane.doe"'),
    joined("docs/a.md:2: Names a path in somebody's home: \"/Us", 'ers/Jane"'),
    joined("docs/a.md:2: Names a path in somebody's home: \"/ro", 'ot"'),
  ]);
});

Deno.test("a citation of a protocol section that does not exist is found, those of RFCs are not", async () => {
  const found = await findingsIn({
    "docs/protocol.md": "## 2. Items\n\n### 2.1 Fields\n",
    "src/domain/a.ts": joined(
      "/** Fields (protocol §2.1, §2–2.1). */\n// RFC 9110 §7.6.1, protocol §",
      "2.7\n",
    ),
    "docs/b.md": joined("As §2 and §", "3–2.1 say.\n"),
  });
  assert.deepEqual(found, [
    "docs/b.md:1: Cites section 3, which docs/protocol.md does not have",
    "src/domain/a.ts:2: Cites section 2.7, which docs/protocol.md does not have",
  ]);
});

Deno.test("registry hosts and names of this machine are found", async () => {
  const files = {
    "deno.lock": joined('{"tarball": "https://regis', "try.npm", 'js.org/zod"}\n'),
    "docs/a.md": joined(
      "from npm-mir",
      "ror.corp.example.internal\nin /builds/seven/checkout/x, not /builds/seven/checkouts\n",
    ),
  };
  assert.deepEqual(await findingsIn(files, ["/builds/seven/checkout"]), [
    joined('deno.lock:1: Names a registry host: "regis', "try.npm", 'js.org"'),
    joined('docs/a.md:1: Names a registry host: "npm-mir', 'ror.corp.example.internal"'),
    'docs/a.md:2: Names a path or host of this machine: "/builds/seven/checkout"',
  ]);
});

test.long("the script prints one line for each finding and exits 1, and exits 0 on a clean tree", async () => {
  const bad = await withTree(
    { "src/store/a.ts": 'import "../cli/main.ts";\n' },
    (root) => run(Deno.execPath(), ["run", "-A", SCRIPT, root]),
  );
  assert.equal(bad.code, 1);
  assert.deepEqual(bad.stdout.trimEnd().split("\n"), [
    'src/store/a.ts:1: Imports "src/cli/main.ts": src/store may import domain',
    "Checked 1 file: 1 finding",
  ]);
  const good = await withTree(
    { "src/store/a.ts": 'import "../domain/x.ts";\n' },
    (root) => run(Deno.execPath(), ["run", "-A", SCRIPT, root]),
  );
  assert.equal(good.code, 0);
});

test.long("a git checkout is read as tracked and new files, ignored ones left out", async () => {
  const paths = await withTree(
    { ".gitignore": "/dist/\n", "dist/x.ts": "", "src/run/new.ts": "", "tracked.md": "" },
    async (root) => {
      await run("git", ["-C", root, "init", "--quiet"]);
      await run("git", ["-C", root, "add", "tracked.md"]);
      return (await readTree(root)).map((file) => file.path);
    },
  );
  assert.deepEqual(paths, [".gitignore", "src/run/new.ts", "tracked.md"]);
});

Deno.test("a source outside src/apis that names an API, or compares with a provider, is found", async () => {
  const anthropic = "anthropic";
  const findings = await findingsIn({
    "src/run/a.ts": `export const is = (kind: string) => kind === "${anthropic}";\n`,
    "src/run/b.ts": `export const is = (api: string) =>\n  api === 'messages' || api === "responses";\n`,
    "src/cli/c.ts": "export const path = `/responses/compact`;\nexport const own = /\\/messages$/;\n" +
      'export const is = (provider: string) => provider === "azure";\n',
    "src/fixture/d.ts":
      "export const table = { anthropic: 1 };\nexport const isAnthropicPath = table.anthropic;\n",
    "src/fixture/e.ts":
      `export const header = "${anthropic}-version";\nexport { messagesApi } from "./x.ts";\n`,
    "src/apis/f.ts": `export const name = "${anthropic}", path = "/messages";\n`,
    "src/cli/g.ts":
      `/** Speaks of "messages". */\nexport const help = "the key of Anthropic, with -p anthropic";\n`,
    "tests/h.ts": `export const name = "${anthropic}";\n`,
  });
  const named = (what: string) =>
    `Names an API or provider: ${what}: take it from the Api value or a row of src/apis`;
  assert.deepEqual(findings.filter((line) => line.includes("Names an API or provider")), [
    `src/cli/c.ts:1: ${named("`/responses/compact`")}`,
    `src/cli/c.ts:2: ${named("\\/messages")}`,
    `src/cli/c.ts:3: ${named('=== "azure"')}`,
    `src/fixture/d.ts:1: ${named("anthropic")}`,
    `src/fixture/d.ts:2: ${named("isAnthropicPath")}`,
    `src/fixture/d.ts:2: ${named("anthropic")}`,
    `src/fixture/e.ts:1: ${named('"anthropic-version"')}`,
    `src/fixture/e.ts:2: ${named("messagesApi")}`,
    `src/run/a.ts:1: ${named('"anthropic"')}`,
    `src/run/b.ts:2: ${named("'messages'")}`,
    `src/run/b.ts:2: ${named('"responses"')}`,
  ]);
});
