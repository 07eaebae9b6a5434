/** The documents of the verbs that change sessions and the configuration. */
import * as z from "zod";
import {
  anyJson,
  anyObject,
  count,
  counts,
  doneOrDry,
  dryRun,
  exitCode,
  ordinal,
  range,
  sha256,
  text,
  time,
} from "./parts.ts";

/** The document of `interrupt`. */
export const interrupt = z.union([
  z.object({
    session: text,
    interrupted: z.int().nullable().describe("the process that was stopped"),
    closed_run: ordinal.nullable(),
    answered_calls: z.array(anyJson).describe("open calls that got a fallback result"),
  }),
  dryRun({ session: text, pid: z.int().nullable(), plan: text }),
]);

const size = z.object({ entries: count, bytes: count, tokens: count });
const PLAN = {
  session: text,
  strategy: z.enum(["deterministic", "model"]),
  range: z.object({
    from_turn: ordinal,
    to_turn: ordinal,
    from_seq: ordinal,
    to_seq: ordinal,
    events: count,
  }).nullable().describe("events that the checkpoint replaces; null if only results are shortened"),
  tail: z.object({ asked: count, events: count, from_seq: ordinal.nullable() }).nullable(),
  cut: z.object({ turn: ordinal, seq: ordinal, why: text }).nullable(),
  previous_checkpoint: ordinal.nullable(),
  opening_turn: ordinal.nullable(),
  before: size.describe("the history that is sent"),
  after: size,
  token_estimate: text,
  dropped: counts.describe("entries that are no longer sent, by kind"),
  elided: z.array(z.object({ result_seq: ordinal, kept_chars: count })),
};
const nothing = { session: text, message: text, details: anyObject };

const checkpoint = z.object({
  turn: ordinal,
  seq: ordinal,
  to_turn: ordinal,
  to_seq: ordinal,
  opening_turn: ordinal.nullable(),
}).nullable();
const WITHDRAWN = {
  session: text,
  withdrawn: checkpoint,
  restored_results: z.array(ordinal).describe("seq of each result that is sent whole again"),
  in_force: checkpoint,
};
/** The document of `compact`. */
export const compact = z.union([
  z.object({
    type: z.literal("compacted"),
    ...PLAN,
    checkpoint: z.object({ turn: ordinal, seq: ordinal }).nullable(),
    summary: text,
    limitations: z.array(text),
    verification: anyObject.describe("claims of the model, compared with the log").exactOptional(),
  }),
  z.object({ type: z.literal("nothing_to_compact"), ...nothing }),
  z.object({ type: z.literal("compaction_withdrawn"), ...WITHDRAWN }),
  dryRun({
    ...PLAN,
    summary: text.exactOptional(),
    limitations: z.array(text).exactOptional(),
    after_excludes_summary: z.literal(true).exactOptional(),
    request: z.object({ url: text, model: text, body_bytes: count }).exactOptional(),
    contract: z.object({ name: text, instructions: text, output_schema: anyObject, input: z.array(anyJson) })
      .exactOptional(),
  }),
  dryRun(nothing),
  dryRun(WITHDRAWN),
]);

const OMISSION = {
  session: text,
  undo: z.boolean(),
  seqs: z.array(ordinal).describe(
    "seq of everything that is left out, or sent again, with what belongs to it",
  ),
  part: ordinal.nullable().describe("the only part of a message that is concerned"),
  before: size.describe("the history that is sent"),
  after: size,
  token_estimate: text,
};
/** The document of `omit`. */
export const omit = z.union([
  z.object({ type: z.literal(["omitted", "omission_withdrawn"]), ...OMISSION }),
  dryRun(OMISSION),
]);

const FORK = {
  parent: text,
  to_seq: ordinal,
  to_turn: ordinal,
  closed_run: ordinal.nullable(),
  notices: count,
  summary: anyJson.describe("summary of the part that is left out; null without --summarize"),
};
/** The document of `fork`. */
export const fork = z.union([
  z.object({ session: text, path: text, turn: ordinal, ...FORK }),
  dryRun(FORK),
]);

/** A finding of `fsck`. */
const finding = z.object({
  severity: z.enum(["error", "warning", "info"]),
  code: text.describe("a stable name; docs/format.md#findings-of-fsck lists all"),
  path: text.describe("inside the session"),
  message: text,
  turn: ordinal.exactOptional(),
});

/** The document of `fsck`. */
export const fsck = z.object({
  ok: z.boolean().describe("false if a session is damaged, or a request differs"),
  exit_code: exitCode,
  sessions: z.array(z.object({
    id: text,
    findings: z.array(finding),
    turns: count,
    in_use: z.boolean().describe("the open tail of the session was not checked"),
    requests: z.array(z.object({
      turn: ordinal,
      verdict: z.enum(["same", "differs", "other_fold_version", "redacted", "repaired", "imported"]),
      recorded: sha256,
      refolded: sha256.nullable(),
    })).describe("with --requests, if the files are sound").exactOptional(),
  })),
  strays: z.array(finding).describe("with --all: names among the sessions that are no ids"),
  skipped: z.array(z.object({ id: text, why: text })),
  totals: z.object({
    sessions: count,
    turns: count,
    damaged: count,
    in_use: count,
    errors: count,
    warnings: count,
    infos: count,
    differing: count.describe("requests that fold to other bytes than were sent"),
  }),
  remote: text.describe("with --remote: its address").exactOptional(),
});

