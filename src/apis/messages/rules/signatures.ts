/** Rule on thinking: it returns unchanged (protocol §11). */
import type { JsonObject } from "../../../domain/json.ts";
import type { PlacedBlock } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { isThinking } from "./shapes.ts";

/** Thinking that the API did not issue so, by its signature or the data of redacted thinking. */
export function unfitSignatures(
  blocks: readonly PlacedBlock[],
  isIssued: (block: JsonObject) => boolean,
): MessagesViolation[] {
  return blocks.flatMap(({ path, type, block }): MessagesViolation[] => {
    // The part that only the server can read.
    const secret = type === "thinking" ? "signature" : "data";
    if (!isThinking(type) || typeof block[secret] !== "string" || isIssued(block)) return [];
    return [{ rule: "signature", message: `${path}: Invalid \`${secret}\` in \`${type}\` block` }];
  });
}
