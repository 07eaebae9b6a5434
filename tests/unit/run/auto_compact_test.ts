/** --auto-compact: the history gets smaller between two requests, and the run never waits in a loop for that. */
import assert from "node:assert/strict";
import type { RunEvent } from "../../../src/run/events.ts";
import { executeRun } from "../../../src/run/loop.ts";
import { closeKilledRun, type RunStart } from "../../../src/run/recover.ts";
import { verifySession } from "../../../src/run/verify.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { readBlob, readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import type { Tool } from "../../../src/tools/tool.ts";
import { ID, testPorts, withHome } from "../store/support.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  type ScriptedResponse,
} from "../../support/responses_server/script.ts";
import type { Script } from "../../support/responses_server.ts";
import { refuse } from "../../support/responses_server/refusing.ts";
import { refusedSession } from "./refusing.ts";
import { readTool, scripted } from "./scripted.ts";

const TASK = "Read everything there is to read";
const PROMPT: RunStart = { kind: "prompt", content: [{ type: "input_text", text: TASK }] };

const ECHO = readTool(
  "echo",
  (args) => Promise.resolve({ status: "ok", output: `${args.text} `.repeat(2000) }),
);

/** `steps` calls, each answered at length, then the answer; every response claims `tokens` of input. */
function script(steps: number, tokens: number): ScriptedResponse[] {
  const options = { usage: { input_tokens: tokens, output_tokens: 10, total_tokens: tokens + 10 } };
  return [
    ...Array.from(
      { length: steps },
      (_, step) => answer([reasoning("Looking"), functionCall("echo", { text: `step-${step}` })], options),
    ),
    answer([reasoning("Thinking"), message("All read.")], options),
  ];
}

function compactions(events: readonly RunEvent[]) {
  return events.filter((event) => event.type === "notice" && event.kind === "compacted");
}

Deno.test("a run that outgrows the limit continues with a checkpoint, its task in the user's own text", () =>
  withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup, events, bodies } = scripted(testPorts(), writer, {
      script: script(3, 5000),
      tools: [ECHO],
      autoCompact: 4000,
    });
    const ended = await executeRun(setup, PROMPT);
    writer.close();
    assert.equal(ended.state, "completed");
    assert.ok(compactions(events).length >= 1);
    const last = JSON.parse(bodies.at(-1) ?? "").input;
    assert.match(last[0].content[0].text, /^<session_checkpoint>\n/);
    assert.deepEqual(last[1].content, [{ type: "input_text", text: TASK }]);
    // The results that the model has not seen yet stay, with their calls.
    const kinds = last.slice(2).map(({ type }: { type: string }) => type);
    assert.deepEqual(kinds, ["reasoning", "function_call", "function_call_output"]);
    assert.match(last.at(-1).output, /^step-2 /);
    const { turns, manifest } = readSession(testPorts(), home, ID);
    assert.equal(manifest.checkpoint?.opening_turn, 1);
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
    // A request reports the same, whether the turns before its checkpoint were in memory or not.
    const dropped = turns.flatMap((turn) => turn.kind === "model" ? turn.request.guard.dropped : []);
    assert.deepEqual(dropped, []);
    const read = (sha256: string) => readBlob(testPorts(), home, ID, sha256);
    const verdicts = verifySession({ turns, readBlob: read }).map(({ verdict }) => verdict);
    assert.deepEqual(verdicts, ["same", "same", "same", "same"]);
  }));

Deno.test("no checkpoint without the flag, and none below the limit", async () => {
  for (const options of [{}, { autoCompact: 5000 }]) {
    await withHome(async (home) => {
      const writer = await SessionWriter.create(testPorts(), home, { id: ID });
      const { setup, events } = scripted(testPorts(), writer, {
        script: script(2, 5000),
        tools: [ECHO],
        ...options,
      });
      assert.equal((await executeRun(setup, PROMPT)).state, "completed");
      writer.close();
      assert.deepEqual(compactions(events), []);
    });
  }
});

Deno.test("if nothing would shrink, the run continues: one request a step, no checkpoint", () =>
  withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const small: Tool = { ...ECHO, run: () => Promise.resolve({ status: "ok", output: "" }) };
    const { setup, events, bodies } = scripted(testPorts(), writer, {
      script: [
        answer([functionCall("echo", {})], { usage: { input_tokens: 9, output_tokens: 1 } }),
        answer([message("Done.")], { usage: { input_tokens: 9, output_tokens: 1 } }),
      ],
      tools: [small],
      autoCompact: 1,
    });
    assert.equal((await executeRun(setup, PROMPT)).state, "completed");
    writer.close();
    assert.deepEqual(compactions(events), []);
    assert.equal(bodies.length, 2);
  }));

Deno.test("a second checkpoint waits for a response after the first", () =>
  withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup, events } = scripted(testPorts(), writer, {
      script: script(6, 5000),
      tools: [ECHO],
      autoCompact: 4000,
    });
    assert.equal((await executeRun(setup, PROMPT)).state, "completed");
    writer.close();
    const saved = events.flatMap((event) => event.type === "turn.saved" ? [event.kind] : []);
    assert.ok(saved.filter((kind) => kind === "compaction").length > 1);
    assert.ok(!saved.join().includes("compaction,compaction"), saved.join());
  }));

