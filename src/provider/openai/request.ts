/**
 * The body of `POST /responses`.
 *
 * @module
 */
import { type JsonObject, wellFormedValue } from "../../domain/json.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import type { BuiltRequest, RequestSpec } from "../provider.ts";
import { encodeEntry } from "./items.ts";

/**
 * Builds the body. The order of its fields is fixed: `model`, `store`, `stream`, `include`, `stream_options`,
 * `prompt_cache_key`, `instructions`, `reasoning`, `tools`, `max_output_tokens`, `text`, `input`. `input` is
 * last, and each of its elements depends on its own entry alone, so that a request whose entries continue
 * those of another has the other's `input` as an exact byte prefix.
 */
export function buildRequest(spec: RequestSpec): BuiltRequest {
  const fields = wellFormedValue(fieldsOf(spec)) as JsonObject;
  return {
    path: "/responses",
    body: bodyOf(fields, spec.entries),
    fields,
    items: spec.entries.length,
  };
}

/** The body with these fields, in their order, and these entries as `input`. */
export function bodyOf(fields: JsonObject, entries: readonly FoldedEntry[]): string {
  return `${JSON.stringify(fields).slice(0, -1)},"input":[${entries.map(encodeEntry).join(",")}]}`;
}

function fieldsOf(spec: RequestSpec): JsonObject {
  const { effort, summary, maxOutputTokens, outputSchema } = spec;
  return {
    model: spec.model,
    store: false,
    stream: true,
    ...(spec.include === false ? {} : { include: ["reasoning.encrypted_content"] }),
    stream_options: { include_obfuscation: false },
    prompt_cache_key: spec.cacheKey,
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
