/** The body of `POST /responses`. */
import type { Omission } from "../../domain/event.ts";
import { isJsonObject, type JsonObject, stringMember } from "../../domain/json.ts";
import { wellFormedValue } from "../../domain/exact_json.ts";
import type { FoldedEntry } from "../../domain/folded.ts";
import { type BodyPiece, type BuiltRequest, joinPieces, type RequestSpec } from "../api.ts";
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
    body: joinPieces(responsesPieces(fields, spec.entries)),
    fields,
    items: spec.entries.filter((entry) => !isForeign(entry)).length,
  };
}

/** The body with these fields, in their order, and these entries as `input`. */
export function* responsesPieces(fields: JsonObject, entries: readonly FoldedEntry[]): Iterable<BodyPiece> {
  const end = "]}";
  yield { text: `${JSON.stringify(fields).slice(0, -1)},"input":[`, end, least: 0, most: 0 };
  let comma = "";
  for (const [index, entry] of entries.entries()) {
    const text = isForeign(entry) ? "" : `${comma}${encodeEntry(entry)}`;
    if (text !== "") comma = ",";
    yield { text, end, least: index + 1, most: index + 1 };
  }
}

/** True for thinking of the other API, even if the fold sends it: no server could read it. */
function isForeign(entry: FoldedEntry): boolean {
  return entry.kind === "reasoning" && entry.item.type !== "reasoning";
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

export function responsesReasoningOf({ reasoning }: JsonObject): { effort?: string; summary?: string } {
  if (!isJsonObject(reasoning)) return {};
  const [effort, summary] = [stringMember(reasoning, "effort"), stringMember(reasoning, "summary")];
  return { ...(effort === undefined ? {} : { effort }), ...(summary === undefined ? {} : { summary }) };
}
