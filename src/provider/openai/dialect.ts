/**
 * The OpenAI Responses dialect, stateless: the whole history goes out, nothing is stored at the provider.
 *
 * @module
 */
import { ReprError } from "../../domain/errors.ts";
import { NO_USAGE, type Usage } from "../../domain/event.ts";
import { type JsonObject, numberMember, objectMember } from "../../domain/json.ts";
import type { Dialect } from "../provider.ts";
import { ResponsesAssembler } from "./assembler.ts";
import { classifyAnswer } from "./failure.ts";
import { refusalOf } from "./refusal.ts";
import { bodyOf, buildRequest } from "./request.ts";

/** OpenAI Responses, and every server that speaks it (protocol §1–7, §12). */
export const openaiResponses: Dialect = {
  kind: "openai",
  headers,
  buildRequest,
  bodyOf,
  refusalOf,
  newAssembler: () => new ResponsesAssembler(),
  classify: classifyAnswer,
  usageOf,
};

function headers(key: string | null): Record<string, string> {
  const fixed = { "content-type": "application/json", "accept": "text/event-stream" };
  if (key === null) return fixed;
  // The runtime's own error for a bad header value quotes the value: the key must not get that far.
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new ReprError(
      "bad_configuration",
      "Cannot use the API key: it is empty or holds a character that a header cannot carry",
      { hint: "Set OPENAI_API_KEY again, without spaces, quotes or line ends" },
    );
  }
  return { authorization: `Bearer ${key}`, ...fixed };
}

function usageOf(usage: JsonObject): Usage {
  const input = objectMember(usage, "input_tokens_details") ?? {};
  const output = objectMember(usage, "output_tokens_details") ?? {};
  return {
    ...NO_USAGE,
    input_tokens: countOf(usage, "input_tokens"),
    cached_tokens: countOf(input, "cached_tokens"),
    output_tokens: countOf(usage, "output_tokens"),
    reasoning_tokens: countOf(output, "reasoning_tokens"),
  };
}

function countOf(object: JsonObject, name: string): number {
  return Math.max(0, numberMember(object, name) ?? 0);
}
