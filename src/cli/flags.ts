/** Arguments and flags that several verbs have, and the readers of values. */
import { InvalidArgumentError } from "commander";
import { DEFAULT_PROVIDER } from "../apis/providers.ts";
import { DAY_MS } from "../domain/ports.ts";
import { RepriseError } from "../domain/errors.ts";
import { PROVIDER_KINDS } from "../domain/fingerprint.ts";
import { MATCH_MODES } from "../fixture/match/modes.ts";
import { TimeZone } from "./local_time.ts";
import {
  argument,
  choice,
  type FlagsOf,
  list,
  negated,
  optionalText,
  text,
  toggle,
  value,
} from "./declare.ts";

export const COMMON_FLAGS = {
  json: toggle(
    "--json",
    "print JSON: one document, or JSON Lines while a verb works",
    { step: false },
  ),
  quiet: toggle("--quiet", "no notices on stderr", { step: false }),
  color: negated("--no-color", "no colour", { step: false }),
  home: text("--home <dir>", "the directory of the sessions", {
    sources: [{ variable: "REPRISE_HOME" }, { member: "home" }],
    otherwise: "the folder reprise in the XDG data directory",
    step: false,
    repeats: true,
  }),
  debug: toggle("--debug", "stack traces of unexpected errors", { step: false }),
};
export type CommonFlags = FlagsOf<typeof COMMON_FLAGS>;

export const BLOBS = negated(
  "--no-blobs",
  "with --json: print length and sha256 instead of encrypted content",
  { step: false },
);

/** The flags that select the endpoint of the next request and shape the request. */
export const REQUEST_FLAGS = {
  model: text("-m, --model <model>", "the model", {
    sources: ["the session's last", { variable: "REPRISE_MODEL" }, { member: "model" }],
  }),
  provider: choice("-p, --provider <provider>", "the API provider", PROVIDER_KINDS, {
    sources: [
      "the session's last unless -m is given",
      { variable: "REPRISE_PROVIDER" },
      { member: "provider" },
    ],
    otherwise: DEFAULT_PROVIDER,
    repeats: true,
  }),
  baseUrl: text("--base-url <url>", "the base URL of the API", {
    sources: [{ variable: "REPRISE_BASE_URL" }, "the provider's own variable", { member: "base_url" }],
    otherwise: "the provider's",
    step: false,
    repeats: true,
  }),
  profile: text("--profile <name>", "a profile of config.json", {
    sources: [{ variable: "REPRISE_PROFILE" }, { member: "profile" }],
    step: false,
    repeats: true,
    conflicts: ["fixture"],
  }),
  effort: text("--effort <effort>", "reasoning effort, such as low, medium, high", {
    sources: ["the session's last", { variable: "REPRISE_EFFORT" }, { member: "effort" }],
    suggests: ["low", "medium", "high"],
  }),
  summary: text("--summary <summary>", "reasoning summary: auto, concise, detailed", {
    sources: ["the session's last", { variable: "REPRISE_SUMMARY" }, { member: "summary" }],
    suggests: ["auto", "concise", "detailed"],
  }),
  replay: value(
    "--replay <mode>",
    "send reasoning of the same model (exact), of the model family (family), none, or only the last N items from " +
      "before the last user message (last:N)",
    replayMode,
    {
      sources: ["none with REPRISE_REASONING_REPLAY=0 or LLM_REASONING_REPLAY=0"],
      otherwise: "exact",
      suggests: ["exact", "family", "none", "last:"],
      repeats: true,
    },
  ),
};

export const TRANSPORTS = ["sse", "ws"] as const;
export type Transport = (typeof TRANSPORTS)[number];

export const REMOTE = text("--remote <url>", "keep the session on S3 as well: s3://BUCKET/PREFIX", {
  sources: [{ variable: "REPRISE_REMOTE" }, { member: "remote" }],
  otherwise: "none",
  step: false,
  repeats: true,
});

export const ON_REMOTE = optionalText(
  "--remote [url]",
  "on S3 instead of this home: s3://BUCKET/PREFIX (default: the remote of REPRISE_REMOTE, else config.json)",
  { step: false },
);

