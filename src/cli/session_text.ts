import type { Item, SessionEvent } from "../domain/event.ts";
import { headOf } from "../domain/text.ts";
import type { Turn } from "../domain/turn.ts";

/** How much of a tool's output or arguments a transcript shows, in UTF-16 units. */
const SHOWN = 400;
/** How much of an event one line shows, in UTF-16 units. */
const LINE_SHOWN = 160;

/** A session as a person reads it, oldest turn first. */
export function transcript(turns: readonly Turn[]): string {
  return turns.map((turn) => {
    const model = turn.kind === "model" ? ` · ${turn.model.answered ?? turn.model.asked}` : "";
    const body = turn.events.map(eventText).filter((text) => text !== "").map((text) => `${text}\n`).join("");
    return `── ${turn.turn} · run ${turn.run} · ${turn.kind}${model}\n${body}`;
  }).join("\n");
}

/** One event in one line: number, kind and the start of what it says. */
export function eventLine(event: SessionEvent): string {
  const text = headOf(eventText(event).replace(/\s+/g, " "), LINE_SHOWN);
  return `${String(event.seq).padStart(5)}  ${event.type.padEnd(17)}  ${text}`;
}

function eventText(event: SessionEvent): string {
  switch (event.type) {
    case "user_message":
      return partsText(event.content);
    case "assistant_message":
      return typeof event.item.content === "string" ? event.item.content : partsText(event.item.content);
    case "reasoning": {
      const blob = event.item.encrypted_content;
      const size = typeof blob === "string" ? `${blob.length} bytes encrypted` : "not encrypted";
      const summary = partsText(event.item.summary);
      return `(reasoning ${String(event.item.id ?? "")}, ${size})${summary === "" ? "" : ` ${shorten(summary)}`}`;
    }
    case "tool_call":
      return `→ ${String(event.item.name)} ${shorten(String(event.item.arguments ?? event.item.input ?? ""))}`;
    case "tool_result": {
      const whole = event.blob === undefined ? "" : ` (whole output: blob ${event.blob.sha256.slice(0, 12)})`;
      return `← ${event.tool}: ${event.status}${whole}\n${shorten(event.output)}`;
    }
    case "provider_item":
      return `(${event.item.type})`;
    case "provider_usage": {
      const { input_tokens: input, output_tokens: output } = event.usage;
      return `(${String(input ?? "?")} tokens in, ${String(output ?? "?")} out)`;
    }
    case "run_continued":
      return `(run ${event.run} goes on without a prompt)`;
    case "run_ended":
      return `(run ${event.run} ended: ${event.state}${event.error === undefined ? "" : `: ${event.error.message}`})`;
    default:
      // A newer version wrote it; `show` still shows it.
      return shorten(JSON.stringify(event));
  }
}

function partsText(parts: unknown): string {
  if (!Array.isArray(parts)) return "";
  return (parts as readonly Item[]).map((part) => {
    const text = part?.text ?? part?.refusal;
    return typeof text === "string" ? text : `(${String(part?.type)})`;
  }).join("\n");
}

function shorten(text: string): string {
  return text.length <= SHOWN ? text : `${headOf(text, SHOWN)}… (${text.length} characters)`;
}
