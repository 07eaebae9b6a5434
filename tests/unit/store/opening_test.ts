/** Opening costs the tail: what is read begins at the checkpoint in force, whatever lies before it. */
import assert from "node:assert/strict";
import { latestCheckpoint } from "../../../src/compaction/plan.ts";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { EventDraft } from "../../../src/domain/event.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { standingOmissions } from "../../../src/run/refusals.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession, readSessionTail } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { spyFiles } from "./spy_files.ts";
import {
  answer,
  appendRun,
  call,
  endDraft,
  ID,
  modelDraft,
  newSession,
  pinsFor,
  portsOn,
  reasoning,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";

/** The checkpoint of everything up to turn `to`, whose last seq is `toSeq`. */
function checkpoint(to: number, toSeq: number, more: Partial<EventDraft> = {}): EventDraft {
  return {
    type: "history_compaction",
    to_seq: toSeq,
    to_turn: to,
    previous_checkpoint: null,
    opening_turn: null,
    strategy: "deterministic",
    summary: `So far, up to ${toSeq}`,
    limitations: [],
    ...more,
  } as EventDraft;
}

function compact(writer: SessionWriter, event: EventDraft): Turn {
  return writer.append({ kind: "compaction", run: writer.end.run, pins: pinsFor(), events: [event] });
}

function withdraw(writer: SessionWriter): Turn {
  const latest = latestCheckpoint(writer.allTurns());
  assert.ok(latest !== null);
  return writer.append({
    kind: "harness",
    run: writer.end.run,
    events: [{ type: "compaction_withdrawn", checkpoint: latest.checkpoint.seq, restored: latest.restored }],
  });
}

/** Ports that note the numbers of the turn files that are read, and whether `turns/` is listed. */
function watched() {
  const read: number[] = [];
  const listed: string[] = [];
  const ports = portsOn(spyFiles(({ name, path }) => {
    const turn = /turns\/(\d+)\.json$/.exec(path);
    if ((name === "read" || name === "openRead") && turn !== null) read.push(Number(turn[1]));
    if (name === "list") listed.push(path);
  }));
  return { ports, read, listed };
}

function body(turns: readonly Turn[], run?: number): string {
  const { entries } = foldHistory(turns, {
    fingerprint: { provider: "openai", endpoint: "1f3a9c02", account: null },
    needs: foldNeedsOf("openai"),
    model: "gpt-5.6",
    replay: "exact",
    ...(run === undefined ? {} : { run }),
  });
  return responsesApi.bodyOf({ model: "gpt-5.6" }, entries);
}

/** Both ways to open read the same turns, list no turns, and fold as the whole log does. */
async function opens(home: Home, expected: readonly number[], run?: number): Promise<void> {
  const reader = watched();
  const view = readSessionTail(reader.ports, home, ID);
  assert.deepEqual(reader.read, expected);
  const writing = watched();
  const writer = await SessionWriter.open(writing.ports, home, { id: ID });
  assert.deepEqual(writing.read, expected);
  writer.close();
  for (const path of [...reader.listed, ...writing.listed]) assert.doesNotMatch(path, /turns/);
  const whole = readSession(testPorts(), home, ID);
  assert.equal(body(view.turns, run), body(whole.turns, run));
  assert.deepEqual(view.manifest, whole.manifest);
}

async function withRuns(runs: number, body: (home: Home, writer: SessionWriter) => void | Promise<void>) {
  await withHome(async (home) => {
    await newSession(testPorts(), home);
    const writer = await SessionWriter.open(testPorts(), home, { id: ID });
    try {
      for (let run = 2; run <= runs; run++) appendRun(writer, run);
      await body(home, writer);
    } finally {
      writer.close();
    }
  });
}

Deno.test("opening reads the turns after the checkpoint and no other, and lists none", () =>
  withRuns(6, async (home, writer) => {
    // A run has 5 turns and 10 seqs: four runs are summed up, the last two stay.
    compact(writer, checkpoint(20, 40));
    appendRun(writer, 7);
    writer.close();
    await opens(home, Array.from({ length: 16 }, (_, index) => 21 + index));
  }));

Deno.test("if the checkpoint cuts into a run, the turn with its user message is read as well", () =>
  withRuns(2, async (home, writer) => {
    writer.append(userDraft("the task", 3));
    writer.append(modelDraft([reasoning("rs_9"), call("call_9")], 3));
    writer.append({ kind: "tools", run: 3, events: [result("call_9", 23)] });
    compact(writer, checkpoint(13, 25, { opening_turn: 11 } as Partial<EventDraft>));
    writer.append(modelDraft([reasoning("rs_10"), answer("Done.")], 3));
    writer.close();
    // In file order of need: the tail, then the opening turn.
    await opens(home, [14, 15, 11], 3);
    assert.match(body(readSessionTail(testPorts(), home, ID).turns, 3), /the task/);
  }));

Deno.test("a writer that opened at a checkpoint appends what readers of the whole log accept", () =>
  withRuns(3, async (home, writer) => {
    compact(writer, checkpoint(15, 30));
    writer.close();
    for (const run of [4, 5]) {
      const next = await SessionWriter.open(testPorts(), home, { id: ID });
      assert.equal(next.turns[0]?.turn, 16);
      appendRun(next, run);
      assert.equal(next.allTurns().length, next.end.turn);
      next.close();
    }
    assert.equal(readSession(testPorts(), home, ID).turns.length, 26);
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
  }));

Deno.test("after a withdrawal the manifest points at the checkpoint before, and then at none", () =>
  withRuns(4, async (home, writer) => {
    compact(writer, checkpoint(10, 20));
    compact(writer, checkpoint(15, 30, { previous_checkpoint: 41 } as Partial<EventDraft>));
    withdraw(writer);
    assert.deepEqual(writer.manifest?.checkpoint, {
      turn: 21,
      seq: 41,
      to_turn: 10,
      to_seq: 20,
      opening_turn: null,
    });
    writer.close();
    await opens(home, Array.from({ length: 13 }, (_, index) => 11 + index));
    const again = await SessionWriter.open(testPorts(), home, { id: ID });
    withdraw(again);
    assert.equal(again.manifest?.checkpoint, null);
    again.close();
    await opens(home, Array.from({ length: 24 }, (_, index) => 1 + index));
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
  }));

Deno.test("a manifest older than a withdrawal or a checkpoint does not hide a turn", () =>
  withRuns(4, (home, writer) => {
    const path = `${writer.path}/manifest.json`;
    const kept = [Deno.readFileSync(path)];
    compact(writer, checkpoint(10, 20));
    kept.push(Deno.readFileSync(path));
    compact(writer, checkpoint(15, 30, { previous_checkpoint: 41 } as Partial<EventDraft>));
    kept.push(Deno.readFileSync(path));
    withdraw(writer);
    withdraw(writer);
    compact(writer, checkpoint(10, 20));
    writer.close();
    const whole = body(readSession(testPorts(), home, ID).turns);
    // If the manifest names no checkpoint, all is read; otherwise from the one in force on, turn 11.
    for (const [index, turns] of [25, 15, 15].entries()) {
      Deno.writeFileSync(path, kept[index] as Uint8Array);
      const view = readSessionTail(testPorts(), home, ID);
      assert.equal(view.turns.length, turns);
      assert.equal(body(view.turns), whole);
    }
  }));

Deno.test("a manifest that speaks of a checkpoint which is not there is not believed", () =>
  withRuns(4, async (home, writer) => {
    compact(writer, checkpoint(15, 30));
    writer.close();
    const path = `${writer.path}/manifest.json`;
    const { encodeManifest } = await import("../../../src/domain/manifest.ts");
    const { sum: _sum, ...manifest } = JSON.parse(Deno.readTextFileSync(path));
    for (const change of [{ to_turn: 16, to_seq: 31 }, { seq: 42 }, { turn: 20 }, { to_seq: 29 }]) {
      const changed = { ...manifest, checkpoint: { ...manifest.checkpoint, ...change } };
      Deno.writeFileSync(path, encodeManifest(changed).bytes);
      assert.equal(readSessionTail(testPorts(), home, ID).turns.length, 21, JSON.stringify(change));
    }
  }));

Deno.test("damage and gaps before the checkpoint do not stop the next request; fsck finds them", () =>
  withRuns(4, async (home, writer) => {
    compact(writer, checkpoint(15, 30));
    writer.close();
    Deno.removeSync(`${writer.path}/turns/000007.json`);
    Deno.truncateSync(`${writer.path}/turns/000003.json`, 40);
    await opensOnly(home, [16, 17, 18, 19, 20, 21]);
    const codes = (await fsckSession(testPorts(), home, ID)).findings.map(({ code }) => code);
    assert.ok(codes.includes("missing_turn") && codes.includes("bad_sum"), codes.join());
  }));

async function opensOnly(home: Home, expected: readonly number[]): Promise<void> {
  const { ports, read } = watched();
  (await SessionWriter.open(ports, home, { id: ID })).close();
  assert.deepEqual(read, expected);
}

Deno.test("damage after the checkpoint, a missing opening turn and a lost head are still refused", () =>
  withRuns(4, async (home, writer) => {
    compact(writer, checkpoint(15, 30, { opening_turn: 11 } as Partial<EventDraft>));
    writer.close();
    const damaged = { code: "session_damaged", exitCode: 12 };
    const turn = (number: number) => `${writer.path}/turns/${String(number).padStart(6, "0")}.json`;
    for (const number of [11, 18, 21]) {
      const bytes = Deno.readFileSync(turn(number));
      Deno.removeSync(turn(number));
      assert.throws(() => readSessionTail(testPorts(), home, ID), damaged, `${number}`);
      Deno.writeFileSync(turn(number), bytes, { mode: 0o600 });
    }
    // The first turn after the checkpoint is believed by its own sum; the next one must follow it.
    const text = Deno.readTextFileSync(turn(16));
    const { seal } = await import("../../../src/domain/seal.ts");
    const edited = text.slice(0, text.lastIndexOf('"sum"')).replace("fix the failing", "break the passing");
    Deno.writeFileSync(turn(16), seal(edited).bytes);
    assert.throws(() => readSessionTail(testPorts(), home, ID), damaged);
  }));

Deno.test("items that an endpoint refused stay out, though the turn that says so is not read", () =>
  withRuns(1, (home, writer) => {
    const notice = { endpoint: "1f3a9c02", model: "gpt-5.6", without: "include" } as const;
    writer.append(userDraft("again", 2));
    writer.append({ kind: "harness", run: 2, events: [{ type: "endpoint_notice", ...notice }] });
    writer.append(endDraft(2));
    compact(writer, checkpoint(8, 13, { endpoint_notices: [notice] } as Partial<EventDraft>));
    writer.close();
    const { turns } = readSessionTail(testPorts(), home, ID);
    assert.equal(turns.length, 1);
    assert.ok(standingOmissions(turns, notice, notice.model).has("include"));
  }));

Deno.test("a checkpoint whose numbers fit no end of a turn is damage", () =>
  withRuns(2, (_home, writer) => {
    assert.throws(() => compact(writer, checkpoint(5, 11)), /where no turn ends/);
    assert.throws(() => compact(writer, checkpoint(11, 21)), /where no turn ends/);
    compact(writer, checkpoint(5, 10));
    const seq = writer.end.seq;
    const wrong = { turn: 1, seq: 1, to_turn: 1, to_seq: 1, opening_turn: null };
    assert.throws(() =>
      writer.append({
        kind: "harness",
        run: 2,
        events: [{ type: "compaction_withdrawn", checkpoint: seq, restored: wrong }],
      }), /restores another checkpoint/);
  }));
