/**
 * Events of a turn as blocks of a page. Files may come from any version, so their members may be anything.
 *
 * @module
 */
import {
  isJsonObject,
  type JsonObject,
  numberMember,
  objectMember,
  plainText,
  stringMember,
} from "../../domain/json.ts";
import { counted } from "../../domain/text.ts";
import type { ShownTurn } from "../../store/read/show.ts";
import { noteOf } from "../inspection/transcript/words.ts";
import { callBlock, contentBlocks, objectsIn, pretty, reasoningBlock } from "./item_blocks.ts";
import { richText } from "./markdown.ts";
import type { Block, Call, CallResult, FateSpan } from "./page.ts";

/** Facts of other turns that belong to the events of one. */
export interface EventContext {
  /** Results by the `seq` of their call. */
  readonly results: ReadonlyMap<number, FoundResult>;
  /** Permission decisions by the `seq` of their call. */
  readonly decisions: ReadonlyMap<number, JsonObject>;
  /** Requests with and without each reasoning item, by its `seq`. */
  readonly fates: ReadonlyMap<number, readonly FateSpan[]>;
  /** The `seq` of each event that is omitted from later requests. */
  readonly omitted: ReadonlySet<number>;
  /** Base64 of an image's blob; `null` if it cannot be read, or is too large for a page. */
  readonly imageOf: (sha256: string) => string | null;
}

/** The result of a call, with the turn that holds it. */
export interface FoundResult {
  readonly event: JsonObject;
  readonly turn: number;
  /** Milliseconds until it was saved; `null` if unknown. */
  readonly took: number | null;
}

const OMITTED_MARK: Block = { type: "note", text: "Omitted from later requests:", tone: "plain" };

type ShownEvent = ShownTurn["events"][number];

/** The blocks of a turn, in order. Results that a page shows beside their calls leave one line. */
export function eventBlocks(turn: ShownTurn, context: EventContext): Block[] {
  const blocks: Block[] = [];
  const elsewhere = new Map<number, number>();
  for (const event of turn.events) {
    const call = numberMember(event, "call_seq") ?? -1;
    const isBeside = event.type === "tool_result" && context.results.get(call)?.event === event ||
      event.type === "permission_decision" && context.decisions.get(call) === event;
    if (isBeside) elsewhere.set(call, (elsewhere.get(call) ?? 0) + 1);
    else {
      if (context.omitted.has(numberMember(event, "seq") ?? NaN)) blocks.push(OMITTED_MARK);
      blocks.push(...blocksOf(event, context));
    }
  }
  const [first] = elsewhere.keys();
  if (first === undefined) return blocks;
  const what = turn.kind === "tools"
    ? counted(elsewhere.size, "result")
    : counted(elsewhere.size, "decision");
  return [{ type: "note", text: `${what}, beside the calls`, tone: "plain", to: `seq-${first}` }, ...blocks];
}

function blocksOf(event: ShownEvent, context: EventContext): Block[] {
  const item = objectMember(event, "item") ?? {};
  const seq = numberMember(event, "seq") ?? NaN;
  const note = (text: string, tone: "good" | "bad" | "plain" = "plain"): Block[] => [
    { type: "note", seq, text, tone },
  ];
  switch (event.type) {
    case "user_message":
      return contentBlocks(event.content, "user", seq);
    case "assistant_message": {
      const phase = stringMember(item, "phase");
      return contentBlocks(
        item.content ?? item.text,
        phase === undefined ? "assistant" : `assistant · ${phase}`,
        seq,
      );
    }
    case "reasoning":
      return [reasoningBlock(item, context.fates.get(seq) ?? [], seq)];
    // A file of the message that follows; its bytes are in a blob.
    case "attachment":
      return [attachmentBlock(event, seq, context)];
    case "tool_call":
      return [callBlock(item, {
        seq,
        result: resultOf(context.results.get(seq)),
        decision: decisionOf(context.decisions.get(seq)),
      })];
    case "tool_result": {
      const result = resultOf({ event, turn: 0, took: null });
      return result === null
        ? []
        : [{ type: "result", seq, tool: stringMember(event, "tool") ?? "?", result }];
    }
    // Drawn as a part of the chart.
    case "provider_usage":
      return [];
    case "permission_decision": {
      const decision = decisionOf(event);
      return note(`${plainText(event.tool)} ${decision?.text}`, decision?.tone);
    }
    case "history_compaction":
      return [checkpointBlock(event, seq)];
    case "compaction_withdrawn":
      return [{
        type: "note",
        seq,
        text: `The checkpoint of seq ${plainText(event.checkpoint)} is withdrawn`,
        tone: "plain",
        to: `seq-${plainText(event.checkpoint)}`,
      }];
    case "items_omitted":
    case "omission_withdrawn":
      return note(noteOf({ number: 0, value: {} }, event).about);
    case "session_fork":
      return [{
        type: "fork",
        seq,
        about: `Forked from ${plainText(event.parent)} after turn ${plainText(event.to_turn)}, seq ${
          plainText(event.to_seq)
        }`,
        body: null,
      }];
    case "branch_summary":
      return [{
        type: "fork",
        seq,
        about: `What ${plainText(event.session)} did after the fork`,
        body: richText(stringMember(event, "summary") ?? ""),
      }];
    case "replay_notice": {
      const items = objectsIn(event.items).map(({ seq, action }) =>
        `seq ${plainText(seq)} ${plainText(action)}`
      ).join(", ");
      return note(`${plainText(event.reason)}: ${items}${errorText(event)}`, "bad");
    }
    case "endpoint_notice":
      return note(
        `The endpoint refuses ${plainText(event.without)} for ${plainText(event.model)}${errorText(event)}`,
        "bad",
      );
    case "turn_replaced":
      return note("This turn replaces a lost one", "bad");
    case "blob_lost":
      return note(`The blob ${plainText(event.sha256)} is lost`, "bad");
    case "run_continued":
      return note(`Run ${plainText(event.run)} continues without a prompt`);
    case "run_ended": {
      const tone = event.state === "completed" ? "good" : "bad";
      return note(`Run ${plainText(event.run)} ended: ${plainText(event.state)}${errorText(event)}`, tone);
    }
    default:
      return [{ type: "raw", seq, name: event.type, text: pretty(isJsonObject(event.item) ? item : event) }];
  }
}

