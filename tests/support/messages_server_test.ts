import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import {
  declined,
  overloaded,
  rawBlock,
  redacted,
  says,
  serverTool,
  thinking,
  toolUse,
} from "./messages_server/script.ts";
import { rateLimited, startMessagesServer, stop, text, unfinished } from "./messages_server.ts";
import {
  BINDING,
  contentOf,
  DROP,
  errorOf,
  eventsOf,
  messagesTest,
  MODEL,
  post,
  requestBody,
  types,
  user,
} from "./messages_server/testing.ts";

const INVALID = "400 messages.1.content.0: Invalid `signature` in `thinking` block";
const BOUND = `${INVALID}. The block is bound to a different conversation. Remove the block, or set ` +
  '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".';

const turn = (content: readonly JsonObject[]): JsonObject => ({ role: "assistant", content });
const TOOLS: JsonObject = { tools: [{ name: "add", input_schema: { type: "object" } }] };

messagesTest(
  "the Messages server writes as the API does: padded, with pings, the signature last, redacted thinking whole",
  { script: [says([thinking("Hm."), redacted(), toolUse("add", {})])] },
  async (server) => {
    const response = await post(server);
    assert.equal(response.headers.get("request-id"), "req_00000001");
    assert.equal(response.headers.get("anthropic-workspace-id"), "wrkspc_test");
    const wire = await response.clone().text();
    assert.match(wire, /^event: message_start\ndata: \{/);
    assert.match(wire, /\S +\}\n\n/);
    assert.doesNotMatch(wire, /\[DONE\]/);
    const events = await eventsOf(response);
    assert.deepEqual(types(events), [
      "message_start",
      "ping",
      ...["content_block_start", "content_block_delta", "content_block_delta", "content_block_stop"],
      ...["content_block_start", "content_block_stop"],
      ...["content_block_start", "content_block_delta", "content_block_stop"],
      "message_delta",
      "message_stop",
    ]);
    assert.deepEqual(events[2]?.content_block, { type: "thinking", thinking: "", signature: "" });
    assert.deepEqual(events[4]?.delta, { type: "signature_delta", signature: server.issued[0]?.secret });
    assert.deepEqual(events[6]?.content_block, { type: "redacted_thinking", data: server.issued[1]?.secret });
    assert.deepEqual(events[9]?.delta, { type: "input_json_delta", partial_json: "" });
  },
);

messagesTest(
  "the Messages server distinguishes forged, edited and misplaced thinking, with the API's messages",
  { script: () => says([thinking("Hm."), text("Yes.")]) },
  async (server) => {
    const [thought, words] = await contentOf(server, [user]);
    assert(thought !== undefined && words !== undefined);
    const ask = async (block: JsonObject, before: JsonObject = user, extra: JsonObject = {}) =>
      await errorOf(await post(server, requestBody([before, turn([block, words]), user], extra)));
    assert.equal(await ask({ ...thought, signature: "gAAAAABq" }), INVALID);
    assert.equal(await ask({ ...thought, thinking: "Hmm." }), INVALID);
    const other = { role: "user", content: "stop" };
    assert.equal(await ask(thought, other), BOUND);
    assert.equal(await ask(thought, user, { system: "Be brief." }), BOUND);
    assert.equal(await ask(thought, user, TOOLS), BOUND);
    assert.deepEqual(server.refusals.map(({ rule }) => rule), [
      ...["signature", "signature", "signature_bound", "signature_bound", "signature_bound"],
    ]);
    // These may change: the limit, the effort, where the cache is marked, how text is written.
    const marked = {
      role: "user",
      content: [{ type: "text", text: "go", cache_control: { type: "ephemeral" } }],
    };
    const changed = { max_tokens: 4096, output_config: { effort: "low" } };
    assert.equal((await contentOf(server, [marked, turn([thought, words]), user], changed)).length, 2);
    // A model that is not bound reads it anywhere, and no model reads forged thinking.
    const unbound = { model: "claude-opus-5" };
    assert.equal((await contentOf(server, [other, turn([thought, words]), user], unbound)).length, 2);
    assert.equal(await ask({ ...thought, thinking: "Hmm." }, user, unbound), INVALID);
  },
);

