/**
 * Words for the events of a session that are neither messages nor calls, and for what their members say. Members that
 * this version does not know are shown unchanged, never as JSON.
 */
import {
  countMember,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  objectsIn,
  stringMember,
} from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { DropReason } from "../../domain/turn.ts";
import type { ShownTurn } from "../../store/read/show.ts";
import { anyUsage } from "../../apis/usage.ts";
import { note, type NoteBlock } from "./blocks.ts";
import { usageText } from "./usage.ts";

/** The words for an event that is neither a message nor a call nor a result. */
export function eventNote(turn: Pick<ShownTurn, "number" | "value">, event: JsonObject): NoteBlock {
  const item = objectMember(event, "item") ?? {};
  const said = (name: string) => plain(event[name]);
  switch (event.type) {
    case "provider_item":
      return note(plain(item.type));
    case "provider_usage":
      return note(usageText(anyUsage(objectMember(event, "usage") ?? {})));
    case "permission_decision": {
      const rule = stringMember(event, "rule");
      const reason = lookUp(PERMISSION_REASONS, said("reason"));
      const about = `${said("tool")} ${said("decision")}: ${reason}${rule === undefined ? "" : ` (${rule})`}`;
      return note(about, { isError: event.decision === "denied" });
    }
    case "replay_notice":
      return note(noticeText(event));
    case "calls_as_text": {
      const seqs = Array.isArray(event.call_seqs) ? event.call_seqs.map(plain).join(", ") : "?";
      return note(
        `the API refused to pair the call of seq ${seqs} with its result: ` +
          `later requests hold both as text${causeOf(event)}`,
      );
    }
    case "endpoint_notice":
      return note(
        `the endpoint refuses ${lookUp(OMISSIONS, said("without"))} for ${said("model")}: ` +
          `later requests leave it out${causeOf(event)}`,
      );
    case "history_compaction":
      return note(`checkpoint up to seq ${said("to_seq")}: later requests hold this summary instead`, {
        text: stringMember(event, "summary") ?? "",
      });
    case "compaction_withdrawn":
      return note(`checkpoint of seq ${said("checkpoint")} withdrawn`);
    case "attachment": {
      const bytes = counted(countMember(objectMember(event, "blob") ?? {}, "bytes"), "byte");
      return note(`attached ${said("name")} (${said("media_type")}, ${bytes})`);
    }
    case "result_elided":
      return note(`result of seq ${said("result_seq")} shortened in requests`);
    case "items_omitted":
      return note(omissionText(event));
    case "omission_withdrawn":
      return note(`omission of seq ${said("omission")} withdrawn`);
    case "session_renamed":
      return note(`title: ${said("title")}`);
    case "session_fork":
      return note(`forked from ${said("parent")} after seq ${said("to_seq")}`);
    case "branch_summary":
      return note(`summary of session ${said("session")} after the fork`, {
        text: stringMember(event, "summary") ?? "",
      });
    case "turn_replaced":
      return note(replacedText(turn), { isError: true });
    case "blob_lost": {
      const name = said("sha256").slice(0, 12);
      return note(`blob ${name} is lost: repair found it neither here nor in a related session`, {
        isError: true,
      });
    }
    case "run_continued": {
      const replaced = isJsonObject(turn.value.replaces) ? `; ${replacedText(turn)}` : "";
      return note(`run ${said("run")} continues without a prompt${replaced}`, { isError: replaced !== "" });
    }
    case "run_ended":
      return note(`run ${said("run")} ended: ${stateText(said("state"))}${causeOf(event)}`, {
        isError: event.state !== "completed",
      });
    default:
      return note(`event of the kind ${said("type")}, which this version does not know`);
  }
}

/** The items that `omit` took out. */
function omissionText({ seqs, part, reason }: JsonObject): string {
  const named = Array.isArray(seqs) ? seqs.map(plain).join(", ") : "?";
  const where = part === undefined ? `seq ${named}` : `part ${plain(part)} of seq ${named}`;
  const why = reason === "user_request" ? "" : `: ${plain(reason)}`;
  return `${where} omitted from later requests${why}`;
}

/** A turn that `repair` wrote in place of a lost one. */
function replacedText({ number, value }: Pick<ShownTurn, "number" | "value">): string {
  const replaces = objectMember(value, "replaces") ?? {};
  const reason = lookUp(DAMAGE, plain(replaces.reason));
  const [first, last] = Array.isArray(replaces.seq) ? replaces.seq.map(plain) : [];
  const events = first === undefined
    ? ""
    : first === last
    ? `, with event ${first}`
    : `, with events ${first} to ${last}`;
  return `turn ${number} is lost${events}: ${reason}. Repair put this turn in its place`;
}

/** Findings of `fsck` about a turn that `repair` replaces. */
const DAMAGE: Readonly<Record<string, string>> = {
  missing_turn: "its file was missing",
  bad_sum: "its file did not fit its checksum",
  bad_json: "its file was not JSON",
  bad_format: "its file did not name the format of turns",
  bad_shape: "its file did not have the shape of a turn",
  too_deep: "its file was nested too deep",
  too_large: "its file was too large",
  foreign_turn: "another session had written it",
  wrong_prev: "it did not follow the turn before it",
  wrong_seq: "its events were numbered wrongly",
  wrong_run: "it named the wrong run",
  wrong_number: "its file had the wrong name",
  result_without_call: "it held a result without its call",
  second_result: "it held a second result of one call",
  wrong_checkpoint: "its checkpoint did not fit the turns before it",
  wrong_omission: "it omitted items that cannot be omitted there",
  wrong_fork: "its fork did not fit the turns before it",
};

