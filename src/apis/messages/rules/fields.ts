/**
 * Every object of a request whose members are known, with the place that errors name; and the rules on members: missing,
 * of the wrong type, unknown.
 */
import { isJsonObject, type JsonObject, type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import type { Members } from "../../members.ts";
import { shapeOf } from "../../rule.ts";
import { BINDING_BETA, type MessagesRequest } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import {
  BETA_FIELDS,
  blockMembers,
  CACHE_CONTROL,
  isThinking,
  METADATA,
  OUTPUT_CONFIG,
  REQUEST,
  STRING_MEMBERS,
  THINKING,
  TOOL,
  TOOL_CHOICES,
} from "./shapes.ts";

/** An object with the members that it may have. */
export interface ShapedObject {
  /** As errors name it: `messages.1.content.0.thinking`, with the type that decides; empty for the request. */
  readonly path: string;
  readonly object: JsonObject;
  readonly shape: Members;
}

/** The objects of a request, in its own order. */
export function shapedObjects(request: MessagesRequest): ShapedObject[] {
  const { body, betas, messages } = request;
  const top = betas.length === 0 ? REQUEST : { ...REQUEST, optional: [...REQUEST.optional, ...BETA_FIELDS] };
  return [
    { path: "", object: body, shape: top },
    ...withCacheControl("", body),
    ...thinking(body.thinking, betas.includes(BINDING_BETA)),
    ...byType("tool_choice", body.tool_choice, TOOL_CHOICES),
    ...one("output_config", body.output_config, OUTPUT_CONFIG),
    ...one("metadata", body.metadata, METADATA),
    ...objectsIn(body.tools).flatMap((tool, index) =>
      isCustom(tool) ? shaped(`tools.${index}.custom`, tool, TOOL) : []
    ),
    ...objectsIn(body.system).flatMap((block, index) => {
      const shape = blockMembers("text");
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
  const shape = blockMembers(type);
  if (shape === undefined) return [];
  const inner = type === "tool_result" ? objectsIn(block.content) : [];
  return [
    ...shaped(`${path}.${type}`, block, shape),
    ...inner.flatMap((part, index) => blockObjects(`${path}.${type}.content.${index}`, part)),
  ];
}

function shaped(path: string, object: JsonObject, shape: Members): ShapedObject[] {
  return [{ path, object, shape }, ...withCacheControl(`${path}.`, object)];
}

function withCacheControl(prefix: string, { cache_control: control }: JsonObject): ShapedObject[] {
  return one(`${prefix}cache_control.ephemeral`, control, CACHE_CONTROL);
}

function thinking(config: JsonValue | undefined, binding: boolean): ShapedObject[] {
  return byType("thinking", config, THINKING).map((found) => {
    const { type } = found.object;
    const bindable = binding && (type === "adaptive" || type === "enabled");
    if (!bindable) return found;
    return { ...found, shape: { ...found.shape, optional: [...found.shape.optional, "block_binding"] } };
  });
}

function byType(
  path: string,
  value: JsonValue | undefined,
  shapes: ReadonlyMap<string, Members>,
): ShapedObject[] {
  if (!isJsonObject(value) || typeof value.type !== "string") return [];
  const shape = shapes.get(value.type);
  return shape === undefined ? [] : [{ path: `${path}.${value.type}`, object: value, shape }];
}

function one(path: string, value: JsonValue | undefined, shape: Members): ShapedObject[] {
  return isJsonObject(value) ? [{ path, object: value, shape }] : [];
}

export function missingMembers(
  objects: readonly ShapedObject[],
  { body }: MessagesRequest,
): MessagesViolation[] {
  const missing = (path: string): MessagesViolation => ({
    rule: "missing_field",
    message: `${path}: Field required`,
  });
  const messages = Array.isArray(body.messages) ? body.messages : [];
  return [
    ...objects.flatMap(({ path, object, shape }) =>
      shape.required.filter((name) => !Object.hasOwn(object, name)).map((name) => missing(member(path, name)))
    ),
    ...messages.flatMap((message: JsonValue, index: number) =>
      isJsonObject(message)
        ? ["role", "content"].filter((name) => !Object.hasOwn(message, name))
          .map((name) => missing(`messages.${index}.${name}`))
        : []
    ),
  ];
}

export function unknownMembers(
  objects: readonly ShapedObject[],
  { body }: MessagesRequest,
): MessagesViolation[] {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  return [
    ...objects.flatMap(({ path, object, shape }) => {
      const known = new Set(["type", ...shape.required, ...shape.optional]);
      // Only the request itself has no type.
      if (path === "") known.delete("type");
      return Object.keys(object).filter((name) => !known.has(name)).map((name) => extra(path, name, object));
    }),
    ...messages.flatMap((message: JsonValue, index: number) =>
      isJsonObject(message)
        ? Object.keys(message).filter((name) => name !== "role" && name !== "content")
          .map((name) => extra(`messages.${index}`, name, message))
        : []
    ),
  ];
}

function extra(path: string, name: string, object: JsonObject): MessagesViolation {
  const message = `${member(path, name)}: Extra inputs are not permitted`;
  if (name === "cache_control" && isThinking(plainText(object.type))) {
    return { rule: "thinking_cache_control", message };
  }
  const binding = name === "block_binding" && path.startsWith("thinking");
  return { rule: binding ? "block_binding_header" : "unknown_field", message };
}

type Kind = "string" | "boolean" | "list" | "dictionary" | "string or list";

const FITS: Readonly<Record<Kind, (value: JsonValue | undefined) => boolean>> = {
  string: (value) => typeof value === "string",
  boolean: (value) => typeof value === "boolean",
  list: Array.isArray,
  dictionary: isJsonObject,
  "string or list": (value) => typeof value === "string" || Array.isArray(value),
};

/** Members of the request itself that have one type, or are `null`. */
const NULLABLE: Readonly<Record<string, Kind>> = {
  system: "string or list",
  tools: "list",
  stream: "boolean",
  thinking: "dictionary",
  tool_choice: "dictionary",
  output_config: "dictionary",
  metadata: "dictionary",
  cache_control: "dictionary",
};

export function wrongMemberTypes(
  objects: readonly ShapedObject[],
  { body }: MessagesRequest,
): MessagesViolation[] {
  const contents = contentLists(body.messages);
  const lists = [
    ["messages", body.messages],
    ["tools", body.tools],
    ["system", body.system],
    ...contents,
  ] as const;
  return [
    ...expected("model", body.model, "string"),
    ...expected("messages", body.messages, "list"),
    ...Object.entries(NULLABLE).flatMap(([name, kind]) => expected(name, body[name] ?? undefined, kind)),
    ...lists.flatMap(([path, value]) =>
      Array.isArray(value)
        ? value.flatMap((entry, index) =>
          FITS.dictionary(entry) ? [] : wrong(`${path}.${index}`, "a valid dictionary", entry)
        )
        : []
    ),
    ...contents.flatMap(([path, content]) => expected(path, content, "string or list")),
    ...objects.flatMap(wrongTypesIn),
  ];
}

/** Checks a member that may be absent. */
function expected(path: string, value: JsonValue | undefined, kind: Kind): MessagesViolation[] {
  return value === undefined || FITS[kind](value) ? [] : wrong(path, `a valid ${kind}`, value);
}

function wrong(path: string, wanted: string, value: JsonValue | undefined): MessagesViolation[] {
  const shape = `${path.replace(/\.\d+/g, "")} ${shapeOf(value)}`;
  return [{ rule: "field_type", message: `${path}: Input should be ${wanted}`, shape }];
}

function wrongTypesIn({ path, object, shape }: ShapedObject): MessagesViolation[] {
  const { type, input_schema: schema, ttl } = object;
  const known = path === "" ? [] : [...shape.required, ...shape.optional];
  const isSchema = path.startsWith("tools.") && isJsonObject(schema);
  const control = path.endsWith("cache_control.ephemeral");
  return [
    ...known.filter((name) => STRING_MEMBERS.includes(name))
      .flatMap((name) => expected(member(path, name), object[name], "string")),
    ...(type === "tool_use" ? expected(`${path}.input`, object.input, "dictionary") : []),
    ...(type === "tool_result"
      ? [
        ...expected(`${path}.content`, object.content ?? undefined, "string or list"),
        ...expected(`${path}.is_error`, object.is_error, "boolean"),
      ]
      : []),
    ...(path.startsWith("tools.") ? expected(`${path}.input_schema`, schema, "dictionary") : []),
    ...(isSchema && schema.type !== "object"
      ? wrong(`${path}.input_schema.type`, "'object'", schema.type)
      : []),
    ...(control && type !== "ephemeral"
      ? wrong(path.slice(0, -".ephemeral".length), "of type 'ephemeral'", type)
      : []),
    ...(control && ttl !== undefined && ttl !== "5m" && ttl !== "1h"
      ? wrong(`${path}.ttl`, "'5m' or '1h'", ttl)
      : []),
  ];
}

function contentLists(messages: JsonValue | undefined): (readonly [string, JsonValue | undefined])[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((message: JsonValue, index: number) =>
    isJsonObject(message) ? [[`messages.${index}.content`, message.content] as const] : []
  );
}

function member(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
