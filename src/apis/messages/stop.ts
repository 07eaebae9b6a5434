/**
 * How a message ended, from its stop reason (protocol §10).
 *
 * @module
 */
import { type JsonObject, objectMember, stringMember } from "../../domain/json.ts";
import type { FinishedResponse } from "../api.ts";

/** The part of {@linkcode FinishedResponse} that the stop reason decides. */
export type StopFacts = Pick<FinishedResponse, "status" | "reason" | "paused" | "refused">;

/**
 * Reads the `delta` of a `message_delta`. An unknown reason means that the message may not be whole; so does none at
 * all. A refusal is a whole answer: its reason is what the server explains, or the category that it names.
 */
export function stopFacts(delta: JsonObject): StopFacts {
  const reason = stringMember(delta, "stop_reason");
  switch (reason) {
    case "end_turn":
    case "stop_sequence":
    case "tool_use":
      return { status: "completed", refused: false };
    case "pause_turn":
      return { status: "completed", refused: false, paused: true };
    case "refusal": {
      const details = objectMember(delta, "stop_details") ?? {};
      const why = stringMember(details, "explanation") ?? stringMember(details, "category");
      return { status: "completed", refused: true, ...(why === undefined ? {} : { reason: why }) };
    }
    default:
      return { status: "incomplete", refused: false, reason: reason ?? "no stop reason" };
  }
}
