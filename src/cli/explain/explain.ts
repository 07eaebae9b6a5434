/** The verb `explain`: each reasoning item and each repaired or dropped item, with the reason why it is sent or not. */
import type { ExitCode } from "../../domain/errors.ts";
import type { Item } from "../../domain/event.ts";
import { type Fingerprint, fingerprintText } from "../../domain/fingerprint.ts";
import type { JsonValue } from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { Turn } from "../../domain/turn.ts";
import type { FoldRepair, ReasoningDecision } from "../../fold/history_fold.ts";
import { previewRequest } from "../../run/preview.ts";
import { isUnfinished } from "../../run/recover.ts";
import { reportOf } from "../../run/refusals.ts";
import type { PrefixReport } from "../../run/prefix.ts";
import type { ExplainFlags } from "./command.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { calledSession, judgePrefix, keepAdvice } from "../run/preview.ts";
import { readCall, requestSettings, resolveRun } from "../run/resolve_run.ts";
import { DROP_REASONS } from "../transcript/words.ts";

const REPAIR_TEXT: Readonly<Record<FoldRepair["kind"], string>> = {
  orphan_answered:
    "has no recorded result: the request answers it with a note that it may or may not have run",
  call_id_renamed: "repeats an earlier call id: the request carries another one",
  result_without_call: "answers no call: it is not sent",
  result_elided: "is sent shortened since it was compacted",
  content_omitted: "is sent with a note in place of what was taken out",
  call_as_text: "is sent as text of the user with its result: the API refused to pair them",
  duplicate_result: "answers a call a second time: it is not sent",
};

export async function explainVerb(
  ports: ProgramPorts,
  selector: string,
  flags: ExplainFlags,
): Promise<ExitCode> {
  const call = readCall(ports, { ...flags, session: selector });
  const { output } = call.context;
  const session = calledSession(call);
  const { id, manifest } = session;
  const whole = { ...session, turns: session.allTurns() };
  const resolved = resolveRun(call, manifest, { key: "if_set", endpoint: "any" });
  if (resolved.lost !== null) output.note(resolved.lost);
  const next = await previewRequest(requestSettings(resolved, whole), whole, null);
  const { fingerprint, model } = next.target;
  // A prompt of any text comes after the prefix.
  const prompt = isUnfinished(manifest) ? null : "";
  const prefix = await judgePrefix(resolved, whole, { prompt, attached: [] });
  const reasoningSeqs = new Set(next.folded.reasoning.map((decision) => decision.seq));
  const otherDropped = next.folded.dropped.filter((item) => !reasoningSeqs.has(item.seq));
  const report = {
    session: id,
    next: {
      model,
      fingerprint: fingerprintText(fingerprint, model),
      account: fingerprint.account,
      account_why: accountText(fingerprint),
      items: next.built.items,
    },
    reasoning: next.folded.reasoning.map((decision) => reasoningRecord(decision, fingerprint)),
    dropped: otherDropped.map(({ seq, reason }) => ({ seq, reason, why: DROP_REASONS[reason] })),
    repairs: next.folded.repairs.map(
      ({ seq, kind, callId }) => ({ seq, kind, call_id: callId, why: REPAIR_TEXT[kind] }),
    ),
    refusals: whole.turns.flatMap(refusalsOf),
    transformations: whole.turns.flatMap(transformationsOf),
    // With the flags of its own run, only the history decides.
    prefix: prefix === null || prefix.with === null
      ? prefix?.report ?? null
      : { extends: true as const, with: prefix.with },
  };
  if (output.options.json) {
    output.json<"explain">(report);
    return 0;
  }
  if (report.prefix !== null) output.text(prefixLine(report.prefix));
  const advice = keepAdvice(prefix);
  if (advice !== null) output.text(`${advice}.\n`);
  const sent = report.reasoning.filter((item) => item.sent).length;
  const items = counted(report.next.items, "item");
  output.text(
    `The next request of ${id} goes to ${report.next.fingerprint} with ${items}.\n` +
      `Its account is ${report.next.account ?? "unknown"}: ${report.next.account_why}.\n` +
      `Reasoning: ${sent} sent, ${report.reasoning.length - sent} left out.\n`,
  );
  for (const item of report.reasoning) {
    const verdict = item.sent ? "sent" : "left out";
    const bytes = counted(item.bytes, "byte");
    output.text(
      `  seq ${item.seq}  turn ${item.turn}  ${item.id ?? "(no id)"}  ${bytes}  from ${item.fingerprint}` +
        `  ${verdict}: ${item.why}\n`,
    );
  }
  for (const item of report.dropped) output.text(`  seq ${item.seq}  left out: ${item.why}\n`);
  for (const item of report.repairs) {
    output.text(`  seq ${item.seq}  ${item.call_id === "" ? "" : `${item.call_id} `}${item.why}\n`);
  }
  for (const { turn, run, reason, items, error } of report.refusals) {
    const done = items.map(({ seq, action }) => `seq ${seq} ${action}`).join(", ");
    const message = error === null ? "" : `: ${error}`;
    output.text(`  turn ${turn}  run ${run}  ${reason}${done === "" ? "" : ` (${done})`}${message}\n`);
  }
  for (const { turn, transformation } of report.transformations) {
    output.text(`  turn ${turn}  the API says: ${JSON.stringify(transformation)}\n`);
  }
  return 0;
}

