/**
 * The received shapes that are judged as a whole: terminal events and error bodies. Loose, because servers add
 * fields without notice; and only judging: what is stored and sent is the parsed JSON, never zod's output.
 *
 * @module
 */
import * as z from "zod";

/** An error as it stands in bodies, in `error` events and in failed responses (protocol §3.5, §6.1). */
export const errorSchema = z.looseObject({
  message: z.string().nullish(),
  type: z.string().nullish(),
  /** OpenRouter puts the HTTP status here, as a number. */
  code: z.union([z.string(), z.number()]).nullish(),
  param: z.string().nullish(),
});

/** The body of an answer that is not 2xx: `{error: {…}}`; some proxies put a plain string there. */
export const errorBodySchema = z.looseObject({ error: z.union([errorSchema, z.string()]) });

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

/** What `value` breaks of `schema`, as `path: problem`; `undefined` when it fits. */
export function mismatchOf(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue === undefined ? undefined : `${issue.path.join(".") || "value"}: ${issue.message}`;
}
