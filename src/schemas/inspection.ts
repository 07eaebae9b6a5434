/** The documents of the verbs that inspect sessions and the environment. */
import * as z from "zod";
import type { ErrorCode } from "../domain/errors.ts";
import {
  anyJson,
  cost,
  countType,
  dryRun,
  exitCode,
  known,
  ordinalType,
  type Printed,
  problem,
  sha256Type,
  shownUsageType,
  spending,
  textType,
  time,
  tokenCounts,
} from "./parts.ts";
import { event, manifest, turn, turnHead } from "./turns.ts";

const listedSession = z.object({
  id: textType,
  path: textType.describe("the session's directory"),
  parent: textType.describe("the session that this one was forked from").exactOptional(),
  title: textType.exactOptional(),
  created_at: time.exactOptional(),
  updated_at: time.exactOptional(),
  turns: countType.exactOptional(),
  runs: countType.exactOptional(),
  state: textType.describe(
    "completed, failed, running, killed, damaged, …: see ls --state in docs/cli.md#ls",
  ),
  model: textType.exactOptional(),
  provider: textType.exactOptional(),
  workspace: textType.exactOptional(),
  usage: shownUsageType.describe("tokens of all ended runs").exactOptional(),
  bytes: countType.describe("of all turn files and blobs, including those shared with forks").exactOptional(),
  problem: textType.describe("finding about the manifest or the newest turn").exactOptional(),
  parent_gone: z.literal(true).describe("with --tree").exactOptional(),
  get forks() {
    return z.array(listedSession).describe("with --tree").exactOptional();
  },
}).meta({ id: "session", description: "members of the manifest are absent if it cannot be read" });
export type ListedSession = Printed<typeof listedSession> & { readonly forks?: readonly ListedSession[] };

export const ls = z.object({ sessions: z.array(listedSession) });

export const lsRemote = z.object({
  remote: textType,
  sessions: z.array(z.object({
    id: textType,
    turns: ordinalType.describe("the last turn on the remote"),
    here: countType.describe("the last turn in this home; 0 if it has none"),
    bytes: countType.describe("length of its turns and blobs"),
    updated_at: time.nullable().describe("time at which the last turn was put, by the store's clock"),
  })),
});

const hit = z.object({
  turn: ordinalType,
  seq: ordinalType,
  type: textType.describe("kind of the event"),
  text: textType.describe("one line around the first place"),
  at: z.tuple([countType, countType]).describe("begin and end of the found text in text, in UTF-16 units"),
});
/** An event in which a text was found. */
export type SearchHit = Printed<typeof hit>;

const foundSession = z.object({
  id: textType,
  path: textType,
  state: textType,
  title: textType.exactOptional(),
  updated_at: time.exactOptional(),
  hits: z.array(hit),
});
export type FoundSession = Printed<typeof foundSession>;

const unsearched = z.object({ path: textType, why: textType });
export type Unsearched = Printed<typeof unsearched>;

export const search = z.object({
  sessions: z.array(foundSession),
  hits: countType,
  skipped: z.array(unsearched),
});

const spentRequest = z.object({
  session: textType,
  turn: ordinalType,
  run: ordinalType,
  at: time,
  provider: textType.nullable(),
  model: textType.nullable().describe("the model that answered, or the one that was asked"),
  usage: tokenCounts.nullable(),
  cost_usd: cost,
});
export type SpentRequest = Printed<typeof spentRequest>;

const byModel = z.array(spending.extend({ model: textType.nullable() }));
const byDay = z.array(
  spending.extend({ day: textType.nullable().describe("in the local time zone, or in that of --tz") }),
);

const SESSION_SPENDING = {
  total: spending,
  shared: spending.describe("requests before the fork, which belong to the parent"),
  runs: z.array(spending.extend({ run: ordinalType })),
  models: byModel,
  days: byDay,
  requests: z.array(spentRequest),
};

const sessionSpending = z.object(SESSION_SPENDING);
/** Spending of one session. Turns before a fork belong to its parent: they count in `shared` only. */
export type SessionSpending = Printed<typeof sessionSpending>;

const problems = z.array(problem).describe("only for a damaged session").exactOptional();

