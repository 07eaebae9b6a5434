/** Addresses of remotes: `s3://BUCKET` or `s3://BUCKET/PREFIX`. */
import { RepriseError } from "../domain/errors.ts";

/** A bucket and the part of it that holds sessions. */
export interface RemoteAddress {
  readonly bucket: string;
  /** Ends with a slash unless it is empty. */
  readonly prefix: string;
  /** The address as it is shown: `s3://bucket/prefix`, without a slash at the end. */
  readonly name: string;
}

const HINT = "Give an address such as s3://my-bucket/sessions";

/**
 * Parses an address.
 *
 * @throws {RepriseError} `bad_remote` for another scheme, or a bucket or prefix with characters that S3 or a URL would
 * change.
 */
export function parseRemote(text: string): RemoteAddress {
  // Some tools take keys before the bucket.
  const shown = text.replace(/^([^/]*:\/\/)?.*@/s, "$1…@");
  const refuse = (why: string) =>
    new RepriseError("bad_remote", `Cannot use ${JSON.stringify(shown)} as a remote: ${why}`, { hint: HINT });
  const [, bucket, path = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/s.exec(text) ?? [];
  if (bucket === undefined) throw refuse("it does not begin with s3://");
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket) || bucket.includes("..")) {
    throw refuse("the bucket's name is not one that S3 allows");
  }
  const segments = path.replace(/\/$/, "").split("/");
  if (path === "" || path === "/") return { bucket, prefix: "", name: `s3://${bucket}` };
  if (path.length > 500) throw refuse("the prefix is longer than 500 characters");
  for (const segment of segments) {
    if (!/^[A-Za-z0-9._-]+$/.test(segment)) {
      throw refuse("a part of the prefix is empty, or has other characters than A-Z a-z 0-9 . _ -");
    }
    if (/^\.+$/.test(segment)) throw refuse(`the prefix has the part "${segment}"`);
  }
  const prefix = segments.join("/");
  return { bucket, prefix: `${prefix}/`, name: `s3://${bucket}/${prefix}` };
}
