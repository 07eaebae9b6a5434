/**
 * Rules of the three APIs about a request, from the public documentation and from recorded refusals, with no code of the
 * program.
 */
import type { Json } from "../files.ts";

/** A broken rule, in the words of the API. */
export interface Violation {
  readonly message: string;
  readonly param?: string | null;
  readonly code?: string;
}

/** Knowledge of the server that issued the items of a request. */
export interface Issued {
  /** Says why a blob cannot be read; `null` if it can. */
  readonly unreadable: (id: string | undefined, blob: string) => string | null;
  /** Reasoning item before each item, by item id. */
  readonly reasoningOf: ReadonlyMap<string, string>;
}

/**
 * The forms of items on input, by type: the prefix of their ids, members that they must have, and others that they may
 * have. Other types go as they came, hosted tools among them.
 */
const FORMS: Readonly<Record<string, readonly [prefix: string, required: string, optional: string]>> = {
  message: ["msg_", "role content", "type id phase"],
  reasoning: ["rs_", "summary", "type id encrypted_content content"],
  function_call: ["fc_", "call_id name arguments", "type id namespace caller async"],
  function_call_output: ["", "call_id output", "type id name namespace caller"],
  custom_tool_call: ["ctc_", "call_id name input", "type id namespace caller async"],
  custom_tool_call_output: ["", "call_id output", "type id caller"],
  compaction: ["", "encrypted_content", "type id"],
};
/** Calls whose outputs a client writes. */
const CALLS = ["function_call", "custom_tool_call", "shell_call", "apply_patch_call", "computer_call"];
const worded = (type: string) => type.replaceAll("_", " ");
/** Item types that only a client writes, and the messages of others. */
const isOfClient = ({ type, role }: Json) =>
  /_output$/.test(type) || (role !== undefined && role !== "assistant");

/** Returns the items of `input`; a text is one message of the user. */
export function itemsOf(input: Json): Json[] {
  return typeof input === "string" ? [{ role: "user", content: input }] : input ?? [];
}

/** Returns the violations that the Responses API refuses; a warm-up may end with open calls. */
export function responsesViolations(
  body: Json,
  { issued, isLenient = false }: { readonly issued?: Issued; readonly isLenient?: boolean } = {},
): Violation[] {
  const found: Violation[] = [];
  const refuse = (message: string, code?: string, param: string | null = "input") =>
    void found.push({ message, param, ...(code === undefined ? {} : { code }) });
  if (!isWellFormed(body)) {
    refuse("We could not parse the JSON body of your request: it is not valid Unicode.");
  }
  if ((body.reasoning?.effort ?? "none") !== "none" && (body.temperature ?? null) !== null) {
    refuse(
      "Unsupported parameter: 'temperature' is not supported with this model.",
      undefined,
      "temperature",
    );
  }
  // What is not stored cannot be continued.
  if (typeof body.previous_response_id === "string" && body.store === false) {
    const words = `Previous response with id '${body.previous_response_id}' not found.`;
    refuse(words, "previous_response_not_found", "previous_response_id");
  }
  const ids = new Set<string>();
  const reasoning = new Set<string>();
  const open = new Map<string, string>();
  const input = itemsOf(body.input);
  input.forEach((item: Json, index: number) => {
    const { id, call_id, encrypted_content: blob, type = "message" } = item;
    const [prefix = "", required = ""] = FORMS[type] ?? [];
    for (const name of required.split(" ").filter((name) => name !== "" && !(name in item))) {
      const param = `input[${index}].${name}`;
      refuse(`Missing required parameter: '${param}'.`, "missing_required_parameter", param);
    }
    if (!isLenient && typeof id === "string" && !id.startsWith(prefix)) {
      const param = `input[${index}].id`;
      const wanted = `Expected an ID that begins with '${prefix.slice(0, -1)}'.`;
      refuse(`Invalid '${param}': '${id}'. ${wanted}`, "invalid_value", param);
    }
    if (typeof id === "string" && ids.has(id)) {
      refuse(`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`);
    }
    ids.add(id);
    if (typeof call_id === "string" && !/^[^]{1,64}$/.test(call_id)) {
      const param = `input[${index}].call_id`;
      refuse(`Invalid '${param}': expected 1 to 64 characters.`, "string_above_max_length", param);
    }
    if (CALLS.includes(type)) open.set(call_id, type);
    else if (CALLS.includes(type.replace(/_output$/, ""))) {
      const call = type.slice(0, -"_output".length);
      if (open.get(call_id) !== call && body.previous_response_id === undefined) {
        refuse(`No tool call found for ${worded(call)} output with call_id ${call_id}.`);
      }
      open.delete(call_id);
    }
    if (type === "reasoning" || type === "compaction") {
      const reason = typeof blob === "string" ? issued?.unreadable(id, blob) ?? null : null;
      if (reason !== null) {
        const words = `The encrypted content for item ${id} could not be verified. Reason: ${reason}`;
        refuse(words, "invalid_encrypted_content", null);
      }
    }
    const provided = `Item '${id}' of type '${type}' was provided without its required`;
    const before = issued?.reasoningOf.get(id);
    if (before !== undefined && !reasoning.has(before)) refuse(`${provided} 'reasoning' item: '${before}'.`);
    if (type !== "reasoning") return;
    reasoning.add(id);
    const next = input[index + 1];
    if (next === undefined || isOfClient(next)) refuse(`${provided} following item.`);
  });
  for (const [call, type] of body.generate === false ? [] : open) {
    refuse(`No tool output found for ${worded(type)} ${call}.`);
  }
  return found;
}

