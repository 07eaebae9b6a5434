import assert from "node:assert/strict";
import { test } from "../support/test.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { type Called, ending, events, PROGRAM, Sandbox } from "../support/reprise.ts";
import { answer, type Script } from "../support/responses_server.ts";
import { functionCall } from "../support/responses_server/script.ts";
import { assertError, HELLO, Place, readsThenAnswers } from "./harness.ts";

const PROMPT = "Look at a.txt";
const RECORDED = ["run", "--json", "--new", "-s", "s"];

/** Records a run of two requests in `place`; returns the fixture's folder. */
async function recorded(place: Place, flags: readonly string[] = [], env = {}): Promise<string> {
  const folder = `${place.sandbox.directory}/kept`;
  const called = await place.call([...RECORDED, ...flags, "--record", folder, PROMPT], { env });
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return folder;
}

test.process("run --fixture plays the call that was recorded, in another home, directory and environment", async () => {
  await using place = new Place(readsThenAnswers);
  const secret = { CANARY_TOKEN: "canary-77be2c1d90f7a43e", REPRISE_EFFORT: "high", REPRISE_SUMMARY: "auto" };
  const folder = await recorded(place, ["--instructions", "Be brief."], secret);
  const asked = place.server.requests.length;
  await using other = new Sandbox();
  const called = await other.call(
    [...RECORDED, "--fixture", folder, "--instructions", "Be brief.", PROMPT],
    { cwd: other.directory, env: { TZ: "Pacific/Chatham", REPRISE_EFFORT: "low" } },
  );
  assert.equal(called.code, 0, called.stdout + called.stderr);
  assert.equal(ending(called).text, "Hello.");
  assert.equal(place.server.requests.length, asked, "no request reaches a server");
});

test.long("run --fixture refuses each other prompt, model, instructions, set of tools and effort as a miss", async () => {
  await using place = new Place(readsThenAnswers);
  const folder = await recorded(place);
  await using other = new Sandbox();
  const rows: readonly (readonly [prompt: string, flags: readonly string[], path: RegExp])[] = [
    ["Delete everything in a.txt", [], /input\[0\]\.content\[0\]\.text: recorded "Look at a\.txt"/],
    [PROMPT, ["-m", "gpt-5.6-mini"], /at model: recorded "gpt-5\.6", received "gpt-5\.6-mini"/],
    [PROMPT, ["--instructions", "Be brief."], /at instructions/],
    [PROMPT, ["--allow", "write"], /at tools/],
    [PROMPT, ["--effort", "high"], /at reasoning/],
  ];
  for (const [index, [prompt, flags, path]] of rows.entries()) {
    const args = ["run", "--json", "--new", "-s", `s${index}`, "--fixture", folder, ...flags, prompt];
    const called = await other.call(args);
    assertError(called, { code: "fixture_miss", exit: 7, says: path, hint: /--match sequence/ });
    const requests = events(called).filter(({ type }) => type === "request");
    assert.equal(requests.length, 1, "a miss is not sent again");
    assert.equal(ending(called).text, "");
    const played = await other.call(
      [...args.slice(0, -1), "--match", "sequence", prompt].map((each) =>
        each === `s${index}` ? `t${index}` : each
      ),
    );
    assert.equal(played.code, 0, played.stdout);
  }
});

test("a miss of run --fixture has all differences in its details, and names the rules that would have helped", async () => {
  await using place = new Place(readsThenAnswers);
  const dated = (day: string) => `Today's date is ${day}. Look at a.txt`;
  const folder = `${place.sandbox.directory}/kept`;
  const live = await place.call([...RECORDED, "--record", folder, dated("2026-01-02")]);
  assert.equal(live.code, 0, live.stdout);
  await using other = new Sandbox();
  const play = (...args: string[]) => other.call(["run", "--json", "--new", "--fixture", folder, ...args]);
  const helped = assertError(await play(dated("2027-11-30")), {
    code: "fixture_miss",
    exit: 7,
    hint: /^To match it: add date to match.normalize in fixture\.json\. Or: /,
  });
  const difference = {
    path: "input[0].content[0].text",
    recorded: JSON.stringify(dated("2026-01-02")),
    received: JSON.stringify(dated("2027-11-30")),
  };
  const details = {
    request: 1,
    exchange: 1,
    differences: [difference],
    cure: "add date to match.normalize in fixture.json",
  };
  assert.deepEqual(helped.details, details);
  const flags = ["--effort", "high", "-m", "gpt-5.6-mini"];
  const says = /, and at \d other places?$/;
  const more = assertError(await play(...flags, "Another prompt"), { code: "fixture_miss", exit: 7, says });
  const { differences, cure } = more.details as { differences: { path: string }[]; cure?: string };
  const paths = differences.map(({ path }) => path);
  assert.ok(["model", "reasoning", difference.path].every((path) => paths.includes(path)), paths.join());
  assert.equal(cure, undefined, "no rule explains another prompt");
});

/** A server whose model runs a command in each run's first step. */
const runs = (command: string): Script => ({ input }) =>
  input.at(-1)?.type === "message"
    ? answer([functionCall("shell", { command, argv: null, timeout_seconds: null })])
    : HELLO;

/** Records a run as any other client, so that its tools run again under `--fixture`. */
async function recordedByProxy(place: Place, command: string): Promise<string> {
  const folder = `${place.sandbox.directory}/kept`;
  const run = [...PROGRAM, "run", "--new", "--allow", `shell:${command}`, PROMPT];
  const called = await place.call(["record", "--out", folder, "--", ...run], {
    cwd: place.sandbox.workspace,
  });
  assert.equal(called.code, 0, called.stderr);
  return folder;
}

test.process("run --fixture ends with a miss if a real tool returns other output, and --match conversation reports it", async () => {
  const command = "cat a.txt";
  await using place = new Place(runs(command));
  const folder = await recordedByProxy(place, command);
  await using other = new Sandbox();
  Deno.writeTextFileSync(`${other.workspace}/a.txt`, "gamma\n");
  const args = ["run", "--json", "--new", "--fixture", folder, "--allow", `shell:${command}`, PROMPT];
  const says = /request 2 .*differs at input\[\d\]\.output: recorded .*beta.*received .*gamma/;
  assertError(await other.call(args, { cwd: other.workspace }), { code: "fixture_miss", exit: 7, says });
  const called = await other.call([...args, "--match", "conversation"], { cwd: other.workspace });
  assert.equal(called.code, 0, called.stdout);
  const [warning, ...others] = noticesOf(called, "match_warning");
  assert.deepEqual(others, []);
  assert.equal(warning?.rule, "tool_output_differs");
  assert.match(String(warning?.message), /recorded .*beta.*received .*gamma/);
});

function noticesOf(called: Called, kind: string): JsonObject[] {
  return (events(called) as JsonObject[]).filter((event) => event.type === "notice" && event.kind === kind);
}
