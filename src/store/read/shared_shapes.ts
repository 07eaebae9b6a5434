/**
 * Shapes of values that turns and the manifest hold both. They are a module of their own because `ls` and `show` read the
 * manifest, and building the shapes of all turns takes longer than reading it.
 */
import {
  count,
  list,
  nullable,
  object,
  optional,
  ordinal,
  sha256,
  type Shape,
  string,
  text,
} from "../../domain/shape.ts";

/** Token counts. */
export const usage: Shape = object({
  input_tokens: count,
  cached_tokens: count,
  output_tokens: count,
  reasoning_tokens: count,
  uncounted: optional(count),
});
/** Endpoint and account, without the provider. */
export const scope = {
  endpoint: text,
  portless: optional(text),
  account: nullable(text),
  key: optional(text),
};
/** Provider, endpoint and account. */
export const fingerprint: Shape = object({ provider: text, ...scope });
/** Settings that a run starts with. */
export const pins: Shape = object({
  fingerprint,
  model: text,
  effort: optional(string),
  summary: optional(string),
  instructions: sha256,
  tools: sha256,
  permissions: list(text),
  workspace: text,
});

/** Position of a checkpoint and the events that it replaces. */
export const checkpointRef: Shape = object({
  turn: ordinal,
  seq: ordinal,
  to_turn: ordinal,
  to_seq: ordinal,
  opening_turn: nullable(ordinal),
});
