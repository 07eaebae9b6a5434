/** `ls` as a user calls it: header, filters and orders; and `@last:any`. Its states are in tests/doors/sessions. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { assertError, begun, HELLO, json, ok, Place } from "./harness.ts";

/** A home with three completed sessions. */
const threeSessions = begun(() => HELLO, async (place) => {
  await place.session("parser", "Fix the failing test in the parser");
  await place.session("lexer", "Fix the failing test in the lexer");
  const run = ["run", "--new", "-s", "docs", "-m", "o4-mini", "-w", place.sandbox.directory];
  await ok(place, [...run, "Write the docs"]);
});

async function idsOf(place: Place, ...args: string[]): Promise<string[]> {
  return (await json(place, ["ls", ...args])).sessions.map(({ id }: Json) => id);
}

test.process("ls shows a header and a line for each session: local time, turns, size, tokens, state, model, title", async () => {
  await using place = await threeSessions();
  const [header, first, ...others] = (await ok(place, ["ls"], { TZ: "Asia/Tokyo" })).split("\n");
  assert.equal(header?.trim().replace(/ +/g, " "), "ID UPDATED TURNS SIZE TOKENS STATE MODEL TITLE");
  const [docs] = (await json(place, ["ls"])).sessions;
  const tokyo = new Date(Date.parse(docs.updated_at) + 9 * 3600e3).toISOString();
  const when = tokyo.slice(0, 16).replace("T", " ");
  const numbers = String.raw`\d+ +[\d.]+ kB +[\d.]+k?`;
  assert.match(first ?? "", new RegExp(`^docs +${when} +${numbers} +completed +o4-mini +Write the docs$`));
  assert.equal(others.length, 3);
});

test("ls lists only the sessions that its filters choose", async () => {
  await using place = await threeSessions();
  assert.deepEqual(await idsOf(place, "--since", "1h", "--limit", "2"), ["docs", "lexer"]);
  assert.deepEqual(await idsOf(place, "--since", "2999-01-01"), []);
  assert.deepEqual(await idsOf(place, "--state", "running,completed", "--limit", "1"), ["docs"]);
  const { stdout, stderr, code } = await place.call(["ls", "--state", "killed"]);
  assert.deepEqual([stdout, code], ["", 0]);
  assert.match(stderr, /none of 3 sessions .* fits/);
});

test("ls --since takes a session of exactly that moment, and one whose age is unknown", async () => {
  await using place = await threeSessions();
  const [docs, lexer] = (await json(place, ["ls"])).sessions;
  assert.deepEqual(await idsOf(place, "--since", lexer.updated_at), ["docs", "lexer"]);
  const later = new Date(Date.parse(docs.updated_at) + 1).toISOString();
  assert.deepEqual(await idsOf(place, "--since", later), []);
  for (const name of ["manifest.json", "turns/000001.json"]) {
    Deno.removeSync(`${place.path("lexer")}/${name}`);
  }
  assert.deepEqual(await idsOf(place, "--since", later), ["lexer"]);
});

test("ls --state with --limit counts the sessions in that state, however many newer ones are in another", async () => {
  await using place = await threeSessions();
  await place.call(["run", "--new", "-s", "failed", "Look"], { env: { OPENAI_API_KEY: "sk-wrong" } });
  assert.deepEqual(await idsOf(place, "--limit", "1"), ["failed"]);
  assert.deepEqual(await idsOf(place, "--state", "completed", "--limit", "1"), ["docs"]);
  assert.deepEqual(await idsOf(place, "--state", "completed", "--limit", "2"), ["docs", "lexer"]);
  assert.deepEqual(await idsOf(place, "--state", "failed", "--limit", "2"), ["failed"]);
});

test("@last:any is the latest session of all workspaces", async () => {
  await using place = await threeSessions();
  assert.equal((await json(place, ["show", "@last:any"])).session, "docs");
  const none = { code: "no_such_session", exit: 2 };
  assertError(await place.call(["show", "@last", "--json"]), { ...none, hint: /@last:any/ });
  await using empty = new Place([]);
  const called = await empty.call(["show", "@last:any", "--json"]);
  assertError(called, { ...none, says: /there is none/, hint: /reprise run/ });
});

test("new sessions whose prompts begin alike get ids that tell them apart", async () => {
  await using place = new Place(() => HELLO);
  for (const what of ["parser", "lexer", "build"]) await ok(place, ["run", `Fix the failing ${what}`]);
  const names = (await idsOf(place)).map((id) => id.slice(0, -5)).reverse();
  assert.deepEqual(names, ["fix-the-failing", "fix-the-failing-lexer", "fix-the-failing-build"]);
});
