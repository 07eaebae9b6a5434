/** A parsed Messages request: its version, its betas, and every block with the place that errors name. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";

/** The newer of the two versions; the older one is 2023-06-01 (protocol §9). */
export const VERSION_2026_10_21 = "2026-10-21";

/** The beta that allows `thinking.block_binding` (protocol §11). */
export const BINDING_BETA = "thinking-binding-controls-2026-08-01";

export interface PlacedBlock {
  /** As errors name it: `messages.1.content.0`. */
  readonly path: string;
  /** Index of its message. */
  readonly message: number;
  readonly role: string;
  readonly type: string;
  readonly block: JsonObject;
}

/** A message with its blocks; plain text is one text block. */
export interface PlacedMessage {
  readonly index: number;
  readonly role: string;
  readonly blocks: readonly PlacedBlock[];
}

export interface MessagesRequest {
  readonly body: JsonObject;
  /** `anthropic-version`; `undefined` when the header is missing. */
  readonly version: string | undefined;
  readonly betas: readonly string[];
  readonly messages: readonly PlacedMessage[];
}

/** Parses a request. Leaves out members of the wrong type, which the rules on types report. */
export function messagesRequest(
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
): MessagesRequest {
  const betas = (headers["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim()).filter(Boolean);
  const messages = Array.isArray(body.messages) ? body.messages : [];
  return {
    body,
    version: headers["anthropic-version"],
    betas,
    messages: messages.flatMap((message: JsonValue, index: number): PlacedMessage[] => {
      if (!isJsonObject(message)) return [];
      const role = typeof message.role === "string" ? message.role : "";
      const blocks = contentBlocks(message.content).flatMap((block, position): PlacedBlock[] =>
        isJsonObject(block)
          ? [{
            path: `messages.${index}.content.${position}`,
            message: index,
            role,
            type: typeOf(block),
            block,
          }]
          : []
      );
      return [{ index, role, blocks }];
    }),
  };
}

/** Joins neighbours of the same role, as the API does (protocol §9). */
export function mergedTurns(messages: readonly PlacedMessage[]): PlacedMessage[] {
  const turns: PlacedMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role) {
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...message.blocks] };
    } else turns.push(message);
  }
  return turns;
}

function contentBlocks(content: JsonValue | undefined): readonly JsonValue[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content : [];
}

function typeOf({ type }: JsonObject): string {
  return typeof type === "string" ? type : "";
}
