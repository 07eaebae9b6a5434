/** Members of a request that control thinking and its effort (protocol §9, §11). */
import type { JsonObject } from "../../domain/json.ts";
import { modelFacts } from "../../domain/models.ts";
import type { RequestSpec } from "../api.ts";

/** Tokens of thinking for an effort, for models that require a number. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 2048,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 24_576,
};
const LEAST_BUDGET = 1024;

/** Members of the body, and the header that one of them needs. */
export interface ThinkingWish {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** `anthropic-beta`. */
  readonly beta?: string;
}

/**
 * The members for a request. An unknown model gets only the settings that the user gave. A budget without room for an
 * answer is not sent, nor is `drop_block` if the user turned thinking off or the model has none: it needs thinking.
 */
export function thinkingWish(spec: RequestSpec, maxTokens: number): ThinkingWish {
  const { effort, summary, without } = spec;
  const kind = modelFacts(spec.model)?.thinking;
  if (kind === "none") return {};
  if (effort === "none") return { thinking: { type: "disabled" } };
  const drop = without?.has("binding_check") === true && !without.has("drop_block");
  const mode = modeOf(kind, spec, maxTokens) ?? (drop ? { type: "adaptive" } : undefined);
  if (mode === undefined) return {};
  return {
    thinking: {
      ...mode,
      ...(summary === undefined ? {} : { display: "summarized" }),
      ...(drop ? { block_binding: { prefix_mismatch_behavior: "drop_block" } } : {}),
    },
    ...(effort === undefined || kind === "budget" ? {} : { effort: effort === "minimal" ? "low" : effort }),
    ...(drop ? { beta: "thinking-binding-controls-2026-08-01" } : {}),
  };
}

function modeOf(
  kind: "adaptive" | "budget" | undefined,
  { effort, summary }: RequestSpec,
  maxTokens: number,
): JsonObject | undefined {
  if (kind === "adaptive") return { type: "adaptive" };
  if (kind === undefined) {
    return effort === undefined && summary === undefined ? undefined : { type: "adaptive" };
  }
  const budget = Math.min(BUDGETS[effort ?? ""] ?? 0, maxTokens - LEAST_BUDGET);
  return budget < LEAST_BUDGET ? undefined : { type: "enabled", budget_tokens: budget };
}
