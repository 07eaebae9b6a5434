/** Differences of servers that speak the Responses API, and their equal results (protocol §12). */
import assert from "node:assert/strict";
import type { Item } from "../../../../src/domain/event.ts";
import type { JsonObject, JsonValue } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { FinishedResponse, StreamUpdate } from "../../../../src/apis/api.ts";
import { readSse } from "../../../../src/transport/sse.ts";

const TEXT = "The user wants one word.";
const REASONING: Item = {
  id: "rs_1",
  type: "reasoning",
  status: "completed",
  summary: [],
  content: [{ type: "reasoning_text", text: TEXT }],
};
const MESSAGE: Item = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Hello", annotations: [] }],
};
const CALL: Item = {
  id: "fc_1",
  type: "function_call",
  call_id: "call_1",
  name: "weather",
  arguments: '{"location":"Oslo"}',
  status: "completed",
};
const ITEMS = [REASONING, MESSAGE, CALL];

interface Heard {
  readonly items: readonly Item[];
  readonly text: string;
  readonly reasoning: string;
  readonly response: FinishedResponse;
}

/** Assembles the bytes of a stream. */
async function hear(stream: string): Promise<Heard> {
  const assembler = responsesApi.newAssembler();
  const updates: StreamUpdate[] = [];
  for await (const batch of readSse(ReadableStream.from([new TextEncoder().encode(stream)]))) {
    for (const event of batch) updates.push(...assembler.feed(event));
  }
  updates.push(...assembler.end());
  const last = updates.at(-1);
  assert.ok(last?.kind === "finished");
  const deltas = (kind: "text_delta" | "reasoning_delta") =>
    updates.map((update) => update.kind === kind ? update.delta : "").join("");
  return {
    items: updates.flatMap((update) => update.kind === "item" ? [update.item] : []),
    text: deltas("text_delta"),
    reasoning: deltas("reasoning_delta"),
    response: last.response,
  };
}

/** The whole stream of {@linkcode ITEMS} as OpenAI would send it. */
function events(): JsonObject[] {
  const at = (index: number) => ({ item_id: ITEMS[index]?.id, output_index: index });
  const made: JsonObject[] = [
    { type: "response.created", response: { id: "resp_1", model: "m", created_at: 1784324967, output: [] } },
    { type: "response.output_item.added", output_index: 0, item: { ...REASONING, content: [] } },
    { type: "response.reasoning_text.delta", ...at(0), content_index: 0, delta: "The user wants " },
    { type: "response.reasoning_text.delta", ...at(0), content_index: 0, delta: "one word." },
    { type: "response.reasoning_text.done", ...at(0), content_index: 0, text: TEXT },
    { type: "response.output_item.done", output_index: 0, item: REASONING },
    { type: "response.output_item.added", output_index: 1, item: { ...MESSAGE, content: [] } },
    { type: "response.output_text.delta", ...at(1), content_index: 0, delta: "Hel" },
    { type: "response.output_text.delta", ...at(1), content_index: 0, delta: "lo" },
    { type: "response.output_text.done", ...at(1), content_index: 0, text: "Hello" },
    { type: "response.output_item.done", output_index: 1, item: MESSAGE },
    { type: "response.output_item.added", output_index: 2, item: { ...CALL, arguments: "" } },
    { type: "response.function_call_arguments.delta", ...at(2), delta: CALL.arguments },
    { type: "response.function_call_arguments.done", ...at(2), arguments: CALL.arguments },
    { type: "response.output_item.done", output_index: 2, item: CALL },
    {
      type: "response.completed",
      response: { id: "resp_1", model: "m", status: "completed", output: ITEMS, usage: { input_tokens: 3 } },
    },
  ];
  return made.map((event, index) => ({ ...event, sequence_number: index }));
}

