/** Tests for `ls`: header, states, sizes, filters and orders; and `@last:any`. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, type Script } from "../support/scripted_api/responses.ts";
import { assertError, begun, Place, readsThenAnswers, until } from "./harness.ts";

/** A server whose answer takes until the test is over. */
const slow: Script = () => answer([message("Hello.")], { end: { kind: "stall" } });

/** A home with three completed sessions. */
const threeSessions = begun(readsThenAnswers, async (place) => {
  await place.session("parser", "Fix the failing test in the parser");
  await place.session("lexer", "Fix the failing test in the lexer");
  const elsewhere = `${place.sandbox.directory}/elsewhere`;
  Deno.mkdirSync(elsewhere);
  const called = await place.call(
    ["run", "--new", "-s", "docs", "-m", "o4-mini", "Write the docs"],
    { cwd: elsewhere },
  );
  assert.equal(called.code, 0, called.stderr);
});

async function listed(place: Place, ...args: string[]): Promise<JsonObject[]> {
  const called = await place.call(["ls", "--json", ...args]);
  assert.equal(called.code, 0, called.stdout + called.stderr);
  return JSON.parse(called.stdout).sessions;
}

async function idsOf(place: Place, ...args: string[]): Promise<string[]> {
  return (await listed(place, ...args)).map(({ id }) => String(id));
}

test.process("ls shows a header and a line for each session: local time, turns, size, tokens, state, model, title", async () => {
  await using place = await threeSessions();
  const { stdout } = await place.call(["ls"], { env: { TZ: "Asia/Tokyo" } });
  const [header, first, ...others] = stdout.split("\n");
  assert.equal(header?.trim().replace(/ +/g, " "), "ID UPDATED TURNS SIZE TOKENS STATE MODEL TITLE");
  const [docs] = await listed(place);
  const tokyo = new Date(Date.parse(String(docs?.updated_at)) + 9 * 3600e3).toISOString();
  const when = tokyo.slice(0, 16).replace("T", " ");
  const shape = new RegExp(
    String.raw`^docs +${when} +\d+ +[\d.]+ kB +[\d.]+k? +completed +o4-mini +Write the docs$`,
  );
  assert.match(first ?? "", shape);
  assert.equal(others.length, 3);
});

test.process("ls distinguishes running, killed, damaged and completed sessions", async () => {
  await using place = new Place(slow);
  const run = place.start(["run", "--json", "--new", "-s", "busy", "Hello"]);
  await until(() => run.stdout.includes('"request"'), "the request");
  const states = async () => Object.fromEntries((await listed(place)).map(({ id, state }) => [id, state]));
  assert.deepEqual(await states(), { busy: "running" });
  assert.match((await place.call(["ls"])).stdout, /^busy .* running /m);
  run.process.kill("SIGKILL");
  await run.ended();
  assert.deepEqual(await states(), { busy: "killed" });
  assert.deepEqual(await idsOf(place, "--state", "killed"), ["busy"]);
  assert.deepEqual(await idsOf(place, "--state", "running,completed"), []);
  Deno.truncateSync(place.turnPath("busy", 1), 100);
  const [damaged] = await listed(place);
  assert.equal(damaged?.state, "damaged");
  assert.match(String(damaged?.problem), /turns\/000001\.json/);
  assert.match((await place.call(["ls"])).stdout, /^busy .* damaged .*turns\/000001\.json/m);
});

test("ls lists only the sessions that its filters choose", async () => {
  await using place = await threeSessions();
  assert.deepEqual(await idsOf(place), ["docs", "lexer", "parser"]);
  assert.deepEqual(await idsOf(place, "--since", "1h", "--limit", "2"), ["docs", "lexer"]);
  assert.deepEqual(await idsOf(place, "--since", "2999-01-01"), []);
  assert.deepEqual(await idsOf(place, "--state", "completed", "--limit", "1"), ["docs"]);
  const { stdout, stderr, code } = await place.call(["ls", "--state", "killed"]);
  assert.deepEqual([stdout, code], ["", 0]);
  assert.match(stderr, /none of 3 sessions .* fits/);
  assertError(await place.call(["ls", "--json", "--state", "runing"]), {
    code: "usage",
    exit: 2,
    says: /"runing"/,
    hint: /running/,
  });
  assertError(await place.call(["ls", "--json", "--since", "soon"]), {
    code: "usage",
    exit: 2,
    says: /soon/,
  });
});

test("@last:any is the latest session of all workspaces", async () => {
  await using place = await threeSessions();
  const shown = async (selector: string) =>
    JSON.parse((await place.call(["show", selector, "--json"])).stdout);
  assert.equal((await shown("@last:any")).session, "docs");
  assertError(await place.call(["show", "@last", "--json"]), {
    code: "no_such_session",
    exit: 2,
    hint: /@last:any/,
  });
  await using empty = new Place([]);
  assertError(await empty.call(["show", "@last:any", "--json"]), {
    code: "no_such_session",
    exit: 2,
    says: /there is none/,
    hint: /reprise run/,
  });
});

test("new sessions whose prompts begin alike get ids that tell them apart", async () => {
  await using place = new Place(() => answer([message("Hello.")]));
  for (const what of ["parser", "lexer", "build"]) {
    const { code, stderr } = await place.call(["run", `Fix the failing ${what}`]);
    assert.equal(code, 0, stderr);
  }
  const names = (await idsOf(place)).map((id) => id.slice(0, -5)).reverse();
  assert.deepEqual(names, ["fix-the-failing", "fix-the-failing-lexer", "fix-the-failing-build"]);
});