export const show = z.object({
  session: textType,
  path: textType,
  manifest: manifest.nullable(),
  turns: z.array(turn),
  spending: sessionSpending,
  problems,
});
export const showTurns = z.object({ session: textType, turns: z.array(turnHead), problems });
export const showEvents = z.object({ session: textType, events: z.array(event), problems });

const PAGE = {
  file: textType.nullable().describe("null for stdout"),
  bytes: countType.describe("length of the page"),
};
export const showHtml = z.object({ session: textType, turns: countType, ...PAGE });
export const fixtureShowHtml = z.object({ path: textType, exchanges: countType, ...PAGE });

const unreadable = z.array(textType).describe("files that cannot be read").exactOptional();

export const stats = z.object({
  total: spending,
  sessions: z.array(spending.extend({ session: textType })),
  models: byModel,
  days: byDay,
  problems: unreadable,
});
export const statsSession = z.object({ session: textType, ...SESSION_SPENDING, problems: unreadable });

const extending = z.object({ extends: z.literal(true) });
const differing = z.object({
  extends: z.literal(false),
  item: countType.nullable().describe("first item of the input that differs; null before the input"),
  byte: countType.describe("first byte of the body that differs"),
});
const flags = z.array(textType).describe("flags of the last run that keep its prompt cache");

export const explain = z.object({
  session: textType,
  next: z.object({
    model: textType,
    fingerprint: textType,
    account: textType.nullable(),
    account_why: textType,
    items: countType,
  }),
  reasoning: z.array(z.object({
    seq: ordinalType,
    turn: ordinalType,
    id: textType.nullable(),
    bytes: countType.describe("length of its encrypted content"),
    fingerprint: textType,
    account: textType.nullable(),
    sent: z.boolean(),
    reason: textType.nullable().describe("why it is left out; null if it is sent"),
    why: textType,
    unknown: z.array(textType),
  })),
  dropped: z.array(z.object({ seq: ordinalType, reason: textType, why: textType })),
  repairs: z.array(z.object({ seq: ordinalType, kind: textType, call_id: textType, why: textType })),
  refusals: z.array(z.object({
    turn: ordinalType,
    run: ordinalType,
    reason: textType,
    items: z.array(z.object({ seq: ordinalType, action: textType, field: textType.exactOptional() })),
    scope: z.object({
      endpoint: textType,
      account: textType.nullable(),
      portless: textType.describe("hash of a loopback endpoint without its port").exactOptional(),
      key: textType.describe("hash of the key").exactOptional(),
    }).nullable().describe("endpoint and account that refused"),
    error: textType.nullable(),
  })),
  transformations: z.array(z.object({ turn: ordinalType, transformation: anyJson })),
  prefix: z.union([extending.extend({ with: flags.exactOptional() }), differing]).nullable(),
});

const check = z.object({
  name: textType,
  level: z.enum(["ok", "missing", "unknown", "failed"]).describe("unknown: it could not be checked"),
  detail: textType,
  code: known<ErrorCode>().describe("of a failed check: that of the error").exactOptional(),
  exit_code: exitCode.describe("of a failed check").exactOptional(),
});
export type Check = Printed<typeof check>;

export const doctor = z.object({
  ok: z.boolean().describe("true if a run could start"),
  exit_code: exitCode,
  checks: z.array(check),
});

export const runDryRun = dryRun({
  session: textType.nullable(),
  new: z.boolean(),
  run: ordinalType,
  continues: z.boolean(),
  answered: z.literal(true).exactOptional()
    .describe("the run gives the answer on disk: the request that the other members describe is not sent"),
  url: textType,
  transport: z.enum(["sse", "ws"]),
  provider: textType,
  model: textType,
  context_tokens: countType.nullable().describe("size of the model's context window; null if unknown"),
  fingerprint: textType,
  items: countType,
  reasoning_sent: countType,
  reasoning_dropped: countType,
  body_bytes: countType,
  body_sha256: sha256Type,
  prefix: z.union([extending, differing.extend({ with: flags.exactOptional() })]).nullable()
    .describe("comparison with the last request; null before the first"),
});