/** As SSE without `event:` lines. */
function lines(sent: readonly JsonObject[]): string {
  return sent.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

function named(sent: readonly JsonObject[]): string {
  return sent.map((event) => `event: ${event.type}\n${lines([event])}`).join("");
}

/** Every member of that name, at any place, with a new value. */
function everywhere(
  value: JsonValue | undefined,
  name: string,
  make: (old: JsonValue) => JsonValue | undefined,
): JsonValue | undefined {
  if (Array.isArray(value)) return value.map((member) => everywhere(member, name, make) ?? null);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === name ? make(member ?? null) : everywhere(member, name, make),
    ]),
  );
}

function edited(name: string, make: (old: JsonValue) => JsonValue | undefined): JsonObject[] {
  return events().map((event) => everywhere(event, name, make) as JsonObject);
}

function isDelta({ type }: JsonObject): boolean {
  return String(type).endsWith(".delta");
}

/** Removes ids that a server changes, for a comparison of items. */
function withoutIds(items: readonly Item[]): JsonObject[] {
  return items.map(({ id: _, ...item }) => item);
}

Deno.test("peculiarities of compatible servers do not change the items, the text and the end", async (t) => {
  const created = events().slice(0, 1);
  const [, ...rest] = events();
  const terminal = rest.slice(-1);
  let counter = 0;
  const rows: Record<string, string> = {
    "as OpenAI sends it": named(events()),
    "no event: lines": lines(events()),
    "[DONE] at the end": `${lines(events())}data: [DONE]\n\n`,
    "comments before, between and after": `: OPENROUTER PROCESSING\n\n${
      lines(events()).replaceAll("\n\n", "\n\n: keep-alive\n\n")
    }`,
    "lines end with CR and LF, and no space follows the colon": named(events())
      .replaceAll("data: ", "data:").replaceAll("\n", "\r\n"),
    "no sequence numbers": lines(edited("sequence_number", () => undefined)),
    "timestamps with a fraction": lines(edited("created_at", () => 1784324967.25)),
    "no deltas at all": lines(events().filter((event) => !isDelta(event))),
    "arguments whole, without deltas (LM Studio)": lines(
      events().filter(({ type }) => type !== "response.function_call_arguments.delta"),
    ),
    "reasoning text only as done (one version of LM Studio)": lines(
      events().filter(({ type }) => type !== "response.reasoning_text.delta"),
    ),
    "content_index rises with every delta (vLLM)": lines(edited("content_index", () => counter++)),
    "response.created after the first items (gateways)": lines([
      ...rest.slice(0, 5),
      ...created,
      ...rest.slice(5),
    ]),
    "no response.created": lines(rest),
    "nothing but finished items and the end": lines(
      events().filter(({ type }) => /output_item\.done|completed/.test(String(type))),
    ),
    "nothing but the end": lines(terminal),
    "the end lists nothing": lines(edited("output", () => [])),
    "the end has no list": lines(edited("output", () => undefined)),
    "no positions": lines(edited("output_index", () => undefined)),
    "unknown events between": lines(
      events().flatMap((event) => [{ type: "vendor.heartbeat", at: 1.5 }, { type: "keepalive" }, event]),
    ),
  };
  const usual = await hear(named(events()));
  assert.deepEqual(usual.items, ITEMS);
  assert.deepEqual([usual.text, usual.reasoning], ["Hello", TEXT]);
  for (const [name, stream] of Object.entries(rows)) {
    await t.step(name, async () => {
      const heard = await hear(stream);
      assert.deepEqual(heard.items, ITEMS);
      assert.deepEqual([heard.text, heard.reasoning], ["Hello", TEXT]);
      assert.deepEqual(
        [heard.response.id, heard.response.model, heard.response.status, heard.response.usage],
        ["resp_1", "m", "completed", { input_tokens: 3 }],
      );
    });
  }
});

Deno.test("a new id on every event makes no second item and loses none (Copilot)", async () => {
  let count = 0;
  const fresh = () => `id-${count++}`;
  const rotated = events().map((event) =>
    everywhere(everywhere(event, "id", fresh), "item_id", fresh) as JsonObject
  );
  const { items, text, reasoning, response } = await hear(named(rotated));
  assert.deepEqual(withoutIds(items), withoutIds(ITEMS));
  assert.deepEqual([text, reasoning, response.status], ["Hello", TEXT, "completed"]);
});

