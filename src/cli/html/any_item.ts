/**
 * Items of recorded requests and answers of any API as blocks of a page.
 *
 * @module
 */
import { type JsonObject, plainText, stringMember } from "../../domain/json.ts";
import { callBlock, contentBlocks, objectsIn, pretty, reasoningBlock, textOf } from "./item_blocks.ts";
import type { Block, CallResult, FateSpan } from "./page.ts";

/** Facts of other exchanges that belong to an item. */
export interface AnyItem {
  /** The result that a later request returns for a call. */
  readonly resultOf: (callId: string) => CallResult | null;
  /** The requests that hold an opaque part. */
  readonly fateOf: (opaque: string) => readonly FateSpan[];
}

/** The id of a call; `null` for any other item. */
export function callIdOf(item: JsonObject): string | null {
  if (/_call$/.test(plainText(item.type))) {
    return stringMember(item, "call_id") ?? stringMember(item, "id") ?? null;
  }
  const isCall = item.type === "tool_use" || item.type === "function" || item.type === "custom";
  return isCall ? stringMember(item, "id") ?? null : null;
}

/** The opaque part of a reasoning item; `null` if it has none. */
export function opaqueOf(item: JsonObject): string | null {
  if (!/reasoning|thinking/.test(plainText(item.type))) return null;
  return stringMember(item, "encrypted_content") ?? stringMember(item, "signature") ??
    stringMember(item, "data") ??
    null;
}

/** The result that a request returns for a call; `null` if the item is none. */
export function requestedResult(
  item: JsonObject,
): { readonly id: string; readonly tool: string; readonly result: CallResult } | null {
  const id = stringMember(item, "call_id") ?? stringMember(item, "tool_use_id") ??
    stringMember(item, "tool_call_id");
  const isResult = /_output$|^tool_result$/.test(plainText(item.type)) || item.role === "tool";
  if (id === undefined || !isResult) return null;
  const failed = item.is_error === true;
  const result: CallResult = {
    seq: null,
    status: failed ? "error" : "",
    tone: failed ? "bad" : "plain",
    text: textOf(item.output ?? item.content),
    whole: null,
    took: null,
  };
  return { id, tool: stringMember(item, "name") ?? id, result };
}

/** An item as blocks; `who` is the party that wrote it, if it is a message. */
export function itemBlocks(item: JsonObject, who: string, links: AnyItem): Block[] {
  const result = requestedResult(item);
  if (result !== null) return [{ type: "result", tool: result.tool, result: result.result }];
  const id = callIdOf(item);
  if (id !== null) return [callBlock(item, { decision: null, result: links.resultOf(id) })];
  const opaque = opaqueOf(item);
  if (opaque !== null || /^(?:reasoning|thinking)$/.test(plainText(item.type))) {
    return [reasoningBlock(item, opaque === null ? [] : links.fateOf(opaque))];
  }
  if (item.role === undefined && item.type !== "message") {
    const isText = stringMember(item, "text") !== undefined;
    return isText
      ? contentBlocks([item], who)
      : [{ type: "raw", name: stringMember(item, "type") ?? "item", text: pretty(item) }];
  }
  const isStructured = (part: JsonObject) =>
    callIdOf(part) !== null || requestedResult(part) !== null || /thinking/.test(plainText(part.type));
  return [
    ...(stringMember(item, "reasoning_content") === undefined ? [] : [reasoningBlock({
      reasoning_content: item.reasoning_content,
    }, [])]),
    ...(typeof item.content === "string"
      ? contentBlocks(item.content, who)
      : objectsIn(item.content).flatMap((part) =>
        isStructured(part) ? itemBlocks(part, who, links) : contentBlocks([part], who)
      )),
    ...objectsIn(item.tool_calls).flatMap((part) => itemBlocks(part, who, links)),
  ];
}
