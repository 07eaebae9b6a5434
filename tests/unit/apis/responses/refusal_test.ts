import assert from "node:assert/strict";
import type { ApiFailure } from "../../../../src/domain/errors.ts";
import type { JsonObject } from "../../../../src/domain/json.ts";
import { responsesApi } from "../../../../src/apis/responses/api.ts";
import type { RequestRefusal } from "../../../../src/apis/api.ts";

/** Error of the API, and its possible repair. */
interface Row {
  readonly says: string;
  readonly param?: string | null;
  readonly code?: string | null;
  readonly type?: string | null;
  /** @default {400} */
  readonly status?: number;
  readonly refusal: RequestRefusal | null;
}

const reasoning = (ids: readonly string[], index: number | null = null): RequestRefusal => ({
  kind: "reasoning",
  ids,
  index,
});
const misplaced = (...ids: readonly string[]): RequestRefusal => ({
  kind: "misplaced_reasoning",
  ids,
  index: null,
});
const NOT_STORED =
  "Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.";

/** Every text of protocol §6.2 that means part of the history, or the wish for encrypted content. */
const RETRIED: readonly Row[] = [
  {
    says: "Item 'rs_0a1' of type 'reasoning' was provided without its required following item.",
    param: "input",
    refusal: misplaced("rs_0a1"),
  },
  ...["function_call", "message", "web_search_call", "computer_call"].map((type): Row => ({
    says: `Item 'fc_0b2' of type '${type}' was provided without its required 'reasoning' item: 'rs_0a1'.`,
    param: "input",
    refusal: misplaced("rs_0a1"),
  })),
  {
    says: "No tool output found for function call call_abc.",
    param: "input",
    refusal: { kind: "call", callId: "call_abc" },
  },
  {
    says: "No tool output found for custom tool call call_abc.",
    param: "input",
    refusal: { kind: "call", callId: "call_abc" },
  },
  {
    // The id is the last word: "found" follows "tool call" too.
    says: "No tool call found for function call output with call_id call_abc.",
    param: "input",
    refusal: { kind: "call", callId: "call_abc" },
  },
  {
    says: "No tool call found for shell call output with call_id call_abc.",
    param: "input",
    refusal: { kind: "call", callId: "call_abc" },
  },
  {
    // Call ids of other servers hold other characters.
    says: "No tool output found for function call functions.read_file:0.",
    param: "input",
    refusal: { kind: "call", callId: "functions.read_file:0" },
  },
  {
    says: "Duplicate item found with id rs_0a1. Remove duplicate items from your input and try again.",
    param: "input",
    refusal: misplaced("rs_0a1"),
  },
  {
    says: "Unknown parameter: 'input[3].status'.",
    param: "input[3].status",
    code: "unknown_parameter",
    refusal: { kind: "item", index: 3, field: "status" },
  },
  {
    // Taking off the whole of `action` would make a worse request.
    says: "Unknown parameter: 'input[3].action.queries'.",
    param: "input[3].action.queries",
    code: "unknown_parameter",
    refusal: { kind: "item", index: 3, field: null },
  },
  {
    says: "Missing required parameter: 'input[1].arguments'.",
    param: "input[1].arguments",
    code: "missing_required_parameter",
    refusal: { kind: "item", index: 1, field: null },
  },
  {
    says: "Invalid 'input[6].id': 'reasoning_content'. Expected an ID that begins with 'rs'.",
    param: "input[6].id",
    code: "invalid_value",
    refusal: { kind: "item", index: 6, field: null },
  },
  {
    says:
      "The encrypted content for item rs_0a1 could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
    code: "invalid_encrypted_content",
    refusal: reasoning(["rs_0a1"]),
  },
  {
    says:
      "The encrypted content for item rs_0a1 could not be verified. Reason: Encrypted content organization_id did not match the target organization.",
    code: "invalid_encrypted_content",
    refusal: reasoning(["rs_0a1"]),
  },
  {
    // The same without its code.
    says: "Encrypted content organization_id did not match the target organization.",
    refusal: reasoning([]),
  },
  {
    // The older text names the blob, not the item.
    says: "The encrypted content gAAA...DQ== could not be verified.",
    refusal: reasoning([]),
  },
  {
    // By its code alone, with the place in `param`.
    says: "Something went wrong.",
    code: "invalid_encrypted_content",
    param: "input[4].encrypted_content",
    refusal: reasoning([], 4),
  },
  {
    says: `Item with id 'rs_0a1' not found. ${NOT_STORED}`,
    param: "input",
    status: 404,
    refusal: reasoning(["rs_0a1"]),
  },
  { says: `Item with id 'rs_0a1' not found. ${NOT_STORED}`, param: "input", refusal: reasoning(["rs_0a1"]) },
  {
    // Several ids, each once.
    says: "Item 'rs_2' of type 'reasoning' was provided without its required following item: rs_3, rs_2.",
    param: "input",
    refusal: misplaced("rs_2", "rs_3"),
  },
  {
    says: "Encrypted content is not supported with this model.",
    param: "include",
    refusal: { kind: "field", without: "include" },
  },
  {
    says: "Encrypted content is not supported with this model.",
    refusal: { kind: "field", without: "include" },
  },
  {
    says: "Invalid value: 'reasoning.encrypted_content'.",
    param: "include[0]",
    code: "invalid_value",
    refusal: { kind: "field", without: "include" },
  },
];

