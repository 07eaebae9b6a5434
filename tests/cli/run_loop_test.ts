import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { ending, events, Sandbox } from "../support/reprise.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  type ResponsesServer,
  startResponsesServer,
} from "../support/responses_server.ts";

/** Two steps with calls, then an answer; then the second run's answer. */
const SCRIPT = [
  answer([
    reasoning("I list first"),
    message("Let me look.", { phase: "commentary" }),
    functionCall("list_files", { path: null, pattern: null, depth: null }),
  ]),
  answer([
    reasoning(),
    functionCall("read_file", { path: "a.txt", offset: null, limit: null }),
    functionCall("read_file", { path: "b.txt", offset: null, limit: null }),
  ]),
  answer([reasoning("one", "two"), reasoning(), message("Both say hello.", { phase: "final_answer" })]),
  answer([reasoning(), message("Still hello.", { phase: "final_answer" })]),
];

function environment(server: ResponsesServer): Record<string, string> {
  return { OPENAI_BASE_URL: server.baseUrl, OPENAI_API_KEY: "sk-test", REPRISE_MODEL: "gpt-5.6" };
}

async function twoRuns(sandbox: Sandbox, server: ResponsesServer) {
  Deno.writeTextFileSync(`${sandbox.workspace}/a.txt`, "hello\n");
  Deno.writeTextFileSync(`${sandbox.workspace}/b.txt`, "hello too\n");
  const env = environment(server);
  const first = await sandbox.call(["run", "--json", "--new", "-s", "loop", "What do the files say?"], {
    env,
  });
  const second = await sandbox.call(["run", "--json", "-c", "Sure?"], { env });
  return { first, second };
}

/** The text of `input` in a body, without the closing bracket and brace. */
function inputText(body: string): string {
  return body.slice(body.indexOf('"input":[')).slice(0, -2);
}

Deno.test({
  name: "a tool loop of three steps, and a second run in a new process: the API's rules accept every request",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn(t) {
    await using sandbox = new Sandbox();
    await using server = startResponsesServer({ script: SCRIPT, key: "sk-test" });
    const { first, second } = await twoRuns(sandbox, server);

    await t.step("both runs complete, and nothing was refused", () => {
      assert.equal(first.code, 0, first.stdout + first.stderr);
      assert.equal(second.code, 0, second.stdout + second.stderr);
      assert.deepEqual(server.refusals, []);
      assert.equal(server.requests.length, 4);
      assert.equal(ending(first).text, "Both say hello.");
      assert.equal(ending(second).text, "Still hello.");
      assert.equal(ending(second).run, 2);
    });

    await t.step("each request's input has the one before as an exact byte prefix", () => {
      const bodies = server.requests.map(({ text }) => inputText(text));
      for (const [index, body] of bodies.entries()) {
        const before = bodies[index - 1] ?? "";
        assert.equal(body.slice(0, before.length), before, `request ${index + 1}`);
      }
    });

    await t.step("reasoning comes back unaltered and in order, as output_item.done had it", () => {
      const sent = server.requests[3]?.input.filter(({ type }) => type === "reasoning") ?? [];
      const done = [...server.blobs].slice(0, 4);
      assert.equal(sent.length, 4);
      assert.deepEqual(
        sent.map(({ id, encrypted_content }) => [id, encrypted_content]),
        done.map(([id, blob]) => [id, blob.done]),
      );
      assert.deepEqual(sent.map(({ summary }) => (summary as JsonObject[]).length), [1, 0, 2, 0]);
    });

    await t.step("results come in call order, right behind their calls", () => {
      const types = server.requests[2]?.input.map(({ type }) => type);
      assert.deepEqual(types, [
        ...["message", "reasoning", "message", "function_call", "function_call_output"],
        ...["reasoning", "function_call", "function_call", "function_call_output", "function_call_output"],
      ]);
      const [, , , callA, callB, outA, outB] = server.requests[2]?.input.slice(3) ?? [];
      assert.deepEqual([outA?.call_id, outB?.call_id], [callA?.call_id, callB?.call_id]);
      assert.match(String(outA?.output), /hello$/m);
      assert.match(String(outB?.output), /hello too$/m);
    });

    await t.step("phase stays, ids of calls go, and every request is stateless", () => {
      for (const { body, input } of server.requests) {
        const fields = body as JsonObject;
        assert.equal(fields.store, false);
        assert.deepEqual(fields.include, ["reasoning.encrypted_content"]);
        assert.deepEqual(fields.stream_options, { include_obfuscation: false });
        assert.equal(fields.prompt_cache_key, "loop");
        for (const item of input) {
          if (item.type === "function_call") assert.equal("id" in item, false);
          if (item.role === "assistant") {
            assert.ok(item.phase === "commentary" || item.phase === "final_answer");
          }
          if (item.role === "user") assert.equal("phase" in item, false);
        }
      }
    });

    await t.step(
      "input prints the next request, byte for byte what a run without a new prompt would send",
      async () => {
        const printed = await sandbox.call(["input", "loop"], { env: environment(server) });
        assert.ok(inputText(printed.stdout.trimEnd()).startsWith(inputText(server.requests[3]?.text ?? "")));
      },
    );

    await t.step("a turn is saved before anything that relies on it is told", () => {
      const names = events(first).map((event) =>
        event.type === "turn.saved" ? `saved ${event.kind}` : event.type
      );
      const at = (name: string, from = 0) => names.indexOf(name, from);
      assert.ok(at("saved user") < at("request"));
      assert.ok(at("saved model") < at("tool.started"));
      assert.ok(at("saved tools") < at("request", at("request") + 1));
      assert.deepEqual(names.slice(-2), ["saved harness", "run.ended"]);
    });
  },
});

