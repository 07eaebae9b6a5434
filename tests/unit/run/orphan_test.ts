/** Calls without a result that later turns follow, as in an edited or imported log. */
import assert from "node:assert/strict";
import type { ToolResultEvent } from "../../../src/domain/event.ts";
import type { Ports } from "../../../src/domain/ports.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { ORPHAN_OUTPUT } from "../../../src/fold/history_fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { closeKilledRun, unansweredCalls } from "../../../src/run/recover.ts";
import { executeRun } from "../../../src/run/loop.ts";
import { forkPoints } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import {
  answer as said,
  appendRun,
  call,
  endDraft,
  ID,
  modelDraft,
  newWriter,
  reasoning,
  result,
  testPorts,
  userDraft,
  withHome,
} from "../store/support.ts";
import { TARGET } from "../../support/history.ts";
import { answer, message } from "../../support/responses_server/script.ts";
import { scripted } from "./scripted.ts";

/** A closed run in which one of two calls has no result: seqs 1 to 9, the orphan is 3. */
async function withOrphan(body: (home: Home, ports: Ports) => Promise<void>): Promise<void> {
  await withHome(async (home) => {
    const ports = testPorts();
    const writer = await newWriter(ports, home);
    writer.append(userDraft("x"));
    writer.append(modelDraft([reasoning("rs_1"), call("call_a"), call("call_b")]));
    writer.append({ kind: "tools", run: 1, events: [result("call_b", 4)] });
    writer.append(modelDraft([said("Done.")]));
    writer.append(endDraft());
    writer.close();
    await body(home, ports);
  });
}

function inputOf(turns: readonly Turn[]): string {
  return responsesApi.bodyOf({ model: "m" }, foldHistory(turns, TARGET).entries);
}

function fallbacks(turns: readonly Turn[]): ToolResultEvent[] {
  return turns.flatMap(({ events }) => events.filter((event) => event.type === "tool_result"))
    .filter(({ status }) => status === "orphaned");
}

Deno.test("the next run records the fallback result of an older call, and its request stays the same", () =>
  withOrphan(async (home, ports) => {
    const before = readSession(ports, home, ID).turns;
    const writer = await SessionWriter.open(ports, home, { id: ID });
    const { setup, events, bodies } = scripted(ports, writer, { script: [answer([message("Yes.")])] });
    const prompt = [{ type: "input_text", text: "And now?" }];
    assert.equal((await executeRun(setup, { kind: "prompt", content: prompt })).state, "completed");
    writer.close();
    const { turns } = readSession(ports, home, ID);
    assert.deepEqual(fallbacks(turns), [{
      seq: 10,
      type: "tool_result",
      call_id: "call_a",
      call_seq: 3,
      tool: "read_file",
      status: "orphaned",
      output: ORPHAN_OUTPUT,
    }]);
    assert.deepEqual(events.filter((event) => event.type === "notice"), [
      { type: "notice", kind: "orphan_repaired", call_ids: ["call_a"] },
    ]);
    const opening = turns.find(({ kind, run }) => kind === "user" && run === 2);
    assert.ok(opening !== undefined);
    const input = inputOf([...before, opening]);
    assert.ok(input.includes(ORPHAN_OUTPUT));
    assert.ok(bodies[0]?.endsWith(input.slice(input.indexOf('"input":'))));
    const { findings } = await fsckSession(ports, home, ID);
    assert.deepEqual(findings, []);
  }));

Deno.test("the fallback result is recorded once, and between runs it leaves the state of the last one", () =>
  withOrphan(async (home, ports) => {
    const before = readSession(ports, home, ID).turns;
    for (let times = 0; times < 2; times++) {
      const writer = await SessionWriter.open(ports, home, { id: ID });
      await closeKilledRun(writer, () => {});
      writer.close();
    }
    const { turns, manifest } = readSession(ports, home, ID);
    assert.equal(turns.length, before.length + 1);
    assert.deepEqual([manifest.state, manifest.run], ["completed", 1]);
    assert.equal(inputOf(turns), inputOf(before));
    assert.deepEqual(foldHistory(turns, TARGET).repairs, []);
    // A fork may still be cut where it could before.
    assert.deepEqual(forkPoints(turns).slice(0, -1), forkPoints(before));
  }));

Deno.test("a killed run is closed with the fallback results of its own calls and of older ones", () =>
  withOrphan(async (home, ports) => {
    const writer = await SessionWriter.open(ports, home, { id: ID });
    writer.append(userDraft("y", 2));
    writer.append(modelDraft([call("call_c")], 2));
    await closeKilledRun(writer, () => {});
    assert.deepEqual(fallbacks(writer.turns).map(({ call_seq }) => call_seq), [3, 11]);
    assert.equal(writer.manifest?.state, "interrupted");
    writer.close();
  }));

Deno.test("a call that was not run, and a call that a checkpoint replaces, need no result", () =>
  withOrphan(async (home, ports) => {
    const writer = await SessionWriter.open(ports, home, { id: ID });
    const cut = writer.end;
    writer.append({
      kind: "compaction",
      run: 1,
      pins: writer.manifest?.pins as NonNullable<typeof writer.manifest>["pins"],
      events: [{
        type: "history_compaction",
        to_seq: cut.seq,
        to_turn: cut.turn,
        previous_checkpoint: null,
        opening_turn: null,
        strategy: "deterministic",
        summary: "It was done.",
        limitations: [],
      }],
    });
    writer.append(userDraft("y", 2));
    const response = { id: "resp_2", status: "failed" };
    writer.append({ ...modelDraft([call("call_c")], 2), response } as ReturnType<typeof modelDraft>);
    writer.append(endDraft(2));
    appendRun(writer, 3);
    writer.close();
    assert.deepEqual(unansweredCalls(readSession(ports, home, ID).turns), []);
  }));
