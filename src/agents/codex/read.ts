/** Reads rollouts of Codex CLI: a JSON object a line, with `type` and `payload`. */
import type { Item } from "../../domain/event.ts";
import { DEFAULT_PROVIDER, PROVIDERS } from "../../apis/providers.ts";
import { PROVIDER_KINDS, type ProviderKind } from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, plainText } from "../../domain/json.ts";
import { itemKind } from "../../domain/item.ts";
import type { AgentBranch, AgentEntry, AgentSession, ResponseEntry } from "../agent_session.ts";
import type { SourceLine } from "../lines.ts";
import { codexUsage, joinedUsage, tokenCounter } from "./token_counts.ts";
import { LostParts, messageBy, partsIn, resultText, textIn } from "../reading.ts";

/** Types of lines that repeat other lines, or describe the program and not the conversation. */
const SILENT: ReadonlySet<JsonValue> = new Set(["event_msg", "world_state"]);

/** Types of lines that show the source to be a rollout. */
const TYPES: ReadonlySet<JsonValue> = new Set([...SILENT, "session_meta", "turn_context", "response_item"]);

/** Types of items that an answer of the API has, and that need no result or get one of the kept kind. */
const ITEMS: ReadonlySet<string> = new Set([
  "message",
  "reasoning",
  "function_call",
  "custom_tool_call",
  "web_search_call",
  "image_generation_call",
  "compaction",
]);

const MOST_BRANCHES = 100;

export function isCodexLine({ type, payload }: JsonObject): boolean {
  return TYPES.has(type ?? null) && isJsonObject(payload);
}

/** True for a line of any type. */
export function isCodexRecord({ type, payload }: JsonObject): boolean {
  return typeof type === "string" && isJsonObject(payload);
}

/** True for a line of a rollout before October 2025 that no other agent writes: its header, or a mark of the state. */
export function isOldCodexLine({ type, id, timestamp, instructions, record_type }: JsonObject): boolean {
  if (type !== undefined) return false;
  return record_type === "state" ||
    typeof id === "string" && typeof timestamp === "string" && instructions !== undefined;
}

/** True for any line of a rollout before October 2025. */
export function isOldCodexRecord(json: JsonObject): boolean {
  const { type, role, content, call_id, summary } = json;
  if (type === "message") return typeof role === "string" && Array.isArray(content);
  if (type === "reasoning") return Array.isArray(summary);
  return isOldCodexLine(json) || typeof type === "string" && typeof call_id === "string";
}

/** Reads the lines of a rollout before October 2025: a header, then the items without an envelope. */
export function readOldCodex(lines: readonly SourceLine[]): AgentSession {
  return readCodex(lines.flatMap(({ line, json }): SourceLine[] => {
    if (json.record_type === "state") return [];
    if (isJsonObject(json.payload)) return [{ line, json }];
    const type = isOldCodexLine(json) ? "session_meta" : "response_item";
    return [{ line, json: { type, payload: json } }];
  }));
}

/** Reads the lines of a rollout. Parts that cannot be kept are in `lost`; no line is fatal. */
export function readCodex(lines: readonly SourceLine[]): AgentSession {
  const read = (promptsInEvents: boolean) => {
    const reader = new CodexReader(promptsInEvents);
    for (const line of lines) reader.add(line);
    return reader.finish();
  };
  const session = read(false);
  const hasPrompt = [session.main, ...session.others.map(({ entries }) => entries)]
    .some((entries) => entries.some(({ kind }) => kind === "user"));
  return hasPrompt ? session : read(true);
}

class CodexReader {
  readonly #entries: AgentEntry[] = [];
  readonly #lost = new LostParts();
  readonly #ids = new Set<string>();
  /** Ids of calls since the last message or compaction that have no result so far. */
  readonly #calls = new Set<string>();
  #others: readonly AgentBranch[] = [];
  #items: Item[] = [];
  #itemsLine = 0;
  #provider: ProviderKind | null = null;
  #model: string | null = null;
  #version: string | null = null;
  #id: string | null = null;
  /** True once a line marked the end of an answer: an answer without the mark is then cut. */
  #marksEnds = false;
  readonly #tokens = tokenCounter();
  /** Usage of an answer whose items have not come so far. */
  #early: JsonObject | null = null;
  #forkedFrom: string | null = null;
  #isInCopy: ((line: JsonObject) => boolean) | null = null;
  #isCopied = false;
  readonly #promptsInEvents: boolean;
  /** Prompts in events, which repeat messages; and the texts of messages. */
  readonly #events: { readonly line: number; readonly text: string }[] = [];
  readonly #texts = new Set<string>();