Deno.test("ids without a prefix and ids that are missing or null are kept as they came", async (t) => {
  const rows: Record<string, (old: JsonValue) => JsonValue | undefined> = {
    "bare UUIDs (DeepSeek)": (old) => `84cf774d-60a1-4e20-85e3-${String(old).padStart(12, "0")}`,
    "null": () => null,
    "missing": () => undefined,
  };
  for (const [name, make] of Object.entries(rows)) {
    await t.step(name, async () => {
      const { items, response } = await hear(lines(edited("id", make)));
      const expected = ITEMS.map((item) =>
        JSON.parse(JSON.stringify({ ...item, id: make(item.id ?? null) }))
      );
      assert.deepEqual(items, expected);
      assert.equal(response.status, "completed");
      assert.deepEqual(response.notices, []);
    });
  }
});

Deno.test("reasoning is kept whatever it has: text, a status, a short token, no blob, a null blob", async (t) => {
  const shapes: readonly JsonObject[] = [
    { encrypted_content: null },
    { encrypted_content: "806896f9-a0e7-497f-9645-51900b22342d-0" },
    { status: null, content: null },
    { id: "msg_bcb37c51bdc5b9cc" },
    { summary: null },
  ];
  for (const shape of shapes) {
    await t.step(JSON.stringify(shape), async () => {
      const item = { ...REASONING, ...shape };
      const { items } = await hear(lines([
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { status: "completed", output: [item] } },
      ]));
      assert.deepEqual(items, [item]);
    });
  }
});

Deno.test("reasoning goes back without status, without a null blob, and with the text that it came with", () => {
  const item: Item = { ...REASONING, encrypted_content: null };
  const { body } = responsesApi.buildRequest({
    model: "m",
    instructions: "",
    tools: [],
    entries: [{ kind: "reasoning", item }],
    cacheKey: "s",
  });
  const { status: _, encrypted_content: __, ...sent } = item;
  assert.deepEqual(JSON.parse(body).input, [sent]);
});

/** Written by what is known of OpenRouter's framing: no recording of it is at hand. */
const OPENROUTER = [
  ": OPENROUTER PROCESSING",
  "",
  ": OPENROUTER PROCESSING",
  "",
  'data: {"type":"response.created","response":{"id":"gen-1768-abc","object":"response","created_at":1768.5,' +
  '"model":"deepseek/deepseek-r1","status":"in_progress","output":[],"error":null}}',
  "",
  'data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_tmp_x",' +
  '"summary":[],"content":[]}}',
  "",
  'data: {"type":"response.reasoning_text.delta","output_index":0,"item_id":"rs_tmp_x","content_index":0,' +
  '"delta":"Okay, "}',
  "",
  ": OPENROUTER PROCESSING",
  "",
  'data: {"type":"response.reasoning_text.delta","output_index":0,"item_id":"rs_tmp_x","content_index":0,' +
  '"delta":"a joke."}',
  "",
  'data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_tmp_x",' +
  '"summary":[],"content":[{"type":"reasoning_text","text":"Okay, a joke."}],"encrypted_content":null}}',
  "",
  'data: {"type":"response.output_text.delta","output_index":1,"item_id":"msg_tmp_y","content_index":0,' +
  '"delta":"Knock knock."}',
  "",
  'data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_tmp_y",' +
  '"role":"assistant","status":"completed","content":[{"type":"output_text","text":"Knock knock.",' +
  '"annotations":[]}]}}',
  "",
  'data: {"type":"response.completed","response":{"id":"gen-1768-abc","model":"deepseek/deepseek-r1",' +
  '"status":"completed","output":[],"usage":{"input_tokens":9,"output_tokens":7,"cost":0.00002}}}',
  "",
  "data: [DONE]",
  "",
  "",
].join("\n");