for (const dialect of ["azure", "openrouter", "copilot", "lmstudio", "xai", "deepseek"] as const) {
  Deno.test({
    name: `the same tool loop completes against a server that behaves like ${dialect}`,
    sanitizeOps: true,
    sanitizeResources: true,
    async fn() {
      await using sandbox = new Sandbox();
      await using server = startResponsesServer({ script: SCRIPT, dialect });
      const { first, second } = await twoRuns(sandbox, server);
      assert.equal(first.code, 0, first.stdout + first.stderr);
      assert.equal(second.code, 0, second.stdout + second.stderr);
      assert.deepEqual(server.refusals, []);
      assert.equal(ending(second).text, "Still hello.");
    },
  });
}

Deno.test({
  name: "what a model gets wrong becomes an error result, and the run goes on",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using sandbox = new Sandbox();
    await using server = startResponsesServer({
      script: [
        answer([
          functionCall("launch_rockets", {}),
          functionCall("read_file", "{not json"),
          functionCall("read_file", { path: 7 }),
          functionCall("list_files", { path: null, pattern: null, depth: null }, { callId: "call_same" }),
          functionCall("list_files", { path: null, pattern: null, depth: null }, { callId: "call_same" }),
          functionCall("read_file", { path: "../../etc/passwd", offset: null, limit: null }),
        ]),
        answer([message("I see.")]),
      ],
    });
    const called = await sandbox.call(["run", "--json", "-s", "wrong", "--new", "Try"], {
      env: environment(server),
    });
    assert.equal(called.code, 0, called.stdout);
    const results = sandbox.turns("wrong").find(({ kind }) => kind === "tools").events;
    assert.deepEqual(results.map(({ status }: { status: string }) => status), [
      "unknown_tool",
      "invalid_arguments",
      "invalid_arguments",
      "ok",
      "duplicate_call_id",
      "error",
    ]);
    // The server's rules paired every output with its call, the repeated id included.
    assert.deepEqual(server.refusals, []);
    assert.equal(server.requests[1]?.input.filter(({ type }) => type === "function_call_output").length, 6);
  },
});

Deno.test({
  name: "calls of a failed response are never run, are answered on disk, and the next run goes through",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using sandbox = new Sandbox();
    Deno.writeTextFileSync(`${sandbox.workspace}/a.txt`, "hello\n");
    const error = { code: "server_error", message: "The server had an error" };
    await using server = startResponsesServer({
      script: [
        answer([reasoning(), functionCall("read_file", { path: "a.txt", offset: null, limit: null })], {
          end: { kind: "failed", error },
        }),
        answer([message("Done.")]),
      ],
    });
    const env = environment(server);
    const failed = await sandbox.call(["run", "--json", "--new", "-s", "failed", "Read"], { env });
    assert.equal(failed.code, 10, failed.stdout);
    assert.ok(!events(failed).some(({ type }) => type === "tool.started"));
    const [result] = sandbox.turns("failed").at(-1).events;
    assert.deepEqual([result.type, result.status], ["tool_result", "not_run"]);
    const continued = await sandbox.call(["run", "--json", "-s", "failed"], { env });
    assert.equal(continued.code, 0, continued.stdout);
    assert.deepEqual(server.refusals, []);
    assert.equal(sandbox.turns("failed").filter(({ kind }) => kind === "user").length, 1);
  },
});

Deno.test({
  name: "a large tool output goes whole into a blob, and its head and tail to the model",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn() {
    await using sandbox = new Sandbox();
    const lines = Array.from({ length: 1500 }, (_, index) => `line ${index} ${"😀".repeat(20)}`);
    Deno.writeTextFileSync(`${sandbox.workspace}/big.txt`, lines.join("\n"));
    await using server = startResponsesServer({
      script: [
        answer([functionCall("read_file", { path: "big.txt", offset: null, limit: 1500 })]),
        answer([message("Big.")]),
      ],
    });
    const called = await sandbox.call(["run", "--json", "-s", "big", "--new", "Read"], {
      env: environment(server),
    });
    assert.equal(called.code, 0, called.stdout);
    const [result] = sandbox.turns("big").find(({ kind }) => kind === "tools").events;
    const blob = Deno.readTextFileSync(`${sandbox.home}/sessions/big/blobs/${result.blob.sha256}`);
    assert.match(blob, /line 700 /);
    assert.match(result.output, /line 0 /);
    assert.match(result.output, /line 1499 /);
    assert.doesNotMatch(result.output, /line 700 /);
    assert.ok(result.output.isWellFormed() && result.output.length <= 32_000);
  },
});
