/** Reads sessions of pi: a header, then a JSON object a line with `id` and `parentId`. */
import { answersInBlocks, providerInPi } from "../../apis/agent_providers.ts";
import { encodeUtf8 } from "../../domain/bytes.ts";
import type { Item } from "../../domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue, plainText } from "../../domain/json.ts";
import { parseShallow } from "../../domain/json_depth.ts";
import type { AgentEntry, AgentSession } from "../agent_session.ts";
import { MAX_LINE_DEPTH, type SourceLine } from "../lines.ts";
import {
  countedUsage,
  imagePart,
  LostParts,
  messageBy,
  partsIn,
  resultText,
  textIn,
  textPart,
} from "../reading.ts";
import { branchesOf, LineTree, linkedLines, type TreeLine } from "../tree.ts";

/** Types of lines that describe the program and not the conversation. */
const SILENT: ReadonlySet<string> = new Set([
  "model_change",
  "thinking_level_change",
  "session_info",
  "label",
  "custom",
]);

export function isPiLine(json: JsonObject): boolean {
  const { type, id, parentId, message } = json;
  if (typeof id !== "string") return false;
  return isHeader(json) || type === "message" && parentId !== undefined && isJsonObject(message);
}

/** True for a line of any type. Lines of early versions have no ids. */
export function isPiRecord(json: JsonObject): boolean {
  const { type, id, parentId, message } = json;
  if (typeof type !== "string") return false;
  return isHeader(json) || typeof id === "string" && parentId !== undefined || isJsonObject(message);
}

function isHeader({ type, cwd }: JsonObject): boolean {
  return type === "session" && typeof cwd === "string";
}

/** Reads the lines of a session. Parts that cannot be kept are in `lost`; no line is fatal. */
export function readPi(lines: readonly SourceLine[]): AgentSession {
  const lost = new LostParts();
  const header = lines.find(({ json }) => isHeader(json));
  const named: TreeLine[] = [];
  for (const { line, json } of withoutEvents(lines)) {
    if (line === header?.line) continue;
    const before = named.at(-1)?.id ?? null;
    // Early versions have neither member: each line follows the one before.
    const id = textIn(json.id) ?? `line ${line}`;
    named.push({ line, json, id, parent: json.parentId === undefined ? before : textIn(json.parentId) });
  }
  const tree = linkedLines(named, lost);
  const paths = new LineTree(tree);
  const reading = new PiLines(lost, tree);
  const mainLines = paths.pathTo(tree.at(-1));
  const main = reading.entries(mainLines);
  const side = paths.sidePaths(new Set(mainLines), {
    counts: ({ json }) => json.type === "message",
    lost,
  });
  const version = header?.json.version;
  return {
    agent: "pi",
    version: typeof version === "number" ? `format ${version}` : null,
    id: textIn(header?.json.id),
    main,
    others: branchesOf(side, main, (own) => reading.entries(own)),
    lost: lost.parts,
  };
}

/** The lines of a session. In the output of `pi --mode json`, messages are in events of their ends. */
function withoutEvents(lines: readonly SourceLine[]): readonly SourceLine[] {
  if (!lines.some(({ json }) => json.type === "message_end")) return lines;
  return lines.flatMap(({ line, json }): SourceLine[] => {
    if (isHeader(json)) return [{ line, json }];
    const { type, message } = json;
    return type === "message_end" && isJsonObject(message)
      ? [{ line, json: { type: "message", message } }]
      : [];
  });
}

/** Turns lines of one path into entries. */
class PiLines {
  readonly #lost: LostParts;
  readonly #tree: readonly TreeLine[];
  readonly #lineOf: ReadonlyMap<string, number>;

  constructor(lost: LostParts, tree: readonly TreeLine[]) {
    this.#lost = lost;
    this.#tree = tree;
    this.#lineOf = new Map(tree.map(({ id, line }) => [id, line]));
  }

