/**
 * Rules of the Responses API about the whole input of a request (protocol §2.4, §4, §6.2), written apart from those of
 * the program so that each can show mistakes of the other.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import type { Issuer } from "../responses_server/issuer.ts";

/** Error object of the API. */
export interface ApiError {
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly param: string | null;
}

/** Items issued by a server. */
export type Issued = Pick<Issuer, "blobs" | "reasoningOf">;

/** Returns an error of a request, `param` and `code` null by default. */
export function apiError(
  message: string,
  { param = null, code = null }: Partial<Pick<ApiError, "param" | "code">> = {},
): ApiError {
  return { type: "invalid_request_error", code, message, param };
}

/** Items of `input`; a text is one message of the user. */
export function itemsOf(input: JsonValue | undefined): JsonObject[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input.filter(isJsonObject) : [];
}

/** Finds the first violation in a whole input; a warm-up may end with open calls. */
export function findViolation(
  input: readonly JsonObject[],
  issued: Issued,
  generates: boolean,
): ApiError | null {
  return findDuplicate(input) ?? findUnpaired(input, generates) ?? findBadBlob(input, issued) ??
    findSeparated(input, issued);
}

function findDuplicate(input: readonly JsonObject[]): ApiError | null {
  const ids = new Set<string>();
  for (const { id, type } of input) {
    if (typeof id !== "string" || type === "item_reference") continue;
    if (ids.has(id)) {
      return apiError(
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
        { param: "input" },
      );
    }
    ids.add(id);
  }
  return null;
}

const CALLS: Readonly<Record<string, string>> = {
  function_call_output: "function_call",
  custom_tool_call_output: "custom_tool_call",
};

function findUnpaired(input: readonly JsonObject[], generates: boolean): ApiError | null {
  const open = new Map<string, JsonObject>();
  for (const item of input) {
    const callId = String(item.call_id);
    const type = String(item.type);
    if (Object.values(CALLS).includes(type)) open.set(callId, item);
    const wanted = CALLS[type];
    if (wanted === undefined) continue;
    if (open.get(callId)?.type !== wanted) {
      return apiError(`No tool call found for ${worded(wanted)} output with call_id ${callId}.`, {
        param: "input",
      });
    }
    open.delete(callId);
  }
  for (const [callId, { type }] of generates ? open : []) {
    return apiError(`No tool output found for ${worded(String(type))} ${callId}.`, { param: "input" });
  }
  return null;
}

function worded(type: string): string {
  return type === "function_call" ? "function call" : "custom tool call";
}

function findBadBlob(input: readonly JsonObject[], { blobs }: Issued): ApiError | null {
  for (const { id, type, encrypted_content: blob } of input) {
    if ((type !== "reasoning" && type !== "compaction") || typeof blob !== "string") continue;
    const candidates = id === undefined ? [...blobs.values()] : [blobs.get(String(id))];
    if (candidates.some((forms) => forms?.done === blob || forms?.completed === blob)) continue;
    return apiError(
      `The encrypted content for item ${id} could not be verified. Reason: Encrypted content could not be ` +
        "decrypted or parsed.",
      { code: "invalid_encrypted_content" },
    );
  }
  return null;
}

/** Item types that only a client writes. */
const OF_CLIENT = /_output$/;

function findSeparated(input: readonly JsonObject[], { reasoningOf }: Issued): ApiError | null {
  const before = new Set<JsonValue | undefined>();
  for (const [index, item] of input.entries()) {
    const { id, type, role } = item;
    if (type === "reasoning") {
      before.add(id);
      const next = input[index + 1];
      const follows = next !== undefined && !OF_CLIENT.test(String(next.type)) &&
        (next.role === undefined || next.role === "assistant");
      if (!follows) {
        return apiError(
          `Item '${id}' of type 'reasoning' was provided without its required following item.`,
          { param: "input" },
        );
      }
      continue;
    }
    const needed = typeof id === "string" ? reasoningOf.get(id) : undefined;
    if (needed === undefined || before.has(needed)) continue;
    return apiError(
      `Item '${id}' of type '${
        type ?? (role === undefined ? "item" : "message")
      }' was provided without its ` +
        `required 'reasoning' item: '${needed}'.`,
      { param: "input" },
    );
  }
  return null;
}