messagesTest(
  "the Messages server drops thinking of another conversation where the request asks for it in words that it knows",
  { script: () => says([thinking("Hm."), text("Yes.")]) },
  async (server) => {
    const [thought, words] = await contentOf(server, [user]);
    assert(thought !== undefined && words !== undefined);
    const other = { role: "user", content: "stop" };
    const messages = [other, turn([thought, words]), user];
    const dropping = requestBody(messages, DROP);
    assert.equal(
      await errorOf(await post(server, dropping)),
      "400 thinking.adaptive.block_binding: Extra inputs are not permitted",
    );
    const [started] = await eventsOf(await post(server, dropping, BINDING));
    assert.deepEqual((started?.message as JsonObject).input_transformations, [{
      type: "thinking_dropped",
      path: "messages.1.content.0",
      reason: "prefix_binding_mismatch",
    }]);
    // Thinking made then is bound to the conversation without the dropped block, and not dropped again.
    const next = await contentOf(server, messages, DROP, BINDING);
    const again = requestBody([...messages, turn(next), user], DROP);
    const [restarted] = await eventsOf(await post(server, again, BINDING));
    const dropped = (restarted?.message as JsonObject).input_transformations as JsonObject[];
    assert.deepEqual(dropped.map(({ path }) => path), ["messages.1.content.0"]);
    // Nothing to drop, and no request for it.
    const [plain] = await eventsOf(await post(server, requestBody([user], DROP), BINDING));
    assert.deepEqual((plain?.message as JsonObject).input_transformations, []);
    const [silent] = await eventsOf(await post(server));
    assert.equal((silent?.message as JsonObject).input_transformations, undefined);
  },
);

messagesTest(
  "the Messages server without binding controls refuses them even with the header",
  { script: () => says([text("Yes.")]), legacyBinding: true },
  async (server) => {
    assert.equal(
      await errorOf(await post(server, requestBody([user], DROP), BINDING)),
      "400 thinking.adaptive.block_binding: Extra inputs are not permitted",
    );
  },
);

messagesTest(
  "the Messages server binds the thinking of the models that a test names",
  { script: () => says([thinking("Hm.")]), boundModels: ["claude-test"] },
  async (server) => {
    for (const [model, bound] of [["claude-test", true], [MODEL, false]] as const) {
      const content = await contentOf(server, [user], { model });
      const moved = requestBody([{ ...user, content: "stop" }, turn(content), user], { model });
      const response = await post(server, moved);
      assert.equal(response.status, bound ? 400 : 200);
      await response.body?.cancel();
    }
  },
);

Deno.test("the Messages servers of one kind read each other's thinking", async () => {
  await using one = startMessagesServer({ script: [says([thinking("Hm."), text("Yes.")])] });
  await using two = startMessagesServer({ script: [says([text("Yes.")])] });
  const content = await contentOf(one, [user]);
  assert.equal((await contentOf(two, [user, turn(content), user])).length, 1);
});

messagesTest(
  "the Messages server continues a turn that it paused, and no other",
  {
    script: [
      says([thinking("Search."), serverTool("web_search", { query: "a" }, [])], { end: stop("pause_turn") }),
      says([thinking("Found."), text("Here.")]),
    ],
  },
  async (server) => {
    const paused = await contentOf(server, [user]);
    assert.deepEqual(paused.map(({ type }) => type), [
      "thinking",
      "server_tool_use",
      "web_search_tool_result",
    ]);
    assert.match(await errorOf(await post(server, requestBody([user, turn(paused.slice(0, 1))]))), /prefill/);
    const rest = await contentOf(server, [user, turn(paused)]);
    assert.match(
      await errorOf(await post(server, requestBody([user, turn([...paused, ...rest])]))),
      /prefill/,
    );
    // Both halves are one message, whose second thought is bound to the first half.
    const whole = requestBody([user, turn([...paused, ...rest]), user]);
    assert.match(await errorOf(await post(server, whole)), /The script has no answer/);
    const halved = requestBody([user, turn(rest), user]);
    assert.equal(await errorOf(await post(server, halved)), BOUND);
  },
);