/**
 * Returns the rules that a request of the program breaks, which are more than those of the API; servers beside OpenAI
 * take reasoning without a blob, and ids of any form.
 */
export function brokenResponsesRules(body: Json, { isLenient = false } = {}): string[] {
  const broken = responsesViolations(body, { isLenient }).map(({ message }) => message);
  const fail = (index: number, what: string) => broken.push(`input[${index}]: ${what}`);
  if (body.store !== false) broken.push("store is not false");
  if (body.reasoning !== undefined && body.temperature !== undefined) {
    broken.push("temperature with reasoning");
  }
  const [calls, open] = [new Set<string>(), new Set<string>()];
  body.input.forEach((item: Json, index: number) => {
    const { type, id, call_id } = item;
    const members = FORMS[type]?.join(" ").split(" ");
    for (const name of Object.keys(item)) {
      if (members?.includes(name) === false) fail(index, `${type}.${name}`);
    }
    if (CALLS.includes(type)) {
      if (calls.has(call_id)) fail(index, `call ${call_id} again`);
      calls.add(call_id);
      open.add(call_id);
    } else if (/_call_output$/.test(type)) open.delete(call_id);
    else if (item.role === "user" && open.size > 0) {
      fail(index, `a message before the output of ${[...open]}`);
    }
    if (type === "message" && id !== undefined && body.input[index - 1]?.type !== "reasoning") {
      fail(index, `the id ${id} without reasoning before it`);
    }
    if (
      type === "reasoning" && (id === undefined || !isLenient && typeof item.encrypted_content !== "string")
    ) {
      fail(index, `reasoning ${id} without its id or its blob`);
    }
  });
  return broken;
}

/** Members of content blocks, by type; other types go as they came. */
const BLOCKS: Readonly<Record<string, string>> = {
  text: "type text citations cache_control",
  thinking: "type thinking signature",
  redacted_thinking: "type data",
  tool_use: "type id name input cache_control caller",
  tool_result: "type tool_use_id content is_error cache_control",
  container_upload: "type file_id cache_control",
};

/** A block with its place, as errors name it. */
export interface PlacedBlock {
  readonly path: string;
  readonly block: Json;
}

/** The messages of one role without another role between them, which the API joins. */
export interface MessagesTurn {
  readonly role: string;
  /** Number of its first message. */
  readonly index: number;
  readonly blocks: readonly PlacedBlock[];
}

/** Returns the turns of a request; a text is one block. */
export function turnsOf({ messages = [] }: Json): MessagesTurn[] {
  const turns: { role: string; index: number; blocks: PlacedBlock[] }[] = [];
  messages.forEach(({ role, content }: Json, index: number) => {
    const list = typeof content === "string" ? [{ type: "text", text: content }] : content;
    const blocks = list.map((block: Json, at: number) => ({
      path: `messages.${index}.content.${at}`,
      block,
    }));
    const last = turns.at(-1);
    if (last?.role === role) last?.blocks.push(...blocks);
    else turns.push({ role, index, blocks });
  });
  return turns;
}