  /** `promptsInEvents`: prompts are events, as in rollouts that have no other messages of the user. */
  constructor(promptsInEvents: boolean) {
    this.#promptsInEvents = promptsInEvents;
  }

  add({ line, json }: SourceLine): void {
    const { type, payload } = json;
    if (this.#isInCopy?.(json) === false) this.#isInCopy = null;
    if (typeof type !== "string" || !isJsonObject(payload)) {
      this.#lost.add(line, "line", "it has no type or no payload");
    } else if (type === "session_meta") this.#addMeta(line, payload, json);
    else if (type === "turn_context") {
      this.#endResponse({});
      this.#model = textIn(payload.model) ?? this.#model;
    } else if (type === "response_item") this.#addItem(line, payload);
    else if (type === "token_usage_record") {
      this.#marksEnds = true;
      this.#endResponse({ responseId: textIn(payload.response_id), usage: codexUsage(payload.usage) });
    } else if (type === "compacted") this.#addCompaction(line, payload);
    else if (type === "event_msg") this.#addEvent(line, payload);
    else if (!SILENT.has(type)) {
      this.#lost.add(line, `type ${JSON.stringify(type)}`, "it is of an unknown type");
    }
  }

  finish(): AgentSession {
    const status = this.#marksEnds ? "interrupted" : "completed";
    this.#endResponse({ status });
    const prompts = [...this.#texts].join("\n");
    for (const { line, text } of this.#events) {
      if (this.#texts.has(text) || prompts.includes(text.trim())) continue;
      this.#lost.add(line, messageBy("user"), "it is only in an event");
    }
    if (this.#early !== null) this.#lost.add(this.#itemsLine, "token count", "no answer follows it");
    return {
      agent: "codex",
      version: this.#version,
      id: this.#id,
      main: this.#entries,
      others: this.#others,
      lost: this.#lost.parts,
    };
  }

  #addEvent(line: number, payload: JsonObject): void {
    if (payload.type === "thread_rolled_back") return this.#rollBack(line, payload);
    if (payload.type === "token_count" && !this.#marksEnds) {
      return this.#addTokens(this.#tokens(payload.info));
    }
    const { message, images, kind } = payload;
    if (payload.type !== "user_message" || kind !== undefined && kind !== "plain") return;
    const text = textIn(message);
    if (!this.#promptsInEvents && text !== null) this.#events.push({ line, text });
    if (!this.#promptsInEvents) return;
    const content = [
      ...(text === null ? [] : [{ type: "input_text", text }]),
      ...(Array.isArray(images) ? images : []).map((image_url) => ({ type: "input_image", image_url })),
    ];
    this.#addMessage(line, { type: "message", role: "user", content }, undefined);
  }

  /** Adds a usage to the answer before it. Results of its calls may come between, and some versions write it first. */
  #addTokens(usage: JsonObject | null): void {
    if (usage === null) return;
    if (this.#items.length > 0) return this.#endResponse({ usage });
    const index = this.#entries.findLastIndex(({ kind }) => kind !== "result");
    const last = this.#entries[index];
    if (last?.kind !== "response" || last.usage !== null) this.#early = joinedUsage(this.#early, usage);
    else this.#entries[index] = { ...last, usage };
  }

  #addMeta(line: number, payload: JsonObject, json: JsonObject): void {
    // A fork begins with a copy of its parent, whose header is the second one.
    if (this.#id !== null && textIn(payload.id) === this.#forkedFrom) this.#isInCopy = copyOfThread(json);
    this.#forkedFrom = textIn(payload.forked_from_id) ?? this.#forkedFrom;
    this.#id ??= textIn(payload.id);
    this.#version = textIn(payload.cli_version) ?? this.#version;
    if (isJsonObject(payload.history_base)) {
      const { thread_id: thread } = payload.history_base;
      this.#lost.add(line, "beginning", `it is in the rollout of thread ${JSON.stringify(thread ?? null)}`);
    }
    const name = textIn(payload.model_provider);
    if (name !== null) this.#provider = providerOf(name);
  }

  #addItem(line: number, payload: JsonObject): void {
    const { internal_chat_message_metadata_passthrough: own, ...members } = payload;
    if (typeof members.type !== "string") return this.#lost.add(line, "item", "it has no type");
    // The API takes a text for the parts of a message too.
    const content = members.type === "message" ? { content: partsOf(members.content, members.role) } : {};
    const item = { ...members, type: members.type, ...content } as Item;
    if (item.type.endsWith("_call_output")) return this.#addResult(line, item);
    if (item.type === "message" && item.role !== "assistant") return this.#addMessage(line, item, own);
    if (!ITEMS.has(item.type)) {
      return this.#lost.addOnce(line, `item ${JSON.stringify(item.type)}`, "a session cannot hold it");
    }
    if (!isWhole(item)) return this.#lost.add(line, `item ${JSON.stringify(item.type)}`, "it is damaged");
    const id = textIn(item.id);
    if (id !== null && this.#ids.has(id)) {
      return this.#lost.add(line, `item ${JSON.stringify(item.type)}`, "an item before it has the same id");
    }
    if (id !== null) this.#ids.add(id);
    if (this.#items.length === 0) [this.#itemsLine, this.#isCopied] = [line, this.#isInCopy !== null];
    this.#items.push(withoutNulls(item));
    if (itemKind(item) === "tool_call") this.#calls.add(plainText(item.call_id));
  }

  #addResult(line: number, item: Item): void {
    const callId = textIn(item.call_id) ?? "";
    if (!this.#calls.has(callId)) {
      return this.#lost.add(line, `result of ${JSON.stringify(callId)}`, "no open call has its id");
    }
    this.#endResponse({});
    this.#calls.delete(callId);
    const output = resultText(item.output, (what, why) => this.#lost.add(line, what, why));
    this.#entries.push({ kind: "result", line, callId, isError: false, output });
  }

  #addMessage(line: number, item: Item, own: JsonValue | undefined): void {
    this.#texts.add(resultText(item.content));
    const content = item.role === "user" ? usersParts(item.content, own) : [];
    const isCut = content.length < partsOf(item.content, item.role).length;
    if (isCut || content.length === 0) {
      const message = messageBy(item.role);
      this.#lost.add(
        line,
        content.length === 0 ? message : `part of a ${message}`,
        isCut ? "instructions and context of the agent are not taken over" : "it is empty",
      );
    }
    if (content.length === 0) return;
    this.#endResponse({});
    this.#calls.clear();
    this.#entries.push({ kind: "user", line, content });
  }

  /** Keeps the user's messages and the summary that replaced a history as one text. */
  #addCompaction(line: number, payload: JsonObject): void {
    this.#endResponse({});
    this.#calls.clear();
    const { replacement_history: history } = payload;
    const items = objectsIn(history);
    const texts = items.flatMap((item) => {
      if (item.type !== "message") {
        this.#lost.add(line, `part ${JSON.stringify(item.type ?? null)} of a compaction`, "it is not text");
      }
      const { internal_chat_message_metadata_passthrough: own } = item;
      if (item.type !== "message" || item.role !== "user") return [];
      const content = usersParts(item.content, own);
      return content.length === 0 ? [] : [resultText(content)];
    });
    const message = textIn(payload.message) ?? "";
    if (message !== "" && !texts.includes(message)) texts.push(message);
    const summary = texts.join("\n\n").trim();
    if (summary === "") return this.#lost.add(line, "compaction", "it has no text that can be read");
    this.#entries.push({ kind: "compaction", line, summary, keptFrom: null });
  }

  /** Moves the newest runs to a branch of their own: the agent left them out from then on. */
  #rollBack(line: number, { num_turns: count }: JsonObject): void {
    this.#endResponse({});
    this.#calls.clear();
    const starts = this.#entries.flatMap(({ kind }, index) => kind === "user" ? [index] : []);
    const shared = typeof count === "number" && count > 0
      ? starts[Math.max(0, starts.length - count)]
      : undefined;
    if (shared === undefined) return this.#lost.add(line, "rollback", "there is no message that it removes");
    const removed = this.#entries.splice(shared);
    this.#others = this.#others.map((other) =>
      other.shared <= shared
        ? other
        : { ...other, shared, entries: [...removed.slice(0, other.shared - shared), ...other.entries] }
    );
    const [first] = removed;
    if (first === undefined) return;
    if (this.#others.length >= MOST_BRANCHES) {
      return this.#lost.add(first.line, "branch", `only ${MOST_BRANCHES} branches are kept`);
    }
    this.#others = [...this.#others, { name: `branch at line ${first.line}`, shared, entries: removed }];
  }

