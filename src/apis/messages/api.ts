/** The Anthropic Messages API, stateless: every request sends the whole history. */
import { messagesCalls } from "./calls.ts";
import { accountHash } from "../../domain/fingerprint.ts";
import { apiHeaders, type RunApi } from "../api.ts";
import { MessagesAssembler } from "./assembler.ts";
import { messagesCanonical } from "./canonical.ts";
import { messagesFaults } from "./faults.ts";
import { messagesEntryNamed, messagesRefusalOf } from "./refusal.ts";
import { buildMessagesRequest, messagesPieces, messagesReasoningOf } from "./request.ts";
import { messagesRules } from "./rules/check.ts";
import { messagesStream } from "./stream.ts";

const KEY_HEADER = "x-api-key";

/** Anthropic Messages and compatible servers (protocol §9–11). */
export const messagesApi: RunApi = {
  name: "messages",
  ownsPath: (pathname) => /\/messages(?:\/count_tokens)?\/?$/.test(pathname),
  recognition: {
    path: "/v1/messages",
    ownsEvent: ({ type }) => type === "message_start",
    documentPath: ({ type }) => type === "message" || type === "error" ? "/v1/messages" : null,
    providerOf: () => "anthropic",
    createdAt: () => null,
  },
  stream: messagesStream,
  faults: messagesFaults,
  calls: messagesCalls,
  socket: null,
  canonical: messagesCanonical,
  rules: messagesRules,
  errors: {
    idHeader: "request-id",
    body: ({ type, message }, requestId) => ({
      type: "error",
      error: { type, message },
      ...(requestId === null ? {} : { request_id: requestId }),
    }),
  },
  recordedHeaders: {
    request: ["anthropic-beta", "anthropic-version"],
    response: /^anthropic-(?:version|ratelimit-[a-z0-9-]+|[a-z-]+-id)$/,
  },
  keyHeader: KEY_HEADER,
  headers: (key) => ({
    ...apiHeaders(key, KEY_HEADER),
    "anthropic-version": "2026-10-21",
  }),
  foldNeeds: {
    needsUserLast: true,
    // Any Claude model takes any block: the server drops blocks that it cannot read (protocol §11).
    carriesReasoningAcrossModels: true,
    keepsItemsWithoutReasoning: true,
    payloads: { thinking: "signature", redacted_thinking: "data", compaction: null },
    rawArgumentsAt: null,
    noPayload: "unsigned",
  },
  buildRequest: buildMessagesRequest,
  outputLimit: "max_tokens",
  reasoningOf: messagesReasoningOf,
  piecesOf: messagesPieces,
  refusalOf: messagesRefusalOf,
  entryNamed: messagesEntryNamed,
  newAssembler: () => new MessagesAssembler(),
  accountOf: (headers) => accountHash(null, headers.get("anthropic-workspace-id")),
};
