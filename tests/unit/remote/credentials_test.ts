/** Settings of S3 by variables and files. */
import assert from "node:assert/strict";
import type { Ports } from "../../../src/domain/ports.ts";
import { parseRemote } from "../../../src/remote/address.ts";
import { readS3Settings } from "../../../src/remote/credentials.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { testPorts } from "../store/support.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "id-1", AWS_SECRET_ACCESS_KEY: "secret-1" };
const CREDENTIALS = `# comment
[default]
aws_access_key_id = id-of-file
aws_secret_access_key=secret=of/file
[other]
aws_access_key_id = id-of-other
aws_secret_access_key = secret-of-other
aws_session_token = token-of-other
`;
const CONFIG = `[default]
region = eu-west-1
s3 =
  region = nested-1
[profile other]
region = eu-west-2
endpoint_url = https://s3.example.com/base/
[profile login]
sso_start_url = https://login.example.com
region = eu-west-3
[profile half]
aws_access_key_id = id-of-half
region = eu-west-3
`;

/** Ports with these variables, and the files of `~/.aws`. */
function portsWith(env: Record<string, string>, files: Record<string, string> = {}): Ports {
  const read = (path: string) => {
    const text = files[path];
    if (text === undefined) throw new Deno.errors.NotFound(path);
    return new TextEncoder().encode(text);
  };
  return testPorts({
    env: (name) => ({ HOME: "/srv/me", ...env } as Record<string, string>)[name],
    files: { ...denoFiles, read },
  });
}

const FILES = { "/srv/me/.aws/credentials": CREDENTIALS, "/srv/me/.aws/config": CONFIG };

function settings(env: Record<string, string>, files: Record<string, string> = {}) {
  const { endpoint, ...rest } = readS3Settings(portsWith(env, files));
  return { ...rest, endpoint: endpoint?.href ?? null };
}

Deno.test("variables come before the files, and bring their own secret and token", () => {
  assert.deepEqual(settings({ ...KEYS, AWS_REGION: "us-west-2" }, FILES), {
    region: "us-west-2",
    endpoint: null,
    accessKeyId: "id-1",
    secretAccessKey: "secret-1",
    sessionToken: null,
  });
  assert.equal(settings({ ...KEYS, AWS_DEFAULT_REGION: "us-west-1" }).region, "us-west-1");
  assert.equal(settings({ ...KEYS, AWS_SESSION_TOKEN: "t", AWS_REGION: "a" }).sessionToken, "t");
  const both = { AWS_ENDPOINT_URL: "https://a.test", AWS_ENDPOINT_URL_S3: "https://b.test" };
  assert.equal(settings({ ...KEYS, ...both }).endpoint, "https://b.test/");
  assert.equal(settings({ ...KEYS, AWS_ENDPOINT_URL: "https://a.test" }).region, "us-east-1");
});

Deno.test("a profile is read from both files, without nested settings", () => {
  const ofDefault = settings({}, FILES);
  assert.deepEqual([ofDefault.accessKeyId, ofDefault.secretAccessKey], ["id-of-file", "secret=of/file"]);
  assert.equal(ofDefault.region, "eu-west-1");
  const other = settings({ AWS_PROFILE: "other" }, FILES);
  assert.deepEqual(
    [other.sessionToken, other.region, other.endpoint],
    ["token-of-other", "eu-west-2", "https://s3.example.com/base"],
  );
  const named = { AWS_SHARED_CREDENTIALS_FILE: "/x/keys", AWS_CONFIG_FILE: "/x/config" };
  assert.equal(settings(named, { "/x/keys": CREDENTIALS, "/x/config": CONFIG }).accessKeyId, "id-of-file");
});