/** Verdict on a thinking block: issued exactly so, not issued so, or issued after another history. */
export type Verdict = "ok" | "forged" | "bound";
/** A judged thinking block. */
export interface JudgedBlock extends PlacedBlock {
  readonly verdict: Verdict;
}

/** True if a request asks the server to drop thinking of another history. */
export const asksToDrop = ({ thinking }: Json) =>
  thinking?.block_binding?.prefix_mismatch_behavior === "drop_block";

/** Returns the violations that the Messages API refuses. */
export function messagesViolations(
  body: Json,
  { judged = [], isPaused = false, knowsBinding = false }: {
    readonly judged?: readonly JudgedBlock[];
    /** The history ends with an answer that the server paused. */
    readonly isPaused?: boolean;
    readonly knowsBinding?: boolean;
  } = {},
): Violation[] {
  const found: Violation[] = [];
  const refuse = (message: string) => void found.push({ message });
  if (!isWellFormed(body)) refuse("The request body is not valid JSON");
  if (!(body.max_tokens >= 1)) refuse("max_tokens: Input should be greater than or equal to 1");
  const { thinking } = body;
  if (thinking?.budget_tokens >= body.max_tokens) {
    refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
  }
  if (!["summarized", "omitted", null].includes(thinking?.display ?? null)) {
    refuse(`thinking.${thinking.type}.display: Input should be 'summarized' or 'omitted'`);
  }
  if (thinking?.block_binding !== undefined && !knowsBinding) {
    refuse(`thinking.${thinking.type}.block_binding: Extra inputs are not permitted`);
  }
  const turns = turnsOf(body);
  const ids = new Set<string>();
  if (body.messages.some(({ content }: Json) => content.length === 0)) {
    refuse(
      "messages: all messages must have non-empty content except for the optional final assistant message",
    );
  }
  body.messages.forEach(({ role: _, content: __, ...others }: Json, index: number) => {
    for (const name of Object.keys(others)) {
      refuse(`messages.${index}.${name}: Extra inputs are not permitted`);
    }
  });
  if (turns[0]?.role === "assistant") refuse('messages: first message must use the "user" role');
  turns.forEach(({ role, index, blocks }, position) => {
    for (const { path, block } of blocks) {
      const members = BLOCKS[block.type]?.split(" ");
      for (const name of Object.keys(block)) {
        if (members?.includes(name) === false) {
          refuse(`${path}.${block.type}.${name}: Extra inputs are not permitted`);
        }
      }
      if (block.type === "text" && block.text.trim() === "") {
        refuse("messages: text content blocks must be non-empty");
      }
      if (/thinking|^tool_use$/.test(block.type) && role !== "assistant") {
        refuse(`${path}: \`${block.type}\` blocks can only be in \`assistant\` messages`);
      }
      if (
        block.type === "thinking" && !block.signature || block.type === "redacted_thinking" && !block.data
      ) {
        refuse(`${path}.${block.type}.${"data" in block ? "data" : "signature"}: Field required`);
      }
      if (block.type !== "tool_use") continue;
      if (!/^[\w-]{1,64}$/.test(block.id)) {
        refuse(`${path}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`);
      }
      if (ids.has(block.id)) refuse("messages: `tool_use` ids must be unique");
      ids.add(block.id);
      if (typeof block.input !== "object" || block.input === null || Array.isArray(block.input)) {
        refuse(`${path}.tool_use.input: Input should be a valid dictionary`);
      }
    }
    if (role === "assistant") {
      for (const words of unansweredUses(index, blocks, turns[position + 1])) refuse(words);
    } else if (position > 0 || body.thread?.type !== "continue") {
      // A continued thread has the calls of the first results.
      for (const words of unaskedResults(blocks, turns[position - 1])) refuse(words);
    }
  });
  for (const { path, block: { type }, verdict } of judged) {
    if (verdict === "ok" || verdict === "bound" && asksToDrop(body)) continue;
    const invalid = `${path}: Invalid \`${type === "thinking" ? "signature" : "data"}\` in \`${type}\` block`;
    refuse(
      verdict === "forged"
        ? invalid
        : `${invalid}. The block is bound to a different conversation. Remove the block, or set ` +
          '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
    );
  }
  if (!isPaused && turns.at(-1)?.role === "assistant") {
    refuse(
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    );
  }
  return found;
}

