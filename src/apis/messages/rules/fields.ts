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

export function wrongMemberTypes(
  objects: readonly ShapedObject[],
  { body }: MessagesRequest,
): MessagesViolation[] {
  const findings: MessagesViolation[] = [];
  const expect = (fits: boolean, path: string, wanted: string, value: JsonValue | undefined) => {
    if (fits) return;
    const shape = `${path.replace(/\.\d+/g, "")} ${shapeOf(value)}`;
    findings.push({ rule: "field_type", message: `${path}: Input should be ${wanted}`, shape });
  };
  const optional = (value: JsonValue | undefined, fits: (value: JsonValue) => boolean) =>
    (value ?? null) === null || fits(value as JsonValue);
  if (body.model !== undefined) expect(typeof body.model === "string", "model", "a valid string", body.model);
  if (body.messages !== undefined) {
    expect(Array.isArray(body.messages), "messages", "a valid list", body.messages);
  }
  const text = (value: JsonValue) => typeof value === "string" || Array.isArray(value);
  expect(optional(body.system, text), "system", "a valid string or list", body.system);
  expect(optional(body.tools, Array.isArray), "tools", "a valid list", body.tools);
  expect(
    optional(body.stream, (value) => typeof value === "boolean"),
    "stream",
    "a valid boolean",
    body.stream,
  );
  for (const name of ["thinking", "tool_choice", "output_config", "metadata", "cache_control"]) {
    expect(optional(body[name], isJsonObject), name, "a valid dictionary", body[name]);
  }
  const lists: (readonly [string, JsonValue | undefined])[] = [
    ["messages", body.messages],
    ["tools", body.tools],
    ["system", body.system],
    ...contentLists(body.messages),
  ];
  for (const [path, value] of lists) {
    if (!Array.isArray(value)) continue;
    value.forEach((entry, index) =>
      expect(isJsonObject(entry), `${path}.${index}`, "a valid dictionary", entry)
    );
  }
  for (const [path, content] of contentLists(body.messages)) {
    if (content !== undefined) expect(text(content), path, "a valid string or list", content);
  }
  for (const { path, object, shape } of objects) {
    const { type } = object;
    const known = path === "" ? [] : [...shape.required, ...shape.optional];
    for (const name of known.filter((name) => STRING_MEMBERS.includes(name))) {
      const value = object[name];
      if (value !== undefined) expect(typeof value === "string", member(path, name), "a valid string", value);
    }
    if (type === "tool_use" && object.input !== undefined) {
      expect(isJsonObject(object.input), `${path}.input`, "a valid dictionary", object.input);
    }
    if (type === "tool_result") {
      expect(optional(object.content, text), `${path}.content`, "a valid string or list", object.content);
      expect(
        object.is_error === undefined || typeof object.is_error === "boolean",
        `${path}.is_error`,
        "a valid boolean",
        object.is_error,
      );
    }
    if (object.input_schema !== undefined && path.startsWith("tools.")) {
      const { input_schema: schema } = object;
      expect(isJsonObject(schema), `${path}.input_schema`, "a valid dictionary", schema);
      if (isJsonObject(schema)) {
        expect(schema.type === "object", `${path}.input_schema.type`, "'object'", schema.type);
      }
    }
    if (path.endsWith("cache_control.ephemeral")) {
      expect(type === "ephemeral", path.slice(0, -".ephemeral".length), "of type 'ephemeral'", type);
      expect(
        object.ttl === undefined || object.ttl === "5m" || object.ttl === "1h",
        `${path}.ttl`,
        "'5m' or '1h'",
        object.ttl,
      );
    }
  }
  return findings;
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
