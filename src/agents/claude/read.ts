/** Reads transcripts of Claude Code: a JSON object a line; messages have `uuid` and `parentUuid`. */
import { CLAUDE_CODE_PROVIDER } from "../../apis/agent_providers.ts";
import type { Item } from "../../domain/event.ts";
import { isJsonObject, type JsonObject, type JsonValue, objectMember, objectsIn } from "../../domain/json.ts";
import type { AgentEntry, AgentSession, ResultEntry } from "../agent_session.ts";
import type { SourceLine } from "../lines.ts";
import { countedUsage, imagePart, LostParts, partsIn, resultText, textIn, textPart } from "../reading.ts";
import { branchesOf, LineTree, linkedLines, type TreeLine } from "../tree.ts";
import { type CommandPrompt, isCommand, promptsOfCommands } from "./commands.ts";

/** Types of lines that describe the program and not the conversation. */
const SILENT: ReadonlySet<JsonValue> = new Set([
  "agent-name",
  "ai-title",
  "custom-title",
  "file-history-snapshot",
  "last-prompt",
  "mode",
  "permission-mode",
  "queue-operation",
  "summary",
  "system",
]);

const MESSAGES: ReadonlySet<JsonValue> = new Set(["user", "assistant"]);

/** Model name of messages that the program wrote itself. */
const SYNTHETIC = "<synthetic>";

export function isClaudeLine(json: JsonObject): boolean {
  const { type, sessionId, leafUuid, messageId, uuid } = json;
  if (typeof type !== "string") return false;
  // Some exporters leave the id of the session out; printed events have another one.
  const isMessage = MESSAGES.has(type) && isJsonObject(json.message) && json.session_id === undefined;
  return [
    sessionId,
    isMessage && uuid,
    type === "summary" && leafUuid,
    type === "file-history-snapshot" && messageId,
  ].some((id) => typeof id === "string");
}

/** Reads the lines of a transcript. Parts that cannot be kept are in `lost`; no line is fatal. */
export function readClaude(lines: readonly SourceLine[]): AgentSession {
  const lost = new LostParts();
  const named: TreeLine[] = [];
  for (const { line, json } of lines) {
    const { type, uuid, parentUuid, logicalParentUuid, attachment } = json;
    const id = textIn(uuid);
    // Across a compaction the line before is named by another member.
    if (id !== null) named.push({ line, json, id, parent: textIn(parentUuid) ?? textIn(logicalParentUuid) });
    if (id !== null && MESSAGES.has(type ?? null) || SILENT.has(type ?? null)) continue;
    if (type === "attachment" && isJsonObject(attachment)) {
      lost.addOnce(line, `attachment ${shown(attachment.type)}`, "context of the agent is not taken over");
    } else lost.addOnce(line, `type ${shown(type)}`, "it is of an unknown type");
  }
  const tree = linkedLines(named, lost, ({ json }) => `${json.isSidechain === true} ${textIn(json.agentId)}`);
  const isMessage = ({ json }: TreeLine) => MESSAGES.has(json.type ?? null);
  const paths = new LineTree(tree);
  // The transcript of a subagent has nothing but a sidechain.
  const leaf = tree.findLast((each) => isMessage(each) && each.json.isSidechain !== true) ??
    tree.findLast(isMessage);
  const answers = new Answers(tree);
  const reading = new ClaudeLines(tree, answers, lost);
  const path = new Set(paths.pathTo(leaf));
  // The results of calls at once are on paths of their own, and so are parts of one answer.
  const belongs = answers.along(path);
  const mainLines = tree.filter((each) => path.has(each) || belongs(each));
  const main = reading.entries(mainLines);
  const known = new Set(mainLines);
  const others = branchesOf(
    paths.sidePaths(known, { counts: isMessage, lost }),
    main,
    (own) => reading.entries(own),
  );
  const any = tree[0]?.json ?? {};
  return {
    agent: "claude",
    version: textIn(any.version),
    id: textIn(any.sessionId),
    main,
    others,
    lost: lost.parts,
  };
}

/** One answer, whose content is spread over lines. */
interface Answer {
  /** Number of the first line. */
  readonly line: number;
  readonly items: Item[];
  readonly calls: Set<string>;
  usage: JsonObject | null;
  isEnded: boolean;
}

