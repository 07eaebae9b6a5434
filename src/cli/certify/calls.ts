/** Calls of tools and texts in requests and answers of every API, for the verdicts of `certify`. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectMember,
  objectsIn,
  stringMember,
} from "../../domain/json.ts";
import { answerOf, listedItems, meaningsOf, type ParsedAnswer } from "../../fixture/inspect/answer.ts";
import { canonicalText } from "../../fixture/match/canonical_text.ts";
import type { Exchange } from "../../fixture/exchange.ts";

/** A call of a tool, with its arguments as JSON in one spelling. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly args: string;
}

/** Returns the calls that an item, a content block or a message holds. */
export function toolCallsIn(item: JsonValue | undefined): readonly ToolCall[] {
  if (!isJsonObject(item)) return [];
  const type = stringMember(item, "type") ?? "";
  const callId = stringMember(item, "call_id");
  if (callId !== undefined && type.endsWith("_call")) {
    return [callOf(callId, item.name ?? type, item.arguments ?? item.input ?? item.action ?? item.operation)];
  }
  if (type === "tool_use") return [callOf(item.id, item.name, item.input)];
  const listed = objectsIn(item.tool_calls).map((call) => {
    const said = objectMember(call, "function") ?? objectMember(call, "custom") ?? {};
    return callOf(call.id, said.name, said.arguments ?? said.input);
  });
  return [...listed, ...objectsIn(item.content).flatMap(toolCallsIn)];
}

/** Returns the ids of the calls whose results an item, a content block or a message holds, each as often as it occurs. */
function resultsIn(item: JsonValue): readonly string[] {
  if (!isJsonObject(item)) return [];
  const { type, role } = item;
  const id = type === "tool_result"
    ? item.tool_use_id
    : role === "tool"
    ? item.tool_call_id
    : typeof type === "string" && type.endsWith("_output")
    ? item.call_id
    : undefined;
  return typeof id === "string" ? [id] : objectsIn(item.content).flatMap(resultsIn);
}

/** Calls and results in the history of a request. */
export function historyOf(
  body: JsonValue | undefined,
): { readonly calls: readonly ToolCall[]; readonly results: readonly string[] } {
  const items = isJsonObject(body) ? [...objectsIn(body.input), ...objectsIn(body.messages)] : [];
  return { calls: items.flatMap(toolCallsIn), results: items.flatMap(resultsIn) };
}

/** Parts of an answer that a client may act on or show. */
export interface AnswerParts {
  /** Calls in the order of the answer, finished or not. */
  readonly calls: readonly ToolCall[];
  /** Ids of the calls that the server finished. */
  readonly finished: ReadonlySet<string>;
  /** The visible text. */
  readonly text: string;
}

/** Splits an answer; `body` are the bytes that were sent of it, by default all. */
export function answerParts({ request, answer }: Exchange, body = answer.body): AnswerParts {
  const whole = answerOf({ request, answer });
  const items = listedItems(whole);
  const sent = body === answer.body ? whole : answerOf({ request, answer: { ...answer, body } });
  return {
    calls: items.flatMap(toolCallsIn),
    finished: new Set(finishedIn(sent, items).map(({ id }) => id)),
    text: textOf(sent),
  };
}

/** Returns the calls that the server finished: each by the end of its item, or all by the end of the answer. */
function finishedIn(sent: ParsedAnswer, items: readonly JsonObject[]): readonly ToolCall[] {
  if (sent.events === null) return sent.document === undefined ? [] : items.flatMap(toolCallsIn);
  const meanings = sent.events.flatMap(meaningsOf);
  const failed = meanings.some(({ kind }) => kind === "error");
  return meanings.flatMap((meaning): readonly ToolCall[] => {
    switch (meaning.kind) {
      case "item":
        return meaning.whole ? toolCallsIn(meaning.item) : [];
      case "item_end":
        return toolCallsIn(items[meaning.place ?? -1]);
      case "stop":
        return meaning.reason === undefined ? [] : items.flatMap(toolCallsIn);
      case "done":
        return failed ? [] : items.flatMap(toolCallsIn);
      case "end":
        return meaning.items.flatMap(toolCallsIn);
      default:
        return [];
    }
  });
}

function textOf({ api, events, document }: ParsedAnswer): string {
  if (events === null) return isJsonObject(document) ? api?.faults.textsIn(document).text.join("") ?? "" : "";
  return events.flatMap(meaningsOf).map((meaning) =>
    meaning.kind === "delta" && meaning.channel === "text" ? meaning.text ?? "" : ""
  ).join("");
}

function callOf(
  id: JsonValue | undefined,
  name: JsonValue | undefined,
  args: JsonValue | undefined,
): ToolCall {
  return { id: String(id ?? ""), name: String(name ?? ""), args: spelled(args) };
}

/** Returns arguments in one spelling; half a text, or no JSON, as it is. */
function spelled(args: JsonValue | undefined): string {
  if (typeof args !== "string") return canonicalText(args ?? {});
  try {
    return canonicalText(JSON.parse(args));
  } catch {
    return args;
  }
}
