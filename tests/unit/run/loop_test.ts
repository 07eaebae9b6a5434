import assert from "node:assert/strict";
import { asRepriseError } from "../../../src/domain/errors.ts";
import type { RunEvent } from "../../../src/run/events.ts";
import { executeRun } from "../../../src/run/loop.ts";
import type { RunStart } from "../../../src/run/recover.ts";
import { Stop } from "../../../src/run/outcome.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { createPlayer } from "../../../src/transport/player.ts";
import { CHANGING, spyFiles } from "../store/spy_files.ts";
import { fakeClock } from "../transport/support.ts";
import { ID, portsOn, testPorts, withHome } from "../store/support.ts";
import { answer, functionCall, message, reasoning } from "../../support/responses_server/script.ts";
import { ECHO, readTool, scripted } from "./scripted.ts";
import { test } from "../../support/test.ts";

const PROMPT: RunStart = { kind: "prompt", content: [{ type: "input_text", text: "Go" }] };
const LOOP = [
  answer([reasoning(), functionCall("echo", { text: "a" }), functionCall("echo", { text: "b" })]),
  answer([reasoning(), message("Done.")]),
];

function types(events: readonly RunEvent[], type: RunEvent["type"]): RunEvent[] {
  return events.filter((event) => event.type === type);
}

Deno.test("results come in call order, whichever tool ends first", async () => {
  await withHome(async (home) => {
    const gates = new Map<string, () => void>();
    const slow = readTool("echo", async (args) => {
      const text = String(args.text);
      // The first call ends only after the second one has.
      if (text === "a") await new Promise<void>((resolve) => gates.set("a", resolve));
      else setTimeout(() => gates.get("a")?.(), 5);
      return { status: "ok", output: text };
    });
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup, events } = scripted(testPorts(), writer, { script: LOOP, tools: [slow] });
    const ended = await executeRun(setup, PROMPT);
    writer.close();
    assert.equal(ended.state, "completed");
    const finished = types(events, "tool.finished").map((event) =>
      event.type === "tool.finished" && event.seq
    );
    assert.deepEqual(finished, [4, 3], "the second call ended first");
    const results = writer.turns.find(({ kind }) => kind === "tools")?.events ?? [];
    assert.deepEqual(results.map((event) => event.type === "tool_result" && event.output), ["a", "b"]);
  });
});

Deno.test("a tool that throws gives an error result, and the run continues", async () => {
  await withHome(async (home) => {
    const broken = readTool("echo", () => Promise.reject(new TypeError("broken inside")));
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup } = scripted(testPorts(), writer, { script: LOOP, tools: [broken] });
    assert.equal((await executeRun(setup, PROMPT)).state, "completed");
    writer.close();
    const [first] = writer.turns.find(({ kind }) => kind === "tools")?.events ?? [];
    assert.ok(
      first?.type === "tool_result" && first.status === "error" && first.output.includes("broken inside"),
    );
  });
});

Deno.test("a stop while tools run answers every call on disk, and the next run goes through", async () => {
  await withHome(async (home) => {
    const stop = new Stop();
    const deaf = readTool("echo", (args) => {
      if (args.text === "b") stop.request("SIGTERM");
      return new Promise(() => {}); // never ends, hears no signal
    });
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup, events } = scripted(testPorts(), writer, { script: LOOP, tools: [deaf], stop });
    const ended = await executeRun(setup, PROMPT);
    assert.deepEqual([ended.state, ended.exit_code], ["interrupted", 143]);
    assert.deepEqual(types(events, "run.ended").length, 1);
    const results = writer.turns.flatMap((turn) =>
      turn.events.filter((event) => event.type === "tool_result")
    );
    assert.deepEqual(results.map(({ status }) => status), ["interrupted", "interrupted"]);
    const next = scripted(testPorts(), writer, { script: [answer([message("Now.")])], tools: [ECHO] });
    assert.equal((await executeRun(next.setup, { kind: "continue" })).state, "completed");
    assert.equal(next.bodies[0]?.match(/"function_call_output"/g)?.length, 2);
    writer.close();
  });
});

Deno.test("a stop before the first request sends nothing", async () => {
  await withHome(async (home) => {
    const stop = new Stop();
    stop.request("SIGINT");
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup, bodies } = scripted(testPorts(), writer, { script: LOOP, stop });
    const ended = await executeRun(setup, PROMPT);
    writer.close();
    assert.deepEqual([ended.state, ended.exit_code, bodies.length], ["interrupted", 130, 0]);
  });
});