export const REMOTE_TIMEOUT = value(
  "--timeout <seconds>",
  "the time that one operation of the remote may take",
  seconds,
  { fallback: 60, step: false },
);

export const TRANSPORT = choice(
  "--transport <transport>",
  "send requests over HTTP (sse), or over one WebSocket for the run (ws; Responses API)",
  TRANSPORTS,
  {
    sources: [{ variable: "REPRISE_TRANSPORT" }, { member: "transport" }],
    otherwise: "sse",
    step: false,
    repeats: true,
  },
);

/** The flag, and its settings for all runs, that leave stdin unread. */
export const STDIN = negated(
  "--no-stdin",
  "do not read stdin; without it, text on stdin is added to the prompt",
  { sources: [{ variable: "REPRISE_NO_STDIN" }, { member: "stdin" }] },
);

export const TEXT_FLAGS = {
  instructions: text("--instructions <text>", "the system prompt, or @FILE"),
  outputSchema: text(
    "--output-schema <file>",
    "a file with a JSON Schema for the answer; an answer that does not fit is sent back once",
    { repeats: true },
  ),
};

export type RequestFlags = FlagsOf<typeof REQUEST_FLAGS> & FlagsOf<typeof TEXT_FLAGS>;

/** The flags that set the permissions of a run. `policy.ts` explains commas in a list. */
export const PERMISSION_FLAGS = {
  allow: list(
    "--allow <list>",
    "tools, groups (write, shell) or one pattern that the model may use",
    { step: "recorded", repeats: true, suggests: ["write", "shell"] },
  ),
  deny: list(
    "--deny <list>",
    "tools, groups or one pattern that the model may not use; wins over --allow",
    { step: "recorded", suggests: ["write", "shell"] },
  ),
  ask: toggle("--ask", "ask at the terminal about calls that are neither allowed nor denied", {
    step: "recorded",
    repeats: true,
  }),
};
export type PermissionFlags = FlagsOf<typeof PERMISSION_FLAGS>;

/** The flags that add rules for matching requests to those of a fixture. A session test takes no rules. */
export const MATCH_RULE_FLAGS = {
  normalize: list(
    "--normalize <list>",
    "parts of requests that may differ: cwd, home, date, uuid, codex, … (reprise help rules)",
    { step: false, repeats: true },
  ),
  ignore: list("--ignore <path>", "a path of the body that may differ, such as '$..metadata'", {
    step: false,
    repeats: true,
  }),
  replace: list("--replace <rule>", "REGEX=TEXT: replace text in requests before they are compared", {
    step: false,
    repeats: true,
  }),
  context: list(
    "--context <name=value>",
    "a value of a client that runs elsewhere, such as cwd=/app or user=app (reprise help rules)",
    { step: false, repeats: true },
  ),
};

export const WAIT = value(
  "--wait <seconds>",
  "the time to wait for a session that another process writes",
  seconds,
  { fallback: 0 },
);

export const DRY_RUN = toggle("--dry-run", "print what would be done; change nothing");

/** The flags of verbs that write an HTML page. A session test writes none. */
export const PAGE_FLAGS = {
  html: text("--html <file>", "write one self-contained HTML page; - is stdout", { step: false }),
  force: toggle("--force", "with --html: replace an existing file", { step: false }),
};

/**
 * Refuses `--force` without `--html`.
 *
 * @throws {RepriseError} `usage`
 */
export function requireHtml(flags: FlagsOf<typeof PAGE_FLAGS>): void {
  if (flags.html !== undefined || flags.force !== true) return;
  throw new RepriseError("usage", "Cannot use --force without --html", { hint: "Add --html FILE" });
}

export const SESSION = argument("<id>", "session id, unambiguous prefix, @last, or @last:any");

/** Reads a replay mode; `replayOf` of `resolve_run.ts` takes it apart. */
function replayMode(text: string): string {
  if (/^(?:exact|family|none|last:\d{1,15})$/.test(text)) return text;
  throw new InvalidArgumentError("Expected exact, family, none, or last:N, such as last:10.");
}

