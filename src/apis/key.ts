import { RepriseError } from "../domain/errors.ts";
import type { ApiKey } from "./api.ts";

/**
 * The header that carries a key: `Authorization: Bearer`, or the provider's own `header`. None without a key.
 *
 * @throws {RepriseError} `bad_configuration` when the key cannot be a header value. The runtime's own error for such a
 * value quotes it: the key must not get that far.
 */
export function keyHeaders(key: ApiKey | null, header: "api-key" | "x-api-key"): Record<string, string> {
  if (key === null) return {};
  if (!/^[\x21-\x7e]+$/.test(key.value)) {
    throw new RepriseError(
      "bad_configuration",
      "Cannot use the API key: it is empty or holds a character that a header cannot carry",
      { hint: "Set the key again, without spaces, quotes or line ends" },
    );
  }
  return key.scheme === "bearer" ? { authorization: `Bearer ${key.value}` } : { [header]: key.value };
}
