import type { EventDraft, Item } from "../domain/event.ts";
import type { FinishedResponse } from "../provider/provider.ts";

/** The event that keeps a finished item, whole and verbatim. */
export function eventOfItem(item: Item): EventDraft {
  switch (item.type) {
    case "reasoning":
      return { type: "reasoning", item };
    case "message":
      if (item.role === "assistant") return { type: "assistant_message", item };
      break;
    case "function_call":
    case "custom_tool_call":
      if (typeof item.call_id === "string" && item.call_id !== "") return { type: "tool_call", item };
      break;
  }
  return { type: "provider_item", item };
}

/** The events of one response: its items in arrival order, then its usage. */
export function eventsOfResponse(items: readonly Item[], response: FinishedResponse | null): EventDraft[] {
  const events = items.map(eventOfItem);
  const usage = response?.usage ?? null;
  return usage === null ? events : [...events, { type: "provider_usage", usage }];
}

/** The text that answers the user: every message that is not commentary, else every message. */
export function answerText(items: readonly Item[]): string {
  const messages = items.filter((item) => item.type === "message" && item.role === "assistant");
  const answers = messages.filter((item) => item.phase !== "commentary");
  return (answers.length > 0 ? answers : messages).map(messageText).join("\n\n");
}

function messageText(item: Item): string {
  if (typeof item.content === "string") return item.content;
  if (!Array.isArray(item.content)) return "";
  return item.content.map((part) => {
    const text = part?.type === "refusal" ? part.refusal : part?.text;
    return typeof text === "string" ? text : "";
  }).join("");
}
