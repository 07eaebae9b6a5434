/** The address of a remote and its keys: variables of AWS, its two files, and what of them is refused; as `doctor` shows it. */
import assert from "node:assert/strict";
import { Sandbox } from "../support/reprise.ts";
import { test } from "../support/test.ts";

const KEYS = { AWS_ACCESS_KEY_ID: "id-1", AWS_SECRET_ACCESS_KEY: "secret-1" };
const HERE = { ...KEYS, AWS_REGION: "us-west-2" };
const CREDENTIALS = `# comment
[default]
aws_access_key_id = id-of-file
aws_secret_access_key=secret=of/file
[other]
aws_access_key_id = id-of-other
aws_secret_access_key = secret-of-other
aws_session_token = token-of-other
[odd]
aws_access_key_id = id of odd
aws_secret_access_key = secret-of-odd
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
[profile odd]
region = eu-west-3
`;

/** The line of `doctor` about a remote, by the variables; the files of `~/.aws` are there unless they have keys. */
async function remoteOf(env: Readonly<Record<string, string>>): Promise<string> {
  await using sandbox = new Sandbox();
  if (!("AWS_ACCESS_KEY_ID" in env) && Object.keys(env).length > 0) {
    Deno.mkdirSync(`${sandbox.directory}/.aws`);
    Deno.writeTextFileSync(`${sandbox.directory}/.aws/credentials`, CREDENTIALS);
    Deno.writeTextFileSync(`${sandbox.directory}/.aws/config`, CONFIG);
  }
  const { stdout } = await sandbox.call(["doctor", "--json"], {
    env: { REPRISE_REMOTE: "s3://bucket", ...env },
  });
  assert.doesNotMatch(
    stdout,
    /AKIA123|SECRET@|secret-1|secret-of|secret=of|pass-word|token-of|id-1|secret 1|tok\u00e9n|id of odd/,
  );
  const check = JSON.parse(stdout).checks.find(({ name }: { name: string }) => name === "remote");
  return `${check.level}: ${check.detail}`;
}

const OF_FILES = { AWS_PROFILE: "default" };

const ROWS: readonly (readonly [env: Readonly<Record<string, string>>, says: RegExp])[] = [
  [HERE, /^ok: s3:\/\/bucket .*region us-west-2; keys are set$/],
  [
    { ...HERE, AWS_ENDPOINT_URL: "https://a.test", AWS_ENDPOINT_URL_S3: "https://b.test" },
    /^ok: .* at https:\/\/b\.test/,
  ],
  [OF_FILES, /^ok: .*region eu-west-1; keys are set$/],
  [{ AWS_PROFILE: "other" }, /^ok: .* at https:\/\/s3\.example\.com\/base, region eu-west-2/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "http://[::1]:9000" }, /^ok: .* at http:/],
  [{}, /^failed: .*no keys/],
  [KEYS, /^failed: .*no region/],
  [{ ...KEYS, AWS_REGION: "EU WEST" }, /^failed: .*is no region/],
  [{ AWS_PROFILE: "nowhere" }, /^failed: .*no profile "nowhere"/],
  [{ AWS_PROFILE: "login" }, /^failed: .*sso_start_url, which is not supported/],
  [{ AWS_PROFILE: "odd" }, /^failed: .*aws_access_key_id/],
  [{ ...KEYS, AWS_CONFIG_FILE: "/nowhere" }, /^failed: .*cannot read "\/nowhere"/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "http://127.0.0.1.example.com" }, /^failed: .*on loopback only/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "https://me:pass-word@s3.example.com" }, /^failed: .*user name or password/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "https://pass-word@s3.example.com" }, /^failed: .*user name or password/],
  [{ ...KEYS, AWS_ENDPOINT_URL: "https://s3.example.com/?a=b" }, /^failed: .*query/],
  [{ ...HERE, AWS_ACCESS_KEY_ID: "id-1\n" }, /^failed: .*AWS_ACCESS_KEY_ID/],
  [{ ...HERE, AWS_SESSION_TOKEN: "tok\u00e9n" }, /^failed: .*AWS_SESSION_TOKEN/],
  ...["s3://my-bucket/", "s3://b.1/a/b_c/"].map((name) =>
    [{ ...HERE, REPRISE_REMOTE: name }, new RegExp(`^ok: ${name.replace(/\/$/, "")} `)] as const
  ),
  ...[
    ...["my-bucket", "https://my-bucket", "s3://", "s3://ab", "s3://My-Bucket", "s3://a..b"],
    ...["s3://AKIA123:SECRET@bucket/p", "s3://bucket//a", "s3://bucket/../a", "s3://bucket/a b"],
    ...["s3://bucket/a?b", "s3://bucket/a%2fb", `s3://bucket/${"a".repeat(501)}`],
  ].map((name) => [{ ...HERE, REPRISE_REMOTE: name }, /^failed: /] as const),
];

test.long("doctor says where a remote is and that its keys are set, or what is wrong with them", async () => {
  for (const [env, says] of ROWS) assert.match(await remoteOf(env), says, JSON.stringify(env));
});
