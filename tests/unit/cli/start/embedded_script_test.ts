import assert from "node:assert/strict";
import { partFor } from "../../../../src/cli/start/begin.ts";
import {
  codeFile,
  type LoadedScript,
  loadPart,
  scriptFile,
  type ScriptName,
} from "../../../../src/cli/start/embedded_script.ts";
import { filesIn } from "../../../../src/cli/start/part_files.ts";
import { textsBelow } from "../../../support/files.ts";

const noPrices = () => Promise.reject(new Error("No price list"));

/** A directory with the script of a part that returns the number of its arguments. */
function withScript(test: (directory: string) => void | Promise<void>, more = ""): Promise<void> {
  const directory = Deno.makeTempDirSync();
  const functions = Array.from(
    { length: 200 },
    (_, index) => `function f${index}(a) { return a + ${index}; }`,
  );
  const source = `(function (require, module) {
    ${functions.join("\n")}
    const { sep } = require("node:path");
    module.exports.start = (args) => Promise.resolve(sep.length + args.length + f0(0));${more}
  })`;
  Deno.writeTextFileSync(`${directory}/${scriptFile("all")}`, source);
  Deno.writeFileSync(`${directory}/${codeFile("all")}`, new Uint8Array());
  return Promise.resolve(test(directory)).finally(() => Deno.removeSync(directory, { recursive: true }));
}

function codeOf(part: LoadedScript): Uint8Array<ArrayBuffer> {
  const code = part.compiledCode().get(codeFile("all"));
  assert.ok(code);
  return code;
}

Deno.test("a script runs without compiled code, and with the code that an earlier process compiled", () =>
  withScript(async (directory) => {
    const first = loadPart(filesIn(directory), "all");
    assert.equal(await first.start(["a", "b"], noPrices), 3);
    assert.equal(first.isAccepted, true);
    Deno.writeFileSync(`${directory}/${codeFile("all")}`, codeOf(first));
    const second = loadPart(filesIn(directory), "all");
    assert.equal(second.isAccepted, true);
    assert.equal(await second.start([], noPrices), 1);
  }));

Deno.test("compiled code of another script is refused, and the script runs without it", () =>
  withScript(async (directory) => {
    let code = new Uint8Array();
    await withScript((other) => {
      code = codeOf(loadPart(filesIn(other), "all"));
    }, "// another length");
    Deno.writeFileSync(`${directory}/${codeFile("all")}`, code);
    const part = loadPart(filesIn(directory), "all");
    assert.equal(part.isAccepted, false);
    assert.equal(await part.start(["a"], noPrices), 2);
    // Without its own line, V8 would know the script of the first test.
  }, "// own"));

Deno.test("zod is a script of its own, which is read when a part first uses a schema", () => {
  const files: Readonly<Record<ScriptName, string>> = {
    all:
      'const z = require("zod"); const s = z.lazy(() => z.number()); module.exports.start = (a) => s.parse(a);',
    zod: "module.exports = { number: () => ({}), lazy: () => ({ parse: (value) => value + 1 }) };",
  } as Readonly<Record<ScriptName, string>>;
  const opened: string[] = [];
  const read = (...names: readonly string[]) => {
    opened.push(...names);
    return names.map((name) => {
      const source = files[name.replace(/\.js$/, "") as ScriptName];
      return new TextEncoder().encode(source === undefined ? "" : `(function (require, module) {${source}})`);
    });
  };
  const part = loadPart(read, "all");
  assert.deepEqual(opened, ["all.js", "all.code"]);
  assert.deepEqual([...part.compiledCode().keys()], ["all.code"]);
  assert.equal(part.start(1 as never, noPrices), 2);
  assert.deepEqual(opened.slice(2), ["zod.js", "zod.code"]);
  assert.deepEqual([...part.compiledCode().keys()], ["all.code", "zod.code"]);
});

Deno.test("the price list is a script of its own, which no other script includes", () => {
  const importing = [...textsBelow(new URL("../../../../src", import.meta.url).pathname)]
    .filter(([path, text]) =>
      path.endsWith(".ts") && /["']@pydantic\/genai-prices|\/prices\/table\.ts["']/.test(text)
    );
  assert.deepEqual(importing.map(([path]) => path).sort(), ["cli/start/prices.ts", "prices/table.ts"]);
});

Deno.test("a call loads the smallest part that has all that it needs", () => {
  const cases: readonly [string, readonly string[]][] = [
    ["all", []],
    ["listing", ["ls", "--json"]],
    ["viewing", ["show", "demo"]],
    ["all", ["search", "demo"]],
    ["all", ["show", "demo", "--markdown"]],
    ["all", ["show", "demo", "--html", "demo.html"]],
    ["all", ["show", "demo", "--html=-"]],
    ["running", ["run", "-s", "demo", "Go on"]],
    ["playing", ["run", "--fixture", "kept", "Go on"]],
    ["playing", ["run", "-s", "demo", "--fixture=kept", "Go on"]],
    ["all", ["run", "--fixture", "kept", "--record", "again", "Go on"]],
    ["all", ["run", "--record", "kept", "Go on"]],
    ["all", ["run", "-s", "demo", "--record=kept", "Go on"]],
    ["all", ["fork", "demo"]],
    ["all", ["--json", "run", "Go on"]],
    ["all", ["ru"]],
  ];
  for (const [part, args] of cases) assert.equal(partFor(args), part, args.join(" "));
});
