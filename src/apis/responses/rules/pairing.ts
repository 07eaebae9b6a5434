/** Rules on items that belong together: reasoning and its next item, calls and their outputs (protocol §2.4). */
import type { JsonObject } from "../../../domain/json.ts";
import { canFollowReasoning, type PlacedItem } from "./items.ts";
import type { ResponsesViolation } from "./rule.ts";

/** The id of the reasoning item before the item with this id; `undefined` if there was none. */
export type ReasoningOf = (id: string) => string | undefined;

/** The id of the item right after this reasoning item; for a call, its call id. */
export type FollowingOf = (reasoningId: string) => string | undefined;

/** Reasoning items without the next item of their response after them. */
export function reasoningWithoutItsFollowing(
  items: readonly PlacedItem[],
  body: JsonObject,
  followingOf: FollowingOf,
): ResponsesViolation[] {
  // A search for each reasoning item would take quadratic time.
  const lastPlace = new Map<unknown, number>();
  items.forEach(({ item }, position) => {
    lastPlace.set(item.id, position);
    lastPlace.set(item.call_id, position);
  });
  return items.flatMap((placed, position): ResponsesViolation[] => {
    if (placed.type !== "reasoning" || typeof placed.item.id !== "string") return [];
    const wanted = followingOf(placed.item.id);
    if (wanted === undefined || (lastPlace.get(wanted) ?? -1) > position) return [];
    return [withoutFollowing(placed, items[position + 1], body)];
  });
}

/**
 * Reasoning items that no output of the model follows at once. Whether the API looks there, or for the item of the
 * original response anywhere after it, is unknown (protocol §2.4): both are checked.
 */
export function reasoningWithoutFollowing(
  items: readonly PlacedItem[],
  body: JsonObject,
): ResponsesViolation[] {
  return items.flatMap((placed, position): ResponsesViolation[] => {
    if (placed.type !== "reasoning") return [];
    const next = items[position + 1];
    if (next !== undefined && canFollowReasoning(next)) return [];
    return [withoutFollowing(placed, next, body)];
  });
}

/**
 * The violation of a reasoning item. The demand for a message's id was captured with stored responses. For
 * `store: false` the sources contradict each other: a client in wide use sends all its messages without ids.
 */
function withoutFollowing(
  placed: PlacedItem,
  next: PlacedItem | undefined,
  { store }: JsonObject,
): ResponsesViolation {
  const saidWithoutId = next?.type === "message" && next.item.role === "assistant" &&
    typeof next.item.id !== "string";
  return {
    ...(store === false && saidWithoutId ? { grade: "uncertain" } : {}),
    rule: "reasoning_following",
    message: `Item '${nameOf(placed)}' of type 'reasoning' was provided without its required following item.`,
    param: "input",
  };
}

/** Items with an id of the server, but without their reasoning item. */
export function itemsWithoutReasoning(
  items: readonly PlacedItem[],
  reasoningOf: ReasoningOf,
): ResponsesViolation[] {
  const sent = new Set(items.filter(({ type }) => type === "reasoning").map(({ item }) => item.id));
  return items.flatMap(({ type, item }): ResponsesViolation[] => {
    const required = typeof item.id === "string" && type !== "reasoning" ? reasoningOf(item.id) : undefined;
    if (required === undefined || sent.has(required)) return [];
    return [{
      rule: "reasoning_required",
      message:
        `Item '${item.id}' of type '${type}' was provided without its required 'reasoning' item: '${required}'.`,
      param: "input",
    }];
  });
}

/** Call types that the client answers, with the type of the answer and the texts of the message. */
const ANSWERS: ReadonlyMap<string, { readonly call: string; readonly words: string }> = new Map([
  ["function_call_output", { call: "function_call", words: "function call" }],
  ["custom_tool_call_output", { call: "custom_tool_call", words: "custom tool call" }],
  ["shell_call_output", { call: "shell_call", words: "shell call" }],
  ["apply_patch_call_output", { call: "apply_patch_call", words: "apply patch call" }],
  ["computer_call_output", { call: "computer_call", words: "computer call" }],
]);
const WORDS_OF_CALL = new Map([...ANSWERS.values()].map(({ call, words }) => [call, words]));

/**
 * Calls and outputs that are not paired one to one, scanning in order: an output answers one earlier call of
 * its kind with the same `call_id`.
 */
export function unpairedCalls(items: readonly PlacedItem[], body: JsonObject): ResponsesViolation[] {
  // With stored state the calls may lie in an earlier response.
  const stored = typeof body.previous_response_id === "string" || (body.conversation ?? null) !== null;
  const open: { readonly type: string; readonly id: string }[] = [];
  const findings: ResponsesViolation[] = [];
  for (const { type, item } of items) {
    const id = item.call_id;
    if (typeof id !== "string") continue;
    const answer = ANSWERS.get(type);
    if (answer !== undefined) {
      const position = open.findIndex((call) => call.type === answer.call && call.id === id);
      if (position >= 0) open.splice(position, 1);
      else if (!stored) {
        findings.push({
          rule: "output_without_call",
          message: `No tool call found for ${answer.words} output with call_id ${id}.`,
          param: "input",
        });
      }
    } else if (WORDS_OF_CALL.has(type)) {
      open.push({ type, id });
    }
  }
  const unanswered = open.map(({ type, id }): ResponsesViolation => ({
    rule: "call_without_output",
    message: `No tool output found for ${WORDS_OF_CALL.get(type)} ${id}.`,
    param: "input",
  }));
  return [...findings, ...unanswered];
}

function nameOf({ item, index }: PlacedItem): string {
  return typeof item.id === "string" ? item.id : `input[${index}]`;
}
