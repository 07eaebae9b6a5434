import { Buffer } from "node:buffer";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import { familyOf } from "../../../src/domain/models.ts";
import type { BlockPrefix, SignatureJudge } from "../../../src/apis/messages/rules/signatures.ts";

/** Every server of this kind reads the signatures of every other, as the API reads those of its other machines. */
const KEY = "messages-server";
const CHECK_CHARS = 16;

/** An issued thinking block. */
export interface IssuedThinking {
  readonly model: string;
  /** `signature`, or `data` of a redacted block. */
  readonly secret: string;
  /** The sha256 of the system prompt, the tools and all that was said before, without thinking. */
  readonly prefix: string;
  /** The thinking before it, in order. */
  readonly before: readonly string[];
}

/** Ids and signatures of one server: counted, so that a script gives the same bytes each time. */
export class MessagesIssuer {
  readonly #isBound: (model: string) => boolean;
  #count = 0;
  /** Issued ids and signatures, in order. */
  readonly issued: IssuedThinking[] = [];

  /** `isBound` returns true for models whose thinking is bound to the conversation before it. */
  constructor(isBound: (model: string) => boolean) {
    this.#isBound = isBound;
  }

  messageId(): string {
    return this.#id("msg_01");
  }

  toolUseId(): string {
    return this.#id("toolu_01");
  }

  serverToolUseId(): string {
    return this.#id("srvtoolu_01");
  }

  /** A thinking block with a signature for exactly this text, or a redacted one, bound to the prefix. */
  thinking(text: string | null, model: string, prefix: BlockPrefix): JsonObject {
    const before = thinkingIn(prefix).map(markOf);
    const content = {
      nonce: ++this.#count,
      text: text === null ? null : sha256Hex(text),
      model,
      prefix: hashOf(prefix),
      before,
    };
    const secret = sealed(JSON.stringify(content));
    this.issued.push({ model, secret, prefix: content.prefix, before });
    return text === null
      ? { type: "redacted_thinking", data: secret }
      : { type: "thinking", thinking: text, signature: secret };
  }

  /**
   * Reads a signature of any server of this kind. Removing thinking from the start of a conversation, or all of it, is
   * allowed, so the thinking before a block is the end of the thinking that was there when it was issued (protocol §11).
   */
  readonly judge: SignatureJudge = (block, prefix) => {
    const content = opened(secretOf(block));
    const text = block.type === "thinking" ? sha256Hex(String(block.thinking)) : null;
    if (content === null || content.text !== text) return "forged";
    const { model, before } = content;
    if (!this.#isBound(prefix.model ?? "") || !sameFamily(String(model), prefix.model ?? "")) return "ok";
    const marks = thinkingIn(prefix).map(markOf);
    const wanted = Array.isArray(before) ? before : [];
    const fits = marks.length <= wanted.length &&
      wanted.slice(wanted.length - marks.length).join() === marks.join();
    return fits && content.prefix === hashOf(prefix) ? "ok" : "bound";
  };

  #id(prefix: string): string {
    return `${prefix}${(++this.#count).toString(36).padStart(22, "0")}`;
  }
}

/** A text that is the same for equal values, whatever the order of members; `cache_control` left out (protocol §11). */
export function canonical(value: JsonValue | undefined): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (!isJsonObject(value)) return JSON.stringify(value ?? null);
  const names = Object.keys(value).filter((name) => name !== "cache_control" && value[name] !== undefined)
    .sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function hashOf({ system, tools, messages }: BlockPrefix): string {
  const said = messages.map(({ role, content }) => ({
    role,
    content: content.filter((block) => !isThinkingBlock(block)),
  }));
  return sha256Hex(canonical({ system, tools, messages: said }));
}

function thinkingIn({ messages }: BlockPrefix): JsonObject[] {
  return messages.flatMap(({ content }) => content.filter(isThinkingBlock));
}

function isThinkingBlock({ type }: JsonObject): boolean {
  return type === "thinking" || type === "redacted_thinking";
}

function markOf(block: JsonObject): string {
  return sha256Hex(secretOf(block)).slice(0, CHECK_CHARS);
}

function secretOf(block: JsonObject): string {
  return String(block.type === "thinking" ? block.signature : block.data);
}

function sameFamily(a: string, b: string): boolean {
  return a === b || (familyOf(a) !== null && familyOf(a) === familyOf(b));
}

function sealed(content: string): string {
  return Buffer.from(sha256Hex(`${KEY}${content}`).slice(0, CHECK_CHARS) + content).toString("base64");
}

function opened(secret: string): JsonObject | null {
  const plain = Buffer.from(secret, "base64").toString();
  const content = plain.slice(CHECK_CHARS);
  if (secret !== sealed(content)) return null;
  const parsed: unknown = JSON.parse(content);
  return isJsonObject(parsed) ? parsed : null;
}