  #endResponse(found: Partial<Pick<ResponseEntry, "responseId" | "usage" | "status">>): void {
    if (this.#items.length === 0) return;
    this.#entries.push({
      kind: "response",
      line: this.#itemsLine,
      provider: this.#provider,
      model: this.#model,
      responseId: null,
      status: "completed",
      ...found,
      usage: joinedUsage(this.#early, found.usage ?? null),
      items: this.#items,
      ...(this.#isCopied ? { isCopied: true } : {}),
    });
    [this.#items, this.#early] = [[], null];
  }
}

/** The provider that a rollout names; one of the user's own is `compatible`. Codex CLI speaks one API only. */
function providerOf(name: string): ProviderKind {
  const { api } = PROVIDERS[DEFAULT_PROVIDER];
  return PROVIDER_KINDS.find((kind) => kind === name && PROVIDERS[kind].api === api) ?? "compatible";
}

/** True if the members of an item that the API needs have the types that it takes. */
function isWhole({ type, content, summary, name, arguments: args, input, call_id }: Item): boolean {
  switch (type) {
    case "message":
      return Array.isArray(content) && content.every(isJsonObject);
    case "reasoning":
      return Array.isArray(summary) && summary.every(isJsonObject);
    case "function_call":
    case "custom_tool_call":
      return [name, call_id, type === "function_call" ? args : input].every((each) =>
        typeof each === "string"
      );
    default:
      return true;
  }
}

function partsOf(content: JsonValue | undefined, role: JsonValue | undefined): JsonValue[] {
  if (Array.isArray(content)) return content;
  return partsIn(content, role === "assistant" ? "output_text" : "input_text");
}

/** First words of texts that the program writes into messages of the user, in versions that do not name the kind of a part. */
const CONTEXT =
  /^(?:<(?:environment_context|skill|subagent_notification|turn_aborted|user_instructions)>|# AGENTS\.md instructions)/;

/** Parts of a message that the user wrote. The program puts its instructions and context into such messages too. */
function usersParts(content: JsonValue | undefined, own: JsonValue | undefined): Item[] {
  const kinds = isJsonObject(own) && Array.isArray(own.content_item_kinds) ? own.content_item_kinds : [];
  return partsOf(content, "user").filter((part, index): part is Item => {
    if (!isJsonObject(part) || typeof part.type !== "string" || part.type === "") return false;
    const kind = kinds[index];
    if (typeof kind === "string" && kind !== "unknown") return kind.startsWith("user.");
    return typeof part.text !== "string" || !CONTEXT.test(part.text);
  });
}

/** Members that the API left out, and that the file has as `null`, are left out. */
function withoutNulls(item: Item): Item {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null)) as unknown as Item;
}

/** Longest pause between two lines of a copy, in milliseconds: no model answers faster than a file is copied. */
const MOST_PAUSE_MS = 250;

/**
 * Returns a test for the lines of a copied thread, which is called for each line after its header: they have the time of the
 * copy, one after the other.
 */
function copyOfThread(header: JsonObject): (line: JsonObject) => boolean {
  let time = timeIn(header);
  return (line) => {
    const pause = timeIn(line) - time;
    time += pause;
    return pause >= 0 && pause < MOST_PAUSE_MS;
  };
}

function timeIn({ timestamp }: JsonObject): number {
  return Date.parse(typeof timestamp === "string" ? timestamp : "");
}
