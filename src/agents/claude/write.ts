/** Writes transcripts of Claude Code. Tested with 2.1.197. */
import type { JsonObject } from "../../domain/json.ts";
import type { RequestUsage } from "../../domain/usage.ts";
import type { AnswerPart, Spoken } from "../conversation.ts";
import { type AgentFile, argumentsObject, randomUuid, type Written } from "../writing.ts";

const VERSION = "2.1.197";

export function writeClaude({ conversation, id, directory, random }: Written): AgentFile {
  let parentUuid: string | null = null;
  const lines = conversation.spoken.map((spoken): JsonObject => {
    const uuid = randomUuid(random);
    const line = {
      parentUuid,
      isSidechain: false,
      userType: "external",
      cwd: directory,
      sessionId: id,
      version: VERSION,
      type: spoken.kind === "answer" ? "assistant" : "user",
      message: messageOf(spoken, uuid),
      uuid,
      timestamp: spoken.at,
    };
    parentUuid = uuid;
    return line;
  });
  return {
    lines,
    place: `.claude/projects/${directory.replaceAll(/[^A-Za-z0-9]/g, "-")}/${id}.jsonl`,
    command: `claude --resume ${id}`,
  };
}

function messageOf(spoken: Spoken, uuid: string): JsonObject {
  switch (spoken.kind) {
    case "user":
      return { role: "user", content: spoken.text };
    case "answer": {
      const calls = spoken.parts.some(({ kind }) => kind === "call");
      return {
        id: `msg_${uuid.replaceAll("-", "")}`,
        type: "message",
        role: "assistant",
        model: spoken.model,
        content: spoken.parts.map(blockOf),
        stop_reason: calls ? "tool_use" : "end_turn",
        stop_sequence: null,
        usage: usageBlock(spoken.usage),
      };
    }
    case "result": {
      const { callId, output, isError } = spoken;
      const block = {
        type: "tool_result",
        tool_use_id: usableId(callId),
        content: output,
        is_error: isError,
      };
      return { role: "user", content: [block] };
    }
  }
}

/** Counts that exclude each other, as the Messages API has them. */
function usageBlock({ input_tokens, cached_tokens, cache_write_tokens = 0, output_tokens }: RequestUsage) {
  return {
    input_tokens: Math.max(0, input_tokens - cached_tokens - cache_write_tokens),
    cache_creation_input_tokens: cache_write_tokens,
    cache_read_input_tokens: cached_tokens,
    output_tokens,
  };
}

function blockOf(part: AnswerPart): JsonObject {
  return part.kind === "text"
    ? { type: "text", text: part.text }
    : { type: "tool_use", id: usableId(part.id), name: part.name, input: argumentsObject(part.arguments) };
}

/** The API takes letters, digits, `_` and `-` in ids of calls. */
function usableId(id: string): string {
  return id.replaceAll(/[^A-Za-z0-9_-]/g, "_");
}
