/** Refusals in words of no documentation, and members that an item can do without. */
import assert from "node:assert/strict";
import type { FoldedEntry } from "../../../../src/domain/folded.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { RequestRefusal } from "../../../../src/apis/api.ts";

/** Error of a server, and its expected meaning. */
interface Row {
  readonly says: string;
  readonly param?: string | null;
  readonly code?: string;
  readonly type?: string | null;
  /** @default {400} */
  readonly status?: number;
  readonly refusal: RequestRefusal | null;
}

const likely = (...ids: readonly string[]): RequestRefusal => ({ kind: "likely_reasoning", ids });
/** Guesses about other texts: the id, the place or the subject that they name, or nothing known. */
const GUESSED: readonly Row[] = [
  { says: "reasoning item rs_1 expired", refusal: likely("rs_1") },
  { says: "reasoning item rs_12 expired", refusal: likely() },
  { says: "Item tmp-1 is too old.", param: "input", code: "item_expired", refusal: likely("tmp-1") },
  { says: "Item msg_1 cannot be used.", param: "input", status: 422, refusal: likely("msg_1") },
  { says: "encrypted_content too old", status: 422, refusal: likely() },
  { says: "The reasoning content could not be decrypted.", param: "input", refusal: likely() },
  { says: "Invalid signature.", param: "input[2]", refusal: { kind: "item", index: 2, field: null } },
  { says: "Its reasoning is missing.", param: "input[0]", refusal: likely() },
  { says: "You do not have permission to use reasoning item rs_1", param: "input", refusal: likely("rs_1") },
  { says: "Item tmp-1: no permission", refusal: likely("tmp-1") },
  { says: "encrypted content unauthorized for this organization", param: "input", refusal: likely() },
  {
    says: "Reasoning item from model gpt-5.6 is not supported by model gpt-6",
    param: "input[1]",
    refusal: { kind: "item", index: 1, field: null },
  },
  { says: "reasoning: permission denied for project", param: null, refusal: null },
  { says: "No permission to use this key", param: "input", refusal: null },
  {
    says: "Unsupported value: 'reasoning.effort' does not support 'minimal' with this model.",
    code: "unsupported_value",
    refusal: null,
  },
  { says: "Unsupported value: 'input' does not support 'reasoning'", refusal: likely() },
  { says: "Unsupported value: 'rs_1'", refusal: likely("rs_1") },
  { says: "Model gpt-9 does not exist", param: "model", status: 404, refusal: null },
  { says: "rs_1 is not there", param: "input", code: "model_not_found", refusal: null },
  { says: "rs_1 was flagged by our usage policy", param: "input", refusal: null },
  { says: "rs_1 exceeds your quota", param: "input", refusal: null },
  { says: "Bad Request", type: null, refusal: { kind: "unknown" } },
  { says: "invalid", code: "invalid_prompt", refusal: { kind: "unknown" } },
  {
    says: "Duplicate item found with id tsc_1. Remove duplicate items from your input and try again.",
    param: "input",
    refusal: { kind: "unknown" },
  },
  {
    says: `Item with id 'msg_0' not found. Items are not persisted.`,
    param: "input",
    status: 404,
    refusal: { kind: "unknown" },
  },
  {
    says: "Invalid type for 'input': expected an array.",
    param: "input",
    code: "invalid_type",
    refusal: { kind: "unknown" },
  },
];

/** Entries of a request, for those that look into it. */
const SENT: readonly FoldedEntry[] = [
  { kind: "user_message", content: [{ type: "input_text", text: "a" }] },
  { kind: "reasoning", item: { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "g" } },
  { kind: "reasoning", item: { type: "reasoning", id: "tmp-1", summary: [], encrypted_content: "g" } },
  {
    kind: "assistant_message",
    keepId: true,
    item: { type: "message", id: "msg_1", role: "assistant", content: [] },
  },
];

for (
  const { says, code = null, param = null, type = "invalid_request_error", status = 400, refusal } of GUESSED
) {
  const taken = refusal?.kind ?? "nothing";
  Deno.test(`HTTP ${status}, ${code}, ${param}: "${says.slice(0, 90)}" is taken for ${taken}`, () => {
    const body = JSON.stringify({ error: { message: says, type, param, code } });
    const failure = responsesApi.classify(status, new Headers(), body);
    assert.deepEqual(responsesApi.refusalOf(failure, SENT), refusal);
  });
}

