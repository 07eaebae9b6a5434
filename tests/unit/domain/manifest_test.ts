import assert from "node:assert/strict";
import { advanceManifest, encodeManifest, type Manifest } from "../../../src/domain/manifest.ts";
import { checkSeal } from "../../../src/domain/seal.ts";
import { encodeTurn } from "../../../src/domain/turn.ts";
import { History, message, MODEL } from "../../support/history.ts";

function manifestOf(history: History): Manifest | null {
  return history.turns.reduce<Manifest | null>(
    (manifest, turn) => advanceManifest(manifest, "s", turn),
    null,
  );
}

Deno.test("a manifest says what the turns say", () => {
  const history = new History().user("  Fix   the\nbuild ").model([message("msg_1", "done")]);
  const open = manifestOf(history);
  assert.equal(open?.title, "Fix the build");
  assert.equal(open?.state, "open");
  history.ended();
  const closed = manifestOf(history);
  assert.equal(closed?.state, "completed");
  assert.equal(closed?.pins.model, MODEL);
  assert.deepEqual(closed?.head, { turn: 3, seq: 3, sum: history.turns[2]?.sum });
});

Deno.test("a manifest's size does not grow with the session", () => {
  const history = new History().user("x");
  const before = encodeManifest(manifestOf(history) as Manifest).bytes.length;
  for (let turn = 0; turn < 500; turn++) history.model([message("msg_1", "a".repeat(1000))]);
  const after = encodeManifest(manifestOf(history) as Manifest);
  assert.ok(after.bytes.length - before < 20, `${before} → ${after.bytes.length} bytes`);
  assert.equal(checkSeal(after.bytes), after.sum);
});

Deno.test("a turn that opens no run cannot be the first", () => {
  const second = new History().user("x").ended().turns[1];
  assert.ok(second !== undefined);
  assert.throws(() => advanceManifest(null, "s", second), TypeError);
});

Deno.test("a turn needs an event", () => {
  const place = { session: "s", turn: 1, firstSeq: 1, prev: null, at: "2026-11-21T20:18:00.000Z" };
  assert.throws(() => encodeTurn({ kind: "tools", run: 1, events: [] }, place), RangeError);
});

Deno.test("a title that a person gave wins over the prompt, and does not count as use of the session", () => {
  const history = new History().user("Fix the build").model([message("msg_1", "done")]).ended();
  const before = manifestOf(history);
  const [last] = history.turns.slice(-1);
  assert.ok(before !== null && last !== undefined);
  const place = { session: "s", turn: 4, firstSeq: 4, prev: last.sum, at: "2026-12-24T00:00:00.000Z" };
  const renamed = encodeTurn(
    { kind: "harness", run: 1, events: [{ type: "session_renamed", title: "The build" }] },
    place,
  ).turn;
  const after = advanceManifest(before, "s", renamed);
  assert.equal(after.title, "The build");
  assert.equal(after.updated_at, before.updated_at);
  assert.equal(after.state, "completed");
  assert.equal(after.head.turn, 4);
});
