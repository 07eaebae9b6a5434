import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { executeRun } from "../../../src/run/loop.ts";
import type { PlayedCall, ToolPlayback } from "../../../src/run/played_batch.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { ID, testPorts, withHome } from "../store/support.ts";
import { answer, functionCall, message } from "../../support/responses_server/script.ts";
import { scripted } from "./scripted.ts";

const OK: PlayedCall = { decision: null, status: "ok", output: "recorded", full: null };
const DENIED: PlayedCall = {
  decision: { decision: "denied", reason: "asked_no" },
  status: "denied",
  output: "Denied.",
  full: null,
};

/** Plays one batch of `names` with these records, by name; a tool that runs is a failure. */
async function play(names: readonly string[], records: Readonly<Record<string, PlayedCall>>) {
  return await withHome(async (home) => {
    const never = {
      name: "look",
      group: "read",
      subject: () => assert.fail("a tool was asked what a call is about"),
      run: () => assert.fail("a tool ran"),
    } as unknown as Tool;
    const playback: ToolPlayback = {
      take({ name }) {
        const found = records[name];
        if (found === undefined) throw new RepriseError("fixture_miss", `Cannot answer ${name}`);
        return found;
      },
    };
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const run = scripted(testPorts(), writer, {
      script: [answer(names.map((name) => functionCall(name, {}))), answer([message("Done.")])],
      knownTools: [never],
      playback,
    });
    try {
      const start = { kind: "prompt", content: [{ type: "input_text", text: "Go" }] } as const;
      const ended = await executeRun(run.setup, start);
      const types = run.events.filter(({ type }) => type.startsWith("tool.")).map(({ type }) => type);
      return { ended, types, turns: writer.turns };
    } finally {
      writer.close();
    }
  });
}

Deno.test("recorded calls are answered with the recorded decisions and results, and no tool runs", async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const { ended, types, turns } = await play(["look", "change"], {
    look: { ...OK, full: { bytes, lossy: true } },
    change: DENIED,
  });
  assert.deepEqual([ended.state, ended.denials], ["completed", 1]);
  assert.deepEqual(turns.map(({ kind }) => kind), ["user", "model", "harness", "tools", "model", "harness"]);
  const [decision] = turns[2]?.events ?? [];
  assert.deepEqual(
    decision?.type === "permission_decision" && [decision.tool, decision.decision, decision.reason],
    ["change", "denied", "asked_no"],
  );
  const results = turns[3]?.events ?? [];
  assert.deepEqual(
    results.map((event) => event.type === "tool_result" && [event.status, event.output, event.blob?.bytes]),
    [["ok", "recorded", 3], ["denied", "Denied.", undefined]],
  );
  assert.deepEqual(
    types,
    ["tool.started", "tool.finished", "tool.finished"],
    "what was denied never started",
  );
});

Deno.test("in a batch with a change each finished result is durable before the next call starts; calls that never start add no turn", async () => {
  const allowed = { decision: "allowed", reason: "allowed_by_rule" } as const;
  const { turns } = await play(["look", "change", "refused", "last"], {
    look: OK,
    change: { ...OK, decision: allowed },
    refused: DENIED,
    last: OK,
  });
  assert.deepEqual(
    turns.filter(({ kind }) => kind === "tools")
      .map(({ events }) => events.map((event) => event.type === "tool_result" && event.tool)),
    [["look"], ["change", "refused"], ["last"]],
  );
});

Deno.test("a call without a record ends the run as failed, before any of its batch is saved", async () => {
  const { ended, turns } = await play(["look", "other"], { look: OK });
  assert.deepEqual([ended.state, ended.exit_code], ["failed", 7]);
  assert.deepEqual(turns.map(({ kind }) => kind), ["user", "model", "harness"]);
  const statuses = turns[2]?.events.flatMap((event) => event.type === "tool_result" ? [event.status] : []);
  assert.deepEqual(statuses, ["not_run", "not_run"]);
});
