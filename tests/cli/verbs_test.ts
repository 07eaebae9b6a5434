/** The verbs that look: ls, show, fsck, doctor, and how a session is named to them. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ending } from "../support/reprise.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { assertError, begun, MODEL, Place, readsThenAnswers } from "./harness.ts";

/** The sessions that `ls --json` lists. */
async function listed(place: Place, args: readonly string[] = [], through: readonly string[] = []) {
  const called = await place.call(["ls", "--json", ...args], { through });
  assert.equal(called.code, 0, called.stdout);
  return JSON.parse(called.stdout).sessions as Record<string, unknown>[];
}

/** A place with the session "s". */
const one = begun(readsThenAnswers, (place) => place.session("s"));

test.process("ls lists sessions, newest first: each with what its manifest says", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("older", "First   words\nof it");
  await place.session("newer");
  const [first, second] = await listed(place);
  assert.deepEqual([first?.id, second?.id], ["newer", "older"]);
  const { created_at, updated_at, bytes, ...rest } = second ?? {};
  assert.ok(Number(bytes) > 1000);
  assert.ok(Date.parse(String(updated_at)) >= Date.parse(String(created_at)));
  assert.deepEqual(rest, {
    id: "older",
    path: place.path("older"),
    title: "First words of it",
    turns: 5,
    runs: 1,
    state: "completed",
    model: MODEL,
    provider: "openai",
    workspace: place.sandbox.workspace,
    usage: { input_tokens: 240, cached_tokens: 0, output_tokens: 80, reasoning_tokens: 32 },
  });
  assert.deepEqual((await listed(place, ["--limit", "1"])).map(({ id }) => id), ["newer"]);
  const { stdout } = await place.call(["ls"]);
  assert.match(stdout, /^ID .*\nnewer .*completed.*\nolder .*First words of it\n$/);
  await place.call(["run", "--json", "-s", "older", "Again"]);
  assert.deepEqual((await listed(place)).map(({ id }) => id), ["older", "newer"]);
});

test("show prints what is on disk: --turns and --events print a line each", async () => {
  await using place = await one();
  const turns = await place.call(["show", "s", "--turns"]);
  assert.deepEqual(turns.stdout.trimEnd().split("\n").map((line) => line.split(/\s+/)[3]), [
    ...["user", "model", "tools", "model", "harness"],
  ]);
  const shown = await place.call(["show", "s", "--events"]);
  const numbers = shown.stdout.trimEnd().split("\n").map((line) => Number(line.trim().split(/\s+/)[0]));
  assert.deepEqual(numbers, numbers.map((_, index) => index + 1));
  assert.equal(numbers.length, place.sandbox.turns("s").at(-1).seq[1]);
  const json = JSON.parse((await place.call(["show", "s", "--events", "--json"])).stdout);
  assert.deepEqual(json.events, place.sandbox.turns("s").flatMap((turn) => turn.events));
});

test("show prints what is on disk: --raw N is the file of turn N, byte for byte", async () => {
  await using place = new Place([answer([message("é€😀 \u202e \x1b[31m")])]);
  await place.session("s");
  for (const turn of [1, 2, 3]) {
    const { code, stdout } = await place.call(["show", "s", "--raw", String(turn)]);
    assert.equal(code, 0);
    assert.equal(stdout, Deno.readTextFileSync(place.turnPath("s", turn)));
  }
  const missing = await place.call(["show", "s", "--raw", "4", "--json"]);
  assert.equal(missing.code, 2, missing.stdout);
});

test("a session is named by its id, by the start of it, or as the latest of its workspace: an unambiguous prefix serves, an ambiguous one is exit 2 and lists what it fits", async () => {
  await using place = new Place(readsThenAnswers);
  for (const id of ["fix-ci", "fix-docs", "fix"]) await place.session(id);
  assert.equal(JSON.parse((await place.call(["show", "fix-c", "--json"])).stdout).session, "fix-ci");
  assert.equal(
    JSON.parse((await place.call(["show", "fix", "--json"])).stdout).session,
    "fix",
    "exact wins",
  );
  const error = assertError(await place.call(["run", "--json", "-s", "fix-", "Hi"]), {
    code: "ambiguous_session",
    exit: 2,
    says: /"fix-ci", "fix-docs"/,
  });
  assert.deepEqual(error.details, { candidates: ["fix-ci", "fix-docs"] });
});