/** Nothing about these can be left out. */
const LEFT_ALONE: readonly Row[] = [
  {
    says: "Unsupported parameter: 'temperature' is not supported with this model.",
    param: "temperature",
    refusal: null,
  },
  {
    says: "Invalid 'temperature': decimal below minimum value. Expected a value >= 0, but got -1 instead.",
    param: "temperature",
    code: "decimal_below_min_value",
    refusal: null,
  },
  {
    says: "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    param: "reasoning.effort",
    code: "unsupported_parameter",
    refusal: null,
  },
  {
    says: "Previous response with id 'resp_1' not found.",
    param: "previous_response_id",
    code: "previous_response_not_found",
    refusal: null,
  },
  {
    says: "The model `gpt-none` does not exist or you do not have access to it.",
    param: "model",
    code: "model_not_found",
    status: 404,
    refusal: null,
  },
  {
    says: "Your input exceeds the context window of this model.",
    param: "input",
    code: "context_length_exceeded",
    refusal: null,
  },
  {
    says: "You exceeded your current quota, please check your plan and billing details.",
    code: "insufficient_quota",
    type: "insufficient_quota",
    status: 429,
    refusal: null,
  },
  { says: "Rate limit reached for item rs_0a1.", code: "rate_limit_exceeded", status: 429, refusal: null },
  { says: "Incorrect API key provided.", code: "invalid_api_key", status: 401, refusal: null },
  // Words of reasoning, but about a field of the request, or in a class that no retry helps.
  { says: "Unsupported parameter: 'reasoning.effort' is not supported with this model.", refusal: null },
  {
    says: "Your reasoning was flagged as violating our usage policy.",
    code: "invalid_prompt",
    refusal: null,
  },
  {
    says: "The reasoning was stopped by a content filter.",
    param: "input",
    code: "content_filter",
    refusal: null,
  },
  { says: "Billing: no credit for reasoning.", code: "billing_not_active", refusal: null },
  { says: "The API key has no access to encrypted content.", code: "invalid_api_key", refusal: null },
  { says: "Your credit balance is too low for reasoning.", param: "input", refusal: null },
  { says: "The model 'x-reasoning' does not exist.", param: "input", refusal: null },
];