Deno.test("budgets end the run before the request that would break them, with every call answered", async () => {
  await withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const steps = scripted(testPorts(), writer, { script: LOOP, tools: [ECHO], maxSteps: 1 });
    const byStep = await executeRun(steps.setup, PROMPT);
    assert.deepEqual([byStep.state, byStep.exit_code, steps.bodies.length], ["over_budget", 4, 1]);
    // One scripted answer uses 160 tokens: after it 15 are left, which is less than a request may ask for.
    const tokens = scripted(testPorts(), writer, { script: LOOP, tools: [ECHO], maxTokens: 175 });
    const byToken = await executeRun(tokens.setup, PROMPT);
    writer.close();
    assert.deepEqual([byToken.state, byToken.exit_code, tokens.bodies.length], ["over_budget", 4, 1]);
    assert.equal(JSON.parse(tokens.bodies[0] as string).max_output_tokens, 175);
    const calls = writer.turns.flatMap((turn) => turn.events.filter((event) => event.type === "tool_call"));
    const results = writer.turns.flatMap((turn) =>
      turn.events.filter((event) => event.type === "tool_result")
    );
    assert.equal(results.length, calls.length);
  });
});

Deno.test("a stream that breaks keeps its finished items; continuing sends them back once", async () => {
  await withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const cut = answer([reasoning(), message("Half", { phase: "commentary" }), {
      kind: "message",
      text: "never done",
      unfinished: true,
    }], {
      end: { kind: "cut" },
    });
    const broken = scripted(testPorts(), writer, { script: [cut] });
    const ended = await executeRun(broken.setup, PROMPT);
    assert.deepEqual([ended.state, ended.exit_code], ["failed", 10]);
    const model = writer.turns.find((turn) => turn.kind === "model");
    assert.equal(model?.kind === "model" && model.response.status, "cut");
    assert.deepEqual(model?.events.map(({ type }) => type), ["reasoning", "assistant_message"]);
    const next = scripted(testPorts(), writer, { script: [answer([message("Whole.")])] });
    assert.equal((await executeRun(next.setup, { kind: "continue" })).state, "completed");
    writer.close();
    const { input } = JSON.parse(next.bodies[0] as string);
    assert.deepEqual(input.map(({ type }: { type: string }) => type), ["message", "reasoning", "message"]);
  });
});

Deno.test("an item that only the terminal event lists is kept where that has it, so that reasoning stays before its call", async () => {
  await withHome(async (home) => {
    const thought = { id: "rs_1", type: "reasoning", summary: [], encrypted_content: "gAAAA" };
    const said = {
      id: "msg_1",
      type: "message",
      role: "assistant",
      content: [{ type: "output_text", text: "Hi" }],
    };
    const script = [
      { type: "response.output_item.done", output_index: 1, item: said },
      {
        type: "response.completed",
        response: { id: "resp_1", status: "completed", output: [thought, said] },
      },
    ].map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    const exchange = {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      chunks: [new TextEncoder().encode(script)],
    };
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const { setup } = scripted(testPorts(), writer, {
      script: [],
      send: createPlayer([exchange]),
    });
    assert.equal((await executeRun(setup, PROMPT)).state, "completed");
    writer.close();
    const model = writer.turns.find(({ kind }) => kind === "model");
    assert.deepEqual(model?.events.map(({ type }) => type), ["reasoning", "assistant_message"]);
  });
});

