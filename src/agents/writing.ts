/** Facts that the writers of all agents need. */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import type { Conversation } from "./conversation.ts";

export interface Written {
  readonly conversation: Conversation;
  /** The new session's id there: a UUID. */
  readonly id: string;
  /** Time of the export, in ISO 8601 UTC. */
  readonly at: string;
  /** The directory in which the agent will be called. */
  readonly directory: string;
  /** 0 ≤ x < 1. */
  readonly random: () => number;
}

export interface AgentFile {
  /** One JSON object a line. */
  readonly lines: readonly JsonObject[];
  /** Path at which the agent looks for it, below the user's home. */
  readonly place: string;
  /** The command that continues it. */
  readonly command: string;
}

/** A random UUID (version 4). */
export function randomUuid(random: () => number): string {
  const hex = Array.from({ length: 32 }, () => Math.floor(random() * 16).toString(16));
  hex[12] = "4";
  hex[16] = "89ab"[Math.floor(random() * 4)] ?? "8";
  return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Arguments of a call as an object; other JSON becomes a member. */
export function argumentsObject(text: string): JsonObject {
  let json: JsonValue;
  try {
    json = JSON.parse(text);
  } catch {
    json = text;
  }
  return isJsonObject(json) ? json : { arguments: json };
}
