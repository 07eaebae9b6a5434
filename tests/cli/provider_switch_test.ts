import assert from "node:assert/strict";
import { says, startMessagesServer, text, thinking, toolUse } from "../support/messages_server.ts";
import { ending, Sandbox } from "../support/reprise.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  startResponsesServer,
} from "../support/responses_server.ts";
import { KEY } from "./harness.ts";

Deno.test({
  name:
    "a session goes from provider to provider and back: words, calls and results go along, thinking never does",
  sanitizeOps: true,
  sanitizeResources: true,
  async fn(t) {
    await using sandbox = new Sandbox();
    Deno.writeTextFileSync(`${sandbox.workspace}/a.txt`, "hello\n");
    const read = { path: "a.txt", offset: null, limit: null };
    await using openai = startResponsesServer({
      key: KEY,
      script: [
        // An id that Anthropic does not take.
        answer([reasoning("first"), functionCall("read_file", read, { callId: "call.one|1" })]),
        answer([reasoning("then"), message("It says hello.")]),
        answer([reasoning("again"), message("Still hello.")]),
      ],
    });
    await using claude = startMessagesServer({
      key: KEY,
      script: [
        says([thinking("my own look"), toolUse("read_file", read)]),
        says([thinking("done"), text("Hello it is.")]),
        says([thinking("and again"), text("Hello, once more.")]),
      ],
    });
    const env = {
      OPENAI_BASE_URL: openai.baseUrl,
      OPENAI_API_KEY: KEY,
      ANTHROPIC_BASE_URL: claude.baseUrl,
      ANTHROPIC_API_KEY: KEY,
    };
    const toOpenai = ["-p", "openai", "-m", "gpt-5.6"];
    const toClaude = ["-p", "anthropic", "-m", "claude-fable-5-1"];
    const run = async (...args: string[]) => {
      const called = await sandbox.call(["run", "--json", ...args], { env });
      assert.equal(called.code, 0, called.stdout + called.stderr);
      return ending(called).text;
    };

    await t.step("each run completes, and no server refuses anything", async () => {
      assert.equal(await run("-s", "mixed", "--new", ...toOpenai, "What does a.txt say?"), "It says hello.");
      assert.equal(await run("-c", ...toClaude, "Look yourself."), "Hello it is.");
      assert.equal(await run("-c", ...toOpenai, "Sure?"), "Still hello.");
      assert.equal(await run("-c", ...toClaude, "And you?"), "Hello, once more.");
      assert.deepEqual(openai.refusals, []);
      assert.deepEqual(claude.refusals, []);
    });

    await t.step("no opaque byte of one is in a request to the other; one's own go back", () => {
      const blobs = [...openai.blobs.values()].flatMap(({ done }) => done ?? []);
      const signatures = claude.minted.map(({ secret }) => secret);
      assert.ok(blobs.length === 3 && signatures.length === 3);
      for (const request of claude.requests) {
        for (const blob of blobs) assert.ok(!request.text.includes(blob));
        assert.ok(!request.text.includes("encrypted_content"));
      }
      for (const request of openai.requests) {
        for (const signature of signatures) assert.ok(!request.text.includes(signature));
        assert.ok(!request.text.includes('"thinking"'));
      }
      const back = (text: string | undefined, opaque: readonly string[]) =>
        opaque.filter((each) => text?.includes(each)).length;
      assert.equal(back(openai.requests.at(-1)?.text, blobs), 2, "both that it had minted until then");
      assert.equal(back(claude.requests.at(-1)?.text, signatures), 2);
    });

    await t.step("calls and results carry over, with ids that the other side takes", () => {
      const uses = claude.requests[0]?.blocks.filter(({ type }) => type === "tool_use") ?? [];
      const results = claude.requests[0]?.blocks.filter(({ type }) => type === "tool_result") ?? [];
      assert.deepEqual(uses.map(({ name, input }) => [name, input]), [["read_file", read]]);
      assert.match(String(uses[0]?.id), /^[a-zA-Z0-9_-]{1,64}$/);
      assert.deepEqual(results.map(({ tool_use_id }) => tool_use_id), uses.map(({ id }) => id));
      const calls = openai.requests.at(-1)?.input.filter(({ type }) => type === "function_call") ?? [];
      assert.deepEqual(calls.map((item) => JSON.parse(String(item.arguments))), [read, read]);
      assert.equal(calls[0]?.call_id, "call.one|1", "its own ids are as they were");
      assert.match(String(calls[1]?.call_id), /^toolu_/);
    });

    await t.step("explain names what does not go, verify makes every request again", async () => {
      const explained = await sandbox.call(["explain", "mixed", "--json", ...toOpenai], { env });
      const { reasoning: items } = JSON.parse(explained.stdout);
      const verdicts = items.map(({ sent, reason }: { sent: boolean; reason: string }) => sent || reason);
      assert.deepEqual(verdicts, [true, true, "other_provider", "other_provider", true, "other_provider"]);
      const verified = await sandbox.call(["verify", "mixed", "--json"], { env });
      assert.equal(verified.code, 0, verified.stdout);
    });
  },
});