class Answers {
  readonly #byKey = new Map<string, Answer>();
  readonly #byCall = new Map<string, string>();

  constructor(lines: readonly TreeLine[]) {
    for (const { line, json } of lines) {
      const message = messageOf(json, "assistant");
      const key = answerKeyOf(json);
      if (message === null || key === null) continue;
      const answer = this.#byKey.get(key) ??
        { line, items: [], calls: new Set<string>(), usage: null, isEnded: false };
      this.#byKey.set(key, answer);
      for (const block of partsIn(message.content)) {
        if (typeof block.type !== "string" || block.type === "") continue;
        answer.items.push(block as unknown as Item);
        const call = block.type === "tool_use" ? textIn(block.id) : null;
        if (call === null) continue;
        answer.calls.add(call);
        this.#byCall.set(call, key);
      }
      if (isJsonObject(message.usage) && countedUsage(message.usage) !== null) answer.usage = message.usage;
      // Lines of a cut answer have `null`; lines without the member do not tell.
      if (message.stop_reason === undefined || textIn(message.stop_reason) !== null) answer.isEnded = true;
    }
  }

  get(key: string): Answer | undefined {
    return this.#byKey.get(key);
  }

  /** Returns a test for lines that are part of an answer on the path, or hold the result of a call in one. */
  along(path: ReadonlySet<TreeLine>): (line: TreeLine) => boolean {
    const keys = new Set([...path].flatMap(({ json }) => answerKeyOf(json) ?? []));
    return ({ json }) => {
      const own = answerKeyOf(json);
      if (own !== null) return keys.has(own);
      return resultsIn(json).some(({ callId }) => keys.has(this.#byCall.get(callId) ?? ""));
    };
  }
}

/** Turns lines of one path into entries. */
class ClaudeLines {
  readonly #answers: Answers;
  readonly #lost: LostParts;
  readonly #byUuid: ReadonlyMap<string, TreeLine>;
  /** Messages that are part of a prompt before them. */
  readonly #expanded = new Set<TreeLine>();

  constructor(lines: readonly TreeLine[], answers: Answers, lost: LostParts) {
    this.#answers = answers;
    this.#lost = lost;
    this.#byUuid = new Map(lines.map((line) => [line.id, line]));
  }

  entries(lines: readonly TreeLine[]): AgentEntry[] {
    const kept = new Set<string>();
    const answered = new Set<string>();
    const open = new Set<string>();
    let keptFrom: number | null = null;
    const last = lines.findLast(({ json }) => MESSAGES.has(json.type ?? null));
    const prompts = promptsOfCommands(lines, ({ json }) => messageOf(json, "assistant") !== null);
    return lines.flatMap((each): AgentEntry[] => {
      const { line, json } = each;
      switch (json.type) {
        case "assistant": {
          const message = messageOf(json, "assistant");
          const key = answerKeyOf(json);
          const answer = key === null ? undefined : this.#answers.get(key);
          if (key === null || answer === undefined || answer.items.length === 0) {
            this.#lost.add(line, "answer", "it has no content, or the program wrote it itself");
            return [];
          }
          if (kept.has(key)) return [];
          kept.add(key);
          open.clear();
          for (const call of answer.calls) open.add(call);
          const isCut = !answer.isEnded && last !== undefined && answerKeyOf(last.json) === key;
          return [{
            kind: "response",
            line,
            provider: CLAUDE_CODE_PROVIDER,
            model: textIn(message?.model),
            responseId: textIn(message?.id),
            status: isCut ? "interrupted" : "completed",
            items: answer.items,
            usage: answer.usage,
          }];
        }
        case "user":
          return this.#userEntries(each, { open, answered, keptFrom, prompt: prompts.get(each) });
        case "system":
          if (json.subtype === "compact_boundary") keptFrom = this.#keptFrom(json);
          return [];
        default:
          return [];
      }
    });
  }

  /** The line of the first message that stays beside a summary: the first line of its answer, if it is part of one. */
  #keptFrom({ compactMetadata }: JsonObject): number | null {
    const metadata = isJsonObject(compactMetadata) ? compactMetadata : {};
    const { uuids } = objectMember(metadata, "preservedMessages") ?? {};
    const { headUuid } = objectMember(metadata, "preservedSegment") ?? {};
    const [first] = Array.isArray(uuids) ? uuids : [headUuid];
    const found = typeof first === "string" ? this.#byUuid.get(first) : undefined;
    if (found === undefined) return null;
    return this.#answers.get(answerKeyOf(found.json) ?? "")?.line ?? found.line;
  }

  #userEntries(
    each: TreeLine,
    { open, answered, keptFrom, prompt }: {
      readonly open: Set<string>;
      readonly answered: Set<string>;
      readonly keptFrom: number | null;
      readonly prompt: CommandPrompt | undefined;
    },
  ): AgentEntry[] {
    const { line, json } = each;
    if (prompt !== undefined) {
      open.clear();
      const content = "text" in prompt
        ? [textPart(prompt.text)]
        : prompt.lines.flatMap(({ line, json }) => this.#parts(line, messageOf(json, "user")?.content));
      if ("lines" in prompt) { for (const each of prompt.lines) this.#expanded.add(each); }
      return [{ kind: "user", line, content }];
    }
    if (this.#expanded.has(each)) return [];
    const content = messageOf(json, "user")?.content;
    const entries: AgentEntry[] = [];
    for (const { callId, isError, output, lost } of resultsIn(json)) {
      for (const [what, why] of lost) this.#lost.add(line, what, why);
      if (!open.delete(callId)) {
        const why = answered.has(callId) ? "the call has a result already" : "no open call has its id";
        this.#lost.add(line, `result of ${JSON.stringify(callId)}`, why);
        continue;
      }
      answered.add(callId);
      entries.push({ kind: "result", line, callId, isError, output });
    }
    const parts = this.#parts(line, content);
    if (parts.length === 0) {
      if (entries.length === 0 && resultsIn(json).length === 0) {
        this.#lost.add(line, 'message of "user"', "it is empty");
      }
      return entries;
    }
    const text = parts.map((part) => typeof part.text === "string" ? part.text : "").join("\n\n");
    if (json.isCompactSummary === true) {
      open.clear();
      return [...entries, { kind: "compaction", line, summary: text, keptFrom }];
    }
    if (json.isMeta === true || isCommand(each) || /^\s*<local-command-[a-z]+>/.test(text)) {
      this.#lost.add(line, 'message of "user"', "the program wrote it itself");
      return entries;
    }
    open.clear();
    return [...entries, { kind: "user", line, content: parts }];
  }

  #parts(line: number, content: JsonValue | undefined): Item[] {
    return partsIn(content).flatMap((block): Item[] => {
      if (block.type === "tool_result") return [];
      const text = block.type === "text" ? textIn(block.text) : null;
      if (text !== null) return [textPart(text)];
      const source = block.type === "image" && isJsonObject(block.source) ? block.source : {};
      const [data, mediaType] = [textIn(source.data), textIn(source.media_type)];
      if (data !== null && mediaType !== null) return [imagePart(mediaType, data)];
      this.#lost.add(line, `part ${shown(block.type)}`, "it is neither text nor an image");
      return [];
    });
  }
}

/** The message of a line of this type; `null` for other lines, and for messages of the program itself. */
function messageOf({ type, message }: JsonObject, role: "user" | "assistant"): JsonObject | null {
  return type === role && isJsonObject(message) && message.model !== SYNTHETIC ? message : null;
}

/** Joins the lines of one answer: the API's id of its message or of its request; without both, a line is an answer. */
function answerKeyOf(json: JsonObject): string | null {
  const message = messageOf(json, "assistant");
  return message === null ? null : textIn(message.id) ?? textIn(json.requestId) ?? textIn(json.uuid);
}

function resultsIn(
  json: JsonObject,
): (Pick<ResultEntry, "callId" | "isError" | "output"> & { readonly lost: [what: string, why: string][] })[] {
  return objectsIn(messageOf(json, "user")?.content).flatMap((block) => {
    const callId = block.type === "tool_result" ? textIn(block.tool_use_id) : null;
    if (callId === null) return [];
    const lost: [string, string][] = [];
    const output = resultText(block.content ?? "", (what, why) => lost.push([what, why]));
    return [{ callId, isError: block.is_error === true, output, lost }];
  });
}

function shown(type: JsonValue | undefined): string {
  return JSON.stringify(type ?? null);
}