/** Judged by the status: the same message from a broken server is no refusal. */
const BY_STATUS: readonly Row[] = [
  {
    says: "The encrypted content for item rs_0a1 could not be verified.",
    type: "server_error",
    status: 500,
    refusal: null,
  },
  {
    says: "The encrypted content for item rs_0a1 could not be verified.",
    type: "authentication_error",
    status: 401,
    refusal: null,
  },
  // A replay that has no recording of the request.
  {
    says: "No recorded exchange matches: encrypted_content differs",
    code: "fixture_miss",
    refusal: null,
  },
  ...[402, 403, 405, 409, 413, 429, 500].map((status): Row => ({
    says: "reasoning item rs_1 expired",
    type: null,
    status,
    refusal: null,
  })),
];

for (const row of [...RETRIED, ...LEFT_ALONE, ...BY_STATUS]) {
  const { says, code = null, param = null, status = 400 } = row;
  Deno.test(`HTTP ${status}, ${code}, ${param}: "${says.slice(0, 90)}" means ${named(row.refusal)}`, () => {
    const body = JSON.stringify({ error: errorOf(row) });
    const failure = responsesApi.classify(
      status,
      new Headers({ "content-type": "application/json" }),
      body,
    );
    assert.deepEqual(responsesApi.refusalOf(failure, []), row.refusal);
  });
}

/** The shapes of an error inside a stream (protocol §3.5), with code and type and without. */
const SHAPES: readonly (readonly [string, (row: Row) => JsonObject])[] = [
  ["a flat error event", (row) => ({ ...errorOf(row), type: "error" })],
  ["a nested error event", (row) => ({ type: "error", error: errorOf(row) })],
  ["a nested error event without code and type", (row) => ({ type: "error", error: { message: row.says } })],
  ["response.failed", (row) => {
    const { message, code } = errorOf(row);
    return {
      type: "response.failed",
      response: { id: "resp_1", status: "failed", error: { code, message } },
    };
  }],
  ["response.failed as a server error", (row) => {
    const error = { code: "server_error", message: row.says };
    return { type: "response.failed", response: { id: "resp_1", status: "failed", error } };
  }],
];

for (const [shape, eventOf] of SHAPES) {
  Deno.test(`inside a stream, as ${shape}, the same message means the same`, () => {
    for (const row of RETRIED) {
      const event = eventOf(row);
      // Members that the event cannot carry cannot be read from it.
      if (row.refusal?.kind === "item" && !JSON.stringify(event).includes('"param"')) continue;
      if (/went wrong|Invalid value/.test(row.says) && !JSON.stringify(event).includes('"param"')) continue;
      assert.deepEqual(responsesApi.refusalOf(failureIn(event), []), row.refusal, row.says);
    }
    for (const row of LEFT_ALONE) {
      assert.equal(responsesApi.refusalOf(failureIn(eventOf(row)), []), null, row.says);
    }
  });
}

Deno.test("a cut stream and a failure without words lead to no retry", () => {
  const assembler = responsesApi.newAssembler();
  const [cut] = assembler.end();
  assert.ok(cut?.kind === "finished" && cut.response.failure !== undefined);
  assert.equal(responsesApi.refusalOf(cut.response.failure, []), null);
  const silent = failureIn({ type: "response.failed", response: { id: "resp_1", status: "failed" } });
  assert.equal(responsesApi.refusalOf(silent, []), null);
});

function named(refusal: RequestRefusal | null): string {
  return refusal === null ? "no retry" : `${refusal.kind} refused`;
}

function errorOf({ says, code = null, param = null, type = "invalid_request_error" }: Row): JsonObject {
  return { message: says, type, param, code };
}

function failureIn(event: JsonObject): ApiFailure {
  const assembler = responsesApi.newAssembler();
  const updates = [
    ...assembler.feed({ event: String(event.type), data: JSON.stringify(event) }),
    ...assembler.end(),
  ];
  const finished = updates.find((update) => update.kind === "finished");
  assert.ok(finished?.response.failure !== undefined, JSON.stringify(event));
  return finished.response.failure;
}