Deno.test("inside a stream an unknown message counts as over HTTP, unless it is of a fault", () => {
  const refusalIn = (error: JsonObject) => {
    const event = { type: "response.failed", response: { id: "r", error } };
    const [finished] = responsesApi.newAssembler().feed({
      event: event.type,
      data: JSON.stringify(event),
    });
    assert.ok(finished?.kind === "finished" && finished.response.failure !== undefined);
    return responsesApi.refusalOf(finished.response.failure, SENT);
  };
  const says = "reasoning item rs_1 expired";
  for (const code of [null, "item_expired", "invalid_request_error", "invalid_prompt"]) {
    assert.deepEqual(refusalIn({ code, message: says }), likely("rs_1"), String(code));
  }
  assert.equal(refusalIn({ code: "server_error", message: says }), null);
  assert.equal(refusalIn({ code: "fixture_miss", message: says }), null);
  for (const code of [null, "stale_blob", "invalid_request_error"]) {
    assert.deepEqual(refusalIn({ code, message: "Bad" }), { kind: "unknown" }, String(code));
  }
  assert.equal(refusalIn({ code: "server_error", message: "Bad" }), null);
  for (
    const message of ["An error occurred. You can retry.", "The engine is overloaded", "Request timed out"]
  ) {
    assert.equal(refusalIn({ code: "stale_blob", message }), null, message);
    assert.deepEqual(refusalIn({ code: "invalid_prompt", message }), { kind: "unknown" }, message);
  }
});

Deno.test("bodies of FastAPI servers are read: their messages, and the place that they name", async (t) => {
  const bodies: [JsonObject, RequestRefusal | null][] = [
    [{ detail: "reasoning item rs_1 expired" }, likely("rs_1")],
    [{ detail: "Bad Request" }, { kind: "unknown" }],
    [{ detail: { message: "encrypted_content too old" } }, likely()],
    [
      { detail: [{ type: "value_error", loc: ["body", "input", 1], msg: "Value error, expired" }] },
      { kind: "item", index: 1, field: null },
    ],
    [
      {
        detail: [
          { type: "string_type", loc: ["body", "input", "str"], msg: "Input should be a valid string" },
          {
            type: "extra_forbidden",
            loc: ["body", "input", "list[union[Message,Reasoning]]", 3, "Message", "phase"],
            msg: "Extra inputs are not permitted",
          },
        ],
      },
      { kind: "item", index: 3, field: "phase" },
    ],
    [{ detail: [{ type: "missing", loc: ["body", "model"], msg: "Field required" }] }, null],
    [{ detail: "Invalid API key" }, null],
  ];
  const phased: readonly FoldedEntry[] = SENT.map((entry) =>
    entry.kind === "assistant_message" ? { ...entry, item: { ...entry.item, phase: "commentary" } } : entry
  );
  for (const [body, refusal] of bodies) {
    const text = JSON.stringify(body);
    await t.step(text, () => {
      const failure = responsesApi.classify(422, new Headers(), text);
      assert.deepEqual(responsesApi.refusalOf(failure, phased), refusal);
    });
  }
  const problems = [
    { loc: ["body", "input", 1, "id"], msg: "Expired" },
    { loc: ["body"], msg: "Bad" },
  ];
  const { message } = responsesApi.classify(400, new Headers(), JSON.stringify({ detail: problems }));
  assert.equal(
    message,
    'The API refused the request (HTTP 400, parameter "input[1].id"): Expired (input[1].id); Bad',
  );
});

Deno.test("an unknown member is what the item is sent with and can do without; any other costs the item", () => {
  const entries: readonly FoldedEntry[] = [
    {
      kind: "reasoning",
      item: { type: "reasoning", id: "rs_1", summary: [], content: [{ type: "reasoning_text", text: "t" }] },
    },
    {
      kind: "assistant_message",
      keepId: false,
      item: { type: "message", id: "msg_1", role: "assistant", content: [], phase: "final_answer" },
    },
    {
      kind: "tool_call",
      callId: "c",
      item: { type: "function_call", name: "f", arguments: "{}", namespace: "n", status: "completed" },
    },
  ];
  const rows: [string, string | null][] = [
    ["input[0].content", "content"],
    ["input[0].status", null],
    ["input[0].summary", null],
    ["input[0].encrypted_content", null],
    ["input[1].phase", "phase"],
    ["input[1].content", null],
    // It is not sent.
    ["input[1].id", null],
    ["input[2].namespace", "namespace"],
    ["input[2].status", null],
    ["input[2].arguments", null],
  ];
  for (const [param, field] of rows) {
    const error = { message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter", type: null };
    const failure = responsesApi.classify(400, new Headers(), JSON.stringify({ error }));
    const index = Number(param[6]);
    assert.deepEqual(responsesApi.refusalOf(failure, entries), { kind: "item", index, field }, param);
  }
});
