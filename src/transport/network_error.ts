/**
 * The runtime's connection errors in words: which host, and what failed. They never quote headers.
 *
 * @module
 */
import { RepriseError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import { headOf } from "../domain/text.ts";
import { proxyFor } from "./proxy.ts";

const CAUSES: readonly (readonly [RegExp, string])[] = [
  [
    /dns error|failed to lookup|name or service not known|no such host|nodename nor servname/i,
    "its name does not resolve",
  ],
  [/certificate|UnknownIssuer|NotValidForName/i, "its TLS certificate is not trusted"],
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

/** Whether a fetch failed after the server had answered: its status line or headers are not valid HTTP. */
export function isUnreadableAnswer(error: unknown): boolean {
  return UNREADABLE.test(textOf(error));
}

/** `error` of a failed fetch of `url`, as `network_failed`; a proxy that the environment sets is named. */
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
  const why = known?.[1] ?? shortened(text);
  return new RepriseError("network_failed", `Cannot reach ${url.host}${through}: ${why}`, {
    hint: 'Check the network and the base URL, then go on with "reprise run -c"',
    cause: error,
  });
}

/** The end of an answer that the other side broke off. */
export function brokenOff(url: URL, cause?: unknown): RepriseError {
  return new RepriseError(
    "stream_cut",
    `The connection to ${url.host} broke off in the middle of the answer`,
    {
      hint: 'Go on with "reprise run -c"; nothing that was saved is lost',
      ...(cause === undefined ? {} : { cause }),
    },
  );
}

/** Deno 2.9 puts the reason into the cause of a general "fetch failed". */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}

function shortened(text: string): string {
  const line = text.replace(/[\p{Cc}\p{Z}]+/gu, " ").trim();
  return JSON.stringify(line.length > 200 ? `${headOf(line, 200)}…` : line);
}
