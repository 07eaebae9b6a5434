/**
 * The received shape of terminal events: loose, and only judging.
 *
 * @module
 */
import * as z from "zod";
import { errorSchema } from "../wire.ts";

/** The response of `response.completed`, `.incomplete` and `.failed`: the members that a client reads (§5). */
export const finalResponseSchema = z.looseObject({
  id: z.string().nullish(),
  model: z.string().nullish(),
  status: z.string().nullish(),
  output: z.array(z.looseObject({ type: z.string() })).nullish(),
  usage: z.looseObject({}).nullish(),
  error: errorSchema.nullish(),
  incomplete_details: z.looseObject({ reason: z.string().nullish() }).nullish(),
  input_transformations: z.array(z.looseObject({})).nullish(),
});