/** Settings that are refused: variables, and what the message names. */
const REFUSED: readonly (readonly [Record<string, string>, RegExp])[] = [
  [{}, /no keys/],
  [{ AWS_ACCESS_KEY_ID: "id-1", AWS_REGION: "a" }, /AWS_SECRET_ACCESS_KEY is not set/],
  [KEYS, /no region/],
  [{ ...KEYS, AWS_REGION: "EU WEST" }, /is no region/],
  [{ ...KEYS, AWS_PROFILE: "nowhere" }, /no profile "nowhere"/],
  [{ AWS_PROFILE: "login" }, /sso_start_url, which is not supported/],
  [{ AWS_PROFILE: "half" }, /no aws_secret_access_key/],
  [{ ...KEYS, AWS_CONFIG_FILE: "/nowhere" }, /cannot read "\/nowhere"/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "http://s3.example.com" }, /http is allowed on loopback only/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "http://127.0.0.1.example.com" }, /http is allowed on loopback only/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "ftp://s3.example.com" }, /neither http nor https/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "https://me:pass-word@s3.example.com" }, /user name or password/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "https://s3.example.com/?a=b" }, /query/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "s3.example.com" }, /not a URL/],
];

for (const [env, named] of REFUSED) {
  Deno.test(`settings are refused, and the message says ${named}`, () => {
    const files = "AWS_PROFILE" in env ? FILES : {};
    assert.throws(() => readS3Settings(portsWith(env, files)), (error: Error & { code?: string }) => {
      assert.equal(error.code, "bad_remote");
      assert.match(error.message, named);
      for (const secret of ["secret-1", "pass-word"]) assert.ok(!error.message.includes(secret));
      return true;
    });
  });
}

Deno.test("http is allowed on loopback", () => {
  for (const host of ["127.0.0.1:9000", "localhost:9000", "[::1]:9000"]) {
    assert.equal(
      settings({ ...KEYS, AWS_ENDPOINT_URL: `http://${host}` }).endpoint,
      `http://${host}/`,
    );
  }
});

Deno.test("an address is a bucket and a prefix; one that S3 or a URL would change is refused", () => {
  const parsed = (text: string) => {
    const { bucket, prefix, name } = parseRemote(text);
    return [bucket, prefix, name];
  };
  assert.deepEqual(parsed("s3://my-bucket"), ["my-bucket", "", "s3://my-bucket"]);
  assert.deepEqual(parsed("s3://my-bucket/"), ["my-bucket", "", "s3://my-bucket"]);
  assert.deepEqual(parsed("s3://b.1/a/b_c/"), ["b.1", "a/b_c/", "s3://b.1/a/b_c"]);
  const refused = [
    ...["", "my-bucket", "https://my-bucket", "s3://", "s3://ab", "s3://My-Bucket", "s3://a..b"],
    ...["s3://bucket//a", "s3://bucket/a//b", "s3://bucket/../a", "s3://bucket/.", "s3://bucket/a b"],
    ...["s3://bucket/ä", "s3://bucket/a?b", "s3://bucket/a%2fb", `s3://bucket/${"a".repeat(501)}`],
  ];
  for (const text of refused) assert.throws(() => parseRemote(text), { code: "bad_remote" }, text);
});

Deno.test("a key that no header can carry is refused by its name, and not shown", () => {
  const cases = [
    [{ ...KEYS, AWS_ACCESS_KEY_ID: "id-1\n" }, "AWS_ACCESS_KEY_ID"],
    [{ ...KEYS, AWS_SECRET_ACCESS_KEY: "secret 1" }, "AWS_SECRET_ACCESS_KEY"],
    [{ ...KEYS, AWS_SESSION_TOKEN: "tok\u00e9n" }, "AWS_SESSION_TOKEN"],
  ] as const;
  for (const [env, name] of cases) {
    assert.throws(() => settings({ ...env, AWS_REGION: "us-west-2" }), (error: Error & { code?: string }) => {
      assert.equal(error.code, "bad_remote");
      assert.ok(error.message.includes(name), error.message);
      assert.doesNotMatch(error.message, /id-1|secret 1|tok\u00e9n/);
      return true;
    });
  }
  const file = CREDENTIALS.replace("id-of-file", "id of file");
  assert.throws(() => settings({ AWS_REGION: "us-west-2" }, { "/srv/me/.aws/credentials": file }), {
    message: /aws_access_key_id/,
  });
});
