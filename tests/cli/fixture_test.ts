import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import head from "../../fixtures/demo/head.json" with { type: "json" };
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS } from "../../scripts/demo/scene.ts";
import { denoCache, ending, Sandbox, SOURCES } from "../support/reprise.ts";
import { textsBelow } from "../support/files.ts";

const root = new URL("../../", import.meta.url).pathname;
const FIRST = `${root}fixtures/demo/first`;
const SECOND = `${root}fixtures/demo/second`;

async function playBoth(
  sandbox: Sandbox,
  env: Record<string, string>,
  cwd: string,
): Promise<Map<string, string>> {
  const workspace = `${sandbox.directory}/scratch`;
  await copyWorkspace(workspace);
  for (const [index, prompt] of DEMO_PROMPTS.entries()) {
    const where = index === 0 ? ["--new", "--fixture", FIRST] : ["--fixture", SECOND];
    const args = ["run", "--json", "-s", "demo", ...where, "-w", workspace, ...DEMO_PERMISSIONS, prompt];
    const called = await sandbox.call(args, { env, cwd });
    assert.equal(called.code, 0, called.stdout + called.stderr);
  }
  return textsBelow(`${sandbox.home}/sessions/demo`, "lock");
}

test.process("the same fixture gives byte-identical files in another directory, home, time zone, locale and environment", async () => {
  await using here = new Sandbox();
  await using there = new Sandbox();
  const one = await playBoth(here, {}, here.workspace);
  const other = await playBoth(there, {
    TZ: "Pacific/Chatham",
    LANG: "tr_TR.UTF-8",
    LC_ALL: "tr_TR.UTF-8",
    // None of these may reach a played run.
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    OPENAI_API_KEY: "sk-not-used",
    REPRISE_MODEL: "another-model",
    REPRISE_EFFORT: "high",
    REPRISE_REASONING_REPLAY: "0",
  }, there.directory);
  assert.deepEqual([...other.keys()].sort(), [...one.keys()].sort());
  for (const [name, text] of one) assert.equal(other.get(name), text, name);
  // The same on every runtime and platform: this sum covers every byte of all turns.
  assert.deepEqual(JSON.parse(one.get("manifest.json") ?? "").head, head);
  assert.ok(one.size >= 16, `${one.size} files`);
  for (const text of one.values()) {
    assert.ok(!text.includes(here.directory), "a path of this machine is in a file");
    assert.ok(!text.includes(root), "a path of this machine is in a file");
  }
});

// A compiled binary's permissions are fixed: this is a matter of the sources, whatever program is under test.
test.process("a played fixture needs no network: it runs with the network denied", async () => {
  await using sandbox = new Sandbox();
  const allowed = ["read", "write", "env", "sys", "run"].map((name) => `--allow-${name}`);
  const [command = "", ...before] = SOURCES.flatMap((word) =>
    word === "-A" ? [...allowed, "--deny-net", "--no-prompt"] : [word]
  );
  const { code, stderr } = await new Deno.Command(command, {
    args: [...before, "run", "--fixture", FIRST, "--match", "sequence", "--json", "Go"],
    cwd: sandbox.workspace,
    clearEnv: true,
    env: { ...sandbox.environment(), ...denoCache() },
    stdin: "null",
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

test("a seeded session id that exists gets -2, then -3", async () => {
  await using sandbox = new Sandbox();
  const ids: string[] = [];
  for (let run = 0; run < 3; run++) {
    const called = await sandbox.call(["run", "--json", "--fixture", FIRST, "Why, though?"]);
    ids.push(ending(called).session);
  }
  const [first] = ids;
  assert.match(String(first), /^why-though-[a-z0-9]{4}$/);
  assert.deepEqual(ids, [first, `${first}-2`, `${first}-3`]);
});
