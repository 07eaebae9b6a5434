import assert from "node:assert/strict";
import { isJsonObject, type JsonObject } from "../../src/domain/json.ts";
import { answer, type DialectName, message, reasoning, startResponsesServer } from "./responses_server.ts";
import { functionCall, rawItem, type ScriptedResponse } from "./responses_server/script.ts";
import { eventsOf, post, requestBody, serverTest, types } from "./responses_server/testing.ts";

serverTest(
  "the server encrypts a blob again each time: shorter at added, equal in length at done and completed",
  { script: [answer([reasoning()])] },
  async (server) => {
    const events = await eventsOf(await post(server));
    const blob = (type: string) => {
      const event = events.find((candidate) => candidate.type === type);
      const response = isJsonObject(event?.response) ? event.response : {};
      const item = isJsonObject(event?.item)
        ? event.item
        : Array.isArray(response.output)
        ? response.output[0]
        : null;
      assert(isJsonObject(item) && typeof item.encrypted_content === "string");
      return item.encrypted_content;
    };
    const [added, done, completed] = [
      blob("response.output_item.added"),
      blob("response.output_item.done"),
      blob("response.completed"),
    ];
    assert(added.length < done.length);
    assert.equal(done.length, completed.length);
    assert.notEqual(done, completed);
    assert.deepEqual([...server.blobs.values()], [{ added, done, completed }]);
  },
);

serverTest(
  "the server pads deltas to a multiple of 16 unless the request turns that off",
  { script: () => answer([message("some text that is long enough for several deltas 😀")]) },
  async (server) => {
    const deltas = (events: JsonObject[]) =>
      events.filter((event) => event.type === "response.output_text.delta");
    const padded = deltas(await eventsOf(await post(server)));
    assert(padded.length > 2);
    for (const { delta, obfuscation } of padded) assert.equal((String(delta) + obfuscation).length % 16, 0);
    const plain = await post(
      server,
      requestBody("hello", { stream_options: { include_obfuscation: false } }),
    );
    for (const event of deltas(await eventsOf(plain))) assert(!("obfuscation" in event));
  },
);

serverTest(
  "the server names the account and the request in its headers",
  { script: () => answer([message("hi")]), organization: "org-a", project: "proj-b" },
  async (server) => {
    const response = await post(server);
    await response.body?.cancel();
    assert.equal(response.headers.get("openai-organization"), "org-a");
    assert.equal(response.headers.get("openai-project"), "proj-b");
    assert.equal(response.headers.get("x-request-id"), "req_00000001");
    assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  },
);

serverTest(
  "the server refuses the requests that the API refuses, with its messages, and uses up no answer for them",
  { script: [answer([reasoning(), functionCall("f", {})]), answer([message("fine")])], key: "key-1" },
  async (server) => {
    const output = (await eventsOf(await post(server)))
      .filter((event) => event.type === "response.output_item.done").map((event) => event.item as JsonObject);
    const [thought, call] = output;
    assert(thought !== undefined && call !== undefined);
    const user = { role: "user", content: "go" };
    const result = { type: "function_call_output", call_id: call.call_id ?? null, output: "x" };
    const refused = async (input: JsonObject[]) => {
      const response = await post(server, requestBody(input));
      const { error } = await response.json();
      return `${response.status} ${error.code} ${error.message}`;
    };
    assert.equal(
      await refused([user, thought]),
      `400 null Item '${thought.id}' of type 'reasoning' was provided without its required following item.`,
    );
    assert.equal(
      await refused([user, call, result]),
      `400 null Item '${call.id}' of type 'function_call' was provided without its required 'reasoning' item: '${thought.id}'.`,
    );
    assert.equal(
      await refused([user, thought, call]),
      `400 null No tool output found for function call ${call.call_id}.`,
    );
    assert.match(
      await refused([user, { ...thought, encrypted_content: "gAAAAforged" }, call, result]),
      /^400 invalid_encrypted_content .*could not be decrypted or parsed\.$/,
    );
    const response = await post(server, requestBody([user, thought, call, result]));
    assert.equal(types(await eventsOf(response)).at(-1), "response.completed");
    assert.equal(server.refusals.length, 4);
    assert.equal(server.requests.length, 6);
    const other = await fetch(`${server.baseUrl}/responses`, {
      method: "POST",
      headers: { "authorization": "Bearer other", "content-type": "application/json" },
      body: JSON.stringify(requestBody("x")),
    });
    await other.body?.cancel();
    assert.equal(other.status, 401);
  },
);

Deno.test("the server refuses a blob that another organization was given", async () => {
  const script = () => answer([reasoning(), message("hi")]);
  await using first = startResponsesServer({ script, organization: "org-a" });
  await using second = startResponsesServer({ script, organization: "org-b" });
  const items = (await eventsOf(await post(first)))
    .filter((event) => event.type === "response.output_item.done").map((event) => event.item as JsonObject);
  const response = await post(second, requestBody([...items, { role: "user", content: "go" }]));
  assert.match(
    (await response.json()).error.message,
    /organization_id did not match the target organization\.$/,
  );
});

Deno.test("the server sends events and ids as the server that it plays", async () => {
  const script = (): ScriptedResponse =>
    answer([reasoning("why"), functionCall("f", { a: 1 }), rawItem({ type: "other" })]);
  const play = async (dialect: DialectName) => {
    await using server = startResponsesServer({ script, dialect });
    const text = await (await post(server)).text();
    const events = await eventsOf(new Response(text));
    const items = events.filter((event) => event.type === "response.output_item.done").map((event) =>
      event.item as JsonObject
    );
    return { text, events, thought: items[0] ?? {}, call: items[1] ?? {} };
  };
  const openrouter = await play("openrouter");
  assert.match(openrouter.text, /^: OPENROUTER PROCESSING\n\ndata: .*data: \[DONE\]\n\n$/s);
  assert(!openrouter.text.includes("event:"));
  assert(types(openrouter.events).includes("response.reasoning_text.delta"));

  const copilot = await play("copilot");
  const ids = copilot.events.flatMap((event) => {
    const { item_id } = event;
    const item = isJsonObject(event.item) ? event.item.id : undefined;
    const response = isJsonObject(event.response) ? event.response.id : undefined;
    return [item_id, item, response].filter((id) => typeof id === "string");
  });
  assert.equal(new Set(ids).size, ids.length);
  assert.equal(copilot.thought.encrypted_content, null);

  const lmstudio = await play("lmstudio");
  assert(!types(lmstudio.events).includes("response.function_call_arguments.delta"));
  assert(types(lmstudio.events).includes("response.function_call_arguments.done"));

  const xai = await play("xai");
  assert.equal(xai.thought.status, "completed");
  const deepseek = await play("deepseek");
  assert.match(String(deepseek.call.id), /^[0-9a-f]{8}-/);
  assert.match(String(deepseek.thought.encrypted_content), /-0$/);
});

Deno.test("the server gives the same bytes for the same script and request", async () => {
  const run = async () => {
    await using server = startResponsesServer({
      script: [answer([reasoning("x"), functionCall("f", {}), message("m")])],
    });
    return await (await post(server)).text();
  };
  assert.equal(await run(), await run());
});
