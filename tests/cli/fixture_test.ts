/** `run --fixture`: the same files anywhere without a network, and a miss for any other call. */
import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import head from "../../fixtures/demo/head.json" with { type: "json" };
import { copyWorkspace, DEMO_PERMISSIONS, DEMO_PROMPTS } from "../../scripts/demo/scene.ts";
import { denoCache, ending, events, PROGRAM, Sandbox, SOURCES } from "../support/reprise.ts";
import { answer } from "../support/scripted_api/responses.ts";
import { shellLine } from "../support/calls.ts";
import { type Json, textsBelow } from "../support/files.ts";
import { assertError, HELLO, ok, Place, readsThenAnswers } from "./harness.ts";

const root = new URL("../../", import.meta.url).pathname;
const FIRST = `${root}fixtures/demo/first`;
const SECOND = `${root}fixtures/demo/second`;

/** Plays both runs of the demo; returns the files of their session. */
async function playBoth(sandbox: Sandbox, env: Record<string, string>, cwd: string) {
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
    ...{ TZ: "Pacific/Chatham", LANG: "tr_TR.UTF-8", LC_ALL: "tr_TR.UTF-8" },
    // None of these may reach a played run.
    OPENAI_BASE_URL: "http://127.0.0.1:9/v1",
    OPENAI_API_KEY: "sk-not-used",
    REPRISE_MODEL: "another-model",
    REPRISE_EFFORT: "high",
    REPRISE_REASONING_REPLAY: "0",
  }, there.directory);
  assert.deepEqual(other, one);
  // The same on every runtime and platform: this sum covers every byte of all turns.
  assert.deepEqual(JSON.parse(one.get("manifest.json") ?? "").head, head);
  for (const text of one.values()) {
    assert.ok(!text.includes(here.directory) && !text.includes(root), "a path of this machine is in a file");
  }
});

// A compiled binary's permissions are fixed: this is a matter of the sources, whatever program is under test.
test.process("a played fixture needs no network: it runs with the network denied", async () => {
  await using sandbox = new Sandbox();
  const allowed = ["read", "write", "env", "sys", "run"].map((name) => `--allow-${name}`);
  const [command = "", ...before] = SOURCES.flatMap((word) =>
    word === "-A" ? [...allowed, "--deny-net", "--no-prompt"] : [word]
  );
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args: [...before, "run", "--fixture", FIRST, "--match", "sequence", "--json", "Go"],
    cwd: sandbox.workspace,
    clearEnv: true,
    env: { ...sandbox.environment(), ...denoCache() },
    stdin: "null",
  }).output();
  assert.equal(code, 0, [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join(""));
});

test("a seeded session id that exists gets -2, then -3", async () => {
  await using sandbox = new Sandbox();
  const ids: string[] = [];
  for (let run = 0; run < 3; run++) {
    ids.push(ending(await sandbox.call(["run", "--json", "--fixture", FIRST, "Why, though?"])).session);
  }
  const [first] = ids;
  assert.match(String(first), /^why-though-[a-z0-9]{4}$/);
  assert.deepEqual(ids, [first, `${first}-2`, `${first}-3`]);
});

const PROMPT = "Today's date is 2026-01-02. Look at a.txt";
const TEXT = "input[0].content[0].text";

/** Calls that were not recorded: the prompt, flags, and the paths of the differences. */
const OTHERS: readonly (readonly [prompt: string, flags: readonly string[], paths: readonly string[]])[] = [
  ["Delete everything in a.txt", [], [TEXT]],
  [PROMPT.replace("2026-01-02", "2027-11-30"), [], [TEXT]],
  [PROMPT, ["-m", "gpt-5.6-mini"], ["model"]],
  ["Another", ["--effort", "high", "-m", "gpt-5.6-mini"], ["model", "reasoning", TEXT]],
];

