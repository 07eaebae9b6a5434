/**
 * The received shapes that end and begin a message: loose, and only judging.
 *
 * @module
 */
import * as z from "zod";
import { isRawNumber } from "../../domain/exact_json.ts";

const count = z.union([z.number(), z.custom(isRawNumber)]).nullish();
const usageSchema = z.looseObject({
  input_tokens: count,
  output_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
});

/** The `message` of `message_start` (protocol §10): the members that a client reads. */
export const messageSchema = z.looseObject({
  id: z.string(),
  model: z.string(),
  usage: usageSchema.nullish(),
  input_transformations: z.array(z.looseObject({})).nullish(),
});

/** A `message_delta` event. */
export const messageDeltaSchema = z.looseObject({
  delta: z.looseObject({
    stop_reason: z.string().nullish(),
    stop_details: z.looseObject({
      category: z.string().nullish(),
      explanation: z.string().nullish(),
    }).nullish(),
  }),
  usage: usageSchema.nullish(),
});
