/** Writes rollouts of Codex CLI. Tested with 0.169.0. */
import type { JsonObject } from "../../domain/json.ts";
import type { Spoken } from "../conversation.ts";
import type { AgentFile, Written } from "../writing.ts";

const VERSION = "0.169.0";

export function writeCodex({ conversation, id, at, directory }: Written): AgentFile {
  const [day = "", time = ""] = at.slice(0, 19).split("T");
  const meta = {
    id,
    timestamp: at,
    cwd: directory,
    originator: "reprise",
    cli_version: VERSION,
    source: "exec",
    model_provider: null,
  };
  return {
    lines: [
      { timestamp: at, type: "session_meta", payload: meta },
      ...conversation.spoken.flatMap((spoken) =>
        itemsOf(spoken).map((payload) => ({ timestamp: spoken.at, type: "response_item", payload }))
      ),
    ],
    place: `.codex/sessions/${day.replaceAll("-", "/")}/rollout-${day}T${
      time.replaceAll(":", "-")
    }-${id}.jsonl`,
    command: `codex exec resume ${id} "…"`,
  };
}

function itemsOf(spoken: Spoken): JsonObject[] {
  switch (spoken.kind) {
    case "user":
      return [{ type: "message", role: "user", content: [{ type: "input_text", text: spoken.text }] }];
    case "answer":
      return spoken.parts.map((part) =>
        part.kind === "text"
          ? { type: "message", role: "assistant", content: [{ type: "output_text", text: part.text }] }
          : { type: "function_call", name: part.name, arguments: part.arguments, call_id: part.id }
      );
    case "result":
      return [{ type: "function_call_output", call_id: spoken.callId, output: spoken.output }];
  }
}