const PERMISSION_REASONS: Readonly<Record<string, string>> = {
  reading: "it only reads",
  allowed_by_rule: "a rule allows it",
  denied_by_rule: "a rule denies it",
  unclear_command: "a rule denies commands that it may hide",
  not_allowed: "no rule allows it",
  no_terminal: "no rule allows it, and there was no terminal to ask on",
  asked_yes: "answered yes",
  asked_always: "answered always",
  asked_no: "answered no",
};

const OMISSIONS: Readonly<Record<string, string>> = {
  include: "the field include",
  stream_options: "the field stream_options",
  prompt_cache_key: "the field prompt_cache_key",
  binding_check: "the check of bound thinking",
  drop_block: "the request to drop thinking",
  raw_arguments: "arguments that are no JSON object",
};

const NOTICES: Readonly<Record<string, string>> = {
  reasoning_refused: "the API refused reasoning",
  call_refused: "the API refused a call",
  unknown_field: "the API does not know a field",
  quarantine_lifted: "quarantine lifted",
};

const ACTIONS: Readonly<Record<string, string>> = {
  quarantined: "is not sent again",
  left_out: "is left out of this run",
  stripped: "is sent without a field",
  lifted: "is sent again",
};

function noticeText(event: JsonObject): string {
  const items = objectsIn(event.items);
  const done = items.map((item) => {
    const field = stringMember(item, "field");
    const action = plain(item.action);
    const words = action === "stripped" && field !== undefined
      ? `is sent without ${field}`
      : lookUp(ACTIONS, action);
    return `seq ${plain(item.seq)} ${words}`;
  });
  const member = objectMember(event, "member");
  const later = member === undefined
    ? []
    : [`later items of the type ${plain(member.item_type)} are sent without ${plain(member.field)}`];
  const all = [...done, ...later].join(", ");
  return `${lookUp(NOTICES, plain(event.reason))}${all === "" ? "" : `: ${all}`}${causeOf(event)}`;
}

function causeOf(event: JsonObject): string {
  const message = stringMember(objectMember(event, "error") ?? {}, "message");
  return message === undefined ? "" : `: ${message}`;
}

/** Each reason why a request leaves an item out, in a sentence about the item. */
export const DROP_REASONS: Readonly<Record<DropReason, string>> = {
  other_provider: "another provider issued it, and providers cannot read each other's reasoning",
  imported: "it was imported from another agent, and its origin is not trusted",
  other_endpoint: "another base URL issued it, and encrypted content is valid only there",
  other_account: "another organization or project issued it, and the API would refuse it",
  other_model: "another model issued it than the current one",
  no_encrypted_content: "it has no encrypted content, so a stateless request cannot carry it",
  no_following_item: "no item of its response follows it, and the API refuses such reasoning",
  duplicate_id: "a newer item has the same id",
  replay_off: "replay of reasoning is switched off",
  quarantined: 'the API refused it; "reprise repair ID --lift-quarantine" sends it again',
  refused_in_run: "the API refused a request with it, without naming an item: the next run tries it again",
  outside_window: "it is older than the replay window",
  before_checkpoint: "a checkpoint replaces it",
  call_refused: "the API refused the pairing of its call",
  reasoning_dropped: "the reasoning that it belongs to is not sent",
  unsigned: "it has no signature",
  prefix_changed: "it belongs to events that a checkpoint replaces or shortens",
  call_not_run: "its response did not complete, so that the call was not run",
  omitted: 'it was taken out, or an item that it belongs to; "reprise omit ID --undo" sends it again',
  unanswered_call: "it is a call without a result",
};

export function dropText(reason: string): string {
  return lookUp(DROP_REASONS, reason);
}

const STATUSES: Readonly<Record<string, string>> = {
  error: "failed",
  unknown_tool: "no such tool",
  invalid_arguments: "invalid arguments",
  duplicate_call_id: "repeated call id",
  interrupted: "interrupted, it may or may not have had an effect",
  not_run: "not run",
  orphaned: "no result was recorded, it may or may not have run",
};

export function statusText(status: string): string {
  return lookUp(STATUSES, status);
}

const TURN_KINDS: Readonly<Record<string, string>> = {
  harness: "reprise",
  compaction: "checkpoint",
  "": "?",
};

/** The writer of a turn in words. */
export function turnText(kind: string): string {
  return lookUp(TURN_KINDS, kind);
}

export function stateText(state: string): string {
  return state === "open" ? "not ended" : state.replaceAll("_", " ");
}

/** The visible text of content parts; other parts as their type. */
export function partsText(parts: JsonValue | undefined, between = "\n"): string {
  if (typeof parts === "string") return parts;
  return (isJsonObject(parts) ? [parts] : objectsIn(parts)).map(partText).join(between);
}

function partText(part: JsonObject): string {
  return stringMember(part, "text") ?? stringMember(part, "refusal") ?? `(${plain(part.type)})`;
}

function lookUp(words: Readonly<Record<string, string>>, name: string): string {
  return Object.hasOwn(words, name) ? words[name] as string : name;
}

/** A string or number as text; `?` for all else. */
export function plain(value: JsonValue | undefined): string {
  return typeof value === "string" || typeof value === "number" ? String(value) : "?";
}
