/** Rules on tools: every use is answered at once, and every result answers a use (protocol §11). */
import { isJsonObject, type JsonObject, plainText } from "../../../domain/json.ts";
import { NAME_PATTERN } from "./config.ts";
import type { MessagesRequest, PlacedBlock, PlacedMessage } from "./request.ts";
import type { MessagesViolations } from "./rule.ts";
import { isServerResult, isServerUse } from "./shapes.ts";

export function* toolUseIds({ blocks }: MessagesRequest): MessagesViolations {
  const ids = new Set<string>();
  let isRepeated = false;
  for (const { path, type, block: { id } } of blocks) {
    if (type !== "tool_use" || typeof id !== "string") continue;
    isRepeated ||= ids.has(id);
    ids.add(id);
    if (NAME_PATTERN.test(id)) continue;
    const message = `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`;
    yield { rule: "tool_use_id", message };
  }
  if (isRepeated) yield { rule: "duplicate_tool_use_id", message: "messages: `tool_use` ids must be unique" };
}

/** Uses and results that are not paired one to one, each use with the turn right after it. */
export function* toolPairs({ turns, body }: MessagesRequest): MessagesViolations {
  for (const [position, turn] of turns.entries()) {
    if (turn.role === "assistant") yield* unansweredUses(turn, turns[position + 1]);
    // Of a thread that continues, the server has the uses that the first results answer (ANT).
    const answersEarlier = position === 0 && continuesThread(body);
    if (turn.role === "user" && !answersEarlier) yield* unaskedResults(turn, turns[position - 1]);
  }
}

function continuesThread({ thread }: JsonObject): boolean {
  return isJsonObject(thread) && thread.type === "continue";
}

function* unansweredUses(turn: PlacedMessage, next: PlacedMessage | undefined): MessagesViolations {
  const answers = next?.role === "user" ? next.blocks : [];
  const end = answers.findIndex(({ type }) => type !== "tool_result");
  const inTime = end < 0 ? answers : answers.slice(0, end);
  const answered = new Set(inTime.map(({ block }) => block.tool_use_id));
  const missing = turn.blocks.filter(({ type, block }) => type === "tool_use" && !answered.has(block.id));
  const [first] = missing;
  if (first === undefined) return;
  const ids = missing.map(({ block }) => plainText(block.id ?? "")).join(", ");
  yield {
    rule: "tool_use_without_result",
    message:
      `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
      `after: ${ids}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  };
}

function* unaskedResults({ blocks }: PlacedMessage, before: PlacedMessage | undefined): MessagesViolations {
  const uses = before?.role === "assistant" ? before.blocks.filter(({ type }) => type === "tool_use") : [];
  const asked = new Set(uses.map(({ block }) => block.id));
  const seen = new Set();
  for (const { path, type, block: { tool_use_id: id } } of blocks) {
    if (type !== "tool_result") continue;
    if (!asked.has(id)) {
      yield {
        rule: "result_without_tool_use",
        message:
          `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${plainText(id)}. Each ` +
          "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
      };
    } else if (seen.has(id)) {
      yield {
        rule: "duplicate_result",
        message: `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks ` +
          `with id: ${plainText(id)}`,
      };
    } else seen.add(id);
  }
}

/** Tools of the server: use and result are in one turn; the last turn may be unfinished. */
export function* serverPairs({ turns }: MessagesRequest): MessagesViolations {
  for (const [position, { blocks }] of turns.entries()) {
    const open = new Map<unknown, PlacedBlock>();
    for (const placed of blocks) {
      const { path, type, block } = placed;
      if (isServerUse(type)) open.set(block.id, placed);
      if (!isServerResult(type) || open.delete(block.tool_use_id)) continue;
      const use = type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use";
      const id = plainText(block.tool_use_id);
      yield {
        rule: "server_result_without_use",
        message: `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${id}. Each \`${type}\` ` +
          `block must have a corresponding \`${use}\` block before it.`,
      };
    }
    for (const { message, block } of position === turns.length - 1 ? [] : open.values()) {
      const [name, id] = [plainText(block.name), plainText(block.id)];
      yield {
        rule: "server_use_without_result",
        message: `messages.${message}: \`${name}\` tool use with id \`${id}\` was found without ` +
          `a corresponding \`${name}_tool_result\` block`,
      };
    }
  }
}