Deno.test("an end without an answer is never called completed", async (t) => {
  const cases = [
    [
      "incomplete",
      answer([message("So far")], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
      "incomplete",
      6,
    ],
    [
      "content filter",
      answer([message("So")], { end: { kind: "incomplete", reason: "content_filter" } }),
      "refused",
      6,
    ],
    ["refusal", answer([message("I cannot", { refusal: true })]), "refused", 6],
    ["reasoning alone", answer([reasoning()]), "incomplete", 6],
    ["nothing at all", answer([]), "incomplete", 6],
    [
      "failed",
      answer([], { end: { kind: "failed", error: { code: "server_error", message: "x" } } }),
      "failed",
      10,
    ],
    [
      "quota",
      answer([], { end: { kind: "error_then_failed", error: { code: "insufficient_quota", message: "x" } } }),
      "failed",
      9,
    ],
    [
      "overflow",
      answer([], { end: { kind: "failed", error: { code: "context_length_exceeded", message: "x" } } }),
      "failed",
      11,
    ],
  ] as const;
  for (const [name, response, state, exitCode] of cases) {
    await t.step(name, async () => {
      await withHome(async (home) => {
        const writer = await SessionWriter.create(testPorts(), home, { id: ID });
        const { setup, events } = scripted(testPorts(), writer, {
          script: [response, response, response],
          ports: testPorts({ clock: fakeClock() }),
        });
        const ended = await executeRun(setup, PROMPT);
        writer.close();
        assert.deepEqual([ended.state, ended.exit_code], [state, exitCode]);
        assert.deepEqual(events.slice(-2).map(({ type }) => type), ["error", "run.ended"]);
        const last = writer.turns.at(-1)?.events.at(-1);
        assert.ok(last?.type === "run_ended" && last.state === state && last.exit_code === exitCode);
      });
    });
  }
});

Deno.test("another writer's turn ends the run as diverged, and nothing of theirs is touched", async () => {
  await withHome(async (home) => {
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const theirs = '{"theirs":true}\n';
    const intruder = readTool("echo", () => {
      Deno.writeTextFileSync(`${writer.path}/turns/000003.json`, theirs, { createNew: true });
      return Promise.resolve({ status: "ok", output: "x" });
    });
    const script = [answer([functionCall("echo", {})])];
    const { setup, events } = scripted(testPorts(), writer, { script, tools: [intruder] });
    const ended = await executeRun(setup, PROMPT);
    writer.close();
    assert.deepEqual([ended.state, ended.exit_code], ["diverged", 5]);
    assert.equal(types(events, "run.ended").length, 1);
    assert.equal(Deno.readTextFileSync(`${writer.path}/turns/000003.json`), theirs);
    assert.equal([...Deno.readDirSync(`${writer.path}/quarantine`)].length, 1);
  });
});

test.long("a disk that fails at any operation of a run: one run.ended, exit 14, sound files, and the next run completes", async () => {
  let points = 0;
  for (let failAt = 1;; failAt++) {
    const reached = await withHome(async (home) => {
      let count = 0;
      let failed = false;
      const files = spyFiles((operation) => {
        if (!CHANGING.has(operation.name) || ++count !== failAt) return;
        failed = true;
        throw Object.assign(new Error("No space left on device"), { code: "ENOSPC" });
      });
      const events = await attempt(files, home);
      if (!failed) return false;
      // Manifest and unlink failures are allowed to pass unnoticed: nothing that was promised depends on them.
      const endings = types(events, "run.ended");
      assert.ok(endings.length <= 1);
      const [end] = endings;
      if (end?.type === "run.ended" && end.state !== "completed") assert.equal(end.exit_code, 14);
      const saved = types(events, "turn.saved").length;
      const writer = await openOrCreate(home);
      assert.ok(
        writer.turns.length >= saved,
        `point ${failAt}: ${saved} acknowledged, ${writer.turns.length} there`,
      );
      const next = scripted(testPorts(), writer, { script: [answer([message("After.")])], tools: [ECHO] });
      assert.equal((await executeRun(next.setup, PROMPT)).state, "completed", `point ${failAt}`);
      writer.close();
      const { findings } = await fsckSession(testPorts(), home, ID);
      assert.deepEqual(findings.filter(({ severity }) => severity === "error"), [], `point ${failAt}`);
      return true;
    });
    if (!reached) break;
    points++;
  }
  assert.ok(points > 40, `${points} points`);

  async function attempt(files: ReturnType<typeof spyFiles>, home: Parameters<typeof fsckSession>[1]) {
    const ports = portsOn(files);
    let events: RunEvent[] = [];
    let writer: SessionWriter | undefined;
    try {
      writer = await SessionWriter.create(ports, home, { id: ID });
      const run = scripted(ports, writer, { script: LOOP, tools: [ECHO] });
      events = run.events;
      await executeRun(run.setup, PROMPT);
    } catch (error) {
      assert.equal(asRepriseError(error).exitCode, 14, String(error));
    } finally {
      writer?.close();
    }
    return events;
  }

  async function openOrCreate(home: Parameters<typeof fsckSession>[1]): Promise<SessionWriter> {
    try {
      return await SessionWriter.open(testPorts(), home, { id: ID, waitMs: 0 });
    } catch (error) {
      assert.equal(asRepriseError(error).code, "no_such_session");
      return await SessionWriter.create(testPorts(), home, { id: ID });
    }
  }
});

Deno.test("a usage beyond 2^53, or a fraction of a token, closes the run and leaves a session that can continue", async () => {
  await withHome(async (home) => {
    const usage = {
      input_tokens: 2 ** 60,
      output_tokens: 1.5,
      input_tokens_details: { cached_tokens: 1e300 },
    };
    for (const [number, open] of (["create", "open", "open"] as const).entries()) {
      const writer = await SessionWriter[open](testPorts(), home, { id: ID });
      const script = [answer([message("Done.")], { usage })];
      const ended = await executeRun(scripted(testPorts(), writer, { script, tools: [] }).setup, PROMPT);
      assert.equal(ended.state, "completed", `run ${number + 1}: ${ended.exit_code}`);
      assert.equal(writer.end.runEnded, true);
      const most = Number.MAX_SAFE_INTEGER;
      assert.deepEqual([ended.usage.input_tokens, ended.usage.cached_tokens], [most, most]);
      assert.equal(writer.manifest?.usage.input_tokens, most, "the session's sum has the same limit");
      assert.equal(writer.manifest?.usage.output_tokens, 2 * (number + 1));
      writer.close();
    }
    assert.deepEqual((await fsckSession(testPorts(), home, ID)).findings, []);
  });
});
