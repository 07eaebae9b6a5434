/** A parsed Messages request: its version, its betas, and every block and object with the place that errors name. */
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  objectsIn,
  stringMember,
} from "../../../domain/json.ts";
import { isPresent, type Members } from "../../rule.ts";
import {
  BETA_FIELDS,
  BLOCKS,
  CACHE_CONTROL,
  METADATA,
  OUTPUT_CONFIG,
  REQUEST,
  THINKING,
  TOOL,
  TOOL_CHOICES,
} from "./shapes.ts";

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

export interface ShapedObject {
  /** As errors name it: `messages.1.content.0.thinking`, with the type that decides; empty for the request. */
  readonly path: string;
  readonly object: JsonObject;
  readonly shape: Members;
}

export interface MessagesRequest {
  readonly body: JsonObject;
  /** `anthropic-version`; `undefined` when the header is missing. */
  readonly version: string | undefined;
  readonly messages: readonly PlacedMessage[];
  /** The messages; neighbours of the same role are joined, as the API does (protocol §9). */
  readonly turns: readonly PlacedMessage[];
  readonly blocks: readonly PlacedBlock[];
  /** The objects whose members are known, in the order of the request. */
  readonly objects: readonly ShapedObject[];
}

/** Parses a request. Leaves out members of the wrong type, which the rules on types report. */
export function messagesRequest(
  body: JsonObject,
  headers: Readonly<Record<string, string>>,
): MessagesRequest {
  const betas = (headers["anthropic-beta"] ?? "").split(",").map((beta) => beta.trim()).filter(Boolean);
  const list = Array.isArray(body.messages) ? body.messages : [];
  const messages = list.flatMap((message: JsonValue, index: number) =>
    isJsonObject(message) ? [placedMessage(message, index)] : []
  );
  const blocks = messages.flatMap((message) => message.blocks);
  return {
    body,
    version: headers["anthropic-version"],
    messages,
    turns: mergedTurns(messages),
    blocks,
    objects: shapedObjects(body, betas, blocks),
  };
}

function placedMessage(message: JsonObject, index: number): PlacedMessage {
  const role = stringMember(message, "role") ?? "";
  const { content } = message;
  const text = typeof content === "string" ? [{ type: "text", text: content }] : [];
  const blocks = Array.isArray(content) ? content : text;
  return {
    index,
    role,
    blocks: blocks.flatMap((block, position): PlacedBlock[] => {
      if (!isJsonObject(block)) return [];
      const path = `messages.${index}.content.${position}`;
      return [{ path, message: index, role, type: stringMember(block, "type") ?? "", block }];
    }),
  };
}

function mergedTurns(messages: readonly PlacedMessage[]): readonly PlacedMessage[] {
  const turns: PlacedMessage[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.role === message.role) {
      turns[turns.length - 1] = { ...last, blocks: [...last.blocks, ...message.blocks] };
    } else turns.push(message);
  }
  return turns;
}

function shapedObjects(
  body: JsonObject,
  betas: readonly string[],
  blocks: readonly PlacedBlock[],
): ShapedObject[] {
  return [
    { path: "", object: body, shape: betas.length === 0 ? REQUEST : withMore(REQUEST, BETA_FIELDS) },
    ...withCacheControl("", body),
    ...thinking(body.thinking, betas.includes(BINDING_BETA)),
    ...byType("tool_choice", body.tool_choice, TOOL_CHOICES),
    ...one("output_config", body.output_config, OUTPUT_CONFIG),
    ...one("metadata", body.metadata, METADATA),
    ...objectsIn(body.tools).flatMap((tool, index) =>
      isCustom(tool) ? shaped(`tools.${index}.custom`, tool, TOOL) : []
    ),
    ...objectsIn(body.system).flatMap((block, index) => shaped(`system.${index}`, block, BLOCKS.get("text"))),
    ...blocks.flatMap(({ path, block }) => blockObjects(path, block)),
  ];
}

/** True for tools that the client runs; all others have members of their own. */
export function isCustom(tool: JsonObject): boolean {
  return !isPresent(tool.type) || tool.type === "custom";
}

function blockObjects(path: string, block: JsonObject): ShapedObject[] {
  const type = stringMember(block, "type") ?? "";
  const inner = type === "tool_result" ? objectsIn(block.content) : [];
  return [
    ...shaped(`${path}.${type}`, block, BLOCKS.get(type)),
    ...inner.flatMap((part, index) => blockObjects(`${path}.${type}.content.${index}`, part)),
  ];
}

function shaped(path: string, object: JsonObject, shape: Members | undefined): ShapedObject[] {
  return shape === undefined ? [] : [{ path, object, shape }, ...withCacheControl(`${path}.`, object)];
}

function withCacheControl(prefix: string, { cache_control: control }: JsonObject): ShapedObject[] {
  return one(`${prefix}cache_control.ephemeral`, control, CACHE_CONTROL);
}

function thinking(config: JsonValue | undefined, binding: boolean): ShapedObject[] {
  return byType("thinking", config, THINKING).map((placed) => {
    const { type } = placed.object;
    const bindable = binding && (type === "adaptive" || type === "enabled");
    return bindable ? { ...placed, shape: withMore(placed.shape, ["block_binding"]) } : placed;
  });
}

function withMore({ required, all }: Members, optional: readonly string[]): Members {
  return { required, all: [...all, ...optional] };
}

function byType(
  path: string,
  value: JsonValue | undefined,
  shapes: ReadonlyMap<string, Members>,
): ShapedObject[] {
  const type = isJsonObject(value) ? stringMember(value, "type") ?? "" : "";
  return one(`${path}.${type}`, value, shapes.get(type));
}

function one(path: string, value: JsonValue | undefined, shape: Members | undefined): ShapedObject[] {
  return isJsonObject(value) && shape !== undefined ? [{ path, object: value, shape }] : [];
}