Deno.test("an OpenRouter stream is its items: comments first, no event: lines, [DONE] last", async () => {
  const { items, text, reasoning, response } = await hear(OPENROUTER);
  assert.deepEqual(items.map(({ type, id }) => [type, id]), [
    ["reasoning", "rs_tmp_x"],
    ["message", "msg_tmp_y"],
  ]);
  assert.deepEqual([text, reasoning], ["Knock knock.", "Okay, a joke."]);
  assert.deepEqual([response.id, response.status], ["gen-1768-abc", "completed"]);
  assert.deepEqual(responsesApi.usageOf(response.usage ?? {}), {
    ...responsesApi.usageOf({}),
    input_tokens: 9,
    output_tokens: 7,
  });
});

Deno.test("a stream that ends with [DONE] alone is cut: no terminal event said that it is whole", async () => {
  const cut = OPENROUTER.replace(/data: \{"type":"response\.completed".*\n\n/, "");
  const { items, response } = await hear(cut);
  assert.equal(items.length, 2);
  assert.deepEqual([response.status, response.failure?.code], ["cut", "stream_cut"]);
});

Deno.test("error bodies of every shape are judged by status and said in the server's words", () => {
  const rows: readonly (readonly [number, JsonValue | string, string, RegExp])[] = [
    // OpenRouter, older and newer.
    [
      429,
      { error: { code: 429, message: "Slow" }, metadata: { provider_name: "X" } },
      "rate_limited",
      /: Slow$/,
    ],
    [
      429,
      { error: { code: 429, message: "Slow" }, error_type: "rate_limit_exceeded" },
      "rate_limited",
      /: Slow$/,
    ],
    [502, { error: { code: 502, message: "Upstream" }, user_id: "u" }, "provider_failed", /: Upstream$/],
    [402, { error: { code: 402, message: "Credits" } }, "quota_exhausted", /: Credits$/],
    // vLLM: flat, its code a number.
    [
      400,
      { object: "error", message: "Bad input", type: "BadRequestError", param: null, code: 400 },
      "request_refused",
      /: Bad input$/,
    ],
    // LM Studio, Ollama and proxies: a plain string.
    [404, { error: "model 'x' not found" }, "request_refused", /: model 'x' not found$/],
    // FastAPI: a sentence, or a list without one.
    [401, { detail: "Not authenticated" }, "unauthorized", /: Not authenticated$/],
    [422, { detail: [{ loc: ["body"], msg: "field required" }] }, "request_refused", /field required/],
    // Azure's gateway in front of the API.
    [
      401,
      { statusCode: 401, message: "Access denied due to invalid key." },
      "unauthorized",
      /: Access denied due to invalid key$/,
    ],
    [429, "<html><h1>Too many</h1></html>", "rate_limited", /Too many/],
    [500, "", "provider_failed", /empty body/],
    [400, "null", "request_refused", /null/],
  ];
  for (const [status, body, code, says] of rows) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    for (const type of ["application/json", "application/octet-stream", ""]) {
      const headers = new Headers(type === "" ? {} : { "content-type": type });
      const failure = responsesApi.classify(status, headers, text);
      assert.equal(failure.code, code, text);
      assert.match(failure.message, says);
    }
  }
});

Deno.test("errors inside a stream are found in every shape", async (t) => {
  const rows: readonly (readonly [JsonObject, string, RegExp])[] = [
    [{ type: "error", error: { code: 429, message: "Slow" } }, "rate_limited", /Slow/],
    [{ type: "response.error", error: { code: "server_error", message: "Boom" } }, "provider_failed", /Boom/],
    [{ error: { code: 502, message: "Upstream" }, metadata: {} }, "provider_failed", /Upstream/],
    [{ error: "out of memory" }, "provider_failed", /out of memory/],
    [{ type: "error", message: "Flat", code: "invalid_prompt" }, "request_refused", /Flat/],
    [
      { type: "response.failed", response: { status: "failed", error: { code: null, message: "No" } } },
      "provider_failed",
      /No/,
    ],
  ];
  for (const [event, code, says] of rows) {
    await t.step(JSON.stringify(event), async () => {
      const { response } = await hear(`${lines([event])}data: [DONE]\n\n`);
      assert.deepEqual([response.status, response.failure?.code], ["failed", code]);
      assert.match(response.failure?.message ?? "", says);
    });
  }
});
