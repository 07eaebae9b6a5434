/** Writes sessions of pi, format 3. Tested with 0.73.1. */
import { namesInPi } from "../../apis/agent_providers.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { RequestUsage } from "../../domain/usage.ts";
import type { Spoken } from "../conversation.ts";
import { type AgentFile, argumentsObject, type Written } from "../writing.ts";

const NO_COST = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

export function writePi({ conversation, id, at, directory }: Written): AgentFile {
  const messages = conversation.spoken.map((spoken, index): JsonObject => ({
    type: "message",
    id: idOf(index),
    parentId: index === 0 ? null : idOf(index - 1),
    timestamp: spoken.at,
    message: { ...messageOf(spoken), timestamp: Date.parse(spoken.at) },
  }));
  const name = `${at.replaceAll(/[:.]/g, "-")}_${id}.jsonl`;
  const folder = `--${directory.replace(/^\//, "").replaceAll(/[/\\:]/g, "-")}--`;
  const place = `.pi/agent/sessions/${folder}/${name}`;
  return {
    lines: [{ type: "session", version: 3, id, timestamp: at, cwd: directory }, ...messages],
    place,
    command: `pi --session ~/${place}`,
  };
}

/** Counts that exclude each other, and their sum; the format has no way to say that the cost is unknown. */
function usageOf({ input_tokens, cached_tokens, cache_write_tokens = 0, output_tokens }: RequestUsage) {
  return {
    input: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    output: output_tokens,
    cacheRead: cached_tokens,
    cacheWrite: cache_write_tokens,
    totalTokens: input_tokens + output_tokens,
    cost: NO_COST,
  };
}

function idOf(index: number): string {
  return index.toString(16).padStart(8, "0");
}

function messageOf(spoken: Spoken): JsonObject {
  switch (spoken.kind) {
    case "user":
      return { role: "user", content: [{ type: "text", text: spoken.text }] };
    case "answer": {
      const calls = spoken.parts.some(({ kind }) => kind === "call");
      const content = spoken.parts.map((part): JsonObject =>
        part.kind === "text"
          ? { type: "text", text: part.text }
          : { type: "toolCall", id: part.id, name: part.name, arguments: argumentsObject(part.arguments) }
      );
      return {
        role: "assistant",
        content,
        ...namesInPi(spoken.provider),
        model: spoken.model,
        usage: usageOf(spoken.usage),
        stopReason: calls ? "toolUse" : "stop",
      };
    }
    case "result": {
      const { callId, tool, output, isError } = spoken;
      return {
        role: "toolResult",
        toolCallId: callId,
        toolName: tool,
        content: [{ type: "text", text: output }],
        isError,
      };
    }
  }
}
