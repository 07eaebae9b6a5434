/** The documents of the verbs that change sessions and the configuration. */
import * as z from "zod";
import type { ErrorCode } from "../domain/errors.ts";
import {
  anyJson,
  counts,
  countType,
  doneOrDry,
  dryRun,
  exitCode,
  known,
  objectType,
  ordinalType,
  type Printed,
  range,
  sha256Type,
  textType,
  time,
  typed,
} from "./parts.ts";

export const interrupt = z.union([
  z.object({
    session: textType,
    interrupted: z.int().nullable().describe("the process that was stopped"),
    closed_run: ordinalType.nullable(),
    answered_calls: z.array(anyJson).describe("open calls that got a fallback result"),
  }),
  dryRun({ session: textType, pid: z.int().nullable(), plan: textType }),
]);

const size = z.object({
  entries: countType,
  bytes: countType.describe("UTF-8 of the entries as JSON: nearly what the history takes in the body"),
  tokens: countType,
});
export type HistorySize = Printed<typeof size>;

const place = z.object({ turn: ordinalType, seq: ordinalType, why: textType });
/** A place for a checkpoint: the last turn and event that it replaces. */
export type Cut = Printed<typeof place>;

const PLAN = {
  session: textType,
  strategy: z.enum(["deterministic", "model"]),
  range: z.object({
    from_turn: ordinalType,
    to_turn: ordinalType,
    from_seq: ordinalType,
    to_seq: ordinalType,
    events: countType,
  }).nullable().describe("events that the checkpoint replaces; null if only results are shortened"),
  tail: z.object({ asked: countType, events: countType, from_seq: ordinalType.nullable() }).nullable(),
  cut: place.nullable(),
  previous_checkpoint: ordinalType.nullable(),
  opening_turn: ordinalType.nullable(),
  before: size.describe("the history that is sent"),
  after: size,
  token_estimate: textType,
  dropped: counts.describe("entries that are no longer sent, by kind"),
  elided: z.array(z.object({ result_seq: ordinalType, kept_chars: countType })),
};
const nothing = { session: textType, message: textType, details: objectType };

const checkpoint = z.object({
  turn: ordinalType,
  seq: ordinalType,
  to_turn: ordinalType,
  to_seq: ordinalType,
  opening_turn: ordinalType.nullable(),
}).nullable();
const WITHDRAWN = {
  session: textType,
  withdrawn: checkpoint,
  restored_results: z.array(ordinalType).describe("seq of each result that is sent whole again"),
  in_force: checkpoint,
};
export const compact = z.union([
  typed("compacted", {
    ...PLAN,
    checkpoint: z.object({ turn: ordinalType, seq: ordinalType }).nullable(),
    summary: textType,
    limitations: z.array(textType),
    verification: objectType.describe("claims of the model, compared with the log").exactOptional(),
  }),
  typed("nothing_to_compact", { ...nothing }),
  typed("compaction_withdrawn", { ...WITHDRAWN }),
  dryRun({
    ...PLAN,
    summary: textType.exactOptional(),
    limitations: z.array(textType).exactOptional(),
    after_excludes_summary: z.literal(true).exactOptional(),
    request: z.object({ url: textType, model: textType, body_bytes: countType }).exactOptional(),
    contract: z.object({
      name: textType,
      instructions: textType,
      output_schema: objectType,
      input: z.array(anyJson),
    })
      .exactOptional(),
  }),
  dryRun(nothing),
  dryRun(WITHDRAWN),
]);

const OMISSION = {
  session: textType,
  undo: z.boolean(),
  seqs: z.array(ordinalType).describe(
    "seq of everything that is left out, or sent again, with what belongs to it",
  ),
  part: ordinalType.nullable().describe("the only part of a message that is concerned"),
  before: size.describe("the history that is sent"),
  after: size,
  token_estimate: textType,
};
export const omit = z.union([
  z.object({ type: z.literal(["omitted", "omission_withdrawn"]), ...OMISSION }),
  dryRun(OMISSION),
]);

