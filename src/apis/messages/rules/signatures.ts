/** Rules on thinking: it returns unchanged, and for some models only after its original prefix (protocol §11). */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { mergedTurns, type MessagesRequest, type PlacedBlock } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { isThinking } from "./shapes.ts";

/** Everything before a thinking block, which the block is bound to. */
export interface BlockPrefix {
  readonly model: string | undefined;
  readonly system: JsonValue;
  readonly tools: JsonValue;
  /**
   * The messages before the block, with neighbours of one role joined and text as blocks. The last message is the
   * block's own, up to the block.
   */
  readonly messages: readonly { readonly role: string; readonly content: readonly JsonObject[] }[];
}

/** Verdict on a block: issued exactly so, not issued so, or issued after another prefix. */
export type SignatureVerdict = "ok" | "forged" | "bound";

/** Judges whether the server issued a thinking or redacted block, and issued it after that prefix. */
export type SignatureJudge = (block: JsonObject, prefix: BlockPrefix) => SignatureVerdict;

export interface JudgedBlock {
  readonly placed: PlacedBlock;
  readonly verdict: SignatureVerdict;
}

/** True if the request asks the server to drop blocks of another conversation, and the server knows the option. */
function dropsBlocks({ body }: MessagesRequest): boolean {
  const binding = isJsonObject(body.thinking) ? body.thinking.block_binding : undefined;
  return isJsonObject(binding) && binding.prefix_mismatch_behavior === "drop_block";
}

/** Judges every thinking block in order, each without the blocks that are dropped before it. */
export function judgedBlocks(request: MessagesRequest, judge: SignatureJudge): JudgedBlock[] {
  const { body } = request;
  const dropping = dropsBlocks(request);
  const judged: JudgedBlock[] = [];
  const before: { readonly role: string; readonly content: readonly JsonObject[] }[] = [];
  for (const { role, blocks } of mergedTurns(request.messages)) {
    const content: JsonObject[] = [];
    for (const placed of blocks) {
      const { type, block } = placed;
      if (isThinking(type) && typeof secretOf(block) === "string") {
        const verdict = judge(block, {
          model: typeof body.model === "string" ? body.model : undefined,
          system: body.system ?? null,
          tools: body.tools ?? null,
          messages: [...before, { role, content: [...content] }],
        });
        judged.push({ placed, verdict });
        if (verdict === "bound" && dropping) continue;
      }
      content.push(block);
    }
    before.push({ role, content });
  }
  return judged;
}

/** Thinking that was not issued so, or belongs to another conversation and is not dropped. */
export function unfitSignatures(request: MessagesRequest, judge: SignatureJudge): MessagesViolation[] {
  const dropping = dropsBlocks(request);
  return judgedBlocks(request, judge).flatMap(({ placed, verdict }): MessagesViolation[] => {
    if (verdict === "ok" || (verdict === "bound" && dropping)) return [];
    const { path, type } = placed;
    const secret = type === "thinking" ? "signature" : "data";
    const invalid = `${path}: Invalid \`${secret}\` in \`${type}\` block`;
    if (verdict === "forged") return [{ rule: "signature", message: invalid }];
    return [{
      rule: "signature_bound",
      message: `${invalid}. The block is bound to a different conversation. Remove the block, or set ` +
        '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    }];
  });
}

/** The part that only the server can read: the signature of thinking, the data of redacted thinking. */
function secretOf(block: JsonObject): JsonValue | undefined {
  return block.type === "thinking" ? block.signature : block.data;
}
