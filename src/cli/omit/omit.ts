/** The verb `omit`: takes items out of later requests, or sends them again. */
import { historySize, TOKEN_ESTIMATE, withPreview } from "../../compaction/plan.ts";
import { foldNeedsOf } from "../../apis/apis.ts";
import { type ExitCode, RepriseError } from "../../domain/errors.ts";
import type { EventDraft, StandingOmission } from "../../domain/event.ts";
import type { Manifest } from "../../domain/manifest.ts";
import { counted } from "../../domain/text.ts";
import type { Turn } from "../../domain/turn.ts";
import { omittedItems, standingOmissionsOf } from "../../fold/omissions.ts";
import { readOverrides } from "../../fold/overrides.ts";
import { isUnfinished } from "../../run/recover.ts";
import { OmissionRules } from "../../store/read/omission_rules.ts";
import { readSession, readSessionTail } from "../../store/read/session.ts";
import { makeContext } from "../context.ts";
import { dryRunOf, plannedChanges } from "../dry_run.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { changeSession } from "../remote/open_writer.ts";
import type { OmitFlags } from "./command.ts";
import { sessionArgument } from "../sessions.ts";

export async function omitVerb(ports: ProgramPorts, selector: string, flags: OmitFlags): Promise<ExitCode> {
  const named = namedItems(flags);
  const context = makeContext(ports, flags);
  const { output } = context;
  const { home, id } = sessionArgument(context, selector);
  // The process of an open run holds the lock: waiting for it would hide the reason.
  requireNoRun(id, readSessionTail(ports, home, id).manifest);
  const undo = flags.undo === true;
  const dryRun = flags.dryRun === true;
  const { drafts, seqs, part, before, after } = dryRun
    ? planOf(id, readSession(ports, home, id), named, undo)
    : await changeSession(context, { home, id }, flags, async (writer) => {
      const { manifest } = writer;
      if (manifest === null) throw new TypeError("An opened session has a manifest");
      requireNoRun(id, manifest);
      const plan = planOf(id, { manifest, turns: writer.allTurns() }, named, undo);
      await writer.save({ kind: "harness", run: writer.end.run, events: plan.drafts });
      return plan;
    });
  const facts = {
    session: id,
    undo,
    seqs,
    part,
    before,
    after,
    token_estimate: TOKEN_ESTIMATE,
  };
  if (output.options.json) {
    const changes = drafts.length === 0 ? [] : plannedChanges("append", "turn", [id]);
    output.json<"omit">(
      dryRun ? dryRunOf("omit", changes, facts) : { type: undo ? "omission_withdrawn" : "omitted", ...facts },
    );
    return 0;
  }
  const what = seqs.length === 0
    // Only if an omission is withdrawn.
    ? "nothing, because another omission names the same,"
    : `${part === null ? "" : `part ${part} of `}seq ${seqs.join(", ")}`;
  const would = undo ? "would be sent again" : "would be omitted";
  const done = undo ? "sent again" : "omitted from later requests";
  const sizes = `the next request has ${counted(after.entries, "item")} instead of ${before.entries}, about ${
    counted(after.tokens, "token")
  } instead of ${before.tokens}`;
  output.text(`${id}: ${what} ${dryRun ? would : done}; ${sizes}${dryRun ? ". Nothing was written." : ""}\n`);
  return 0;
}

/** Items that a call names; none only for the latest omission. */
interface NamedItems {
  readonly seqs: readonly number[];
  readonly part?: number;
}

/** @throws {RepriseError} `usage` */
function namedItems({ seq, part, undo }: OmitFlags): NamedItems {
  const seqs = (seq ?? []).flatMap((list) => list.split(",")).map((text) => {
    if (/^[1-9]\d{0,14}$/.test(text.trim())) return Number(text);
    throw usage(
      `Cannot read --seq ${JSON.stringify(text)}: it is no seq`,
      'Numbers as "reprise show ID --turns" prints',
    );
  });
  if (seqs.length === 0 && undo !== true) {
    throw usage(
      "Cannot omit nothing: --seq is missing",
      'Name the items: --seq 5 or --seq 5,9; see "reprise show ID"',
    );
  }
  if (part !== undefined && seqs.length !== 1) {
    throw usage("Cannot use --part: it is for a part of one message", "Name that message alone with --seq");
  }
  return { seqs: [...new Set(seqs)], ...(part === undefined ? {} : { part }) };
}