const FORK = {
  parent: textType,
  to_seq: ordinalType,
  to_turn: ordinalType,
  closed_run: ordinalType.nullable(),
  notices: countType,
  summary: anyJson.describe("summary of the part that is left out; null without --summarize"),
};
export const fork = z.union([
  z.object({ session: textType, path: textType, turn: ordinalType, ...FORK }),
  dryRun(FORK),
]);

const finding = z.object({
  severity: z.enum(["error", "warning", "info"]),
  code: textType.describe("a stable name; docs/format.md#findings-of-fsck lists all"),
  path: textType.describe("inside the session"),
  message: textType,
  turn: ordinalType.exactOptional(),
});
/** A finding of a check. A session is damaged only if a finding is an `error`. */
export type FsckFinding = Printed<typeof finding>;

const verified = z.object({
  turn: ordinalType,
  // Only `differs` is a fault.
  verdict: z.enum([
    "same",
    "differs",
    // The rules that built the request differ from those that fold its history now.
    "other_fold_version",
    // Secrets were stripped from the turns that the request was made from.
    "redacted",
    // A turn or a blob that the request was made from is lost.
    "repaired",
    // Another agent sent it.
    "imported",
  ]),
  recorded: sha256Type,
  refolded: sha256Type.nullable(),
});
export type VerifiedRequest = Printed<typeof verified>;

export const fsck = z.object({
  ok: z.boolean().describe("false if a session is damaged, or a request differs"),
  exit_code: exitCode,
  sessions: z.array(z.object({
    id: textType,
    findings: z.array(finding),
    turns: countType,
    in_use: z.boolean().describe("the open tail of the session was not checked"),
    requests: z.array(verified).describe("with --requests, if the files are sound").exactOptional(),
  })),
  strays: z.array(finding).describe("with --all: names among the sessions that are no ids"),
  skipped: z.array(z.object({ id: textType, why: textType })),
  totals: z.object({
    sessions: countType,
    turns: countType,
    damaged: countType,
    in_use: countType,
    errors: countType,
    warnings: countType,
    infos: countType,
    differing: countType.describe("requests that fold to other bytes than were sent"),
  }),
  remote: textType.describe("with --remote: its address").exactOptional(),
});

const repairAction = z.object({
  action: z.enum(["replace", "restore", "set_aside", "rebuild_manifest", "fix_mode"]),
  path: textType.describe("inside the session"),
  reason: textType.describe("a code of fsck"),
  message: textType,
  kept: textType.describe("path that keeps the previous file").exactOptional(),
  from: textType.describe("path at which a restored turn was found").exactOptional(),
  turn: ordinalType.exactOptional(),
  seq: range.describe("events that a replacement represents").exactOptional(),
});
/** One change that a repair makes to the files of a session. */
export type RepairAction = Printed<typeof repairAction>;

const REPAIRED = {
  session: textType,
  actions: z.array(repairAction),
  closed_run: ordinalType.nullable(),
  answered_calls: z.array(ordinalType),
  lost_blobs: z.array(textType),
  lost: z.array(z.object({ sha256: textType, turn: ordinalType, by: textType, instead: textType })),
  put: z.array(textType).describe("with --remote: addresses of the objects that it got").exactOptional(),
  left: z.array(finding).describe("errors that fsck still finds"),
};
const REPAIRED_ALL = {
  ok: z.boolean(),
  exit_code: exitCode,
  sessions: z.array(z.object({ ...REPAIRED, dry_run: z.boolean() })),
  skipped: z.array(z.object({ id: textType, code: textType, why: textType })),
  totals: z.object({ sessions: countType, repaired: countType, repairs: countType, left: countType }),
};
export const repair = doneOrDry(REPAIRED);
export const repairAll = doneOrDry(REPAIRED_ALL);
export const repairLift = doneOrDry({ session: textType, lifted: z.array(ordinalType) });

export const rename = doneOrDry({
  session: textType,
  title: textType,
  before: textType.describe("the title until now"),
  changed: z.boolean().describe("false if the session had that title already, and in a dry run"),
});

