/**
 * Received error shapes, which all APIs share. Loose, because servers add fields without notice. The schemas
 * only judge: the parsed JSON is stored and sent, never zod's output.
 */
import * as z from "zod";

/** An error in bodies, `error` events and failed responses (protocol §3.5, §6.1). */
export const errorSchema = z.lazy(() =>
  z.looseObject({
    message: z.string().nullish(),
    type: z.string().nullish(),
    /** OpenRouter puts the HTTP status here, as a number. */
    code: z.union([z.string(), z.number()]).nullish(),
    param: z.string().nullish(),
  })
);

/** The first mismatch of `value` with `schema`, as `path: problem`; `undefined` if it matches. */
export function mismatchOf(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  return issue === undefined ? undefined : `${issue.path.join(".") || "value"}: ${issue.message}`;
}
