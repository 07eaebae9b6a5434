/**
 * A history whose omitted items have lost their content, for `export --redact`: numbers, kinds and ids stay, so that every
 * rule over turns still holds.
 */
import { words } from "../domain/text.ts";
import { encodeUtf8 } from "../domain/bytes.ts";
import type { Item, SessionEvent } from "../domain/event.ts";
import { sha256Hex } from "../domain/hash.ts";
import type { Turn } from "../domain/turn.ts";
import { isOmittedPart, messageAfter, omittedCount, type OmittedItems, omittedItems } from "./omissions.ts";

const OMITTED = "[omitted]";
/** The blob in place of omitted files. */
const BYTES = encodeUtf8(OMITTED);
const BLOB = { sha256: sha256Hex(BYTES), bytes: BYTES.length };

/** Takes the content out of each omitted item; turns without one stay the same objects. */
export function withoutOmittedContent(turns: readonly Turn[]): {
  readonly turns: readonly Turn[];
  /** Blobs that only these turns name, by their sha256. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
  /** Number of omitted items, parts of messages included. */
  readonly omitted: number;
} {
  const omitted = omittedItems(turns);
  const first = Math.min(...omitted.whole, ...[...omitted.parts].map((part) => Number.parseInt(part)));
  let isNamed = false;
  const emptied = turns.map((turn) => {
    const events = turn.events.map((event) => {
      const made = emptiedEvent(event, { turn, omitted, first });
      isNamed ||= made.type === "attachment" && made.blob === BLOB;
      return made;
    });
    return events.some((event, index) => event !== turn.events[index]) ? { ...turn, events } : turn;
  });
  const blobs = new Map(isNamed ? [[BLOB.sha256, BYTES]] : []);
  return { turns: emptied, blobs, omitted: omittedCount(omitted) };
}

interface Surroundings {
  readonly turn: Turn;
  readonly omitted: OmittedItems;
  /** The first omitted `seq`: checkpoints after it may repeat its text. */
  readonly first: number;
}

function emptiedEvent(event: SessionEvent, { turn, omitted, first }: Surroundings): SessionEvent {
  switch (event.type) {
    case "user_message": {
      const files = filesBefore(turn, event);
      const content = event.content.map((part, index) =>
        isOmittedPart(omitted, event.seq, files + index) ? { type: "input_text", text: OMITTED } : part
      );
      return content.some((part, index) => part !== event.content[index]) ? { ...event, content } : event;
    }
    case "attachment": {
      const message = messageAfter(turn.events, turn.events.indexOf(event)) ?? event;
      const isOut = omitted.whole.has(event.seq) ||
        isOmittedPart(omitted, message.seq, filesBefore(turn, message) - (message.seq - event.seq));
      return isOut ? { ...event, name: "omitted", media_type: "text/plain", blob: BLOB } : event;
    }
    case "history_compaction": {
      if (event.to_seq < first) return event;
      const { verification: _verification, ...rest } = event;
      return { ...rest, summary: OMITTED, limitations: [] };
    }
  }
  if (!omitted.whole.has(event.seq)) return event;
  switch (event.type) {
    case "branch_summary":
      return { ...event, summary: OMITTED };
    case "tool_result": {
      const { blob: _blob, ...rest } = event;
      return { ...rest, output: OMITTED };
    }
    case "assistant_message":
    case "reasoning":
    case "tool_call":
    case "provider_item":
      return { ...event, item: emptiedItem(event.item) };
    default:
      return event;
  }
}

/** Number of files that belong to a message. */
function filesBefore(turn: Turn, message: SessionEvent): number {
  const at = turn.events.indexOf(message);
  let files = 0;
  while (turn.events[at - files - 1]?.type === "attachment") files++;
  return files;
}

/** Members without content. */
const KEPT: ReadonlySet<string> = new Set(words(`
  type id call_id tool_use_id name role status phase
`));

/** Empty values of the members that an item of a type must have. */
const EMPTY: Readonly<Record<string, Readonly<Record<string, Item[string]>>>> = {
  message: { content: [{ type: "output_text", text: OMITTED, annotations: [] }] },
  text: { text: OMITTED },
  reasoning: { summary: [] },
  thinking: { thinking: "" },
  function_call: { arguments: "{}" },
  custom_tool_call: { input: "" },
  tool_use: { input: {} },
};

function emptiedItem(item: Item): Item {
  const kept = Object.fromEntries(Object.entries(item).filter(([name]) => KEPT.has(name)));
  return { ...kept, type: item.type, ...EMPTY[item.type] };
}
