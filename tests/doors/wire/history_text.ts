import type { Json } from "../../support/files.ts";

/** The history of a request in one line: an element for each item or block. */
export function historyOf(body: Json): string {
  const elements = body.messages === undefined
    ? body.input.map(itemText)
    : body.messages.flatMap(messageTexts);
  return elements.join(" | ");
}

function itemText(item: Json): string {
  const { type, id, call_id, role, content } = item;
  const named = id === undefined ? "" : ` ${id}`;
  switch (type) {
    case "reasoning":
      return `${id}${content === undefined ? "" : " shown"}`;
    case "message":
      return `${
        role === "user" ? "user" : `says${named}${item.phase === undefined ? "" : ` (${item.phase})`}`
      }: ${content.map(partText).join(" + ")}`;
    case "function_call":
    case "custom_tool_call":
      return `call ${call_id}`;
    case "function_call_output":
    case "custom_tool_call_output":
      return `output ${call_id}: ${item.output}`;
  }
  return `${type}${named}`;
}

const partText = ({ type, text, filename }: Json) => text ?? filename ?? type;

function messageTexts({ role, content }: Json): string[] {
  return content.map((block: Json) => {
    switch (block.type) {
      case "text":
        return `${role === "user" ? "user" : "says"}: ${block.text}`;
      case "thinking":
        return `thinks ${block.thinking}`;
      case "tool_use":
        return `call ${block.id}`;
      case "tool_result":
        return `${block.is_error ? "error" : "output"} ${block.tool_use_id}: ${block.content}`;
    }
    return block.type;
  });
}
