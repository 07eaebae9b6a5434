/**
 * The script with zod, for the parts of the program: what their modules use of it, since the whole of zod has four times
 * as much code. A test compares this list with the sources.
 */
import { config } from "zod/core";

export {
  array,
  boolean,
  custom,
  discriminatedUnion,
  enum,
  instanceof,
  int,
  iso,
  lazy,
  literal,
  looseObject,
  number,
  object,
  partialRecord,
  record,
  strictObject,
  string,
  toJSONSchema,
  tuple,
  union,
  unknown,
} from "zod";
export { toDotPath } from "zod/core";

// zod would compile a function for each schema at its first use, which pays off after a thousand uses only.
config({ jitless: true });