test.long("run --fixture refuses each other prompt, model, instructions, set of tools and effort as a miss with all differences", async () => {
  await using place = new Place(readsThenAnswers);
  const folder = `${place.sandbox.directory}/kept`;
  const instructions = ["--instructions", "Ticket: 17"];
  await ok(place, ["run", "--json", "--new", "-s", "s", ...instructions, "--record", folder, PROMPT]);
  await using other = new Sandbox();
  const play = (...args: string[]) => other.call(["run", "--json", "--new", "--fixture", folder, ...args]);
  for (const [prompt, flags, paths] of OTHERS) {
    const called = await play(...instructions, ...flags, prompt);
    const { details, message } = assertError(called, {
      ...{ code: "fixture_miss", exit: 7, hint: /--match sequence/, says: /recorded "?.*received/s },
    });
    assert.ok(ending(called).resume.includes(`--fixture ${folder}`));
    const found = details.differences.map(({ path }: Json) => path);
    for (const path of paths) assert.ok(found.some((each: string) => each.startsWith(path)), found.join());
    assert.equal(/, and at \d other places?$/.test(message), found.length > 1, message);
    assert.equal(details.cure, undefined, "no rule explains another prompt");
    assert.equal(
      events(called).filter(({ type }) => type === "request").length,
      1,
      "a miss is not sent again",
    );
    const played = await play(...instructions, ...flags, "--match", "sequence", prompt);
    assert.equal(played.code, 0, played.stdout);
  }
  const hint = /^To match it: add .* to match\.replace in fixture\.json\. Or: /;
  const helped = assertError(await play("--instructions", "Ticket: 18", PROMPT), {
    ...{ code: "fixture_miss", exit: 7, hint },
  });
  assert.deepEqual(helped.details, {
    request: 1,
    exchange: 1,
    differences: [{ path: "instructions", recorded: '"Ticket: 17"', received: '"Ticket: 18"' }],
    cure: String.raw`add {"pattern":"Ticket: \\d+","with":"Ticket: N"} to match.replace in fixture.json`,
  });
});

test.process("run --fixture ends with a miss if a real tool returns other output, and --match conversation reports it", async () => {
  const command = "cat a.txt";
  await using place = new Place(({ input }) =>
    input.at(-1)?.type === "message" ? answer([shellLine(command)]) : HELLO
  );
  // Recorded as any other client is, so that its tools run again.
  const folder = `${place.sandbox.directory}/kept`;
  const run = [...PROGRAM, "run", "--new", "--allow", `shell:${command}`, PROMPT];
  await ok(place, ["record", "--out", folder, "--", ...run]);
  await using other = new Sandbox();
  Deno.writeTextFileSync(`${other.workspace}/a.txt`, "gamma\n");
  const args = ["run", "--json", "--new", "--fixture", folder, "--allow", `shell:${command}`, PROMPT];
  const says = /request 2 .*differs at input\[\d\]\.output: recorded .*beta.*received .*gamma/;
  assertError(await other.call(args), { code: "fixture_miss", exit: 7, says });
  const called = await other.call([...args, "--match", "conversation"]);
  assert.equal(called.code, 0, called.stdout);
  const warnings = events(called).filter((event: Json) => event.kind === "match_warning") as Json[];
  assert.deepEqual(warnings.map(({ rule }) => rule), ["tool_output_differs"]);
  assert.match(warnings[0].message, /recorded .*beta.*received .*gamma/);
});

test("a recorded body with an empty list of chunks is played whole", async () => {
  await using sandbox = new Sandbox();
  const folder = `${sandbox.directory}/kept`;
  const [, , , last = ""] = [...Deno.readDirSync(`${FIRST}/exchanges`)].map(({ name }) => name).sort();
  Deno.copyFileSync(`${FIRST}/exchanges/${last}/body`, `${sandbox.directory}/a.sse`);
  assert.equal((await sandbox.call(["fixture", "import", `${sandbox.directory}/a.sse`, folder])).code, 0);
  const [name = ""] = textsBelow(folder, "body").keys().filter((path) => path.endsWith("response.json"));
  const response = JSON.parse(Deno.readTextFileSync(`${folder}/${name}`));
  Deno.writeTextFileSync(`${folder}/${name}`, JSON.stringify({ ...response, chunks: [] }));
  assert.equal((await sandbox.call(["fixture", "seal", folder])).code, 0);
  const called = await sandbox.call(["run", "--new", "--fixture", folder, "--match", "sequence", "Go"]);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stdout, /^Fixed: /);
});
