import assert from "node:assert/strict";
import * as z from "zod";
import type { RunEvent } from "../../../src/run/events.ts";
import { executeRun } from "../../../src/run/loop.ts";
import { type Ask, type Consent, PermissionGate } from "../../../src/run/permission_gate.ts";
import type { RunStart } from "../../../src/run/recover.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { parsePolicy } from "../../../src/tools/permission/policy.ts";
import { type Tool, ToolFailure, type ToolGroup } from "../../../src/tools/tool.ts";
import { ID, testPorts, withHome } from "../store/support.ts";
import { answer, functionCall, message } from "../../support/responses_server/script.ts";
import { scripted } from "./scripted.ts";

const PROMPT: RunStart = { kind: "prompt", content: [{ type: "input_text", text: "Go" }] };

/** A tool that writes down when it ran. */
function tool(name: string, group: ToolGroup, ran: string[]): Tool {
  return {
    name,
    description: name,
    parameters: { type: "object", properties: {}, required: [], additionalProperties: true },
    shape: z.looseObject({}) as unknown as Tool["shape"],
    group,
    subject: (args) => {
      if (args.outside === true) throw new ToolFailure("Cannot open: outside the workspace");
      return { tool: name, group, target: { kind: "path", path: String(args.path ?? "a") } };
    },
    async run(args) {
      ran.push(`${name} ${args.path} begins`);
      await new Promise((resolve) => setTimeout(resolve, 2));
      ran.push(`${name} ${args.path} ends`);
      return { status: "ok", output: "done" };
    },
  };
}

interface Case {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: Ask;
  readonly calls: readonly (readonly [string, Record<string, unknown>])[];
  readonly failOnDenied?: boolean;
}

/** Plays one batch of calls, then an answer. */
async function play(facts: Case) {
  return await withHome(async (home) => {
    const ran: string[] = [];
    const tools = [tool("look", "read", ran), tool("change", "write", ran)];
    const policy = parsePolicy({
      allow: facts.allow ?? [],
      deny: facts.deny ?? [],
      ask: facts.ask !== undefined,
      tools: new Map(tools.map(({ name, group }) => [name, group])),
    });
    const writer = await SessionWriter.create(testPorts(), home, { id: ID });
    const run = scripted(testPorts(), writer, {
      script: [
        answer(facts.calls.map(([name, args]) => functionCall(name, args as never))),
        answer([message("Done.")]),
      ],
      tools,
      gate: new PermissionGate(policy, facts.ask ?? null),
      failOnDenied: facts.failOnDenied ?? false,
    });
    const ended = await executeRun(run.setup, PROMPT);
    writer.close();
    const events = writer.turns.flatMap((turn) => turn.events);
    return {
      ended,
      ran,
      turns: writer.turns,
      reported: run.events,
      statuses: events.flatMap((event) => event.type === "tool_result" ? [event.status] : []),
      decisions: events.flatMap((event) =>
        event.type === "permission_decision" ? [`${event.tool} ${event.decision}: ${event.reason}`] : []
      ),
    };
  });
}

Deno.test("reading runs without a decision on disk; changing is denied unless a rule allows it", async () => {
  const both = [["look", { path: "a" }], ["change", { path: "b" }]] as const;
  const plain = await play({ calls: both });
  assert.deepEqual(plain.statuses, ["ok", "denied"]);
  assert.deepEqual(plain.decisions, ["change denied: not_allowed"]);
  assert.deepEqual([plain.ended.state, plain.ended.denials], ["completed", 1]);
  const allowed = await play({ calls: both, allow: ["write"] });
  assert.deepEqual(allowed.statuses, ["ok", "ok"]);
  assert.deepEqual(allowed.decisions, ["change allowed: allowed_by_rule"]);
  assert.equal(allowed.ended.denials, 0);
});

Deno.test("a denied reading call is recorded too", async () => {
  const { statuses, decisions } = await play({
    calls: [["look", { path: "secrets/a" }]],
    deny: ["read:secrets/**"],
  });
  assert.deepEqual(statuses, ["denied"]);
  assert.deepEqual(decisions, ["look denied: denied_by_rule"]);
});

Deno.test("decisions are durable and reported before anything starts that changes something", async () => {
  const { reported, turns } = await play({ calls: [["change", { path: "b" }]], allow: ["write"] });
  const names = reported.map((event: RunEvent) =>
    event.type === "turn.saved" ? `saved ${event.kind}` : event.type
  );
  const decided = names.indexOf("saved harness");
  assert.ok(
    decided > names.indexOf("saved model") && decided < names.indexOf("tool.started"),
    names.join(", "),
  );
  assert.deepEqual(turns.map(({ kind }) => kind), ["user", "model", "harness", "tools", "model", "harness"]);
});

Deno.test("a batch that changes something runs in call order, one call after the other", async () => {
  const calls = [["look", { path: "1" }], ["change", { path: "2" }], ["look", { path: "3" }]] as const;
  const { ran } = await play({ calls, allow: ["write"] });
  assert.deepEqual(ran, [
    ...["look 1 begins", "look 1 ends", "change 2 begins", "change 2 ends"],
    ...["look 3 begins", "look 3 ends"],
  ]);
});

Deno.test("a call that cannot be done is an error, whatever the rules say, and needs no decision", async () => {
  const { statuses, decisions } = await play({ calls: [["change", { outside: true }]], allow: ["write"] });
  assert.deepEqual(statuses, ["error"]);
  assert.deepEqual(decisions, []);
});

Deno.test("--fail-on-denied ends the run with exit 3 after the results are saved", async () => {
  const { ended, statuses, turns } = await play({ calls: [["change", { path: "b" }]], failOnDenied: true });
  assert.deepEqual([ended.state, ended.exit_code, ended.denials], ["failed", 3, 1]);
  assert.deepEqual(statuses, ["denied"]);
  assert.equal(turns.at(-2)?.kind, "tools");
});

Deno.test("a person is asked one question at a time; always holds for the same call only", async () => {
  const asked: string[] = [];
  const answers: Consent[] = ["yes", "always", "no", "no"];
  const ask: Ask = (question) => {
    asked.push(question.argumentsText);
    return Promise.resolve(answers.shift() ?? "no");
  };
  const calls = [
    ...["a", "b", "b", "c"].map((path) => ["change", { path }] as const),
    ["change", { path: "b", content: "other" }] as const,
  ];
  const { statuses, decisions } = await play({ calls, ask });
  assert.deepEqual(asked, ['{"path":"a"}', '{"path":"b"}', '{"path":"c"}', '{"path":"b","content":"other"}']);
  assert.deepEqual(statuses, ["ok", "ok", "ok", "denied", "denied"]);
  assert.deepEqual(decisions, [
    "change allowed: asked_yes",
    "change allowed: asked_always",
    "change allowed: asked_always",
    "change denied: asked_no",
    "change denied: asked_no",
  ]);
});
