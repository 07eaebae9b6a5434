/** The body of `POST /responses`. */
import type { Omission } from "../../domain/event.ts";
import { isJsonObject, type JsonObject, stringMember, wellFormedValue } from "../../domain/json.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import type { BuiltRequest, RequestSpec } from "../api.ts";
import { encodeEntry } from "./items.ts";

/**
 * Builds the body. The order of its fields is fixed: `model`, `store`, `stream`, `include`, `stream_options`,
 * `prompt_cache_key`, `instructions`, `reasoning`, `tools`, `max_output_tokens`, `text`, `input`. `input` is
 * last, and each element depends on its own entry only. So if the entries of a request continue those of an earlier
 * one, the earlier `input` is an exact byte prefix of the new one.
 */
export function buildResponsesRequest(spec: RequestSpec): BuiltRequest {
  const fields = wellFormedValue(fieldsOf(spec)) as JsonObject;
  return {
    path: "/responses",
    body: responsesBodyOf(fields, spec.entries),
    fields,
    items: sent(spec.entries).length,
  };
}

/** The body with these fields, in their order, and these entries as `input`. */
export function responsesBodyOf(fields: JsonObject, entries: readonly FoldedEntry[]): string {
  return `${JSON.stringify(fields).slice(0, -1)},"input":[${sent(entries).map(encodeEntry).join(",")}]}`;
}

/** True for thinking of the other API, even if the fold sends it: no server could read it. */
function isForeign(entry: FoldedEntry): boolean {
  return entry.kind === "reasoning" && entry.item.type !== "reasoning";
}

function sent(entries: readonly FoldedEntry[]): readonly FoldedEntry[] {
  return entries.some(isForeign) ? entries.filter((entry) => !isForeign(entry)) : entries;
}

function fieldsOf(spec: RequestSpec): JsonObject {
  const { effort, summary, maxOutputTokens, outputSchema } = spec;
  const goes = (field: Omission) => spec.without?.has(field) !== true;
  return {
    model: spec.model,
    store: false,
    stream: true,
    ...(goes("include") ? { include: ["reasoning.encrypted_content"] } : {}),
    ...(goes("stream_options") ? { stream_options: { include_obfuscation: false } } : {}),
    ...(goes("prompt_cache_key") ? { prompt_cache_key: spec.cacheKey } : {}),
    ...(spec.instructions === "" ? {} : { instructions: spec.instructions }),
    ...(effort === undefined && summary === undefined ? {} : {
      reasoning: {
        ...(effort === undefined ? {} : { effort }),
        ...(summary === undefined ? {} : { summary }),
      },
    }),
    ...(spec.tools.length === 0 ? {} : { tools: spec.tools }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(outputSchema === undefined ? {} : { text: { format: { type: "json_schema", ...outputSchema } } }),
  };
}

/** Returns the effort and the summary that a body asks for. */
export function responsesReasoningOf({ reasoning }: JsonObject): { effort?: string; summary?: string } {
  if (!isJsonObject(reasoning)) return {};
  const [effort, summary] = [stringMember(reasoning, "effort"), stringMember(reasoning, "summary")];
  return { ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) };
}
