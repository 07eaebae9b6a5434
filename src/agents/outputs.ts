/** Outputs of agents for scripts, which look like sessions and lack the prompts: named, with the file that has them. */
import { isJsonObject, type JsonObject } from "../domain/json.ts";
import { parseShallow } from "../domain/json_depth.ts";
import { textIn } from "./reading.ts";

/** Output of an agent that is no session. */
export interface AgentOutput {
  /** Command that printed it. */
  readonly command: string;
  /** Place of the session. */
  readonly session: string;
}

/** Returns the command whose output a source is by its first line; `null` for any other. */
export function outputIn(start: Uint8Array): AgentOutput | null {
  const end = start.indexOf(0x0a);
  const json = parseShallow(end === -1 ? start : start.subarray(0, end))?.json;
  if (!isJsonObject(json)) return null;
  if (json.type === "thread.started") {
    const session = `~/.codex/sessions/*/*/*/rollout-*-${idIn(json, "thread_id")}.jsonl`;
    return { command: "codex exec --json", session };
  }
  if (json.type === "system" && json.subtype === "init") {
    const session = `~/.claude/projects/*/${idIn(json, "session_id")}.jsonl`;
    return { command: "claude -p --output-format stream-json", session };
  }
  return null;
}

function idIn(json: JsonObject, name: string): string {
  const id = textIn(json[name]) ?? "";
  return /^[\w-]{1,64}$/.test(id) ? id : "*";
}
