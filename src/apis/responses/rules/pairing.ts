/** Rules on items that belong together: reasoning and its next item, calls and their outputs (protocol §2.4). */
import type { JsonObject } from "../../../domain/json.ts";
import { type FoundViolation, isPresent } from "../../rule.ts";
import { canFollowReasoning, type PlacedItem, type ResponsesRequest } from "./items.ts";
import type { ResponsesViolations } from "./rule.ts";

/** Reasoning items without the next item of their response after them. */
export function* lostFollowing({ items, body, known }: ResponsesRequest): ResponsesViolations {
  if (known === null) return;
  // A search for each reasoning item would take quadratic time.
  const lastPlace = new Map<unknown, number>();
  items.forEach(({ item }, position) => {
    lastPlace.set(item.id, position);
    lastPlace.set(item.call_id, position);
  });
  for (const [position, placed] of items.entries()) {
    if (placed.type !== "reasoning" || typeof placed.item.id !== "string") continue;
    const wanted = known.followingOf(placed.item.id);
    if (wanted === undefined || (lastPlace.get(wanted) ?? -1) > position) continue;
    yield withoutFollowing(placed, items[position + 1], body);
  }
}

/**
 * Reasoning items that no output of the model follows at once. Whether the API looks there, or for the item of the
 * original response anywhere after it, is unknown (protocol §2.4): both are checked.
 */
export function* reasoningWithoutFollowing({ items, body }: ResponsesRequest): ResponsesViolations {
  for (const [position, placed] of items.entries()) {
    const next = items[position + 1];
    if (placed.type !== "reasoning" || next !== undefined && canFollowReasoning(next)) continue;
    yield withoutFollowing(placed, next, body);
  }
}

/**
 * The violation of a reasoning item. The demand for a message's id was captured with stored responses. For
 * `store: false` the sources contradict each other: a client in wide use sends all its messages without ids.
 */
function withoutFollowing(
  placed: PlacedItem,
  next: PlacedItem | undefined,
  { store }: JsonObject,
): FoundViolation<"reasoning_following"> {
  const id = typeof placed.item.id === "string" ? placed.item.id : `input[${placed.index}]`;
  const saidWithoutId = next?.type === "message" && next.item.role === "assistant" &&
    typeof next.item.id !== "string";
  return {
    ...(store === false && saidWithoutId ? { grade: "uncertain" } : {}),
    rule: "reasoning_following",
    message: `Item '${id}' of type 'reasoning' was provided without its required following item.`,
    param: "input",
  };
}

/** Items with an id of the server, but without their reasoning item. */
export function* itemsWithoutReasoning({ items, known }: ResponsesRequest): ResponsesViolations {
  const sent = new Set(items.filter(({ type }) => type === "reasoning").map(({ item }) => item.id));
  for (const { type, item: { id } } of items) {
    const required = typeof id === "string" && type !== "reasoning" ? known?.reasoningOf(id) : undefined;
    if (required === undefined || sent.has(required)) continue;
    yield {
      rule: "reasoning_required",
      message:
        `Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${required}'.`,
      param: "input",
    };
  }
}

/** Types of calls that the client answers, by the type of the answer. */
const ANSWERED: ReadonlyMap<string, string> = new Map(
  ["function_call", "custom_tool_call", "shell_call", "apply_patch_call", "computer_call"]
    .map((call) => [`${call}_output`, call]),
);
const CALLS: ReadonlySet<string> = new Set(ANSWERED.values());

/**
 * Calls and outputs that are not paired one to one, scanning in order: an output answers one earlier call of
 * its kind with the same `call_id`.
 */
export function* unpairedCalls({ items, body }: ResponsesRequest): ResponsesViolations {
  // With stored state the calls may lie in an earlier response.
  const stored = typeof body.previous_response_id === "string" || isPresent(body.conversation);
  const open: { readonly type: string; readonly id: string }[] = [];
  for (const { type, item: { call_id: id } } of items) {
    if (typeof id !== "string") continue;
    if (CALLS.has(type)) open.push({ type, id });
    const answered = ANSWERED.get(type);
    if (answered === undefined) continue;
    const position = open.findIndex((call) => call.type === answered && call.id === id);
    if (position >= 0) open.splice(position, 1);
    else if (!stored) {
      yield {
        rule: "output_without_call",
        message: `No tool call found for ${inWords(answered)} output with call_id ${id}.`,
        param: "input",
      };
    }
  }
  for (const { type, id } of open) {
    yield {
      rule: "call_without_output",
      message: `No tool output found for ${inWords(type)} ${id}.`,
      param: "input",
    };
  }
}

function inWords(type: string): string {
  return type.replaceAll("_", " ");
}