const redaction = z.object({
  replaced: countType.describe("a blob counts once, however many turns name it"),
  kinds: counts,
  turns: z.array(z.object({ turn: ordinalType, kinds: counts })),
});
/** Counts of replaced secrets, for the header of an export and for the user. */
export type RedactionReport = Printed<typeof redaction>;

export const exported = doneOrDry({
  session: textType,
  file: textType.nullable().describe("null for stdout"),
  bytes: countType,
  turns: countType,
  blobs: countType,
  redacted: redaction.nullable(),
  omitted: countType.describe("omitted items whose content it holds"),
});

export const exportedToAgent = doneOrDry({
  session: textType,
  to: z.enum(["codex", "claude", "pi"]),
  file: textType,
  bytes: countType,
  place: textType.describe("path at which the agent looks for the file"),
  command: textType.describe("command that continues it there"),
  messages: countType,
  answers: countType,
  results: countType.describe("results of calls"),
  lost: z.array(z.object({ turn: ordinalType, what: textType })),
});

const lostPart = z.object({ line: ordinalType, what: textType, why: textType });
/** A part of the source that a session of ours cannot keep; `why` is a clause: `it is of an unknown type`. */
export type LostPart = Printed<typeof lostPart>;

export const imported = doneOrDry({
  session: textType,
  path: textType,
  turns: countType,
  blobs: countType,
  redacted: anyJson.describe("as in the export; null without redactions"),
  from: z.object({
    agent: z.enum(["codex", "claude", "pi"]),
    version: textType.nullable(),
    id: textType.nullable().describe("the agent's own id of the session"),
    kept: z.object({
      messages: countType,
      responses: countType,
      reasoning: countType,
      sendable: countType.describe("reasoning items with a trusted origin"),
      calls: countType,
      results: countType,
      compactions: countType,
      uncounted: countType.describe("responses without token counts"),
      copied: countType.describe("responses that the file, a fork, has from its parent"),
    }),
    lost: z.array(lostPart),
    torn_line: ordinalType.nullable().describe("an incomplete last line, which is kept in quarantine/"),
    forks: z.array(z.object({ session: textType, path: textType, turns: countType, branch: textType }))
      .describe("sessions of its other branches and sidechains"),
  }).nullable().describe("the session of another agent; null for an export"),
});

const removed = z.object({
  id: textType,
  why: z.enum(["named", "age", "number", "size"]),
  updated_at: time.exactOptional(),
  bytes: countType.exactOptional(),
});
const skippedSession = z.object({ id: textType, why: textType });
export type SkippedSession = Printed<typeof skippedSession>;

export const rm = doneOrDry({
  removed: z.array(removed),
  would_remove: z.array(removed),
  skipped: z.array(skippedSession),
});

const garbage = z.object({
  kind: z.enum(["blob", "temporary", "begun_session", "half_made", "half_removed", "scratch"]),
  path: textType.describe("below the sessions; absolute for a scratch directory of test"),
});
export type Garbage = Printed<typeof garbage>;

const skippedDirectory = z.object({ path: textType, code: known<ErrorCode>(), why: textType });
export type SkippedDirectory = Printed<typeof skippedDirectory>;

export const rmUnused = doneOrDry({
  removed: z.array(garbage),
  would_remove: z.array(garbage),
  skipped: z.array(skippedDirectory),
});

export const sync = doneOrDry({
  remote: textType,
  sessions: z.array(z.object({
    session: textType,
    put: countType.describe("turns that the remote lacked"),
    fetched: countType.describe("turns that this home lacked"),
    blobs: countType.describe("fetched blobs; 0 in a dry run"),
    omitted: countType.describe("omitted items, which the remote has too; 0 if nothing was put"),
    mine: textType.nullable().describe("with --keep-mine-as: the fork with the turns of this home"),
  })),
  skipped: z.array(z.object({ code: textType, message: textType, details: objectType }))
    .describe("without an id: sessions that were left unchanged"),
});

const SET = {
  path: textType,
  name: textType,
  value: anyJson.describe("null if the member was removed"),
  written: z.boolean(),
};
export const configSet = z.union([z.object(SET), dryRun(SET)]);
export const configPathDocument = z.object({ path: textType });