function errorText(event: ShownEvent): string {
  const message = stringMember(objectMember(event, "error") ?? {}, "message");
  return message === undefined ? "" : `: ${message}`;
}

/** The media types of images that a page may hold. */
const IMAGE = /^image\/(?:png|jpeg|gif|webp)$/;

function attachmentBlock(event: ShownEvent, seq: number, { imageOf }: EventContext): Block {
  const blob = objectMember(event, "blob") ?? {};
  const [name, type] = [plainText(event.name), plainText(event.media_type)];
  const base64 = IMAGE.test(type) ? imageOf(stringMember(blob, "sha256") ?? "") : null;
  if (base64 !== null) return { type: "image", seq, name, src: `data:${type};base64,${base64}` };
  const size = counted(numberMember(blob, "bytes") ?? 0, "byte");
  return { type: "note", seq, text: `attached file ${name}: ${type}, ${size}`, tone: "plain" };
}

function checkpointBlock(event: ShownEvent, seq: number): Block {
  const { to_seq: toSeq, to_turn: toTurn, strategy, items, verification, dropped } = event;
  const limits = Array.isArray(event.limitations)
    ? event.limitations.map((text) => `- ${plainText(text)}`)
    : [];
  const details = [
    limits.join("\n"),
    ...(isJsonObject(dropped) ? [`Left out: ${pretty(dropped)}`] : []),
    ...(isJsonObject(verification) ? [`Verified: ${pretty(verification)}`] : []),
    ...(items === undefined
      ? []
      : [`${counted(objectsIn(items).length, "item")} that only the provider can read`]),
  ].filter((text) => text !== "").join("\n\n");
  return {
    type: "checkpoint",
    seq,
    about: `Checkpoint (${plainText(strategy)}): replaces turns 1 to ${plainText(toTurn)}, seq 1 to ${
      plainText(toSeq)
    }`,
    body: richText(stringMember(event, "summary") ?? ""),
    details,
  };
}

function decisionOf(event: JsonObject | undefined): Call["decision"] {
  if (event === undefined) return null;
  const rule = stringMember(event, "rule");
  const text = `${plainText(event.decision)}: ${plainText(event.reason)}${
    rule === undefined ? "" : ` (${rule})`
  }`;
  return { text, tone: event.decision === "allowed" ? "good" : "bad" };
}

function resultOf(found: FoundResult | undefined): CallResult | null {
  if (found === undefined) return null;
  const { event, took } = found;
  const blob = objectMember(event, "blob");
  const status = stringMember(event, "status") ?? "?";
  return {
    seq: numberMember(event, "seq") ?? null,
    status,
    tone: status === "ok" ? "good" : "bad",
    text: stringMember(event, "output") ?? "",
    whole: blob === undefined
      ? null
      : `blob ${stringMember(blob, "sha256")?.slice(0, 16)}, ${
        counted(numberMember(blob, "bytes") ?? 0, "byte")
      }`,
    took,
  };
}
