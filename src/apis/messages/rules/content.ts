/**
 * Rules on messages and their blocks: the first role, the blocks of each role, and empty content (protocol §9, §10).
 */
import { isJsonObject, type JsonValue } from "../../../domain/json.ts";
import type { MessagesRequest, PlacedBlock } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { roleOfBlock } from "./shapes.ts";

const ROLES = ["user", "assistant", "system"];

/** Messages with an unknown role. */
export function roles({ messages }: MessagesRequest): MessagesViolation[] {
  return messages.filter(({ role }) => !ROLES.includes(role)).map(({ index, role }) => ({
    rule: "role",
    shape: role,
    message: `messages.${index}.role: Input should be 'user', 'assistant' or 'system'`,
  }));
}

/** Blocks of unknown types. */
export function blockTypes(blocks: readonly PlacedBlock[]): MessagesViolation[] {
  return blocks.filter(({ type }) => roleOfBlock(type) === undefined).map(({ path, type }) => ({
    rule: "block_type",
    message: type === ""
      ? `${path}: Unable to extract tag using discriminator 'type'`
      : `${path}: Input tag '${type}' found using 'type' does not match any of the expected tags`,
    shape: type,
  }));
}

/** Blocks in messages of the wrong role. */
export function blockRoles(blocks: readonly PlacedBlock[]): MessagesViolation[] {
  return blocks.flatMap(({ path, type, role }): MessagesViolation[] => {
    const may = roleOfBlock(type);
    const fits = may === undefined || may === "both" || may === role || !ROLES.includes(role);
    // System messages hold text only.
    if (fits && (role !== "system" || type === "text")) return [];
    return [{
      rule: "block_role",
      shape: `${type} ${role}`,
      message: `${path}: \`${type}\` blocks can only be in \`${may === "both" ? "user" : may}\` messages`,
    }];
  });
}

export function firstMessage({ body, messages }: MessagesRequest): MessagesViolation[] {
  if (Array.isArray(body.messages) && body.messages.length === 0) {
    return [{ rule: "first_message", message: "messages: at least one message is required" }];
  }
  if (messages.find(({ role }) => role !== "system")?.role !== "assistant") return [];
  return [{ rule: "first_message", message: 'messages: first message must use the "user" role' }];
}

/** Messages without blocks, and empty text. */
export function emptyContent({ body, messages }: MessagesRequest): MessagesViolation[] {
  const last = messages.length - 1;
  const empty = messages.filter(({ blocks, role }, position) =>
    blocks.length === 0 && !(position === last && role === "assistant")
  );
  const system: readonly JsonValue[] = Array.isArray(body.system) ? body.system : [];
  const texts = [
    ...messages.flatMap(({ blocks }) => blocks).map(({ block }) => block),
    ...messages.flatMap(({ blocks }) => blocks).flatMap(({ type, block }) =>
      type === "tool_result" && Array.isArray(block.content) ? block.content.filter(isJsonObject) : []
    ),
  ];
  const isEmptyText = (block: JsonValue) => isJsonObject(block) && block.type === "text" && block.text === "";
  return [
    ...empty.map((): MessagesViolation => ({
      rule: "empty_content",
      message:
        "messages: all messages must have non-empty content except for the optional final assistant message",
    })),
    ...texts.filter(isEmptyText).map((): MessagesViolation => ({
      rule: "empty_content",
      message: "messages: text content blocks must be non-empty",
    })),
    ...system.filter(isEmptyText).map((): MessagesViolation => ({
      rule: "empty_content",
      message: "system: text content blocks must be non-empty",
    })),
  ];
}
