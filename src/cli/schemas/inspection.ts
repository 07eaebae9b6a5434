/** The documents of the verbs that inspect sessions and the environment. */
import * as z from "zod";
import {
  anyJson,
  cost,
  count,
  dryRun,
  exitCode,
  ordinal,
  problem,
  sha256,
  shownUsage,
  spending,
  text,
  time,
  tokenCounts,
} from "./parts.ts";
import { event, manifest, turn, turnHead } from "./turns.ts";

const listedSession = z.object({
  id: text,
  path: text.describe("the session's directory"),
  parent: text.describe("the session that this one was forked from").exactOptional(),
  title: text.exactOptional(),
  created_at: time.exactOptional(),
  updated_at: time.exactOptional(),
  turns: count.exactOptional(),
  runs: count.exactOptional(),
  state: text.describe("completed, failed, running, killed, damaged, …: see ls --state in docs/cli.md#ls"),
  model: text.exactOptional(),
  provider: text.exactOptional(),
  workspace: text.exactOptional(),
  usage: shownUsage.describe("tokens of all ended runs").exactOptional(),
  bytes: count.describe("of all turn files and blobs, including those shared with forks").exactOptional(),
  problem: text.describe("finding about the manifest or the newest turn").exactOptional(),
  parent_gone: z.literal(true).describe("with --tree").exactOptional(),
  get forks() {
    return z.array(listedSession).describe("with --tree").exactOptional();
  },
}).meta({ id: "session", description: "members of the manifest are absent if it cannot be read" });

/** The document of `ls`. */
export const ls = z.object({ sessions: z.array(listedSession) });

/** The document of `search`. */
export const search = z.object({
  sessions: z.array(z.object({
    id: text,
    path: text,
    state: text,
    title: text.exactOptional(),
    updated_at: time.exactOptional(),
    hits: z.array(z.object({
      turn: ordinal,
      seq: ordinal,
      type: text.describe("kind of the event"),
      text: text.describe("one line around the first place"),
      at: z.tuple([count, count]).describe("begin and end of the found text in text, in UTF-16 units"),
    })),
  })),
  hits: count,
  skipped: z.array(z.object({ path: text, why: text })),
});

const spentRequest = z.object({
  session: text,
  turn: ordinal,
  run: ordinal,
  at: time,
  provider: text.nullable(),
  model: text.nullable().describe("the model that answered, or the one that was asked"),
  usage: tokenCounts.nullable(),
  cost_usd: cost,
});

const byModel = z.array(spending.extend({ model: text.nullable() }));
const byDay = z.array(
  spending.extend({ day: text.nullable().describe("in the local time zone, or in that of --tz") }),
);

const SESSION_SPENDING = {
  total: spending,
  shared: spending.describe("requests before the fork, which belong to the parent"),
  runs: z.array(spending.extend({ run: ordinal })),
  models: byModel,
  days: byDay,
  requests: z.array(spentRequest),
};

const problems = z.array(problem).describe("only for a damaged session").exactOptional();

/** The document of `show`. */
export const show = z.object({
  session: text,
  path: text,
  manifest: manifest.nullable(),
  turns: z.array(turn),
  spending: z.object(SESSION_SPENDING),
  problems,
});
/** The document of `show --turns`. */
export const showTurns = z.object({ session: text, turns: z.array(turnHead), problems });
/** The document of `show --events`. */
export const showEvents = z.object({ session: text, events: z.array(event), problems });

const PAGE = {
  file: text.nullable().describe("null for stdout"),
  bytes: count.describe("length of the page"),
};
/** The document of `show --html`. */
export const showHtml = z.object({ session: text, turns: count, ...PAGE });
/** The document of `fixture show --html`. */
export const fixtureShowHtml = z.object({ path: text, exchanges: count, ...PAGE });

const unreadable = z.array(text).describe("files that cannot be read").exactOptional();

/** The document of `stats`. */
export const stats = z.object({
  total: spending,
  sessions: z.array(spending.extend({ session: text })),
  models: byModel,
  days: byDay,
  problems: unreadable,
});
/** The document of `stats ID`. */
export const statsSession = z.object({ session: text, ...SESSION_SPENDING, problems: unreadable });

const extending = z.object({ extends: z.literal(true) });
const differing = z.object({
  extends: z.literal(false),
  item: count.nullable().describe("first item of the input that differs; null before the input"),
  byte: count.describe("first byte of the body that differs"),
});
const flags = z.array(text).describe("flags of the last run that keep its prompt cache");

/** The document of `explain`. */
export const explain = z.object({
  session: text,
  next: z.object({
    model: text,
    fingerprint: text,
    account: text.nullable(),
    account_why: text,
    items: count,
  }),
  reasoning: z.array(z.object({
    seq: ordinal,
    turn: ordinal,
    id: text.nullable(),
    bytes: count.describe("length of its encrypted content"),
    fingerprint: text,
    account: text.nullable(),
    sent: z.boolean(),
    reason: text.nullable().describe("why it is left out; null if it is sent"),
    why: text,
    unknown: z.array(text),
  })),
  dropped: z.array(z.object({ seq: ordinal, reason: text, why: text })),
  repairs: z.array(z.object({ seq: ordinal, kind: text, call_id: text, why: text })),
  refusals: z.array(z.object({
    turn: ordinal,
    run: ordinal,
    reason: text,
    items: z.array(z.object({ seq: ordinal, action: text, field: text.exactOptional() })),
    scope: z.object({
      endpoint: text,
      account: text.nullable(),
      portless: text.describe("hash of a loopback endpoint without its port").exactOptional(),
      key: text.describe("hash of the key").exactOptional(),
    }).nullable().describe("endpoint and account that refused"),
    error: text.nullable(),
  })),
  transformations: z.array(z.object({ turn: ordinal, transformation: anyJson })),
  prefix: z.union([extending.extend({ with: flags.exactOptional() }), differing]).nullable(),
});

/** The document of `doctor`. */
export const doctor = z.object({
  ok: z.boolean().describe("true if a run could start"),
  exit_code: exitCode,
  checks: z.array(z.object({
    name: text,
    level: z.enum(["ok", "missing", "unknown", "failed"]).describe("unknown: it could not be checked"),
    detail: text,
    code: text.describe("of a failed check: that of the error").exactOptional(),
    exit_code: exitCode.describe("of a failed check").exactOptional(),
  })),
});

/** The document of `run --dry-run`. */
export const runDryRun = dryRun({
  session: text.nullable(),
  new: z.boolean(),
  run: ordinal,
  continues: z.boolean(),
  url: text,
  transport: z.enum(["sse", "ws"]),
  provider: text,
  model: text,
  context_tokens: count.nullable().describe("size of the model's context window; null if unknown"),
  fingerprint: text,
  items: count,
  reasoning_sent: count,
  reasoning_dropped: count,
  body_bytes: count,
  body_sha256: sha256,
  prefix: z.union([extending, differing.extend({ with: flags.exactOptional() })]).nullable()
    .describe("comparison with the last request; null before the first"),
});
