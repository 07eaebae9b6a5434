/**
 * The OpenAI Responses API, stateless: the whole history goes out, nothing is stored at the provider.
 *
 * @module
 */
import { NO_USAGE, type Usage } from "../../domain/event.ts";
import { accountHash } from "../../domain/fingerprint.ts";
import { countMember, type JsonObject, objectMember } from "../../domain/json.ts";
import { classifyAnswer } from "../failure.ts";
import { keyHeaders } from "../key.ts";
import type { Api } from "../api.ts";
import { ResponsesAssembler } from "./assembler.ts";
import { refusalOf } from "./refusal.ts";
import { bodyOf, bodyPieces, buildRequest } from "./request.ts";

/** OpenAI Responses, on Azure too, and every server that speaks it (protocol §1–7, §12). */
export const responsesApi: Api = {
  name: "responses",
  providers: ["openai", "azure", "compatible"],
  ownsPath: (pathname) => /\/responses(?:\/[^/]+)?$/.test(pathname),
  headers: (key) => ({
    ...keyHeaders(key, "api-key"),
    "content-type": "application/json",
    "accept": "text/event-stream",
  }),
  buildRequest,
  bodyOf,
  bodyPieces,
  refusalOf,
  newAssembler: () => new ResponsesAssembler(),
  accountOf: (headers) => accountHash(headers.get("openai-organization"), headers.get("openai-project")),
  classify: classifyAnswer,
  usageOf,
};

function usageOf(usage: JsonObject): Usage {
  const input = objectMember(usage, "input_tokens_details") ?? {};
  const output = objectMember(usage, "output_tokens_details") ?? {};
  return {
    ...NO_USAGE,
    input_tokens: countMember(usage, "input_tokens"),
    cached_tokens: countMember(input, "cached_tokens"),
    output_tokens: countMember(usage, "output_tokens"),
    reasoning_tokens: countMember(output, "reasoning_tokens"),
  };
}
