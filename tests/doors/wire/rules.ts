/**
 * Rules of the Responses API and of the Messages API about a request, from the public documentation of both and from
 * recorded refusals, with no code of the program.
 */
import type { Json } from "../../support/files.ts";

/** Members that an item may have on input, by type; other types go as they came, hosted tools among them. */
const MEMBERS: Readonly<Record<string, string>> = {
  message: "type role content id phase",
  reasoning: "type id summary encrypted_content content",
  function_call: "type call_id name arguments id namespace caller async",
  function_call_output: "type call_id output id name namespace caller",
  custom_tool_call: "type call_id name input id namespace caller async",
  custom_tool_call_output: "type call_id output id caller",
  compaction: "type encrypted_content id",
};
/** Members that an item must have on input. */
const REQUIRED: Readonly<Record<string, string>> = {
  message: "role content",
  reasoning: "id summary",
  function_call: "call_id name arguments",
  function_call_output: "call_id output",
  custom_tool_call: "call_id name input",
  custom_tool_call_output: "call_id output",
  compaction: "encrypted_content",
};
const PREFIXES: Readonly<Record<string, string>> = {
  message: "msg",
  reasoning: "rs",
  function_call: "fc",
  custom_tool_call: "ctc",
};
const CALLS = ["function_call", "custom_tool_call", "shell_call"];
/** Item types that only a client writes, and the messages of others. */
const isOfClient = ({ type, role }: Json) =>
  /^(function|custom_tool)_call_output$/.test(type) || role === "user";

/** Returns the rules that a request breaks; servers beside OpenAI take reasoning without a blob, and ids of any form. */
export function brokenResponsesRules(body: Json, { isLenient = false } = {}): string[] {
  const broken: string[] = [];
  const fail = (index: number, what: string) => broken.push(`input[${index}]: ${what}`);
  if (body.store !== false) broken.push("store is not false");
  if (body.reasoning !== undefined && body.temperature !== undefined) {
    broken.push("temperature with reasoning");
  }
  const [ids, open, answered] = [new Set<string>(), new Map<string, string>(), new Set<string>()];
  body.input.forEach((item: Json, index: number) => {
    const { type, id, call_id } = item;
    const members = MEMBERS[type]?.split(" ");
    for (const name of Object.keys(item)) {
      if (members?.includes(name) === false) fail(index, `${type}.${name}`);
    }
    for (const name of REQUIRED[type]?.split(" ") ?? []) if (!(name in item)) fail(index, `no ${name}`);
    if (id !== undefined && ids.has(id)) fail(index, `id ${id} again`);
    ids.add(id);
    const prefix = PREFIXES[type];
    if (!isLenient && id !== undefined && prefix !== undefined && !id.startsWith(`${prefix}_`)) {
      fail(index, `id ${id}`);
    }
    if (call_id !== undefined && (call_id.length < 1 || call_id.length > 64)) {
      fail(index, `call_id ${call_id}`);
    }
    if (CALLS.includes(type)) {
      if (open.has(call_id) || answered.has(call_id)) fail(index, `call ${call_id} again`);
      open.set(call_id, type);
    } else if (/_call_output$/.test(type)) {
      if (open.get(call_id) !== type.slice(0, -"_output".length)) {
        fail(index, `an output without its call ${call_id}`);
      }
      open.delete(call_id);
      answered.add(call_id);
    } else if (item.role === "user" && open.size > 0) {
      fail(index, `a message before the output of ${[...open.keys()]}`);
    }
    if (type === "message" && id !== undefined && body.input[index - 1]?.type !== "reasoning") {
      fail(index, `the id ${id} without reasoning before it`);
    }
    if (type !== "reasoning") return;
    const next = body.input[index + 1];
    if (next === undefined || isOfClient(next)) fail(index, `reasoning ${id} without its following item`);
    if (!isLenient && typeof item.encrypted_content !== "string") {
      fail(index, `reasoning ${id} without its blob`);
    }
  });
  for (const call of open.keys()) broken.push(`no output of ${call}`);
  if (!JSON.stringify(body).isWellFormed() || /\\ud[89a-f]/.test(JSON.stringify(body))) {
    broken.push("a lone surrogate");
  }
  return broken;
}

/** Members of content blocks, by type; other types go as they came. */
const BLOCKS: Readonly<Record<string, string>> = {
  text: "type text citations cache_control",
  thinking: "type thinking signature",
  redacted_thinking: "type data",
  tool_use: "type id name input cache_control caller",
  tool_result: "type tool_use_id content is_error cache_control",
};

/** Returns the rules that a request breaks; a history may end with an answer that its server paused. */
export function brokenMessagesRules(body: Json, { isPaused = false } = {}): string[] {
  const broken: string[] = [];
  const ids = new Set<string>();
  let waiting: string[] = [];
  if (!(body.max_tokens >= 1)) broken.push("max_tokens");
  if (body.thinking?.budget_tokens >= body.max_tokens) broken.push("budget_tokens");
  body.messages.forEach(({ role, content }: Json, at: number) => {
    const fail = (what: string) => broken.push(`messages[${at}]: ${what}`);
    const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
    if (blocks.length === 0) fail("no content");
    if (at === 0 ? role !== "user" : role === body.messages[at - 1].role) fail(`role ${role}`);
    const results = blocks.filter(({ type }: Json) => type === "tool_result").map((
      { tool_use_id: id }: Json,
    ) => id);
    if (String(results.toSorted()) !== String(waiting.toSorted())) {
      fail(`results of ${results} for ${waiting}`);
    }
    if (blocks.slice(0, results.length).some(({ type }: Json) => type !== "tool_result")) {
      fail("results not first");
    }
    waiting = [];
    for (const block of blocks) {
      const members = BLOCKS[block.type]?.split(" ");
      for (const name of Object.keys(block)) {
        if (members?.includes(name) === false) fail(`${block.type}.${name}`);
      }
      if (block.type === "text" && block.text.trim() === "") fail("blank text");
      if (
        block.type === "thinking" && !block.signature || block.type === "redacted_thinking" && !block.data
      ) {
        fail("unsigned thinking");
      }
      if (/thinking|^tool_use$/.test(block.type) && role !== "assistant") fail(`${block.type} of the user`);
      if (block.type !== "tool_use") continue;
      if (!/^[\w-]{1,64}$/.test(block.id) || ids.has(block.id)) fail(`id ${block.id}`);
      if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input)) {
        fail("input");
      }
      ids.add(block.id);
      waiting.push(block.id);
    }
  });
  if (waiting.length > 0) broken.push(`no result of ${waiting}`);
  if (!isPaused && body.messages.at(-1)?.role !== "user") broken.push("the assistant has the last word");
  if (/\\ud[89a-f]/.test(JSON.stringify(body))) broken.push("a lone surrogate");
  return broken;
}

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