messagesTest(
  "the Messages server ends streams in every way that a client has to tell apart",
  {
    script: [
      declined("No."),
      says([text("a")], { end: stop("max_tokens") }),
      says([unfinished(thinking("half a thought that is long"))], { end: stop("max_tokens") }),
      says([text("a")], {
        end: { kind: "error", error: { type: "overloaded_error", message: "Overloaded" } },
      }),
      says([toolUse("add", {})], { end: { kind: "cut" } }),
      says([text("a")], { duplicateStart: true }),
      says([text("b")], { abandoned: [text("a"), unfinished(text("lost"))] }),
      says([rawBlock({ type: "fallback", from: { model: "a" }, to: { model: "b" } })]),
    ],
  },
  async (server) => {
    const streams: JsonObject[][] = [];
    for (let request = 0; request < 8; request++) streams.push(await eventsOf(await post(server)));
    const ends = streams.map((events) => types(events).slice(-2).join(" "));
    assert.deepEqual(ends, [
      "message_delta message_stop",
      "message_delta message_stop",
      "message_delta message_stop",
      "content_block_stop error",
      "content_block_delta content_block_stop",
      ...Array(3).fill("message_delta message_stop"),
    ]);
    assert.deepEqual(types(streams[0] ?? []), ["message_start", "ping", "message_delta", "message_stop"]);
    assert.deepEqual(streams[0]?.at(-2)?.delta, {
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: "cyber", explanation: "No." },
    });
    assert(!types(streams[2] ?? []).includes("content_block_stop"));
    assert.deepEqual(streams[3]?.at(-1), {
      type: "error",
      error: { type: "overloaded_error", message: "Overloaded" },
      request_id: "req_00000004",
    });
    const ids = (events: readonly JsonObject[] = []) =>
      events.filter(({ type }) => type === "message_start").map(({ message }) => (message as JsonObject).id);
    assert.equal(new Set(ids(streams[5])).size, 1);
    assert.equal(ids(streams[5]).length, 2);
    assert.equal(new Set(ids(streams[6])).size, 2);
  },
);

messagesTest(
  "the Messages server breaks connections and stalls, and stopping it ends both",
  {
    script: [
      says([text("a")], { end: { kind: "reset" } }),
      says([text("a")], { end: { kind: "stall" }, delivery: { delayMs: 1 } }),
    ],
  },
  async (server) => {
    await assert.rejects((await post(server)).text());
    const reader = (await post(server)).body?.getReader();
    assert.equal((await reader?.read())?.done, false);
    const waiting = reader?.read();
    await server.stop();
    assert.equal((await waiting)?.done, true);
  },
);

messagesTest(
  "the Messages server fails requests as the API does, and uses up no answer for those that it refuses",
  {
    script: [rateLimited({ retryAfter: "3" }), rateLimited(), overloaded(), says([text("a")])],
    key: "key-1",
  },
  async (server) => {
    const got: string[] = [];
    for (let request = 0; request < 3; request++) {
      const response = await post(server);
      const { error, request_id } = await response.json();
      assert.equal(request_id, response.headers.get("request-id"));
      got.push(`${response.status} ${error.type} ${response.headers.get("retry-after")}`);
    }
    assert.deepEqual(got, [
      "429 rate_limit_error 3",
      "429 rate_limit_error null",
      "529 overloaded_error null",
    ]);
    assert.match(
      await errorOf(await post(server, requestBody(), { authorization: "Bearer key-2" })),
      /^401 /,
    );
    assert.match(await errorOf(await post(server, requestBody([user], { input: [] }))), /Extra inputs/);
    assert.match(
      await errorOf(await post(server, requestBody(), { "anthropic-version": "" })),
      /anthropic-version/,
    );
    const xApiKey = { authorization: "", "x-api-key": "key-1" };
    assert.equal((await eventsOf(await post(server, requestBody(), xApiKey))).at(-1)?.type, "message_stop");
    assert.match(await errorOf(await post(server)), /no answer to request 8/);
    assert.match(await errorOf(await fetch(`${server.baseUrl}/models`)), /404/);
  },
);

messagesTest(
  "the Messages server gives thinking without its text where the request wants it left out",
  { script: () => says([thinking("Hm."), text("Yes.")]) },
  async (server) => {
    const omitted = { thinking: { type: "adaptive", display: "omitted" } };
    const content = await contentOf(server, [user], omitted);
    assert.equal(content[0]?.thinking, "");
    assert.equal((await contentOf(server, [user, turn(content), user])).length, 2);
  },
);

Deno.test("the Messages server gives the same bytes for the same script and request", async () => {
  const bytes: string[] = [];
  for (let time = 0; time < 2; time++) {
    await using server = startMessagesServer({
      script: [says([thinking("Hm."), redacted(), toolUse("add", { a: 1 })])],
    });
    bytes.push(await (await post(server)).text());
  }
  assert.equal(bytes[0], bytes[1]);
});