function prefixLine(prefix: PrefixReport): string {
  if (prefix.extends) return "It extends the last request: the prompt cache can serve that part.\n";
  const where = prefix.item === null ? "before `input`" : `at item ${prefix.item}`;
  return `It diverges from the last request ${where} (byte ${prefix.byte}): expect a prompt-cache miss.\n`;
}

/** Reports in responses about reasoning that was sent but not shown to the model. */
function transformationsOf(turn: Turn) {
  if (turn.kind !== "model" || !Array.isArray(turn.response.input_transformations)) return [];
  return turn.response.input_transformations.map((transformation) => ({ turn: turn.turn, transformation }));
}

/** Refusals of the API, and the decisions about the history after them. */
function refusalsOf({ turn, run, events }: Turn) {
  return events.flatMap((event) => {
    const isRefusal = event.type === "replay_notice" || event.type === "endpoint_notice" ||
      event.type === "calls_as_text";
    if (!isRefusal) return [];
    const { reason, items } = reportOf(event);
    const scope = event.type === "replay_notice" ? event.scope ?? null : null;
    return [{ turn, run, reason, items, scope, error: event.error?.message ?? null }];
  });
}

function opaqueOf(item: Item): JsonValue | undefined {
  return item.encrypted_content ?? item.signature ?? item.data;
}

/** Reports the source of the next request's account, or why the account is unknown. */
function accountText({ account, key }: Fingerprint): string {
  if (key === undefined) return "no key is set";
  return account === null
    ? "no response of this endpoint has named it for the key that is set"
    : "a response of this endpoint named it for the key that is set";
}

/** Facts about a sent item: those known to match, and unknown ones. */
function fitOf(origin: Fingerprint, next: Fingerprint): { readonly why: string; readonly unknown: string[] } {
  const sameAccount = origin.account !== null && next.account !== null;
  const samePort = origin.endpoint === next.endpoint;
  const fits = ["provider", ...(samePort ? ["endpoint"] : []), ...(sameAccount ? ["account"] : []), "model"];
  const whose = [
    ...(origin.account === null ? ["the account of the item"] : []),
    ...(next.account === null ? ["the account of the next request"] : []),
    ...(samePort ? [] : ["the loopback port of one endpoint"]),
  ];
  const known = `${fits.slice(0, -1).join(", ")} and ${fits.at(-1)} fit`;
  return {
    why: whose.length === 0 ? known : `${known}; unknown: ${whose.join(", ")}`,
    unknown: [...(sameAccount ? [] : ["account"]), ...(samePort ? [] : ["endpoint"])],
  };
}

function reasoningRecord(decision: ReasoningDecision, next: Fingerprint) {
  const { origin, reason } = decision;
  const fit = fitOf(origin.fingerprint, next);
  const event = origin.events.find(({ seq }) => seq === decision.seq);
  const blob = event?.type === "reasoning" ? opaqueOf(event.item) : undefined;
  return {
    seq: decision.seq,
    turn: decision.turn,
    id: decision.id,
    bytes: typeof blob === "string" ? blob.length : 0,
    fingerprint: fingerprintText(origin.fingerprint, origin.model.asked),
    account: origin.fingerprint.account,
    sent: reason === null,
    reason,
    why: reason === null ? fit.why : DROP_REASONS[reason],
    // Unknown facts do not matter for an item that is dropped for a known difference.
    unknown: reason === null ? fit.unknown : [],
  };
}
