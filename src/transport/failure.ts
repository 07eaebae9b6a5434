/**
 * Failures of an exchange, as errors for people and programs.
 *
 * @module
 */
import { type ErrorCode, RepriseError } from "../domain/errors.ts";
import type { ApiFailure } from "../domain/failure.ts";

const HINTS: { readonly [code in ErrorCode]?: string } = {
  unauthorized: "Check the API key, and that its project may use this model",
  rate_limited: 'Wait a little, then go on with "reprise run -c"',
  quota_exhausted: "Check plan, credit and spend limits of the account",
  provider_failed: 'Try again later with "reprise run -c"; nothing that was saved is lost',
  network_failed: 'Check the network and the base URL, then go on with "reprise run -c"',
  stream_cut: 'Go on with "reprise run -c"; nothing that was saved is lost',
  bad_stream:
    "Check that the base URL is that of the API, path included, and that the provider (-p) is the one it belongs to",
  context_overflow:
    'Shorten the history with "reprise compact @last", or use a model with a larger context window',
  request_refused: 'See what was sent with "reprise input"',
};

/** A failure as the error to throw or to report; `details` carries its facts in snake case. */
export function failureError(
  failure: ApiFailure,
  options: { readonly requestId?: string | null } = {},
): RepriseError {
  const hint = HINTS[failure.code];
  return new RepriseError(failure.code, failure.message, {
    ...(hint === undefined ? {} : { hint }),
    details: {
      status: failure.status,
      provider_code: failure.providerCode,
      provider_type: failure.providerType,
      param: failure.param,
      retryable: failure.retryable,
      ...(options.requestId ? { request_id: options.requestId } : {}),
    },
  });
}

/** An error that is no answer of the server as a failure: connection errors and cuts may be tried again (§6.4). */
export function failureOf(error: RepriseError): ApiFailure {
  return {
    code: error.code,
    message: error.message,
    status: null,
    providerCode: null,
    providerType: null,
    param: null,
    retryable: error.code === "network_failed" || error.code === "stream_cut",
  };
}

/** `text` without the secrets that the request carried, should a server or a runtime repeat them. */
export function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  let clean = text;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^(authorization|api-key|x-api-key|cookie|proxy-authorization)$/i.test(name)) continue;
    const secret = value.replace(/^(Bearer|Basic)\s+/i, "").trim();
    if (secret.length >= 4) clean = clean.replaceAll(secret, "[key]");
  }
  return clean;
}