function usage(message: string, hint: string): RepriseError {
  return new RepriseError("usage", message, { hint });
}

function requireNoRun(id: string, { state, run }: Manifest): void {
  if (state !== "open") return;
  throw usage(
    `Cannot omit items of session "${id}": run ${run} is open`,
    `Wait for its end, or end it: reprise interrupt ${id}`,
  );
}

/**
 * The events that a call would write, and their effect on the next request: `seqs` it no longer holds, or holds again;
 * `part` is the number of the part of the only one of them if only that changes, else `null`.
 *
 * @throws {RepriseError} `usage`, `nothing_to_withdraw`
 */
function planOf(
  id: string,
  { manifest, turns }: { readonly manifest: Manifest; readonly turns: readonly Turn[] },
  named: NamedItems,
  undo: boolean,
) {
  const drafts = undo ? withdrawals(id, turns, named) : [omission(id, turns, named)];
  const { fingerprint, model } = manifest.pins;
  const target = {
    fingerprint,
    model,
    needs: foldNeedsOf(fingerprint.provider),
    replay: "exact" as const,
    ...(isUnfinished(manifest) ? { run: manifest.run + 1 } : {}),
  };
  const later = withPreview(turns, drafts);
  const [now, then] = [omittedItems(turns), omittedItems(later)];
  const whole = [...now.whole.symmetricDifference(then.whole)];
  const parts = [...now.parts.symmetricDifference(then.parts)].map((text) => text.split(" ").map(Number));
  const changed = [...new Set([...whole, ...parts.map(([seq = 0]) => seq)])].sort((a, b) => a - b);
  const [, part = null] = whole.length === 0 && parts.length === 1 ? parts[0] ?? [] : [];
  return {
    drafts,
    // An item that was omitted before is named again.
    ...(changed.length > 0 || undo
      ? { seqs: changed, part }
      : { seqs: named.seqs, part: named.part ?? null }),
    before: historySize(turns, target),
    after: historySize(later, target),
  };
}

function omission(id: string, turns: readonly Turn[], named: NamedItems): EventDraft {
  const rules = new OmissionRules();
  for (const turn of turns) rules.advance(turn);
  const { checkpoint } = readOverrides(turns, undefined);
  for (const seq of named.seqs) {
    const why = rules.reasonAgainst(named, seq, checkpoint?.to_seq ?? 0);
    if (why === null) continue;
    const hint = checkpoint !== null && seq <= checkpoint.to_seq
      ? `Withdraw the checkpoint first: reprise compact ${id} --undo`
      : `See what can be omitted: reprise show ${id} --turns`;
    throw usage(`Cannot omit seq ${seq} of session "${id}", ${why}`, hint);
  }
  return { type: "items_omitted", ...named, reason: "user_request" };
}

/** The events that withdraw the latest omission, or all that hold a named item: their other items stay out. */
function withdrawals(id: string, turns: readonly Turn[], { seqs, part }: NamedItems): EventDraft[] {
  const standing = standingOmissionsOf(turns);
  const isNamed = (omission: StandingOmission) =>
    (part === undefined || omission.part === part) && omission.seqs.some((seq) => seqs.includes(seq));
  const omissions = seqs.length === 0 ? standing.slice(-1) : standing.filter(isNamed);
  if (omissions.length === 0) {
    const what = seqs.length === 0 ? "it has no omission" : `no omission names seq ${seqs.join(", ")}`;
    throw new RepriseError("nothing_to_withdraw", `Cannot undo omit of session "${id}": ${what}`, {
      hint: `See what is left out: reprise explain ${id}`,
    });
  }
  return omissions.flatMap((omission): EventDraft[] => {
    const rest = seqs.length === 0 ? [] : omission.seqs.filter((seq) => !seqs.includes(seq));
    return [
      { type: "omission_withdrawn", omission: omission.seq },
      ...(rest.length === 0 ? [] : [{ type: "items_omitted", seqs: rest, reason: "user_request" } as const]),
    ];
  });
}