export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`);
  };
}

export function dollars(text: string): number {
  const value = Number(text);
  if (/^\d*\.?\d+$/.test(text) && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("Expected an amount in US dollars above 0, such as 0.50.");
}

/** Reads a TCP port; 0 is any free one. */
export function tcpPort(text: string): number {
  const value = Number(text);
  if (/^\d{1,5}$/.test(text) && value <= 65535) return value;
  throw new InvalidArgumentError("Expected a port from 0 to 65535.");
}

/** A timer counts milliseconds in 31 bits; a longer timeout would fire at once. */
const MAX_SECONDS = 2_000_000;

export function seconds(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_SECONDS) return value;
  throw new InvalidArgumentError(`Expected a number of seconds, at most ${MAX_SECONDS}.`);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 60 * 60_000,
  d: DAY_MS,
  w: 7 * DAY_MS,
};

/** Reads an age such as `90m`, `12h`, `7d` or `2w` as milliseconds; `null` for any other text. */
export function ageMs(text: string): number | null {
  const [, number, unit] = /^(\d{1,6}(?:\.\d{1,3})?)([smhdw])$/.exec(text) ?? [];
  const unitMs = unit === undefined ? undefined : UNIT_MS[unit];
  return unitMs === undefined ? null : Number(number) * unitMs;
}

/** Reads an age as milliseconds; a number alone counts days. */
export function ageOrDays(text: string): number {
  const ms = ageMs(/^\d/.test(text) && /\d$/.test(text) ? `${text}d` : text);
  if (ms !== null && ms <= MAX_DAYS * DAY_MS) return ms;
  throw new InvalidArgumentError(`Expected an age such as 90d, 12h or 2w, at most ${MAX_DAYS}d.`);
}

/** Reads a number of bytes: alone, or with a unit such as `500MB` (decimal) or `2GiB` (binary). */
export function byteCount(text: string): number {
  const [, number, prefix = "", binary] = /^(\d{1,15}(?:\.\d{1,6})?) ?(?:([kmgt])(i)?)?b?$/i.exec(text) ?? [];
  const power = ["", "k", "m", "g", "t"].indexOf(prefix.toLowerCase());
  const bytes = Math.floor(Number(number) * (binary === undefined ? 1000 : 1024) ** power);
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new InvalidArgumentError("Expected a size such as 1GB, 500MB, 2GiB, or a number of bytes.");
}

/** Longer than the range of any clock. */
const MAX_DAYS = 100_000;

export function days(text: string): number {
  const value = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && value <= MAX_DAYS) return value;
  throw new InvalidArgumentError(`Expected a number of days, at most ${MAX_DAYS}.`);
}

/** The flags about a played fixture, whose own match rules count. */
export const FIXTURE_FLAGS = {
  fixture: text("--fixture <dir>", "play recorded responses; opens no connection", {
    step: false,
    repeats: true,
  }),
  match: choice(
    "--match <mode>",
    "with --fixture: how strictly a request must match (default: semantic)",
    MATCH_MODES,
    { step: false, repeats: true },
  ),
};
export type FixtureFlags = FlagsOf<typeof FIXTURE_FLAGS>;

export const ZONE_FLAG = {
  tz: value(
    "--tz <zone>",
    "times and days in a time zone such as Europe/Berlin or UTC; default: the local one",
    zone,
  ),
};

function zone(text: string): TimeZone {
  try {
    return new TimeZone(text);
  } catch {
    throw new InvalidArgumentError("Give a time zone such as Europe/Berlin or UTC.");
  }
}

/** A point in time or an age that ends now, in milliseconds, or a day. */
export type When = { readonly at: number } | { readonly agoMs: number } | { readonly day: string };

/** Reads `2026-11-21`, a full ISO time, or an age such as `90m`, `12h`, `7d`, `2w`. */
export function when(text: string): When {
  const agoMs = ageMs(text);
  if (agoMs !== null) return { agoMs };
  const at = Date.parse(text);
  if (!/^\d{4}-\d{2}-\d{2}/.test(text) || Number.isNaN(at)) {
    throw new InvalidArgumentError("Give a date such as 2026-11-21, or an age such as 12h or 7d.");
  }
  return text.length === "2026-11-21".length ? { day: text } : { at };
}
