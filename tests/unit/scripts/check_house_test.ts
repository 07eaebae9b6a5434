import assert from "node:assert/strict";
import { join } from "node:path";
import { checkHouse, main, rulesFor } from "../../../scripts/check_house.ts";
import { inFolder } from "../../support/files.ts";

/** For each rule, files by path and the places in them that break it. Escapes keep this file within the rules. */
const BAD_TREES: Readonly<Record<string, readonly [Readonly<Record<string, string>>, string]>> = {
  imports: [
    {
      "docs/architecture.md":
        "| folder | may |\n| - | - |\n| domain | nothing |\n| fold, run | domain |\n| cli | all of them |\n",
      "main.ts": 'import "./src/cli/a.ts";\nimport "./src/run/a.ts";\n',
      "src/cli/a.ts":
        'import {} from "commander";\nawait import("../run/a.ts");\nawait import(`./${b}.ts`);\n',
      "src/domain/a.ts":
        '/** import "../cli/a.ts"; */\nexport {\n  A,\n} from "../run/a.ts";\nimport "node:fs";\n',
      "src/fold/a.ts":
        'import "./b.ts";\nimport "../domain/a.ts";\nimport "../../tests/a.ts";\nimport "yaml/x";\n',
      "src/no/a.ts": 'import "../domain/a.ts";\n',
      "src/run/a.ts":
        'const cli = await import("../cli/a.ts");\nawait import("node:fs");\nawait import("re2js");\n',
    },
    "main.ts:2 src/cli/a.ts:3 src/domain/a.ts:2 src/fold/a.ts:3 src/fold/a.ts:4 src/no/a.ts:1 src/run/a.ts:1 src/run/a.ts:2",
  ],
  printing: [{
    "src/cli/a.ts": "// console.log(1)\nDeno.stderr.writeSync(bytes);\nconsole.log(1);\n",
    "src/cli/live_ports.ts": "export const out = Deno.stdout;\n",
    "src/run/a.ts": 'process.stdout.write("");\n',
  }, "src/cli/a.ts:2 src/cli/a.ts:3 src/run/a.ts:1"],
  process: [{
    "src/cli/a.ts": "const typed = Deno.stdin;\nconst here = Deno.cwd();\nDeno.exit(1);\n",
    "src/cli/serve/server_run.ts": "Deno.exit(1);\n",
    "src/tools/a.ts": "process.exitCode = 1;\n",
  }, "src/cli/a.ts:1 src/cli/a.ts:2 src/cli/a.ts:3 src/tools/a.ts:1"],
  environment: [{
    "src/cli/a.ts": 'export const home = Deno.env.get("HOME");\n',
    "src/cli/environment.ts": 'export const home = Deno.env.get("HOME");\n',
    "src/tools/a.ts": "export const { HOME } = process.env;\n",
  }, "src/cli/a.ts:1 src/tools/a.ts:1"],
  "foreign code": [{
    "src/cli/start/embedded_script.ts": 'import { Script } from "node:vm";\n',
    "src/tools/shell/children.ts": 'Deno.dlopen("libc.so.6", {});\n',
    "src/run/a.ts": 'new Worker("b.js");\nimport { Script } from "node:vm";\nDeno.dlopen("libc.so.6", {});\n',
  }, "src/run/a.ts:1 src/run/a.ts:2 src/run/a.ts:3"],
  children: [{
    "src/tools/shell/children.ts": 'new Deno.Command("true");\n',
    "src/cli/a.ts": 'new Deno.Command("true");\n',
  }, "src/cli/a.ts:1"],
  doors: [{
    "tests/cli/a_test.ts":
      'import {} from "../../sr\x63/run/a.ts";\nimport type {} from "../support/in_process.ts";\n',
    "tests/crash/a.ts": 'import "../../sr\x63/run/a.ts";\n',
    "tests/support/in_process.ts": 'await import("../../sr\x63/cli/main.ts");\n',
    "tests/support/b.ts": 'import type { A } from "../../sr\x63/run/a.ts";\n',
  }, "tests/cli/a_test.ts:1 tests/support/b.ts:1"],
  purity: [{
    "src/domain/a.ts": "crypto.randomUUID();\n",
    "src/fold/a.ts": "Date.now();\nnew Date(0);\nnew Date();\nDeno.pid;\n",
    "src/store/a.ts": "Date.now();\n",
  }, "src/domain/a.ts:1 src/fold/a.ts:1 src/fold/a.ts:3 src/fold/a.ts:4"],
  "names of APIs": [
    {
      "src/apis/a.ts": 'export const name = "anthropic";\n',
      "src/cli/a.ts": '/** Speaks of "messages". */\nhelp = "the key of Anthropic, with -p anthropic";\n',
      "src/fixture/a.ts":
        "const table = { anthropic: 1 };\nisAnthropicPath();\nimport { messagesApi } from x;\n",
      "src/run/a.ts": '"anthropic-version";\n`/responses/x`;\n/\\/messages$/;\nif (a === "azure") b;\n',
    },
    "src/fixture/a.ts:1 src/fixture/a.ts:2 src/fixture/a.ts:3 src/run/a.ts:1 src/run/a.ts:2 src/run/a.ts:3 src/run/a.ts:4",
  ],
  spreads: [{
    "src/run/a.ts":
      'const a = {\n  .\x2e.{ b, c },\n  ...d,\n};\nconst e = [\n  .\x2e.["f", "g"],\n  ...["f"].map(h),\n];\n',
  }, "src/run/a.ts:2 src/run/a.ts:6"],
  length: [{
    "docs/README.md": "\n".repeat(500),
    "src/run/a.ts": "a;\n".repeat(400),
    "src/run/b.ts": "a;\n".repeat(401),
  }, "src/run/b.ts:1"],
  "length of functions": [{
    "src/run/a.ts": `export function a(b: string): void {\n${"  b;\n".repeat(79)}}\n\nfunction c() {\n${
      "  d;\n".repeat(78)
    }}\n`,
    "src/run/b.ts": `interface A {\n  a: b;\n}\n\nexport async function* b(\n  c: string,\n): void {\n${
      "  d;\n".repeat(77)
    }}\n`,
  }, "src/run/a.ts:1 src/run/b.ts:5"],
  docstrings: [{
    "src/run/a.ts":
      "/** What is sent. */\n/**\n * How it is sent.\n */\n/** Whatever is sent, and what is not. */\n",
  }, "src/run/a.ts:1 src/run/a.ts:2"],
  leaks: [{
    "a.sh": "/h\x6fme/jane/a\n/h\x6fme/you/a, $HOME/r\x6fot/a\n/Us\x65rs/Jane/a\n/r\x6fot/a\n",
    "b.json": '"https://regis\x74ry.npm\x6as.org/zod"\n"npm-mir\x72or.corp.example.internal"\n',
    "c.md": "/builds/seven/checkouts\n/builds/seven/checkout/a\n",
  }, "a.sh:1 a.sh:3 a.sh:4 b.json:1 b.json:2 c.md:2"],
  citations: [{
    "src/apis/protocol.md": "## 2. Items\n\n### 2.1 Fields\n",
    "src/run/a.ts": "// (protocol \xa72.1, \xa72–2.1), RFC 9110 \xa77.6.1\n// \xa72.7\n// \xa72–3\n",
  }, "src/run/a.ts:2 src/run/a.ts:3"],
  links: [{
    "README.md":
      "# Größe: `--a`\n[a](docs) [b](https://example.com/a.md) `[c](no.md)`\n```sh\n[d](no.md)\n## Part\n```\n" +
      "[e](#größe---a) [f](docs/a.md#the-fault)\n[g](docs/no.md)\n![h](no.svg)\n[i](#part)\n[j](docs/a.md#part)\n",
    "docs/a.md": "## The `fault`\n[up](../README.md)\n[beside](b.md)\n",
  }, "README.md:8 README.md:9 README.md:10 README.md:11 docs/a.md:3"],
  "links of messages": [{
    "docs/a.md": "## The fault\n",
    "npm/a.js": "// docs/b.md has it.\n",
    "src/cli/a.ts":
      '"see docs/a.md#the-fault."; `docs/${name}`; "https://example.com/docs/b.md"\n"docs/a.md#part"\n',
    "tests/a.ts": '"docs/b.md"\n',
  }, "npm/a.js:1 src/cli/a.ts:2"],
  "tests run": [{
    "deno.json":
      '{"tasks": {"a": {"command": "test --ignore=tests/a/long tests/a"}, "b": {"command": "test tests/b.ts"}}}',
    "tests/a/a_test.ts": "",
    "tests/a/long/a_test.ts": "",
    "tests/b.ts": 'await load("unit");\n',
    "tests/b/a_test.ts": "",
    "tests/unit/run/a_test.ts": "",
  }, "tests/a/long/a_test.ts:1 tests/b/a_test.ts:1"],
  homes: [{
    "src/cli/a.ts": "export function start() {}\nexport type Same = string;\n// export const one = 1;\n",
    "src/run/a.ts": "export async function* start() {}\n\nexport const Same = 1;\nconst one = 1;\n",
    "src/run/b.ts": "export const one = 1;\nexport function over(): void;\nexport function over() {}\n",
  }, "src/cli/a.ts:2 src/run/a.ts:3"],
  exports: [{
    "src/cli/a.ts":
      "export interface Own {}\nexport type Used = Own;\nexport const named = 1;\n// export type No = 1;\n",
    "src/run/a.ts": 'import type { Used } from "../cli/a.ts"; // named\nexport async function* tested() {}\n',
    "tests/unit/a_test.ts": "tested();\n",
  }, "src/cli/a.ts:1 src/cli/a.ts:3"],
  circles: [{
    "src/run/a.ts": 'import type { B } from "./b.ts";\nimport "node:fs";\n',
    "src/run/b.ts": '/** import "./a.ts" */\nexport {\n  C,\n} from "../fold/c.ts";\n',
    "src/fold/c.ts": 'import { A } from "../run/a.ts";\n',
    "src/run/d.ts": 'import { A } from "./a.ts";\nconst load = () => import("./e.ts");\n',
    "src/run/e.ts": 'import { D } from "./d.ts";\n',
  }, "src/run/a.ts:1 src/run/b.ts:2 src/fold/c.ts:1"],
  rooms: [
    {
      "CONTRIBUTING.md": "| verb | `src/run/VERB`, `src/run`, `run/gone.ts`, `dist/a` |\n",
      "docs/architecture.md":
        "```\nsrc/run/   gone/ and loop/, n/a\nsrc/gone/  x\n```\n`run/loop/a.ts` writes `src/b` c/d e/\n",
      "src/run/loop/a.ts": "",
    },
    "CONTRIBUTING.md:1 docs/architecture.md:2 docs/architecture.md:3 docs/architecture.md:5 docs/architecture.md:5",
  ],
};

