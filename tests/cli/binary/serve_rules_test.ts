/** Match rules of `serve`: recorded in one directory, played in another; what did not count is named and counted. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { type GivenExchange, writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { answering, COMPLETED, RawUpstream } from "../../support/raw_upstream.ts";

/** A command that writes its directory into a request, once as agents do and once as free text. */
function client({ prompt = "Fix the test", output = "1 failed" } = {}): string[] {
  const script = `
    const cwd = Deno.cwd();
    const input = [
      { role: "user", content: "<cwd>" + cwd + "</cwd>" },
      { role: "user", content: ${JSON.stringify(prompt)} + " in " + cwd + "/tests" },
      { type: "function_call", call_id: "call_1", name: "shell", arguments: "{}" },
      { type: "function_call_output", call_id: "call_1", output: ${JSON.stringify(output)} },
    ];
    const response = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ model: "m", input, stream: true }),
    });
    console.log(await response.text());`;
  return [Deno.execPath(), "eval", "--quiet", script];
}

interface Served {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  // deno-lint-ignore no-explicit-any
  readonly events: readonly any[];
}

/** Serves a fixture to a command in the directory `cwd`. */
async function served(
  sandbox: Sandbox,
  { fixture, cwd, flags = [], command }: {
    readonly fixture: string;
    readonly cwd: string;
    readonly flags?: readonly string[];
    readonly command: readonly string[];
  },
): Promise<Served> {
  const log = `${sandbox.directory}/events`;
  Deno.mkdirSync(cwd, { recursive: true });
  const args = ["serve", "--rules", "none", "--events", log, ...flags, fixture, "--", ...command];
  const called = await sandbox.call(args, { cwd });
  const events = Deno.readTextFileSync(log).trimEnd().split("\n").map((line) => JSON.parse(line));
  return { ...called, events };
}

/** A fixture that `record` wrote for the client, in a directory of its own. */
async function recorded(sandbox: Sandbox): Promise<{ readonly fixture: string; readonly stdout: string }> {
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: text/event-stream", COMPLETED));
  const fixture = `${sandbox.directory}/fixture`;
  const args = ["record", "--upstream", upstream.origin, "--out", fixture, "--", ...client()];
  const { code, stdout, stderr } = await sandbox.call(args);
  assert.equal(code, 0, stderr);
  return { fixture, stdout };
}

Deno.test("serve plays a recording from another directory, and names the rules that it needed", async () => {
  await using sandbox = new Sandbox();
  const { fixture, stdout } = await recorded(sandbox);
  const here = await served(sandbox, { fixture, cwd: sandbox.workspace, command: client() });
  assert.deepEqual([here.code, here.stdout], [0, stdout], here.stderr);
  assert.deepEqual(here.events.at(-1).tiers, { exact: 1, semantic: 0, rules: 0, conversation: 0 });
  assert.doesNotMatch(here.stderr, /matched|needed/);

  const cwd = `${sandbox.directory}/elsewhere/deep`;
  const there = await served(sandbox, {
    fixture,
    cwd,
    flags: ["--strict-usage", "--verbose"],
    command: client(),
  });
  assert.deepEqual([there.code, there.stdout], [0, stdout], there.stderr);
  const played = there.events.find(({ type }) => type === "played");
  assert.deepEqual([played.tier, played.rules], ["rules", ["cwd"]]);
  const { tiers, rules, tool_outputs_differ } = there.events.at(-1);
  assert.deepEqual(tiers, { exact: 0, semantic: 0, rules: 1, conversation: 0 });
  assert.deepEqual([rules, tool_outputs_differ], [{ cwd: 1 }, 0]);
  assert.match(there.stderr, /: 200, exchange 1 of .*fixture, needed cwd$/m);
  assert.match(there.stderr, /^1 matched: 1 with rules \(cwd 1\)$/m);

  const other = await served(sandbox, { fixture, cwd, command: client({ prompt: "Delete the test" }) });
  assert.equal(other.code, 7);
  const { nearest } = other.events.find(({ type }) => type === "miss");
  assert.equal(nearest.path, "input[1].content");
  for (const flags of [["--strict-match"], ["--match", "exact"], ["--strict-match", "--normalize", "cwd"]]) {
    assert.equal(
      (await served(sandbox, { fixture, cwd, flags, command: client() })).code,
      7,
      flags.join(" "),
    );
  }
});

Deno.test("in a conversation other outputs of tools are reported and counted, and --fail-on makes them fail", async () => {
  await using sandbox = new Sandbox();
  const { fixture } = await recorded(sandbox);
  const cwd = `${sandbox.directory}/elsewhere`;
  const command = client({ output: "2 failed" });
  assert.equal((await served(sandbox, { fixture, cwd, command })).code, 7);
  const flags = ["--match", "conversation", "--verbose"];
  const played = await served(sandbox, { fixture, cwd, flags, command });
  assert.equal(played.code, 0, played.stderr);
  const warning = played.events.find(({ type }) => type === "warning");
  assert.deepEqual([warning.rule, warning.path, warning.difference], [
    "tool_output_differs",
    "/v1/responses",
    {
      path: "input[3].output",
      recorded: '"1 failed"',
      received: '"2 failed"',
    },
  ]);
  assert.equal(played.events.at(-1).tool_outputs_differ, 1);
  assert.match(played.stderr, /^1 matched: 1 conversation$/m);
  assert.match(played.stderr, /^1 served, .*, 1 tool output not as recorded$/m);
  const failed = await served(sandbox, {
    fixture,
    cwd,
    flags: [...flags, "--fail-on", "tool-output"],
    command,
  });
  assert.equal(failed.code, 7);
  assert.match(failed.stderr, /Not every exchange went as recorded: 1 tool output not as recorded/);
});

/** Exchanges with these prompts, each with an answer of its own. */
function asking(...prompts: readonly string[]): GivenExchange[] {
  return prompts.map((content): GivenExchange => ({
    request: { body: { model: "m", input: [{ role: "user", content }] } satisfies JsonObject },
    response: { headers: { "content-type": "application/json" } },
    body: JSON.stringify({ answer: content }),
  }));
}

Deno.test("rules that make requests with different answers equal refuse to start, and lint reports them", async () => {
  await using sandbox = new Sandbox();
  const replace = [{ pattern: "\\d+", with: "N" }];
  const fixture = writeFixture(`${sandbox.directory}/fixture`, asking("Add 1", "Stop", "Add 2"), {
    match: { normalize: ["home"], replace },
  });
  const message =
    'Cannot match requests: the match rule replace \\d+ makes the requests of exchanges 1 and 3 of "FIXTURE" equal, ' +
    "and their answers differ";
  const { code, stdout, stderr } = await sandbox.call(["serve", fixture, "--", "true"]);
  assert.deepEqual([code, stdout], [2, ""]);
  assert(stderr.replaceAll(fixture, "FIXTURE").includes(message), stderr);
  const plain = writeFixture(`${sandbox.directory}/plain`, asking("Add 1", "Stop", "Add 2"));
  const added = await sandbox.call(["serve", "--replace", "\\d+=N", plain, "--", "true"]);
  assert.equal(added.code, 2);
  const strict = await sandbox.call(["serve", "--strict-match", "--allow-unused", fixture, "--", "true"]);
  assert.equal(strict.code, 0, strict.stderr);
  const lint = await sandbox.call(["fixture", "lint", "--json", fixture]);
  assert.equal(lint.code, 7);
  const findings = JSON.stringify(JSON.parse(lint.stdout));
  assert(findings.includes('"ambiguous_rules"') && findings.includes('"unused_rule"'), findings);
});
