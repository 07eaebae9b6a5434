/**
 * Every object of a request whose members are known, with the place that errors name.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import { BINDING_BETA, type MessagesRequest } from "./request.ts";
import {
  BETA_FIELDS,
  blockShape,
  CACHE_CONTROL_SHAPE,
  METADATA_SHAPE,
  OUTPUT_CONFIG_SHAPE,
  REQUEST_SHAPE,
  type Shape,
  THINKING_SHAPES,
  TOOL_CHOICE_SHAPES,
  TOOL_SHAPE,
} from "./shapes.ts";

/** An object with the members that it may have. */
export interface ShapedObject {
  /** As errors name it: `messages.1.content.0.thinking`, with the type that decides; empty for the request. */
  readonly path: string;
  readonly object: JsonObject;
  readonly shape: Shape;
}

/** Which server checks. */
export interface ServerFacts {
  /** Does not know `thinking.block_binding`, whatever the headers say. */
  readonly legacyBinding: boolean;
}

/** The objects of a request, in its own order. */
export function shapedObjects(request: MessagesRequest, facts: ServerFacts): ShapedObject[] {
  const { body, betas, messages } = request;
  const top = betas.length === 0
    ? REQUEST_SHAPE
    : { ...REQUEST_SHAPE, optional: [...REQUEST_SHAPE.optional, ...BETA_FIELDS] };
  const binding = betas.includes(BINDING_BETA) && !facts.legacyBinding;
  return [
    { path: "", object: body, shape: top },
    ...withCacheControl("", body),
    ...thinking(body.thinking, binding),
    ...byType("tool_choice", body.tool_choice, TOOL_CHOICE_SHAPES),
    ...one("output_config", body.output_config, OUTPUT_CONFIG_SHAPE),
    ...one("metadata", body.metadata, METADATA_SHAPE),
    ...list(body.tools).flatMap((tool, index) =>
      isCustom(tool) ? shaped(`tools.${index}.custom`, tool, TOOL_SHAPE) : []
    ),
    ...list(body.system).flatMap((block, index) => {
      const shape = blockShape("text");
      return shape === undefined ? [] : shaped(`system.${index}`, block, shape);
    }),
    ...messages.flatMap(({ blocks }) => blocks.flatMap(({ path, block }) => blockObjects(path, block))),
  ];
}

/** True for tools that the client runs; all others have members of their own. */
export function isCustom(tool: JsonObject): boolean {
  return (tool.type ?? null) === null || tool.type === "custom";
}

function blockObjects(path: string, block: JsonObject): ShapedObject[] {
  const type = typeof block.type === "string" ? block.type : "";
  const shape = blockShape(type);
  if (shape === undefined) return [];
  const inner = type === "tool_result" ? list(block.content) : [];
  return [
    ...shaped(`${path}.${type}`, block, shape),
    ...inner.flatMap((part, index) => blockObjects(`${path}.${type}.content.${index}`, part)),
  ];
}

function shaped(path: string, object: JsonObject, shape: Shape): ShapedObject[] {
  return [{ path, object, shape }, ...withCacheControl(`${path}.`, object)];
}

function withCacheControl(prefix: string, { cache_control: control }: JsonObject): ShapedObject[] {
  return one(`${prefix}cache_control.ephemeral`, control, CACHE_CONTROL_SHAPE);
}

function thinking(config: JsonValue | undefined, binding: boolean): ShapedObject[] {
  return byType("thinking", config, THINKING_SHAPES).map((found) => {
    const { type } = found.object;
    const bindable = binding && (type === "adaptive" || type === "enabled");
    if (!bindable) return found;
    return { ...found, shape: { ...found.shape, optional: [...found.shape.optional, "block_binding"] } };
  });
}

function byType(
  path: string,
  value: JsonValue | undefined,
  shapes: ReadonlyMap<string, Shape>,
): ShapedObject[] {
  if (!isJsonObject(value) || typeof value.type !== "string") return [];
  const shape = shapes.get(value.type);
  return shape === undefined ? [] : [{ path: `${path}.${value.type}`, object: value, shape }];
}

function one(path: string, value: JsonValue | undefined, shape: Shape): ShapedObject[] {
  return isJsonObject(value) ? [{ path, object: value, shape }] : [];
}

function list(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isJsonObject) : [];
}