  entries(lines: readonly TreeLine[]): AgentEntry[] {
    const open = new Set<string>();
    return lines.flatMap(({ line, json }): AgentEntry[] => {
      if (json.type === "message" && isJsonObject(json.message)) {
        return this.#message(line, json.message, open);
      }
      const summary = json.type === "compaction" ? textIn(json.summary) : null;
      if (summary !== null) {
        open.clear();
        return [{ kind: "compaction", line, summary, keptFrom: this.#keptFrom(json) }];
      }
      if (!SILENT.has(plainText(json.type))) {
        this.#lost.addOnce(line, `type ${JSON.stringify(json.type ?? null)}`, "a session cannot hold it");
      }
      return [];
    });
  }

  /** The line of the first entry that stays beside a summary. Early versions count from the header, which is 0. */
  #keptFrom({ firstKeptEntryId: id, firstKeptEntryIndex: index }: JsonObject): number | null {
    if (typeof id === "string") return this.#lineOf.get(id) ?? null;
    return typeof index === "number" ? this.#tree[index - 1]?.line ?? null : null;
  }

  #message(line: number, message: JsonObject, open: Set<string>): AgentEntry[] {
    switch (message.role) {
      case "user": {
        const content = partsIn(message.content).flatMap((part) => this.#userPart(line, part));
        if (content.length === 0) {
          this.#lost.add(line, 'message of "user"', "it is empty");
          return [];
        }
        open.clear();
        return [{ kind: "user", line, content }];
      }
      case "assistant":
        return this.#response(line, message, open);
      case "toolResult": {
        const callId = callIdIn(message.toolCallId);
        if (!open.delete(callId)) {
          this.#lost.add(line, `result of ${JSON.stringify(callId)}`, "no open call has its id");
          return [];
        }
        const output = resultText(message.content, (what, why) => this.#lost.add(line, what, why));
        return [{ kind: "result", line, callId, isError: message.isError === true, output }];
      }
      default:
        this.#lost.addOnce(line, messageBy(message.role), "a session cannot hold it");
        return [];
    }
  }

  #response(line: number, message: JsonObject, open: Set<string>): AgentEntry[] {
    const provider = providerInPi(message.api, message.provider);
    const inBlocks = answersInBlocks(provider);
    const parts = partsIn(message.content);
    const items = parts.flatMap((part): Item[] => {
      const item = inBlocks ? block(part) : responseItem(part);
      if (item === null) {
        this.#lost.add(line, `part ${JSON.stringify(part.type ?? null)}`, "it is not in the form of its API");
      }
      return item === null ? [] : [item];
    });
    if (items.length === 0) {
      this.#lost.add(line, "answer", "it has no content");
      return [];
    }
    open.clear();
    for (const part of parts) if (part.type === "toolCall") open.add(callIdIn(part.id));
    const isCut = message.stopReason === "aborted" || message.stopReason === "error";
    return [{
      kind: "response",
      line,
      provider,
      model: textIn(message.model),
      responseId: textIn(message.responseId),
      status: isCut ? "interrupted" : "completed",
      items,
      usage: isJsonObject(message.usage) ? usageOf(message.usage, inBlocks) : null,
    }];
  }

  #userPart(line: number, part: JsonObject): Item[] {
    const text = part.type === "text" ? textIn(part.text) : null;
    if (text !== null) return [textPart(text)];
    const [data, mediaType] = [textIn(part.data), textIn(part.mimeType)];
    if (part.type === "image" && data !== null && mediaType !== null) return [imagePart(mediaType, data)];
    this.#lost.add(line, `part ${JSON.stringify(part.type ?? null)}`, "it is neither text nor an image");
    return [];
  }
}

/** The id of a call, without the id of its item that follows after a bar. */
function callIdIn(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.split("|", 1)[0] ?? "" : "";
}

/** A block of the Messages API. Thinking without its signature is lost. */
function block(part: JsonObject): Item | null {
  switch (part.type) {
    case "text":
      return typeof part.text === "string" ? { type: "text", text: part.text } : null;
    case "thinking": {
      const [thinking, signature] = [part.thinking, textIn(part.thinkingSignature)];
      if (signature === null || typeof thinking !== "string") return null;
      return part.redacted === true
        ? { type: "redacted_thinking", data: signature }
        : { type: "thinking", thinking, signature };
    }
    case "toolCall":
      return {
        type: "tool_use",
        id: callIdIn(part.id),
        name: textIn(part.name) ?? "",
        input: part.arguments ?? {},
      };
    default:
      return null;
  }
}

/** An item of the Responses API. The signature of thinking is the whole reasoning item. */
function responseItem(part: JsonObject): Item | null {
  switch (part.type) {
    case "text": {
      if (typeof part.text !== "string") return null;
      const id = textIn(objectOf(part.textSignature)?.id);
      const content = [{ type: "output_text", text: part.text, annotations: [] }];
      return {
        type: "message",
        role: "assistant",
        ...(id === null ? {} : { id }),
        status: "completed",
        content,
      };
    }
    case "thinking": {
      const item = objectOf(part.thinkingSignature);
      return item?.type === "reasoning" ? item as unknown as Item : null;
    }
    case "toolCall": {
      const [, id] = typeof part.id === "string" ? part.id.split("|", 2) : [];
      return {
        type: "function_call",
        ...(id === undefined || id === "" ? {} : { id }),
        call_id: callIdIn(part.id),
        name: textIn(part.name) ?? "",
        arguments: JSON.stringify(part.arguments ?? {}),
      };
    }
    default:
      return null;
  }
}

function objectOf(text: JsonValue | undefined): JsonObject | null {
  const json = typeof text === "string" ? parseShallow(encodeUtf8(text), MAX_LINE_DEPTH)?.json : undefined;
  return isJsonObject(json) ? json : null;
}

/** The usage in the shape of the API that answered; `null` if it counts no tokens. The file has no reasoning tokens. */
function usageOf({ input, output, cacheRead, cacheWrite }: JsonObject, inBlocks: boolean): JsonObject | null {
  if (inBlocks) {
    return countedUsage({
      input_tokens: input,
      cache_creation_input_tokens: cacheWrite,
      cache_read_input_tokens: cacheRead,
      output_tokens: output,
    });
  }
  const sum = (...counts: readonly (JsonValue | undefined)[]) =>
    counts.every((count) => typeof count === "number")
      ? counts.reduce((total, count) => total + count, 0)
      : undefined;
  const usage = countedUsage({
    input_tokens: sum(input, cacheRead ?? 0),
    output_tokens: output,
    total_tokens: sum(input, cacheRead ?? 0, output),
  });
  return usage === null || cacheRead === undefined
    ? usage
    : { ...usage, input_tokens_details: countedUsage({ cached_tokens: cacheRead }) ?? { cached_tokens: 0 } };
}
