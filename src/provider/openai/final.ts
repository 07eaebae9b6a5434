/**
 * What a terminal event says about its response.
 *
 * @module
 */
import { type JsonObject, objectMember, stringMember } from "../../domain/json.ts";
import type { ApiFailure } from "../../domain/failure.ts";
import type { FinishedResponse } from "../provider.ts";
import { classifyStreamError, ownFailure } from "./failure.ts";
import { quoted } from "./message.ts";
import { finalResponseSchema, mismatchOf } from "./wire.ts";

/** The readable part of a terminal event. */
export interface FinalResponse {
  readonly status: Exclude<FinishedResponse["status"], "cut">;
  readonly reason?: string;
  readonly failure?: ApiFailure;
  readonly usage: JsonObject | null;
  /** As received: elements may be anything. */
  readonly output: readonly unknown[];
  readonly notices: readonly string[];
}

/** Reads the response of a terminal event. What does not have its shape is a notice, and read as absent. */
export function readFinal(type: string, response: JsonObject): FinalResponse {
  const mismatch = mismatchOf(finalResponseSchema, response);
  const shared = {
    usage: objectMember(response, "usage") ?? null,
    output: Array.isArray(response.output) ? response.output : [],
    notices: [
      ...(mismatch === undefined ? [] : [`The terminal event has an unknown shape at ${quoted(mismatch)}`]),
      ...removedInput(response),
    ],
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

/** Reasoning that was sent and that the server did not show to the model (§4.3). */
function removedInput(response: JsonObject): string[] {
  const list = response.input_transformations;
  if (!Array.isArray(list)) return [];
  return list.map((entry: JsonObject) => {
    const id = stringMember(entry ?? {}, "id") ?? "unnamed";
    const reason = stringMember(entry ?? {}, "reason") ?? "no reason given";
    return `The server left out the sent item ${quoted(id)}: ${quoted(reason)}`;
  });
}
