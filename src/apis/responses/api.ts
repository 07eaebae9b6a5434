/** The OpenAI Responses API, stateless: every request sends the whole history, and the provider stores nothing. */
import { responsesCalls } from "./calls.ts";
import { accountHash, endpointHashes, type ProviderKind } from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, numberMember, plainText, stringMember } from "../../domain/json.ts";
import { openaiServers } from "../openai.ts";
import { apiHeaders, type RunApi } from "../api.ts";
import { ResponsesAssembler } from "./assembler.ts";
import { responsesCanonical } from "./canonical.ts";
import { responsesFaults } from "./faults.ts";
import { responsesEntryNamed, responsesRefusalOf } from "./refusal.ts";
import { buildResponsesRequest, responsesPieces, responsesReasoningOf } from "./request.ts";
import { responsesRules } from "./rules/check.ts";
import { responsesSocket } from "./socket/socket.ts";
import { responsesStream } from "./stream.ts";

/** OpenAI Responses, also of Azure and compatible servers (protocol §1–7, §12). */
export const responsesApi: RunApi = {
  ...openaiServers,
  name: "responses",
  ownsPath: (pathname) => /\/responses(?:\/[^/]+)?\/?$/.test(pathname),
  recognition: {
    path: "/v1/responses",
    ownsEvent: ({ type }) => type?.startsWith("response.") === true,
    documentPath,
    providerOf,
    createdAt(response) {
      const seconds = numberMember(response, "created_at");
      return seconds === undefined ? null : Math.round(seconds * 1000);
    },
  },
  stream: responsesStream,
  faults: responsesFaults,
  calls: responsesCalls,
  socket: responsesSocket,
  canonical: responsesCanonical,
  rules: responsesRules,
  headers: (key) => apiHeaders(key, openaiServers.keyHeader),
  foldNeeds: {
    needsUserLast: false,
    carriesReasoningAcrossModels: false,
    // A hosted item has an id that makes the server demand the reasoning before it (protocol §2.4).
    keepsItemsWithoutReasoning: false,
    payloads: { reasoning: "encrypted_content", compaction: "encrypted_content" },
    rawArgumentsAt: endpointHashes(new URL("https://api.openai.com/v1")).endpoint,
    noPayload: "no_encrypted_content",
  },
  buildRequest: buildResponsesRequest,
  outputLimit: "max_output_tokens",
  reasoningOf: responsesReasoningOf,
  piecesOf: responsesPieces,
  refusalOf: responsesRefusalOf,
  entryNamed: responsesEntryNamed,
  newAssembler: () => new ResponsesAssembler(),
  accountOf: (headers) => accountHash(headers.get("openai-organization"), headers.get("openai-project")),
};

/** Recognises a response, a compaction, a count of tokens, and an error without the `type` of another API. */
function documentPath({ object, type, error }: JsonObject): string | null {
  if (type === "message" || type === "error") return null;
  if (object === "response.compaction") return "/v1/responses/compact";
  return isJsonObject(error) || /^response(\.|$)/.test(plainText(object)) ? "/v1/responses" : null;
}

/**
 * Azure adds `content_filters` (protocol §4.6), on some servers to the last event only. Only OpenAI's own servers issue
 * ids that begin with `resp_`.
 */
function providerOf(responses: readonly JsonObject[]): ProviderKind {
  if (responses.some(({ content_filters: filters }) => filters !== undefined)) return "azure";
  return stringMember(responses[0] ?? {}, "id")?.startsWith("resp_") === true ? "openai" : "compatible";
}