for (const [name, [tree, expected]] of Object.entries(BAD_TREES)) {
  Deno.test(`house rule "${name}" finds what breaks it, and nothing else`, () => {
    const files = Object.entries(tree).map(([path, text]) => ({ path, text }));
    const places = checkHouse(files, ["/builds/seven/checkout"]).filter((each) =>
      each.includes(`: ${name}: `)
    );
    assert.equal(places.map((line) => line.split(": ")[0]).join(" "), expected);
  });
}

Deno.test("each house rule has a tree that breaks it", () => {
  assert.deepEqual(Object.keys(rulesFor([], [])), Object.keys(BAD_TREES));
});

Deno.test("the house check prints a line for each finding, and fails if there is one; ignored files are left out", () =>
  inFolder((root) => {
    for (const folder of ["dist", "src/run"]) Deno.mkdirSync(join(root, folder), { recursive: true });
    Deno.writeTextFileSync(join(root, ".gitignore"), "/dist/\n");
    Deno.writeTextFileSync(join(root, "dist/a.md"), "[a](no.md)\n");
    const check = (source: string) => {
      Deno.writeTextFileSync(join(root, "src/run/a.ts"), source);
      const lines: string[] = [];
      return [main(root, (line) => lines.push(line)), lines];
    };
    const found = "src/run/a.ts:1: imports: Imports a computed name: the binary would lack the module";
    assert.deepEqual(check("await import(name);\n"), [1, [found, "Checked 2 files, findings: 1"]]);
    assert.deepEqual(check("export {};\n"), [0, ["Checked 2 files, findings: 0"]]);
  }));