const idsOf = (blocks: readonly PlacedBlock[], type: string, member: string): string[] =>
  blocks.filter(({ block }) => block.type === type).map(({ block }) => block[member]);

function* unansweredUses(index: number, blocks: readonly PlacedBlock[], next: MessagesTurn | undefined) {
  const other = next?.blocks.findIndex(({ block }) => block.type !== "tool_result") ?? 0;
  const inTime = other < 0 ? next?.blocks : next?.blocks.slice(0, other);
  const answered = idsOf(inTime ?? [], "tool_result", "tool_use_id");
  const missing = idsOf(blocks, "tool_use", "id").filter((id) => !answered.includes(id));
  if (missing.length === 0) return;
  yield `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ` +
    `${missing.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the ` +
    "next message.";
}

function* unaskedResults(blocks: readonly PlacedBlock[], before: MessagesTurn | undefined) {
  const asked = new Set(idsOf(before?.blocks ?? [], "tool_use", "id"));
  for (const { path, block } of blocks) {
    if (block.type !== "tool_result" || asked.delete(block.tool_use_id)) continue;
    yield `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each ` +
      "`tool_result` block must have a corresponding `tool_use` block in the previous message.";
  }
}

/** Returns the rules that a request of the program breaks; a history may end with an answer that its server paused. */
export function brokenMessagesRules(body: Json, { isPaused = false } = {}): string[] {
  const broken = messagesViolations(body, { isPaused, knowsBinding: true }).map(({ message }) => message);
  body.messages.forEach(({ role }: Json, at: number) => {
    if (role === body.messages[at - 1]?.role) broken.push(`messages[${at}]: role ${role} again`);
  });
  return broken;
}

/** Returns the violations that Chat Completions refuses. */
export function chatViolations({ messages = [], ...body }: Json): Violation[] {
  const found: Violation[] = [];
  if (!isWellFormed(messages)) found.push({ message: "The JSON body is not valid Unicode." });
  if (body.reasoning !== undefined) {
    const param = "reasoning";
    found.push({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" });
  }
  let open: string[] = [];
  let asked: string[] = [];
  [...messages, { role: "end" }].forEach(({ role, content, tool_calls, tool_call_id, ...more }, index) => {
    const at = `messages.[${index}]`;
    if (role === "tool") {
      const refuse = (message: string, member: string) =>
        found.push({ message: `Invalid parameter: ${message}`, param: `${at}.${member}` });
      if (asked.length === 0) {
        refuse(
          "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
          "role",
        );
      } else if (!asked.includes(tool_call_id)) {
        const words = `'tool_call_id' of '${tool_call_id}' not found in 'tool_calls' of previous message.`;
        refuse(words, "tool_call_id");
      } else if (!open.includes(tool_call_id)) {
        refuse(`Duplicate value for 'tool_call_id' of '${tool_call_id}'`, "tool_call_id");
      }
      open = open.filter((id) => id !== tool_call_id);
      return;
    }
    if (open.length > 0) {
      const message = "An assistant message with 'tool_calls' must be followed by tool messages responding " +
        "to each 'tool_call_id'. The following tool_call_ids did not have response messages: " +
        open.join(", ");
      found.push({ message, param: "messages" });
    }
    asked = (tool_calls ?? []).map(({ id }: Json) => id);
    open = [...asked];
    if (role === "assistant" && (content ?? tool_calls ?? more.refusal ?? more.audio ?? null) === null) {
      const message = "Invalid value for 'content': expected a string, got null.";
      found.push({ message, param: `${at}.content` });
    }
  });
  return found;
}

function isWellFormed(value: Json): boolean {
  let isFine = true;
  JSON.stringify(value, (_, each) => {
    isFine &&= typeof each !== "string" || each.isWellFormed();
    return each;
  });
  return isFine;
}
