/** Answers of S3 that are errors. */
import { decodeUtf8Leniently } from "../domain/bytes.ts";
import { type ErrorCode, RepriseError } from "../domain/errors.ts";

/** Status and body of an answer. */
interface ErrorAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** Statuses below 500 after which the same request may succeed. */
const UNAVAILABLE: ReadonlySet<number> = new Set([408, 425, 429]);
const UNAVAILABLE_CODES: ReadonlySet<string> = new Set(["RequestTimeout", "SlowDown", "ServiceUnavailable"]);
const TOKEN_CODES: ReadonlySet<string> = new Set(["ExpiredToken", "InvalidToken", "TokenRefreshRequired"]);
const CLOCK_CODES = new Set(["RequestTimeTooSkewed", "RequestExpired"]);
const KEY_HINT = "Check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do in this bucket";

/** True for an answer after which the same request may succeed; a put may have been stored. */
export function isUnavailable(answer: ErrorAnswer): boolean {
  const { status } = answer;
  if (status < 400) return false;
  if (status >= 500) return status !== 501;
  return UNAVAILABLE.has(status) || UNAVAILABLE_CODES.has(s3Code(answer) ?? "");
}

/** S3's own code of an error, such as `NoSuchBucket`; `null` if the body has none. */
export function s3Code({ bytes }: Pick<ErrorAnswer, "bytes">): string | null {
  const text = decodeUtf8Leniently(bytes.subarray(0, 4096));
  return /<Code>([A-Za-z0-9]{1,64})<\/Code>/.exec(text)?.[1] ?? null;
}

/** Creates the error for users. */
export function s3Error(answer: ErrorAnswer, tried: string, remote: string): RepriseError {
  const { status, headers } = answer;
  const code = s3Code(answer);
  const named = code === null ? `status ${status}` : `status ${status} (${code})`;
  const error = (kind: ErrorCode, found: string, hint: string) =>
    new RepriseError(kind, `Cannot ${tried}: ${found}`, { hint, details: { remote, status, code } });
  if (code !== null && CLOCK_CODES.has(code)) {
    const theirs = headers.get("date") ?? "unknown";
    const found = `the clock here says ${new Date().toUTCString()}, that of the remote ${theirs}`;
    return error("remote_denied", found, "Set the clock of this machine");
  }
  if (code !== null && TOKEN_CODES.has(code)) {
    const hint = "Set AWS_SESSION_TOKEN, and the keys that belong to it, again";
    return error("remote_denied", `it does not take the session token: ${named}`, hint);
  }
  if (status === 401 || status === 403) return error("remote_denied", `it answers with ${named}`, KEY_HINT);
  if (code === "NoSuchBucket" || status === 404) {
    return error("no_such_bucket", "the bucket does not exist", "Create the bucket, or check its name");
  }
  return status >= 300 && status < 400
    ? error("bad_remote", `it answers with ${named}, a redirect`, "Set AWS_REGION to the bucket's region")
    : error(
      "bad_remote",
      `it answers with ${named}`,
      "Check that the endpoint is a server with the API of S3",
    );
}
