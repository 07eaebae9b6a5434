/**
 * Shapes of values that turns and the manifest hold both. They are a module of their own because `ls` and `show` read the
 * manifest, and building the shapes of all turns takes longer than reading it.
 */
import {
  count,
  filledString,
  listOf,
  nullable,
  object,
  optional,
  ordinal,
  sha256,
  type Shape,
  string,
} from "../../domain/shape.ts";

export const usage: Shape = object({
  input_tokens: count,
  cached_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  uncounted: optional(count),
});
/** Endpoint and account, without the provider. */
export const scope = {
  endpoint: filledString,
  portless: optional(filledString),
  account: nullable(filledString),
  key: optional(filledString),
};
/** Provider, endpoint and account. */
export const fingerprint: Shape = object({ provider: filledString, ...scope });
/** Settings that a run starts with. */
export const pins: Shape = object({
  fingerprint,
  model: filledString,
  effort: optional(string),
  summary: optional(string),
  instructions: sha256,
  tools: sha256,
  permissions: listOf(filledString),
  workspace: filledString,
});

/** Position of a checkpoint and the events that it replaces. */
export const checkpointRef: Shape = object({
  turn: ordinal,
  seq: ordinal,
  to_turn: ordinal,
  to_seq: ordinal,
  opening_turn: nullable(ordinal),
});
