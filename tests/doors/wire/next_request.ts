/** The request that follows from a session on disk, and its history as text. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { said, type Sandbox } from "../../support/reprise.ts";
import { brokenMessagesRules, brokenResponsesRules } from "../../support/scripted_api/judge.ts";
import { ID } from "../sessions/home.ts";

const NAMES = ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "AZURE_OPENAI_API_KEY", "REPRISE_API_KEY"];
/** The key of every API. */
export const KEYS = Object.fromEntries(NAMES.map((name) => [name, "sk-1"]));

/** Options of a request. */
export interface Next {
  /** `null`: a new session. @default {the session of most tests} */
  readonly id?: string | null;
  readonly isPaused?: boolean;
  /** False if it breaks rules on purpose. @default {true} */
  readonly isJudged?: boolean;
}

/** The text of the next request with these flags and words, which breaks no rule of its API. */
export async function nextRequest(
  home: Sandbox,
  words: readonly string[],
  { id = ID, isPaused = false, isJudged = true }: Next = {},
): Promise<string> {
  const session = id === null ? [] : ["-s", id];
  const called = await home.call(["run", "--dry-run", "--body", ...session, ...words], { env: KEYS });
  assert.equal(called.code, 0, `${id} ${words}: ${said(called)}`);
  const options = { isPaused, isLenient: words.includes("compatible") };
  if (isJudged) assert.deepEqual(brokenRules(JSON.parse(called.stdout), options), [], `${id} ${words}`);
  return called.stdout.trim();
}

/** The rules of its API that a request breaks. */
export const brokenRules = (
  body: Json,
  options: { readonly isPaused?: boolean; readonly isLenient?: boolean } = {},
) => body.messages === undefined ? brokenResponsesRules(body, options) : brokenMessagesRules(body, options);

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
