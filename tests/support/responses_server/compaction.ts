import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import type { Mint } from "./mint.ts";
import type { ScriptedResponse } from "./script.ts";

/** The answer of `/responses/compact`: what the user said as it was, all else in one blob (protocol §8.1). */
export function compacted(body: JsonValue, mint: Mint): ScriptedResponse {
  const { input, model } = isJsonObject(body) ? body : {};
  const responseId = mint.responseId();
  const said = Array.isArray(input) ? input.filter(isJsonObject).filter(({ role }) => role === "user") : [];
  const kept = said.map(({ content }): JsonObject => ({
    id: mint.itemId("msg"),
    type: "message",
    status: "completed",
    content: typeof content === "string" ? [{ type: "input_text", text: content }] : content ?? [],
    role: "user",
  }));
  const id = mint.itemId("cmp");
  const { done } = mint.seal(id, String(model), responseId);
  const answer = {
    id: responseId,
    object: "response.compaction",
    created_at: 1_790_000_000,
    output: [...kept, { id, type: "compaction", encrypted_content: done }],
    usage: { input_tokens: 156, output_tokens: 190, total_tokens: 346 },
  };
  return {
    kind: "http",
    status: 200,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(answer),
  };
}
