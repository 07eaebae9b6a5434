/** Answers of S3 that are errors, and answers that are not from S3. */
import { decodeUtf8Leniently } from "../domain/bytes.ts";
import { type ErrorCode, RepriseError } from "../domain/errors.ts";

interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Statuses below 500 after which the same request may succeed. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 429]);
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(["RequestTimeout", "SlowDown", "ServiceUnavailable"]);
const TOKEN_CODES: ReadonlySet<string> = new Set(["ExpiredToken", "InvalidToken", "TokenRefreshRequired"]);
const CLOCK_CODES: ReadonlySet<string> = new Set(["RequestTimeTooSkewed", "RequestExpired"]);
/** Codes for a request to the wrong region. */
const REGION_CODES: ReadonlySet<string> = new Set([
  "AuthorizationHeaderMalformed",
  "IllegalLocationConstraintException",
  "PermanentRedirect",
  "TemporaryRedirect",
]);
/** Difference of clocks at which S3 refuses a signature, in milliseconds. */
const MOST_SKEW_MS = 15 * 60 * 1000;

const KEY_HINT = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket";
const CLOCK_HINT = "Set the clock that is wrong: of this machine, or of the server";
const SERVER_HINT = "Check that the endpoint is a server with the API of S3";
const PAGE_HINT =
  "A login page, a proxy or another server answers in the place of the store: log in to the network, or check the endpoint";
const OPERATION_HINT =
  "The store lacks this operation; for a put, it may be the condition If-None-Match, without which two machines could overwrite each other's turns: use another store, or a newer version";

/** True for an answer after which the same request may succeed; a put may have been stored. */
export function isUnavailable(answer: ErrorAnswer): boolean {
  const { status } = answer;
  if (status < 400) return false;
  if (status >= 500) return status !== 501;
  return UNAVAILABLE.has(status) || UNAVAILABLE_CODES.has(s3Code(answer) ?? "");
}

/** S3's own code of an error, such as `NoSuchBucket`; `null` if the body has none. */
export function s3Code(answer: Pick<ErrorAnswer, "bytes">): string | null {
  return memberOf(answer, "Code");
}

/** Text of an element of an error; `null` if it has none. */
function memberOf({ bytes }: Pick<ErrorAnswer, "bytes">, name: string): string | null {
  const text = decodeUtf8Leniently(bytes.subarray(0, 4096));
  return new RegExp(`<${name}>([A-Za-z0-9:.+-]{1,64})</${name}>`).exec(text)?.[1] ?? null;
}

/** True for a web page, which S3 sends for no request but one of an object that is a page. */
export function isPage({ headers, bytes }: Pick<ErrorAnswer, "headers" | "bytes">): boolean {
  return /^\s*text\/html\b/i.test(headers.get("content-type") ?? "") ||
    /^\s*<(!doctype html|html)\b/i.test(decodeUtf8Leniently(bytes.subarray(0, 256)));
}

/** Creates the error for users; `now` is the time by the clock of this machine, in milliseconds since the epoch. */
export function s3Error(
  answer: ErrorAnswer,
  { tried, remote, now }: { readonly tried: string; readonly remote: string; readonly now: number },
): RepriseError {
  const { status, headers } = answer;
  const code = s3Code(answer);
  const named = code === null ? `status ${status}` : `status ${status} (${code})`;
  const error = (kind: ErrorCode, found: string, hint: string) =>
    new RepriseError(kind, `Cannot ${tried}: ${found}`, { hint, details: { remote, status, code } });
  const answers = (more: string, hint: string) =>
    error("bad_remote", `it answers with ${named}${more}`, hint);
  const clocks = clocksOf(answer, now);
  if (code !== null && CLOCK_CODES.has(code)) {
    return clocks.differ === false
      ? error(
        "remote_denied",
        `it refuses the time of the request (${code}), but the clocks agree`,
        "Try again",
      )
      : error("remote_denied", clocks.shown, CLOCK_HINT);
  }
  if (code !== null && TOKEN_CODES.has(code)) {
    const hint = "Set AWS_SESSION_TOKEN, and the keys that belong to it, again";
    return error("remote_denied", `it does not take the session token: ${named}`, hint);
  }
  if (code !== null && REGION_CODES.has(code)) return answers(": another region", regionHint(answer));
  if (code === null && isPage(answer)) return answers(", a web page", PAGE_HINT);
  if (status === 401 || status === 403) {
    const found = `it answers with ${named}`;
    return clocks.differ === true
      ? error("remote_denied", `${found}; ${clocks.shown}`, `${CLOCK_HINT}. ${KEY_HINT}`)
      : error("remote_denied", found, KEY_HINT);
  }
  if (code === "NoSuchBucket" || status === 404) {
    return error("no_such_bucket", "the bucket does not exist", "Create the bucket, or check its name");
  }
  if (status === 405 || status === 501) return answers("", OPERATION_HINT);
  if (status === 304) {
    const hint = "A cache answers in the place of the store: use an endpoint without one";
    return answers(", although the request had no such condition", hint);
  }
  return status >= 300 && status < 400
    ? answers(`, a redirect${targetOf(headers)}`, regionHint(answer))
    : answers("", SERVER_HINT);
}

/** Names the region of the bucket if the answer does. */
function regionHint(answer: ErrorAnswer): string {
  const region = answer.headers.get("x-amz-bucket-region") ?? memberOf(answer, "Region");
  if (region !== null && /^[a-z0-9-]{1,64}$/.test(region)) return `Set AWS_REGION to ${region}`;
  return "Redirects are not followed, because the keys belong to the endpoint: set AWS_REGION to the bucket's region, or the final endpoint";
}

/** The server that a redirect leads to; the rest of its URL may hold a token. */
function targetOf(headers: Headers): string {
  const location = URL.parse(headers.get("location") ?? "");
  return location === null ? "" : ` to ${location.origin}`;
}

/** Compares the clocks; `differ` is `null` if the answer does not tell the time. */
function clocksOf(
  answer: ErrorAnswer,
  now: number,
): { readonly differ: boolean | null; readonly shown: string } {
  const theirs = Date.parse(memberOf(answer, "ServerTime") ?? answer.headers.get("date") ?? "");
  const isKnown = !Number.isNaN(theirs);
  const shown = isKnown ? new Date(theirs).toUTCString() : "unknown";
  return {
    differ: isKnown ? Math.abs(theirs - now) >= MOST_SKEW_MS : null,
    shown: `the clock here says ${new Date(now).toUTCString()}, that of the remote ${shown}`,
  };
}
