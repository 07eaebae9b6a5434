/**
 * What a terminal event says about its response.
 *
 * @module
 */
import { type JsonObject, type JsonValue, objectMember, stringMember } from "../../domain/json.ts";
import type { ApiFailure } from "../../domain/errors.ts";
import type { FinishedResponse } from "../api.ts";
import { classifyStreamError, ownFailure } from "../failure.ts";
import { quoted } from "../message.ts";
import { mismatchOf } from "../wire.ts";
import { finalResponseSchema } from "./wire.ts";

/** The readable part of a terminal event. */
export interface FinalResponse {
  readonly status: Exclude<FinishedResponse["status"], "cut">;
  readonly reason?: string;
  readonly failure?: ApiFailure;
  readonly usage: JsonObject | null;
  /** As received: elements may be anything. */
  readonly output: readonly unknown[];
  readonly notices: readonly string[];
  /** What the server says it did to items that were sent (§4.3). */
  readonly transformations: readonly JsonValue[];
}

/** Reads the response of a terminal event. What does not have its shape is a notice, and read as absent. */
export function readFinal(type: string, response: JsonObject): FinalResponse {
  const mismatch = mismatchOf(finalResponseSchema, response);
  const shared = {
    usage: objectMember(response, "usage") ?? null,
    output: Array.isArray(response.output) ? response.output : [],
    notices: mismatch === undefined ? [] : [`The terminal event has an unknown shape at ${quoted(mismatch)}`],
    transformations: Array.isArray(response.input_transformations) ? response.input_transformations : [],
  };
  const status = statusOf(type, stringMember(response, "status"));
  switch (status) {
    case "completed":
      return { ...shared, status };
    case "incomplete": {
      const reason = stringMember(objectMember(response, "incomplete_details") ?? {}, "reason");
      return { ...shared, status, ...(reason === undefined ? {} : { reason }) };
    }
    case "failed": {
      const error = objectMember(response, "error");
      const failure = error === undefined
        ? ownFailure("provider_failed", "The provider ended the response as failed without a reason")
        : classifyStreamError(error);
      return { ...shared, status, failure };
    }
  }
}

/** The event's name decides; `response.completed` may still carry a status that says otherwise. */
function statusOf(type: string, status: string | undefined): FinalResponse["status"] {
  if (type === "response.failed" || status === "failed" || status === "cancelled") return "failed";
  return type === "response.incomplete" || status === "incomplete" ? "incomplete" : "completed";
}
