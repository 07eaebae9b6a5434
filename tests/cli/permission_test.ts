/** Permissions end with their run: nothing on disk allows anything, and decisions are durable before calls start. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { ended, message, model, PINS, SessionFiles, user } from "../doors/sessions/session_files.ts";
import { ending, events, said } from "../support/reprise.ts";
import { calling, decisions, EVERYTHING, names, NEW_RUN, offered } from "./changes.ts";
import { ok, Place } from "./harness.ts";

test.long("the decisions of a run are durable before its first call starts", async () => {
  await using place = new Place(calling(...EVERYTHING));
  const called = await place.call([...NEW_RUN, "--allow", "write,shell", "Go"]);
  const lines = events(called).map((event) => event.type === "turn.saved" ? event.kind : event.type);
  assert.ok(lines.indexOf("harness") < lines.indexOf("tool.started"), lines.join(" "));
  const kinds = ["user", "model", "harness", "tools", "tools", "tools", "model", "harness"];
  assert.deepEqual(place.sandbox.turns("s").map(({ kind }) => kind), kinds);
});

/** A place with a sound session whose pins have these permissions. */
function pinned(permissions: readonly string[]): Place {
  const place = new Place(calling(...EVERYTHING));
  const pins = { ...PINS, workspace: place.sandbox.workspace, permissions };
  Deno.mkdirSync(`${place.sandbox.home}/sessions`, { recursive: true, mode: 0o700 });
  Deno.chmodSync(place.sandbox.home, 0o700);
  new SessionFiles(place.sandbox.home, "s", [
    { ...user("Hi"), pins },
    model([message("msg_1", "Hello.")]),
    ended(),
  ]);
  return place;
}

test("pins of a session that allow everything allow nothing", async () => {
  await using place = pinned(["read", "allow shell", "allow write", "ask"]);
  await ok(place, ["fsck", "s"]);
  const next = await place.call(["run", "--json", "-s", "s", "Again"]);
  assert.deepEqual([next.code, ending(next).denials], [0, 3], said(next));
  assert.deepEqual(decisions(place).map((text) => text.split(", ")[1]), Array(3).fill("not_allowed"));
  assert.deepEqual(names(place), ["a.txt"]);
  assert.deepEqual(offered(place, 1), ["read_file", "list_files", "search_text"]);
});

test("unreadable pins of a session are a refusal, not a guess", async () => {
  await using place = pinned(["read", "allow-all"]);
  const next = await place.call(["run", "--json", "-s", "s", "--allow", "write", "Again"]);
  assert.equal(next.code, 2, said(next));
  assert.deepEqual(names(place), ["a.txt"]);
});
