/** Settings of S3 by the standard variables of AWS and its `credentials` and `config` files. */
import { decodeUtf8 } from "../domain/bytes.ts";
import { RepriseError } from "../domain/errors.ts";
import { isLoopbackHost } from "../domain/address.ts";
import type { Ports } from "../domain/ports.ts";
import { systemCode } from "../store/fs_errors.ts";

/** Address of a server and the keys for it. */
export interface S3Settings {
  readonly region: string;
  /** Origin and path of an S3-compatible server; `null` for AWS. */
  readonly endpoint: URL | null;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken: string | null;
}

/** Members of a profile by which other tools of AWS find keys. They start programs, or ask services. */
const UNSUPPORTED = [
  "credential_process",
  "credential_source",
  "role_arn",
  "sso_session",
  "sso_start_url",
  "web_identity_token_file",
] as const;

type Section = Readonly<Record<string, string>>;

/**
 * Reads the settings: variables first, then the profile `AWS_PROFILE` (`default`) of both files.
 *
 * @throws {RepriseError} `bad_remote` if a key or the region is missing, a file cannot be read, a profile is missing or
 * finds its keys in a way that is not supported, or the endpoint is no URL that may be used.
 */
export function readS3Settings(ports: Ports): S3Settings {
  const variable = (name: string) => nonEmpty(ports.env(name));
  const profile = readProfile(ports);
  const accessKeyId = variable("AWS_ACCESS_KEY_ID");
  const fromVariables = accessKeyId !== undefined;
  const keys = fromVariables
    ? { id: accessKeyId, secret: variable("AWS_SECRET_ACCESS_KEY"), token: variable("AWS_SESSION_TOKEN") }
    : {
      id: profile.aws_access_key_id,
      secret: profile.aws_secret_access_key,
      token: profile.aws_session_token,
    };
  if (keys.id === undefined || keys.secret === undefined) throw withoutKeys(profile, keys.id, fromVariables);
  for (const [name, value] of Object.entries(NAMES_OF_KEYS)) {
    requirePrintable(fromVariables ? value : value.toLowerCase(), keys[name as keyof typeof keys]);
  }
  const endpoint = variable("AWS_ENDPOINT_URL_S3") ?? variable("AWS_ENDPOINT_URL") ?? profile.endpoint_url;
  const region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? profile.region ??
    (endpoint === undefined ? undefined : "us-east-1");
  if (region === undefined) {
    throw new RepriseError("bad_remote", "Cannot use the remote: no region is set", {
      hint: "Set AWS_REGION to the region of the bucket",
    });
  }
  if (!/^[a-z0-9-]{1,40}$/.test(region)) {
    throw new RepriseError("bad_remote", `Cannot use the remote: ${JSON.stringify(region)} is no region`, {
      hint: "Set AWS_REGION to a region such as eu-central-1",
    });
  }
  return {
    region,
    endpoint: endpoint === undefined ? null : parseEndpoint(endpoint),
    accessKeyId: keys.id,
    secretAccessKey: keys.secret,
    sessionToken: keys.token ?? null,
  };
}

const NAMES_OF_KEYS = {
  id: "AWS_ACCESS_KEY_ID",
  secret: "AWS_SECRET_ACCESS_KEY",
  token: "AWS_SESSION_TOKEN",
} as const;

/** Refuses a key that cannot be sent in a header, such as one that was pasted with its line break. */
function requirePrintable(name: string, value: string | undefined): void {
  if (value === undefined || /^[\x21-\x7e]+$/.test(value)) return;
  throw new RepriseError(
    "bad_remote",
    `Cannot use the remote: ${name} holds a space, a line break or another character that no key has`,
    { hint: `Set ${name} again, without it` },
  );
}

function withoutKeys(profile: Section, id: string | undefined, fromVariables: boolean): RepriseError {
  const found = UNSUPPORTED.find((name) => profile[name] !== undefined);
  const why = fromVariables
    ? "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not set"
    : found !== undefined
    ? `the profile uses ${found}, which is not supported`
    : id === undefined
    ? "there are no keys for it"
    : "the profile has no aws_secret_access_key";
  return new RepriseError("bad_remote", `Cannot use the remote: ${why}`, {
    hint: "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or give them in the credentials file of AWS",
  });
}

/** Parses the URL of a server: https, or http on loopback, without user, query and fragment. */
function parseEndpoint(text: string): URL {
  const refuse = (why: string) =>
    new RepriseError("bad_remote", `Cannot use the endpoint of the remote: ${why}`, {
      hint: "Set AWS_ENDPOINT_URL_S3 to a URL such as https://s3.example.com",
    });
  if (!URL.canParse(text)) throw refuse("it is not a URL");
  const url = new URL(text);
  if (url.username !== "" || url.password !== "") throw refuse("it carries a user name or password");
  if (url.search !== "" || url.hash !== "") throw refuse("it carries a query or a fragment");
  if (url.protocol === "http:") {
    if (!isLoopbackHost(url.hostname)) throw refuse("http is allowed on loopback only");
  } else if (url.protocol !== "https:") throw refuse("it is neither http nor https");
  url.pathname = url.pathname.replace(/\/+$/, "");
  return url;
}

/** The profile of both files: members of `credentials` come before those of `config`. */
function readProfile(ports: Ports): Section {
  const home = nonEmpty(ports.env("HOME"));
  const file = (name: string, fallback: string): Map<string, Section> => {
    const named = nonEmpty(ports.env(name));
    const path = named ?? (home === undefined ? undefined : `${home}/.aws/${fallback}`);
    return path === undefined ? new Map() : parseSections(readText(ports, path, named !== undefined));
  };
  const asked = nonEmpty(ports.env("AWS_PROFILE"));
  const name = asked ?? "default";
  const credentials = file("AWS_SHARED_CREDENTIALS_FILE", "credentials").get(name);
  const configs = file("AWS_CONFIG_FILE", "config");
  const config = configs.get(`profile ${name}`) ?? (name === "default" ? configs.get(name) : undefined);
  if (asked !== undefined && credentials === undefined && config === undefined) {
    throw new RepriseError(
      "bad_remote",
      `Cannot use the remote: there is no profile ${JSON.stringify(asked)}`,
      { hint: "Set AWS_PROFILE to a profile in the credentials or config file of AWS" },
    );
  }
  return { ...config, ...credentials };
}

/** Reads a file; a missing one is empty unless a variable names it. */
function readText(ports: Ports, path: string, isNamed: boolean): string {
  try {
    return decodeUtf8(ports.files.read(path));
  } catch (cause) {
    if (!isNamed && systemCode(cause) === "ENOENT") return "";
    throw new RepriseError("bad_remote", `Cannot use the remote: cannot read "${path}"`, {
      hint: "Check AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE",
      cause,
    });
  }
}

/** Parses `[section]` and `name = value` lines. Indented lines belong to a nested setting, and are left out. */
function parseSections(text: string): Map<string, Section> {
  const sections = new Map<string, Record<string, string>>();
  let section: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, header] = /^\[\s*([^\]]*?)\s*\]/.exec(line) ?? [];
    if (header !== undefined) {
      section = sections.get(header) ?? Object.create(null) as Record<string, string>;
      sections.set(header.replace(/\s+/g, " "), section);
    } else if (section !== undefined) {
      const [, name, value = ""] = /^([A-Za-z0-9_-]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
      if (name !== undefined && value !== "") section[name.toLowerCase()] = value;
    }
  }
  return sections;
}

function nonEmpty(value: string | undefined): string | undefined {
  return value === "" ? undefined : value;
}
