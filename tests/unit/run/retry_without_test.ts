/** Refusals that are not about reasoning: an unknown member, a call without its output. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import {
  answer,
  message,
  reasoning,
  type RecordedRequest,
  type Script,
} from "../../support/responses_server.ts";
import { functionCall, rawItem, type ScriptedResponse } from "../../support/responses_server/script.ts";
import { REFUSAL_SHAPES, type RefusalShape, refuse } from "../../support/responses_server/refusing.ts";
import { refusedSession } from "./refusing.ts";
import { ECHO } from "./scripted.ts";

/** A hosted tool's item with a member that another server of its kind does not know. */
const SEARCHED = answer([
  reasoning("Searching"),
  rawItem({
    id: "ws_1",
    type: "web_search_call",
    status: "completed",
    action: { type: "search", query: "x", queries: ["x"] },
    latency_ms: 12,
  }),
  message("Found."),
]);

function searches({ input }: RecordedRequest): { readonly item: JsonObject; readonly index: number } | null {
  const index = input.findIndex(({ type }) => type === "web_search_call");
  return index < 0 ? null : { item: input[index] as JsonObject, index };
}

for (const shape of REFUSAL_SHAPES) {
  Deno.test(`an unknown member is stripped once more, and stays stripped (${shape})`, async () => {
    const script: Script = (request) => {
      const found = searches(request);
      if (found === null) return SEARCHED;
      if (!Object.hasOwn(found.item, "latency_ms")) return answer([message("Done.")]);
      const param = `input[${found.index}].latency_ms`;
      return refuse({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" }, shape);
    };
    await refusedSession({ script, dialect: "azure" }, async ({ server, run, notices, findings }) => {
      await run("One");
      const second = await run("Two");
      assert.equal(second.ended.state, "completed");
      assert.equal(second.requests[1] - second.requests[0], 2);
      assert.deepEqual(notices().map(({ reason, items }) => [reason, items[0]?.action, items[0]?.field]), [
        ["unknown_field", "stripped", "latency_ms"],
      ]);
      const third = await run("Three");
      assert.equal(third.requests[1] - third.requests[0], 1);
      const sent = server.requests.map(searches).flatMap((found) => found === null ? [] : [found.item]);
      assert.deepEqual(sent.map((item) => Object.hasOwn(item, "latency_ms")), [true, false, false]);
      assert.deepEqual(sent[2]?.action, sent[0]?.action, "all else goes as it came");
      assert.deepEqual(server.refusals, [], "Azure's rules accept what is left");
      assert.deepEqual(await findings(), []);
    });
  });
}

/** Two answers whose reasoning shows its text, with a message of each phase. */
function shown(...ids: readonly string[]): ScriptedResponse {
  return answer([
    ...ids.map((id) =>
      rawItem({
        id,
        type: "reasoning",
        summary: [],
        content: [{ type: "reasoning_text", text: "Hm." }],
        encrypted_content: `gAAAA-${id}`,
      })
    ),
    message("Done.", { phase: "final_answer" }),
  ]);
}

/** Refuses the first item of a type that is sent with a member, as Azure does, by its place. */
function refusesMember(
  type: string,
  member: string,
  shape: RefusalShape,
): (request: RecordedRequest) => ScriptedResponse {
  return (request) => {
    const index = request.input.findIndex((item) => item.type === type && Object.hasOwn(item, member));
    if (index < 0) return shown(`rs_${request.number}a`, `rs_${request.number}b`);
    const param = `input[${index}].${member}`;
    return refuse({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" }, shape);
  };
}

for (const shape of REFUSAL_SHAPES) {
  Deno.test(`a refused optional field costs the field, not the item (${shape})`, async () => {
    for (const [type, member] of [["reasoning", "content"], ["message", "phase"]] as const) {
      const script = refusesMember(type, member, shape);
      await refusedSession({ script, rules: "none" }, async (session) => {
        const { server, run, notices, verdicts, findings } = session;
        await run("One");
        const second = await run("Two");
        assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 2]);
        const [whole, repaired] = server.requests.slice(...second.requests).map(({ input }) => input);
        const without = whole?.map((item) => {
          const { [member]: _left, ...rest } = item;
          return item.type === type && item.role !== "user" ? rest : item;
        });
        assert.deepEqual(repaired, without, "everything else goes unchanged");
        const carriers = type === "reasoning" ? 2 : 1;
        assert.deepEqual(notices().map(({ reason, items }) => [reason, items.length]), [
          ["unknown_field", carriers],
        ]);
        assert.ok(
          notices()[0]?.items.every(({ action, field }) => action === "stripped" && field === member),
        );
        const third = await run("Three");
        assert.equal(third.ended.state, "completed");
        const last = server.requests.at(-1)?.input.filter(({ type }) => type === "reasoning");
        assert.equal(last?.length, 4, "no reasoning is lost");
        assert.deepEqual(new Set(verdicts()), new Set(["same"]));
        assert.deepEqual(await findings(), []);
      });
    }
  });
}

Deno.test("a refused field is refused once in a session: later items go without it too", async () => {
  for (const [type, member] of [["reasoning", "content"], ["message", "phase"]] as const) {
    const refuses = refusesMember(type, member, "http");
    const echoes: Script = (request) => {
      const refusal = refuses(request);
      const calls = request.input.filter(({ type }) => type === "function_call").length;
      if (refusal.kind === "http" || calls % 4 === 3) return refusal;
      return answer([
        rawItem({
          id: `rs_${request.number}`,
          type: "reasoning",
          summary: [],
          content: [{ type: "reasoning_text", text: "Hm." }],
          encrypted_content: `gAAAA-${request.number}`,
        }),
        message("Next.", { phase: "commentary" }),
        functionCall("echo", { text: "a" }),
      ]);
    };
    await refusedSession({ script: echoes, rules: "none" }, async (session) => {
      const tools = { tools: [ECHO], knownTools: [ECHO] };
      const first = await session.run("One", tools);
      const second = await session.run("Two", tools);
      const sent = [first, second].map(({ requests: [from, to] }) => to - from);
      assert.deepEqual([first.ended.state, second.ended.state, sent], ["completed", "completed", [5, 1]]);
      assert.equal(session.notices().length, 1);
      assert.equal(session.notices()[0]?.items.length, 1);
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
      // Another endpoint may want the field: there the items go as they came, but for the one that was refused.
      const there = await session.run("Three", { ...tools, endpoint: "22222222", replay: "exact" });
      const [request] = session.server.requests.slice(there.requests[0]);
      if (type === "reasoning") return;
      const carriers = request?.input.filter((item) => Object.hasOwn(item, member)).length;
      const messages = request?.input.filter(({ role }) => role === "assistant").length;
      assert.deepEqual([carriers, messages], [4, 5]);
    });
  }
});

Deno.test("two refused fields cost both fields in one run", async () => {
  const refusesContent = refusesMember("reasoning", "content", "http");
  const refusesPhase = refusesMember("message", "phase", "http");
  const script: Script = async (request) => {
    const said = await (refusesContent as Exclude<Script, readonly unknown[]>)(request);
    return said.kind === "http" ? said : await (refusesPhase as Exclude<Script, readonly unknown[]>)(request);
  };
  await refusedSession({ script, rules: "none" }, async ({ server, run, notices }) => {
    await run("One");
    const second = await run("Two");
    assert.deepEqual([second.ended.state, second.requests[1] - second.requests[0]], ["completed", 3]);
    assert.deepEqual(notices().map(({ items }) => items[0]?.field), ["content", "phase"]);
    assert.equal(server.requests.at(-1)?.input.filter(({ type }) => type === "reasoning").length, 2);
  });
});

Deno.test("an unknown member deeper inside an item is not answered by breaking the item", async () => {
  const script: Script = (request) => {
    const found = searches(request);
    if (found === null) return SEARCHED;
    const param = `input[${found.index}].action.queries`;
    return refuse({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" }, "http");
  };
  await refusedSession({ script }, async ({ server, run, notices }) => {
    await run("One");
    const { ended, requests } = await run("Two");
    assert.deepEqual([ended.state, requests[1] - requests[0]], ["completed", 2]);
    const [whole, without] = server.requests.slice(...requests).map(({ input }) =>
      input.map(({ type }) => type)
    );
    assert.deepEqual(whole, ["message", "reasoning", "web_search_call", "message", "message"]);
    assert.deepEqual(without, ["message", "message", "message"], "the item stays out with its reasoning");
    assert.deepEqual(notices().flatMap(({ items }) => items.map(({ action }) => action)), ["left_out"]);
  });
});

const PAIRING: Readonly<Record<string, (id: string) => string>> = {
  "a call without its output": (id) => `No tool output found for function call ${id}.`,
  "an output without its call": (id) => `No tool call found for function call output with call_id ${id}.`,
};

for (const [name, text] of Object.entries(PAIRING)) {
  Deno.test(`${name} is left out with its counterpart, and the run continues`, async () => {
    for (const shape of REFUSAL_SHAPES) {
      let bad = "";
      const script: Script = ({ input }) => {
        if (input.length === 1) {
          return answer([
            reasoning(),
            functionCall("echo", { text: "a" }),
            functionCall("echo", { text: "b" }),
          ]);
        }
        const calls = input.filter(({ type }) => type === "function_call").map(({ call_id }) =>
          String(call_id)
        );
        if (input.at(-1)?.type === "function_call_output" && input.length < 8) {
          return answer([message("Done.")]);
        }
        bad ||= calls[0] as string;
        return calls.includes(bad)
          ? refuse({ message: text(bad), param: "input" }, shape)
          : answer([message("Done.")]);
      };
      const tools = [ECHO];
      await refusedSession({ script }, async ({ server, run, notices, findings }) => {
        await run("One", { tools, knownTools: tools });
        const { ended, requests } = await run("Two", { tools, knownTools: tools });
        assert.equal(ended.state, "completed");
        const [whole, repaired] = server.requests.slice(...requests).map(({ input }) =>
          input.filter(({ call_id }) => call_id !== undefined).map(({ call_id }) => call_id)
        );
        assert.equal(whole?.length, 4);
        assert.equal(repaired?.length, 2);
        assert.ok(!repaired?.includes(bad), "neither the call nor its output");
        assert.deepEqual(notices().map(({ reason, items }) => [reason, items.length]), [["call_refused", 1]]);
        assert.deepEqual(server.refusals, [], "the rules accept what is left");
        assert.deepEqual(await findings(), []);
      });
    }
  });
}

Deno.test("a refusal that names nothing to leave out is not sent again", async () => {
  const texts = [
    {
      message: "Unsupported parameter: 'temperature' is not supported with this model.",
      param: "temperature",
    },
    { message: "Missing required parameter: 'input[0].content'.", param: "input[0].content" },
    { message: "No tool output found for function call call_unknown.", param: "input" },
    { message: "The model 'gpt-x' does not exist.", code: "model_not_found", status: 404 },
  ];
  for (const text of texts) {
    await refusedSession({ script: () => refuse(text, "http") }, async ({ run, notices }) => {
      const { ended, requests } = await run("One");
      assert.deepEqual([ended.exit_code, requests[1] - requests[0]], [13, 1], text.message);
      assert.deepEqual(notices(), []);
    });
  }
});

Deno.test("a refusal in the middle of an answer: its call is not run, and the run continues", async () => {
  let calls = 0;
  const tools = [{ ...ECHO, run: () => Promise.resolve({ status: "ok" as const, output: String(++calls) }) }];
  const error = {
    code: "invalid_encrypted_content",
    message: "The encrypted content gAAA...DQ== could not be verified.",
  };
  let refusals = 0;
  const script: Script = ({ input }) => {
    if (input.length === 1) return answer([reasoning(), message("Done.")]);
    if (refusals++ > 0) return answer([message("Done.")]);
    return answer([reasoning("again"), functionCall("echo", { text: "a" })], {
      end: { kind: "error_then_failed", error },
    });
  };
  await refusedSession({ script }, async ({ server, run, turns, notices, verdicts, findings }) => {
    await run("One", { tools, knownTools: tools });
    const { ended, requests } = await run("Two", { tools, knownTools: tools });
    assert.deepEqual([ended.state, requests[1] - requests[0], calls], ["completed", 2, 0]);
    assert.equal(notices().length, 1);
    const harness = turns().find(({ events }) => events.some(({ type }) => type === "replay_notice"));
    assert.deepEqual(harness?.events.map(({ type }) => type), ["tool_result", "replay_notice"]);
    assert.equal((await run("Three", { tools, knownTools: tools })).ended.state, "completed");
    assert.deepEqual(server.refusals, [], "the rules accept every request");
    assert.deepEqual(new Set(verdicts()), new Set(["same"]));
    assert.deepEqual(await findings(), []);
  });
});
