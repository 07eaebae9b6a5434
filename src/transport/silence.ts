/**
 * Servers that say nothing for longer than one waits; in the same words whether the answer is live or played.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";

/** No answer began. */
export function unanswered(url: URL, milliseconds: number): RepriseError {
  return new RepriseError(
    "network_failed",
    `Cannot reach ${url.host}: no answer within ${milliseconds / 1000} s`,
    { hint: 'Check the network and the base URL, then go on with "reprise run -c"' },
  );
}

/** An answer that had begun did not go on. */
export function fellSilent(url: URL, milliseconds: number): RepriseError {
  return new RepriseError(
    "stream_cut",
    `The answer of ${url.host} broke off: nothing came for ${milliseconds / 1000} s`,
    { hint: 'Go on with "reprise run -c"; nothing that was saved is lost' },
  );
}
