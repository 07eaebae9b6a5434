/** Rules on calls and their outputs: each call is answered at once, and each output answers a call (protocol §15.2). */
import { type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import type { ChatRequest, ChatViolations } from "./rule.ts";

/** The id of a call, which a client may have left out or given another type. */
type CallId = JsonValue | undefined;

/** Outputs that answer no call, then calls that are not answered before the next message of another role. */
export function* toolMessages({ messages }: ChatRequest): ChatViolations {
  const unanswered: CallId[][] = [];
  // The ids of the calls that the outputs at this place may answer; `null` if no calls precede them.
  let asked: readonly CallId[] | null = null;
  let open: CallId[] = [];
  for (const { index, message } of messages) {
    if (message.role === "tool") {
      const id = message.tool_call_id;
      yield* wrongOutput(id, { at: `messages.[${index}]`, asked, open });
      const place = open.indexOf(id);
      if (place >= 0) open.splice(place, 1);
      continue;
    }
    unanswered.push(open);
    const calls = message.role === "assistant" ? objectsIn(message.tool_calls) : [];
    asked = calls.length === 0 ? null : calls.map(({ id }) => id);
    open = [...asked ?? []];
  }
  for (const ids of [...unanswered, open].filter(({ length }) => length > 0)) {
    yield {
      rule: "call_without_output",
      message:
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each " +
        `'tool_call_id'. The following tool_call_ids did not have response messages: ${
          ids.map((id) => plainText(id ?? "")).join(", ")
        }`,
      param: "messages",
    };
  }
}

function* wrongOutput(id: CallId, { at, asked, open }: {
  readonly at: string;
  readonly asked: readonly CallId[] | null;
  readonly open: readonly CallId[];
}): ChatViolations {
  const param = `${at}.tool_call_id`;
  if (typeof id !== "string") {
    yield {
      rule: "missing_tool_call_id",
      message: "Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'.",
      param,
    };
  } else if (asked === null) {
    yield {
      rule: "output_without_call",
      message: "Invalid parameter: messages with role 'tool' must be a response to a preceeding message " +
        "with 'tool_calls'.",
      param: `${at}.role`,
    };
  } else if (!asked.includes(id)) {
    yield {
      rule: "unknown_tool_call_id",
      message: `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`,
      param,
    };
  } else if (!open.includes(id)) {
    yield {
      rule: "duplicate_tool_call_id",
      message: `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}'`,
      param,
    };
  }
}
