/**
 * Rules on messages and their blocks: the first role, the blocks of each role, and empty content (protocol §9, §10).
 */
import { type JsonObject, objectsIn } from "../../../domain/json.ts";
import type { MessagesRequest } from "./request.ts";
import type { MessagesViolations } from "./rule.ts";
import { roleOfBlock } from "./shapes.ts";

const ROLES = ["user", "assistant", "system"];

export function* roles({ messages }: MessagesRequest): MessagesViolations {
  for (const { index, role } of messages) {
    if (ROLES.includes(role)) continue;
    const message = `messages.${index}.role: Input should be 'user', 'assistant' or 'system'`;
    yield { rule: "role", shape: role, message };
  }
}

export function* blockTypes({ blocks }: MessagesRequest): MessagesViolations {
  for (const { path, type } of blocks) {
    if (roleOfBlock(type) !== undefined) continue;
    const message = type === ""
      ? `${path}: Unable to extract tag using discriminator 'type'`
      : `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`;
    yield { rule: "block_type", message, shape: type };
  }
}

export function* blockRoles({ blocks }: MessagesRequest): MessagesViolations {
  for (const { path, type, role } of blocks) {
    const may = roleOfBlock(type);
    const fits = may === undefined || may === "both" || may === role || !ROLES.includes(role);
    // System messages hold text only.
    if (fits && (role !== "system" || type === "text")) continue;
    const allowed = may === "both" ? "user" : may;
    yield {
      rule: "block_role",
      shape: `${type} ${role}`,
      message: `${path}: \`${type}\` blocks can only be in \`${allowed}\` messages`,
    };
  }
}

export function* firstMessage({ body, messages }: MessagesRequest): MessagesViolations {
  if (Array.isArray(body.messages) && body.messages.length === 0) {
    yield { rule: "first_message", message: "messages: at least one message is required" };
  } else if (messages.find(({ role }) => role !== "system")?.role === "assistant") {
    yield { rule: "first_message", message: 'messages: first message must use the "user" role' };
  }
}

/** Messages without blocks, and empty text. */
export function* emptyContent({ body, messages, blocks }: MessagesRequest): MessagesViolations {
  const rule = "empty_content";
  for (const [position, message] of messages.entries()) {
    const isLast = position === messages.length - 1;
    if (message.blocks.length > 0 || isLast && message.role === "assistant") continue;
    yield {
      rule,
      message:
        "messages: all messages must have non-empty content except for the optional final assistant message",
    };
  }
  const results = blocks.filter(({ type }) => type === "tool_result");
  const texts = [
    ...blocks.map(({ block }) => block),
    ...results.flatMap(({ block }) => objectsIn(block.content)),
  ];
  for (const _text of texts.filter(isEmptyText)) {
    yield { rule, message: "messages: text content blocks must be non-empty" };
  }
  for (const _text of objectsIn(body.system).filter(isEmptyText)) {
    yield { rule, message: "system: text content blocks must be non-empty" };
  }
}

function isEmptyText({ type, text }: JsonObject): boolean {
  return type === "text" && text === "";
}
