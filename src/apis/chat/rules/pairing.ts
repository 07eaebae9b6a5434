/** Rules on calls and their outputs: each call is answered at once, and each output answers a call (protocol §15.2). */
import { type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import type { ChatViolation, PlacedChatMessage } from "./rule.ts";

/** The id of a call, which a client may have left out or given another type. */
type CallId = JsonValue | undefined;

/** Calls that are not answered before the next message of another role, and outputs that answer no call. */
export function toolMessages(messages: readonly PlacedChatMessage[]): ChatViolation[] {
  const outputs: ChatViolation[] = [];
  const unanswered: ChatViolation[] = [];
  // The ids of the calls that the outputs at this place may answer; `null` if no calls precede them.
  let asked: readonly CallId[] | null = null;
  let open: CallId[] = [];
  const close = () => {
    if (open.length > 0) unanswered.push(withoutOutputs(open));
    open = [];
  };
  for (const placed of messages) {
    const { message } = placed;
    if (message.role === "tool") {
      outputs.push(...outputViolations(placed, asked, open));
      const place = open.indexOf(message.tool_call_id);
      if (place >= 0) open.splice(place, 1);
      continue;
    }
    close();
    const calls = message.role === "assistant" ? objectsIn(message.tool_calls) : [];
    asked = calls.length === 0 ? null : calls.map(({ id }) => id);
    open = [...asked ?? []];
  }
  close();
  return [...outputs, ...unanswered];
}

function outputViolations(
  { index, message: { tool_call_id: id } }: PlacedChatMessage,
  asked: readonly CallId[] | null,
  open: readonly CallId[],
): ChatViolation[] {
  const at = `messages.[${index}]`;
  if (typeof id !== "string") {
    return [{
      rule: "missing_tool_call_id",
      message: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      param: `${at}.tool_call_id`,
    }];
  }
  if (asked === null) {
    return [{
      rule: "output_without_call",
      message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message " +
        "with 'tool_calls'.",
      param: `${at}.role`,
    }];
  }
  if (!asked.includes(id)) {
    return [{
      rule: "unknown_tool_call_id",
      message: `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
      param: `${at}.tool_call_id`,
    }];
  }
  return open.includes(id) ? [] : [{
    rule: "duplicate_tool_call_id",
    message: `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}'`,
    param: `${at}.tool_call_id`,
  }];
}

function withoutOutputs(ids: readonly CallId[]): ChatViolation {
  return {
    rule: "call_without_output",
    message: "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
      `'tool_call_id'. The following tool_call_ids did not have response messages: ${
        ids.map((id) => plainText(id ?? "")).join(", ")
      }`,
    param: "messages",
  };
}
