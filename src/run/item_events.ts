import type { EventDraft, Item } from "../domain/event.ts";
import { itemKind, messageTextOf } from "../domain/item.ts";
import type { FinishedResponse } from "../apis/api.ts";

/** The event that keeps a finished item, whole and verbatim. */
export function eventOfItem(item: Item): EventDraft {
  return { type: itemKind(item), item };
}

/** The events of one response: its items in arrival order, then its usage. */
export function eventsOfResponse(items: readonly Item[], response: FinishedResponse | null): EventDraft[] {
  const events = items.map(eventOfItem);
  const usage = response?.usage ?? null;
  return usage === null ? events : [...events, { type: "provider_usage", usage }];
}

/** The text that answers the user: every message that is not commentary, else every message. */
export function answerText(items: readonly Item[]): string {
  const messages = items.filter((item) => itemKind(item) === "assistant_message");
  const answers = messages.filter((item) => item.phase !== "commentary");
  return (answers.length > 0 ? answers : messages).map(messageTextOf).join("\n\n");
}
