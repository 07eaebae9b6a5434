/** Rules on tools: every use is answered at once, and every result answers a use (protocol §11). */
import { isJsonObject, type JsonObject, plainText } from "../../../domain/json.ts";
import { NAME_PATTERN } from "./config.ts";
import { mergedTurns, type MessagesRequest, type PlacedBlock, type PlacedMessage } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { isServerResult, isServerUse } from "./shapes.ts";

/** Invalid or duplicate ids of `tool_use` blocks. */
export function toolUseIds(blocks: readonly PlacedBlock[]): MessagesViolation[] {
  const uses = blocks.filter(({ type, block }) => type === "tool_use" && typeof block.id === "string");
  const ids = uses.map(({ block }) => block.id);
  const unfit = uses.filter(({ block }) => !NAME_PATTERN.test(String(block.id))).map((
    { path },
  ): MessagesViolation => ({
    rule: "tool_use_id",
    message: `${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
  }));
  if (new Set(ids).size === ids.length) return unfit;
  return [...unfit, { rule: "duplicate_tool_use_id", message: "messages: `tool_use` ids must be unique" }];
}

/** Uses and results that are not paired one to one, each use with the turn right after it. */
export function toolPairs({ messages, body }: MessagesRequest): MessagesViolation[] {
  const turns = mergedTurns(messages);
  return turns.flatMap((turn, position) => [
    ...(turn.role === "assistant" ? unansweredUses(turn, turns[position + 1]) : []),
    ...(turn.role === "user" && !(position === 0 && continuesThread(body))
      ? unaskedResults(turn, turns[position - 1])
      : []),
  ]);
}

/** True if the server holds earlier messages, which have the uses that the first results answer (ANT). */
function continuesThread({ thread }: JsonObject): boolean {
  return isJsonObject(thread) && thread.type === "continue";
}

function unansweredUses(turn: PlacedMessage, next: PlacedMessage | undefined): MessagesViolation[] {
  const answers = next?.role === "user" ? next.blocks : [];
  const other = answers.findIndex(({ type }) => type !== "tool_result");
  const inTime = other < 0 ? answers : answers.slice(0, other);
  const answered = new Set(inTime.map(({ block }) => block.tool_use_id));
  const missing = turn.blocks.filter(({ type, block }) => type === "tool_use" && !answered.has(block.id));
  const [first] = missing;
  if (first === undefined) return [];
  return [{
    rule: "tool_use_without_result",
    message:
      `messages.${first.message}: \`tool_use\` ids were found without \`tool_result\` blocks immediately ` +
      `after: ${
        missing.map(({ block }) => plainText(block.id ?? "")).join(", ")
      }. Each \`tool_use\` block must have a ` +
      "corresponding `tool_result` block in the next message.",
  }];
}

function unaskedResults(turn: PlacedMessage, before: PlacedMessage | undefined): MessagesViolation[] {
  const asked = new Set(
    before?.role === "assistant"
      ? before.blocks.filter(({ type }) => type === "tool_use").map(({ block }) => block.id)
      : [],
  );
  const seen = new Set();
  return turn.blocks.filter(({ type }) => type === "tool_result").flatMap(
    ({ path, block }): MessagesViolation[] => {
      const { tool_use_id: id } = block;
      if (!asked.has(id)) {
        return [{
          rule: "result_without_tool_use",
          message:
            `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${plainText(id)}. Each ` +
            "`tool_result` block must have a corresponding `tool_use` block in the previous message.",
        }];
      }
      if (seen.has(id)) {
        return [{
          rule: "duplicate_result",
          message:
            `${path}: each tool_use must have a single result. Found multiple \`tool_result\` blocks ` +
            `with id: ${plainText(id)}`,
        }];
      }
      seen.add(id);
      return [];
    },
  );
}

/** Tools of the server: use and result are in one turn; the last turn may be unfinished. */
export function serverPairs({ messages }: MessagesRequest): MessagesViolation[] {
  const turns = mergedTurns(messages);
  return turns.flatMap(({ blocks }, position) => {
    const open = new Map<unknown, PlacedBlock>();
    const findings: MessagesViolation[] = [];
    for (const placed of blocks) {
      const { path, type, block } = placed;
      if (isServerUse(type)) open.set(block.id, placed);
      if (isServerResult(type) && !open.delete(block.tool_use_id)) {
        const use = type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use";
        findings.push({
          rule: "server_result_without_use",
          message:
            `${path}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${
              plainText(block.tool_use_id)
            }. ` +
            `Each \`${type}\` block must have a corresponding \`${use}\` block before it.`,
        });
      }
    }
    if (position === turns.length - 1) return findings;
    return [
      ...findings,
      ...[...open.values()].map(({ message, block }): MessagesViolation => ({
        rule: "server_use_without_result",
        message:
          `messages.${message}: \`${plainText(block.name)}\` tool use with id \`${
            plainText(block.id)
          }\` was found without ` +
          `a corresponding \`${plainText(block.name)}_tool_result\` block`,
      })),
    ];
  });
}
