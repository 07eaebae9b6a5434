/** Failures of an exchange as errors: refusals of the API, connection errors, silence. No message quotes a header. */
import { type ApiFailure, type ErrorCode, RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { cutText } from "../domain/text.ts";
import { AUTHORITY_VARIABLES } from "./authorities.ts";
import { proxyFor } from "./proxy.ts";

const HINTS = {
  unauthorized:
    'Check the key with "reprise doctor", and that its project may use this model, then continue with "reprise run -c"',
  rate_limited: 'Wait a little, then continue with "reprise run -c"',
  quota_exhausted: 'Check plan, credit and spend limits of the account, then continue with "reprise run -c"',
  provider_failed: 'Try again later with "reprise run -c"; nothing that was saved is lost',
  network_failed: 'Check the network and the base URL, then continue with "reprise run -c"',
  stream_cut: 'Continue with "reprise run -c"; nothing that was saved is lost',
  bad_stream:
    'Check with "reprise doctor" that the base URL is that of the API, path included, and belongs to the provider (-p)',
  context_overflow:
    'Shorten the history with "reprise compact @last", or use a model with a larger context window',
  fixture_miss: "The output of the server names the differences from the nearest recorded request",
  request_refused: 'See what was sent with "reprise run -c --dry-run --body"',
} as const satisfies { readonly [code in ErrorCode]?: string };

/** For a status of 404: of a model, of the path, or of an item that the request names. */
const NOT_FOUND =
  'Check the name of the model (-m) and the base URL; see what was sent with "reprise run -c --dry-run --body"';

/**
 * Returns a failure as the error to throw or to report; `details` holds its facts in snake case. `waitMs` are the
 * milliseconds that the API asks to wait; `null` for none.
 */
export function failureError(
  failure: ApiFailure,
  { requestId = null, waitMs = null }: {
    readonly requestId?: string | null;
    readonly waitMs?: number | null;
  } = {},
): RepriseError {
  const hint = failure.code === "request_refused" && failure.status === 404
    ? NOT_FOUND
    : (HINTS as { readonly [code in ErrorCode]?: string })[failure.code];
  const wait = waitMs === null || waitMs <= 0 ? null : waitText(waitMs);
  return new RepriseError(
    failure.code,
    `${failure.message}${wait === null ? "" : `; the API asks to wait ${wait}`}`,
    {
      ...(hint === undefined ? {} : { hint: hint.replace("Wait a little", `Wait ${wait ?? "a little"}`) }),
      details: {
        status: failure.status,
        provider_code: failure.providerCode,
        provider_type: failure.providerType,
        param: failure.param,
        retryable: failure.retryable,
        ...(requestId === null || requestId === "" ? {} : { request_id: requestId }),
        ...(wait === null ? {} : { retry_after_ms: waitMs }),
      },
    },
  );
}

const YEAR_MS = 365 * 24 * 3_600_000;

function waitText(milliseconds: number): string {
  return milliseconds > YEAR_MS ? "more than a year" : `${Math.ceil(milliseconds / 100) / 10} s`;
}

/** Returns an error other than an answer as a failure: connection errors and cuts may be retried (§6.4). */
export function connectionFailure(error: RepriseError): ApiFailure {
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

/** Removes the request's secrets from `text`, in case a server or a runtime repeats them. */
export function withoutSecrets(text: string, headers: Readonly<Record<string, string>>): string {
  let clean = text;
  for (const [name, value] of Object.entries(headers)) {
    if (!/^(authorization|api-key|x-api-key|cookie|proxy-authorization)$/i.test(name)) continue;
    const secret = value.replace(/^(Bearer|Basic)\s+/i, "").trim();
    if (secret.length >= 4) clean = clean.replaceAll(secret, "[key]");
  }
  return clean;
}

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /dns error|failed to lookup|name or service not known|no such host|nodename nor servname/i,
    "its name does not resolve",
  ],
  [/corrupt message|tls|handshake|ssl/i, "the TLS handshake failed; is it an https server"],
  [/connection refused/i, "the connection was refused"],
  [/unreachable/i, "the network is unreachable"],
  [/timed out|timeout/i, "the connection timed out"],
  [
    /closed before message completed|reset|broken pipe|unexpected eof/i,
    "the connection broke off before the answer",
  ],
  [/requires net access|NotCapable|PermissionDenied/i, "this process may not use the network"],
];