const REPAIRED = {
  session: text,
  actions: z.array(z.object({
    action: z.enum(["replace", "restore", "set_aside", "rebuild_manifest", "fix_mode"]),
    path: text,
    reason: text.describe("a code of fsck"),
    message: text,
    kept: text.describe("path that keeps the previous file").exactOptional(),
    from: text.exactOptional(),
    turn: ordinal.exactOptional(),
    seq: range.exactOptional(),
  })),
  closed_run: ordinal.nullable(),
  answered_calls: z.array(ordinal),
  lost_blobs: z.array(text),
  lost: z.array(z.object({ sha256: text, turn: ordinal, by: text, instead: text })),
  put: z.array(text).describe("with --remote: addresses of the objects that it got").exactOptional(),
  left: z.array(finding).describe("errors that fsck still finds"),
};
const REPAIRED_ALL = {
  ok: z.boolean(),
  exit_code: exitCode,
  sessions: z.array(z.object({ ...REPAIRED, dry_run: z.boolean() })),
  skipped: z.array(z.object({ id: text, code: text, why: text })),
  totals: z.object({ sessions: count, repaired: count, repairs: count, left: count }),
};
/** The document of `repair ID`. */
export const repair = doneOrDry(REPAIRED);
/** The document of `repair --all`. */
export const repairAll = doneOrDry(REPAIRED_ALL);
/** The document of `repair ID --lift-quarantine`. */
export const repairLift = doneOrDry({ session: text, lifted: z.array(ordinal) });

/** The document of `rename`. */
export const rename = doneOrDry({
  session: text,
  title: text,
  before: text.describe("the title until now"),
  changed: z.boolean().describe("false if the session had that title already, and in a dry run"),
});

/** The document of `export`. */
export const exported = doneOrDry({
  session: text,
  file: text.nullable().describe("null for stdout"),
  bytes: count,
  turns: count,
  blobs: count,
  redacted: z.object({
    replaced: count,
    kinds: counts,
    turns: z.array(z.object({ turn: ordinal, kinds: counts })),
  }).nullable(),
  omitted: count.describe("omitted items whose content it holds"),
});

/** The document of `export --to`. */
export const exportedToAgent = doneOrDry({
  session: text,
  to: z.enum(["codex", "claude", "pi"]),
  file: text,
  bytes: count,
  place: text.describe("path at which the agent looks for the file"),
  command: text.describe("command that continues it there"),
  messages: count,
  answers: count,
  results: count.describe("results of calls"),
  lost: z.array(z.object({ turn: ordinal, what: text })),
});

/** The document of `import`. */
export const imported = doneOrDry({
  session: text,
  path: text,
  turns: count,
  blobs: count,
  redacted: anyJson.describe("as in the export; null without redactions"),
  from: z.object({
    agent: z.enum(["codex", "claude", "pi"]),
    version: text.nullable(),
    id: text.nullable().describe("the agent's own id of the session"),
    kept: z.object({
      messages: count,
      responses: count,
      reasoning: count,
      sendable: count.describe("reasoning items with a trusted origin"),
      calls: count,
      results: count,
      compactions: count,
      uncounted: count.describe("responses without token counts"),
      copied: count.describe("responses that the file, a fork, has from its parent"),
    }),
    lost: z.array(z.object({ line: ordinal, what: text, why: text })),
    torn_line: ordinal.nullable().describe("an incomplete last line, which is kept in quarantine/"),
    forks: z.array(z.object({ session: text, path: text, turns: count, branch: text }))
      .describe("sessions of its other branches and sidechains"),
  }).nullable().describe("the session of another agent; null for an export"),
});

const removed = z.object({
  id: text,
  why: z.enum(["named", "age", "number", "size"]),
  updated_at: time.exactOptional(),
  bytes: count.exactOptional(),
});
/** The document of `rm`. */
export const rm = doneOrDry({
  removed: z.array(removed),
  would_remove: z.array(removed),
  skipped: z.array(z.object({ id: text, why: text })),
});

const garbage = z.object({
  kind: z.enum(["blob", "temporary", "begun_session", "half_made", "half_removed", "scratch"]),
  path: text,
});
/** The document of `rm --unused`. */
export const rmUnused = doneOrDry({
  removed: z.array(garbage),
  would_remove: z.array(garbage),
  skipped: z.array(z.object({ path: text, code: text, why: text })),
});

const SET = {
  path: text,
  name: text,
  value: anyJson.describe("null if the member was removed"),
  written: z.boolean(),
};
/** The document of `config set`. */
export const configSet = z.union([z.object(SET), dryRun(SET)]);
/** The document of `config path`. */
export const configPath = z.object({ path: text });
