/**
 * The shapes of the turns that most sessions consist of, written out: it takes a fifth of the time of the shapes in
 * `turn_shapes.ts`, which judge all other turns and report the first mismatch.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../../domain/json.ts";
import { instant, sha256 } from "../../domain/shape.ts";
import { TURN_FORMAT } from "../../domain/turn.ts";

/** True for most turns that runs write; false for any that the shapes refuse, and for rare ones that they accept. */
export function isUsualTurn(turn: JsonObject): boolean {
  const { seq, prev, events } = turn;
  return turn.format === TURN_FORMAT && isText(turn.session) && isOrdinal(turn.turn) && isOrdinal(turn.run) &&
    Array.isArray(seq) && seq.length === 2 && isOrdinal(seq[0]) && isOrdinal(seq[1]) &&
    (prev === null || isSha256(prev)) && instant(turn.at) === null && isSha256(turn.sum) &&
    turn.redacted === undefined && hasUsualMembers(turn) &&
    Array.isArray(events) && events.length > 0 && events.every(isUsualEvent);
}

function hasUsualMembers(turn: JsonObject): boolean {
  const { model, response, request, pins } = turn;
  switch (turn.kind) {
    case "tools":
      return true;
    case "harness":
      return pins === undefined && turn.replaces === undefined;
    case "user":
      return isPins(pins);
    case "model":
      return isJsonObject(model) && isText(model.asked) &&
        (model.answered === null || isString(model.answered)) &&
        isJsonObject(response) && (response.id === null || isString(response.id)) &&
        isText(response.status) &&
        isFingerprint(turn.fingerprint) && isJsonObject(request) && isRequest(request);
    default:
      return false;
  }
}

function isRequest({ body_sha256, fold, fields, replay, guard }: JsonObject): boolean {
  return isSha256(body_sha256) && isOrdinal(fold) && isJsonObject(fields) &&
    (replay === undefined || isJsonObject(replay) && isReplay(replay)) &&
    isJsonObject(guard) && isCount(guard.sent) && Array.isArray(guard.dropped) && guard.dropped.length === 0;
}

function isReplay({ mode, window, account }: JsonObject): boolean {
  return isText(mode) && (window === null || isCount(window)) && (account === null || isString(account));
}

function isPins(pins: unknown): boolean {
  return isJsonObject(pins) && isFingerprint(pins.fingerprint) && isText(pins.model) &&
    isOptionalString(pins.effort) && isOptionalString(pins.summary) &&
    isSha256(pins.instructions) && isSha256(pins.tools) && isText(pins.workspace) &&
    Array.isArray(pins.permissions) && pins.permissions.every(isText);
}

function isFingerprint(value: unknown): boolean {
  return isJsonObject(value) && isText(value.provider) && isText(value.endpoint) &&
    (value.portless === undefined || isText(value.portless)) &&
    (value.account === null || isText(value.account)) && (value.key === undefined || isText(value.key));
}

function isUsualEvent(event: unknown): boolean {
  if (!isJsonObject(event) || !isOrdinal(event.seq)) return false;
  const { item } = event;
  switch (event.type) {
    case "user_message":
      return Array.isArray(event.content) && event.content.every(isItem);
    case "assistant_message":
    case "reasoning":
    case "provider_item":
      return isItem(item);
    case "tool_call":
      return isItem(item) && isString((item as JsonObject).call_id);
    case "tool_result":
      return event.blob === undefined && isString(event.call_id) && isOrdinal(event.call_seq) &&
        isString(event.tool) && isText(event.status) && isString(event.output);
    case "provider_usage":
      return isJsonObject(event.usage);
    case "run_ended":
      return event.error === undefined && isOrdinal(event.run) && isText(event.state) &&
        isCount(event.exit_code) && isUsage(event.usage);
    default:
      return false;
  }
}

function isItem(value: unknown): boolean {
  return isJsonObject(value) && isText(value.type);
}

function isUsage(value: unknown): boolean {
  return isJsonObject(value) && isCount(value.input_tokens) && isCount(value.cached_tokens) &&
    isCount(value.output_tokens) && isCount(value.reasoning_tokens);
}

function isSha256(value: unknown): boolean {
  return sha256(value) === null;
}

function isString(value: unknown): boolean {
  return typeof value === "string";
}

function isOptionalString(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isOrdinal(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