/** The runtime's HTTP client names the part of an answer that it could not parse. */
const UNREADABLE = /invalid HTTP \S+ parsed|invalid content-length parsed|message head is too large/;

/** True if a fetch failed after the server had answered: the status line or headers are not valid HTTP. */
export function isUnreadableAnswer(error: unknown): boolean {
  return UNREADABLE.test(textOf(error));
}

/** Reasons against a certificate, as the runtime and Node word them, and what to do; the last one is any other. */
const CERTIFICATE_CAUSES: readonly (readonly [RegExp, why: string, hint: string])[] = [
  [
    /not valid for name|NotValidForName|ERR_TLS_CERT_ALTNAME|altnames/i,
    "its TLS certificate is for another name",
    "Check the host name in the URL",
  ],
  [
    /expired|not valid yet|NotValidYet/i,
    "its TLS certificate is not valid today",
    "Check the clock of this machine; else the server needs another certificate",
  ],
  [
    /peer certificate|self-signed certificate|UnknownIssuer|unable to (verify|get) /i,
    "its TLS certificate is not trusted",
    "If the server or a proxy has an authority of its own, name the file of its certificate in SSL_CERT_FILE",
  ],
];

/** Returns an error about a certificate as `untrusted_certificate`, whose hint names what is set; `null` for any other. */
export function certificateError(
  { host }: URL,
  error: unknown,
  env: Ports["env"],
  through = "",
): RepriseError | null {
  const text = textOf(error);
  if (!/certificate/i.test(text)) return null;
  const row = CERTIFICATE_CAUSES.find(([pattern]) => pattern.test(text));
  if (row === undefined) return null;
  const [, why, hint] = row;
  const set = AUTHORITY_VARIABLES.filter((name) => (env(name) ?? "") !== "").join(", ");
  const more = set === "" ? "" : `; ${set} ${set.includes(",") ? "do" : "does"} not make it trusted`;
  return new RepriseError("untrusted_certificate", `Cannot reach ${host}${through}: ${why}`, {
    hint: `${hint}${more}. "reprise doctor" shows the authorities`,
    cause: error,
  });
}

/**
 * Returns `error` of a failed fetch of `url` as `network_failed` or `untrusted_certificate`; names a proxy that the
 * environment sets.
 */
export function networkError(url: URL, error: unknown, { env }: Pick<Ports, "env">): RepriseError {
  if (error instanceof RepriseError) return error;
  if (isUnreadableAnswer(error)) {
    return new RepriseError("network_failed", `Cannot read the answer of ${url.host}: it is not valid HTTP`, {
      hint: "Check the base URL and its port",
      cause: error,
    });
  }
  const text = textOf(error);
  const known = CAUSES.find(([pattern]) => pattern.test(text));
  const proxy = proxyFor(url, env);
  const through = proxy === null ? "" : ` (through the proxy ${proxy.host} that ${proxy.variable} names)`;
  const untrusted = certificateError(url, error, env, through);
  if (untrusted !== null) return untrusted;
  const why = known?.[1] ?? shortened(text);
  return connectionError("network_failed", `Cannot reach ${url.host}${through}: ${why}`, error);
}

export function cutAnswerError(url: URL, cause?: unknown): RepriseError {
  return connectionError(
    "stream_cut",
    `The connection to ${url.host} broke off in the middle of the answer`,
    cause,
  );
}

/** An error with the usual hint of its code. */
export function connectionError(
  code: "network_failed" | "stream_cut",
  message: string,
  cause?: unknown,
): RepriseError {
  return new RepriseError(code, message, { hint: HINTS[code], cause });
}

/** Deno 2.9 puts the reason into the cause of a general "fetch failed". */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function shortened(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Z}]+/gu, " ").trim();
  return JSON.stringify(cutText(line, 200));
}

export function noAnswerError(url: URL): RepriseError {
  return connectionError(
    "network_failed",
    `Cannot reach ${url.host}: the connection ended without an answer`,
  );
}

export function answerTimeoutError(url: URL, milliseconds: number): RepriseError {
  return connectionError(
    "network_failed",
    `Cannot reach ${url.host}: no answer within ${milliseconds / 1000} s`,
  );
}

export function stalledError(url: URL, milliseconds: number): RepriseError {
  return connectionError(
    "stream_cut",
    `The answer of ${url.host} broke off: nothing came for ${milliseconds / 1000} s`,
  );
}