Deno.test("a limit that no checkpoint reaches costs one checkpoint, which says so", async () => {
  // 1500 tokens of each request are not in its history.
  for (const limit of [1, 1000]) {
    await withHome(async (home) => {
      const writer = await SessionWriter.create(testPorts(), home, { id: ID });
      const { setup, events, bodies } = scripted(testPorts(), writer, {
        script: script(8, 5000),
        tools: [ECHO],
        autoCompact: limit,
      });
      assert.equal((await executeRun(setup, PROMPT)).state, "completed");
      writer.close();
      const told = compactions(events).map((event) => "out_of_reach" in event && event.out_of_reach);
      assert.deepEqual([told, bodies.length], [[true], 9]);
    });
  }
});

/** Input characters that the server of the next tests accepts. */
const WINDOW = 40_000;
const OVERFLOWS: Readonly<Record<string, ScriptedResponse>> = {
  "by its code": refuse({ message: "Too long.", code: "context_length_exceeded" }, "http"),
  "by its words": refuse({ message: "This model's maximum context length is 9 tokens" }, "http"),
  "in a failed response": refuse({ message: "Too long.", code: "context_length_exceeded" }, "failed"),
  "in a failed response with usage": answer([], {
    usage: { input_tokens: 9, output_tokens: 0, total_tokens: 9 },
    end: { kind: "failed", error: { code: "context_length_exceeded", message: "Too long." } },
  }),
};

for (const [name, overflow] of Object.entries(OVERFLOWS)) {
  Deno.test(`an overflow inside a run (${name}) is compacted away once, and the unseen result stays`, async () => {
    const script: Script = ({ input }) => {
      if (JSON.stringify(input).length > WINDOW) return overflow;
      const step = input.filter(({ type }) => type === "function_call_output").length;
      const isDone = JSON.stringify(input.at(-1)).includes("step-3");
      return answer(isDone ? [message("All read.")] : [functionCall("echo", { text: `step-${step + 1}` })]);
    };
    const tools = { tools: [ECHO], knownTools: [ECHO] };
    await refusedSession({ script }, async (session) => {
      const plain = await session.run(TASK, tools);
      assert.equal(plain.ended.exit_code, 11, "without the flag");
      const { ended, events, requests } = await session.run(null, { ...tools, autoCompact: 1_000_000 });
      assert.deepEqual([ended.state, compactions(events).length], ["completed", 1]);
      const [refused, accepted] = session.server.requests.slice(...requests).map(({ input }) => input);
      assert.ok(JSON.stringify(refused).length > WINDOW);
      assert.equal(accepted?.at(-1)?.output, refused?.at(-1)?.output, "the model has not seen it");
      assert.match(JSON.stringify(accepted), new RegExp(TASK));
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  });
}

Deno.test("an overflow that a smaller history does not cure ends the run, after one compaction", async () => {
  const [refused] = Object.values(OVERFLOWS);
  const script: Script = ({ input }) =>
    input.length < 5 ? answer([functionCall("echo", { text: "a" })]) : refused as ScriptedResponse;
  const tools = { tools: [ECHO], knownTools: [ECHO], autoCompact: 1_000_000 };
  await refusedSession({ script }, async (session) => {
    const { ended, events } = await session.run(TASK, tools);
    assert.deepEqual([ended.exit_code, compactions(events).length], [11, 1]);
    assert.deepEqual(await session.findings(), []);
  });
});

Deno.test("an overflow by one result shortens what is sent of it", async () => {
  const script: Script = ({ input }) => {
    if (JSON.stringify(input).length > WINDOW) return OVERFLOWS["by its code"] as ScriptedResponse;
    return answer(
      input.length === 1 ? [functionCall("echo", { text: "word ".repeat(5) })] : [message("Done.")],
    );
  };
  const tools = { tools: [ECHO], knownTools: [ECHO], autoCompact: 1_000_000 };
  await refusedSession({ script }, async (session) => {
    const { ended, events, requests } = await session.run(TASK, tools);
    assert.deepEqual([ended.state, compactions(events).length, requests[1]], ["completed", 1, 3]);
    assert.match(JSON.stringify(session.server.requests.at(-1)?.input.at(-1)), /characters left out here/);
    assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
    assert.deepEqual(await session.findings(), []);
  });
});

Deno.test("usage of a killed run before its checkpoint still counts when the next writer closes it", () =>
  withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup } = scripted(testPorts(), writer, {
      script: script(3, 5000),
      tools: [ECHO],
      autoCompact: 4000,
    });
    await executeRun(setup, PROMPT);
    writer.close();
    const { turns } = readSession(testPorts(), home, ID);
    const whole = turns.findLast(({ kind }) => kind === "harness")?.events.at(-1);
    assert.ok(whole?.type === "run_ended");
    // The process died before the run was closed.
    const last = String(turns.length).padStart(6, "0");
    Deno.removeSync(`${writer.path}/turns/${last}.json`);
    Deno.removeSync(`${writer.path}/manifest.json`);
    (await SessionWriter.open(testPorts(), home, { id: ID })).close();
    const { manifest } = readSession(testPorts(), home, ID);
    const { encodeManifest } = await import("../../../src/domain/manifest.ts");
    Deno.writeFileSync(`${writer.path}/manifest.json`, encodeManifest(manifest).bytes, { mode: 0o600 });
    const next = await SessionWriter.open(testPorts(), home, { id: ID });
    assert.ok(next.turns.length < next.end.turn, "the older turns were not read");
    await closeKilledRun(next, () => {});
    const ended = next.turns.at(-1)?.events.at(-1);
    next.close();
    assert.ok(ended?.type === "run_ended");
    assert.deepEqual(ended.usage, whole.usage);
  }));