test("a session is named by its id, by the start of it, or as the latest of its workspace: @last is the latest of the working directory, whatever ran elsewhere since", async () => {
  await using place = new Place(readsThenAnswers);
  const other = `${place.sandbox.directory}/other`;
  Deno.mkdirSync(other);
  await place.session("here");
  const there = await place.call(["run", "--json", "--new", "-s", "there", "Hi"], { cwd: other });
  assert.equal(there.code, 0, there.stdout);
  const last = async (cwd: string) =>
    JSON.parse((await place.call(["show", "@last", "--json"], { cwd })).stdout).session;
  assert.equal(await last(place.sandbox.workspace), "here");
  assert.equal(await last(other), "there");
  const link = `${place.sandbox.directory}/link`;
  Deno.symlinkSync(place.sandbox.workspace, link);
  assert.equal(await last(link), "here", "the same directory by another name");
  const elsewhere = await place.call(["run", "--json", "-c", "Hi"], { cwd: place.sandbox.directory });
  assertError(elsewhere, { code: "no_such_session", exit: 2 });
  const flagged = await place.call(["run", "--json", "-c", "-w", other, "Hi"]);
  assert.equal(JSON.parse(flagged.stdout.split("\n")[0] ?? "").id, "there");
});

test("below the workspace of a session, @last is that session, and run -c and -s continue it in its workspace", async () => {
  await using place = new Place(readsThenAnswers);
  const { workspace, directory } = place.sandbox;
  const below = `${workspace}/src/deep`;
  Deno.mkdirSync(below, { recursive: true });
  await place.session("above");
  // A workspace that is no directory above, whatever its name begins with.
  Deno.mkdirSync(`${workspace}-2`);
  await place.call(["run", "--new", "-s", "beside", "Hi"], { cwd: `${workspace}-2` });
  const dry = await place.call(["run", "-c", "--dry-run", "Look"], { cwd: below });
  assert.equal(dry.code, 0, dry.stderr);
  for (const named of [["-c"], ["-s", "abo"]]) {
    const called = await place.call(["run", ...named, "Look"], { cwd: below });
    assert.equal(called.code, 0, called.stderr);
    assert.equal(called.stderr, `workspace ${workspace}\nsession above\n`);
  }
  const turns = place.sandbox.turns("above");
  assert.deepEqual(new Set(turns.flatMap(({ pins }) => pins?.workspace ?? [])), new Set([workspace]));
  const read = turns.flatMap(({ events }) => events).findLast(({ type }) => type === "tool_result");
  assert.match(JSON.stringify(read), /alpha/);
  const json = await place.call(["run", "--json", "-c", "Look"], { cwd: below });
  assert.equal(ending(json).resume, `reprise run -s above -w ${workspace} "…"`);

  const last = (cwd: string, env = {}) => place.call(["show", "@last", "--json"], { cwd, env });
  const HOME = `${workspace}/src`;
  assert.equal((await last(below, { HOME })).code, 2, "no session above the user's home");
  await place.call(["run", "--new", "-s", "home", "Hi"], { cwd: HOME });
  assert.equal(JSON.parse((await last(below, { HOME })).stdout).session, "home");
  assertError(await place.call(["run", "--json", "-c", "-w", below, "Hi"]), {
    code: "no_such_session",
    exit: 2,
  });
  assert.equal((await last(directory)).code, 2, "a directory above the workspace");
});

test("doctor shows where each setting comes from, and never the key: from environment, configuration and default", async () => {
  await using place = new Place([]);
  Deno.mkdirSync(`${place.sandbox.directory}/.config/reprise`, { recursive: true });
  const config = JSON.stringify({
    model: "m-config",
    effort: "low",
    base_url: "https://config.example/v1",
  });
  Deno.writeTextFileSync(`${place.sandbox.directory}/.config/reprise/config.json`, config);
  const details = async (env: Record<string, string>) => {
    const called = await place.call(["doctor", "--json"], { env });
    assert.equal(called.code, 0, called.stdout);
    const { checks } = JSON.parse(called.stdout);
    return Object.fromEntries(
      checks.map(({ name, detail }: { name: string; detail: string }) => [name, detail]),
    );
  };
  const unset = { OPENAI_BASE_URL: "", REPRISE_MODEL: "" };
  const config_ = await details(unset);
  assert.match(config_.model, /^m-config \(config\)$/);
  assert.match(config_.endpoint, /https:\/\/config\.example\/v1 \(config\)/);
  assert.match(config_.reasoning, /effort low/);
  const environment = await details({});
  assert.equal(environment.model, `${MODEL} (environment)`);
  assert.match(environment.endpoint, /127\.0\.0\.1:\d+\/v1 \(environment\)/);
  assert.equal(place.server.requests.length, 0);
});
