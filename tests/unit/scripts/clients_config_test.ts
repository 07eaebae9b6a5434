/** tests/clients has a configuration of its own, so that the program's users never fetch the clients. */
import assert from "node:assert/strict";
import clients from "../../clients/deno.json" with { type: "json" };
import program from "../../../deno.json" with { type: "json" };

/** Packages that only the tests of the clients use. */
const CLIENTS = ["openai", "@anthropic-ai/sdk", "@openai/agents", "ai", "@ai-sdk/", "@langchain/"];

function isClient(name: string): boolean {
  return CLIENTS.some((client) => client.endsWith("/") ? name.startsWith(client) : name === client);
}

Deno.test("no client is among the packages of deno.json, nor in its lock file", () => {
  assert.deepEqual(Object.keys(program.imports).filter(isClient), []);
  const lock = JSON.parse(Deno.readTextFileSync(new URL("../../../deno.lock", import.meta.url)));
  const locked = Object.keys(lock.npm).map((name) => name.replace(/(?<=.)@.*/, ""));
  assert.ok(locked.includes("zod"));
  assert.deepEqual(locked.filter(isClient), []);
});

Deno.test("the configuration of tests/clients has the program's versions and settings, and clients beside", () => {
  const versions: Readonly<Record<string, string>> = program.imports;
  for (const [name, version] of Object.entries(clients.imports)) {
    if (isClient(name)) assert.match(version, /^npm:\S+@\d+\.\d+\.\d+$/, name);
    else assert.equal(version, versions[name], name);
  }
  assert.deepEqual(clients.compilerOptions, program.compilerOptions);
  assert.deepEqual(clients.unstable, program.unstable);
  assert.deepEqual(clients.lint.rules, program.lint.rules);
  assert.equal(clients.fmt.lineWidth, program.fmt.lineWidth);
  assert.deepEqual([clients.lock, clients.nodeModulesDir], [program.lock, program.nodeModulesDir]);
});
