/** The body of `POST /messages`. */
import type { FoldedEntry } from "../../domain/folded.ts";
import { isJsonObject, type JsonObject, type JsonValue, stringMember } from "../../domain/json.ts";
import { wellFormedValue } from "../../domain/exact_json.ts";
import { modelFacts } from "../../domain/models.ts";
import { type BodyPiece, type BuiltRequest, joinPieces, type RequestSpec } from "../api.ts";
import { layoutOf } from "./layout.ts";
import { encodeElement } from "../names.ts";
import { isBlank } from "./render.ts";

/** Output tokens of a request, thinking included; the API requires a number. */
const MAX_TOKENS = 32_000;
const EPHEMERAL = { type: "ephemeral" };
/** Members of blocks that only the server can read. */
const UNTOUCHED = ["signature", "data"];

/**
 * Builds the body. The order of its fields is fixed: `model`, `max_tokens`, `stream`, `cache_control`, `thinking`,
 * `output_config`, `system`, `tools`, `messages`. The cache breakpoint at the end of the history is the top-level one,
 * which moves by itself: later messages change no earlier message.
 *
 * So if the entries of a request continue those of an earlier one, its body begins with the earlier body's bytes, up to
 * the end of the `content` of the earlier last message. That message grows if the first new entries have its role. The
 * exception is a late result, whose call is followed by other user blocks already: the result goes before these blocks.
 */
export function buildMessagesRequest(spec: RequestSpec): BuiltRequest {
  const maxTokens = maxTokensOf(spec);
  const wish = thinkingWish(spec, maxTokens);
  const fields = wellFormedValue(fieldsOf(spec, maxTokens, wish)) as JsonObject;
  const pieces = [...messagesPieces(fields, spec.entries)];
  return {
    path: "/messages",
    ...(wish.beta === undefined ? {} : { headers: { "anthropic-beta": wish.beta } }),
    body: joinPieces(pieces),
    fields,
    items: pieces.length - 1,
  };
}

/** The body with these fields, in their order, and these entries as `messages`. */
export function* messagesPieces(fields: JsonObject, entries: readonly FoldedEntry[]): Iterable<BodyPiece> {
  const wireFields = Object.fromEntries(Object.entries(fields).map(wireField));
  const messages = layoutOf(entries);
  const places = messages.flatMap(({ blocks }) => blocks.map(({ entry }) => entry));
  // The first entry of which a block follows: a late result goes before blocks of earlier entries.
  const following = places.map(() => entries.length);
  for (let at = places.length - 1; at > 0; at--) {
    following[at - 1] = Math.min(following[at] ?? 0, places[at] ?? 0);
  }
  const most = Math.min(entries.length, ...places.slice(0, 1), ...following.slice(0, 1));
  yield { text: `${JSON.stringify(wireFields).slice(0, -1)},"messages":[`, end: "]}", least: 0, most };
  let [at, least] = [0, 0];
  for (const [number, { role, blocks }] of messages.entries()) {
    let before = `${number === 0 ? "" : "]},"}{"role":"${role}","content":[`;
    for (const { entry, block } of blocks) {
      least = Math.max(least, entry + 1);
      yield {
        text: `${before}${encodeElement(block, UNTOUCHED)}`,
        end: "]}]}",
        least,
        most: following[at++] ?? 0,
      };
      before = ",";
    }
  }
}

function wireField([name, value]: [string, JsonValue | undefined]): [string, JsonValue | undefined] {
  if (name === "instructions") {
    return ["system", [{ type: "text", text: value ?? "", cache_control: EPHEMERAL }]];
  }
  if (name === "tools" && Array.isArray(value)) return [name, value.filter(isJsonObject).map(wireTool)];
  return [name, value];
}

function wireTool({ name, description, parameters, strict }: JsonObject): JsonObject {
  return {
    name,
    description,
    input_schema: parameters,
    ...(strict === true ? { strict } : {}),
  };
}

function fieldsOf(spec: RequestSpec, maxTokens: number, { thinking, effort }: ThinkingWish): JsonObject {
  const { outputSchema } = spec;
  const format = outputSchema === undefined ? {} : {
    format: { type: "json_schema", schema: outputSchema.schema },
  };
  const config = { ...(effort === undefined ? {} : { effort }), ...format };
  return {
    model: spec.model,
    max_tokens: maxTokens,
    stream: true,
    cache_control: EPHEMERAL,
    ...(thinking === undefined ? {} : { thinking }),
    ...(Object.keys(config).length === 0 ? {} : { output_config: config }),
    ...(isBlank(spec.instructions) ? {} : { instructions: spec.instructions }),
    ...(spec.tools.length === 0 ? {} : { tools: spec.tools }),
  };
}

function maxTokensOf({ model, maxOutputTokens }: RequestSpec): number {
  return Math.min(
    MAX_TOKENS,
    modelFacts(model)?.maxOutputTokens ?? MAX_TOKENS,
    maxOutputTokens ?? MAX_TOKENS,
  );
}

/** Returns the effort and the summary that a body asks for. Any summary that `run` takes asks for the same display. */
export function messagesReasoningOf({ output_config: config, thinking }: JsonObject): {
  effort?: string;
  summary?: string;
} {
  const isShown = isJsonObject(thinking) && thinking.display === "summarized";
  const isOff = isJsonObject(thinking) && thinking.type === "disabled";
  const effort = isOff ? "none" : isJsonObject(config) ? stringMember(config, "effort") : undefined;
  return { ...(effort === undefined ? {} : { effort }), ...(isShown ? { summary: "auto" } : {}) };
}

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
interface ThinkingWish {
  readonly thinking?: JsonObject;
  readonly effort?: string;
  /** `anthropic-beta`. */
  readonly beta?: string;
}

/**
 * The members for a request. An unknown model gets only the settings that the user gave. A budget without room for an
 * answer is not sent, nor is `drop_block` if the user turned thinking off or the model has none: it needs thinking.
 */
function thinkingWish(spec: RequestSpec, maxTokens: number): ThinkingWish {
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
