import assert from "node:assert/strict";
import {
  codeFile,
  type LoadedScript,
  loadPart,
  loadPriceTable,
  scriptFile,
  type ScriptName,
} from "../../../../src/cli/start/embedded_script.ts";
import { filesIn } from "../../../../src/cli/start/part_files.ts";

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
  const directory = Deno.makeTempDirSync();
  try {
    Deno.writeTextFileSync(
      `${directory}/${scriptFile("prices")}`,
      "(function (require, module) { module.exports = { listPrice: () => 7 }; })",
    );
    Deno.writeFileSync(`${directory}/${codeFile("prices")}`, new Uint8Array());
    const request = {
      usage: { input_tokens: 1, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 },
      at: new Date(0),
    };
    assert.equal(loadPriceTable(filesIn(directory)).listPrice("openai", "gpt-5", request), 7);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
  const root = new URL("../../../../src/", import.meta.url);
  const importing = [...filesBelow(root.pathname)].filter((path) =>
    path.endsWith(".ts") &&
    /["']@pydantic\/genai-prices|\/prices\/table\.ts["']/.test(Deno.readTextFileSync(path))
  );
  assert.deepEqual(importing.map((path) => path.slice(root.pathname.length)).sort(), [
    "cli/start/prices.ts",
    "prices/table.ts",
  ]);
});

function* filesBelow(directory: string): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(directory)) {
    const path = `${directory.replace(/\/$/, "")}/${name}`;
    if (isDirectory) yield* filesBelow(path);
    else yield path;
  }
}
