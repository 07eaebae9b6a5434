/**
 * Rules on members: missing, of the wrong type, unknown.
 *
 * @module
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../../../domain/json.ts";
import type { ShapedObject } from "./objects.ts";
import type { MessagesRequest } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { isThinking, STRING_MEMBERS } from "./shapes.ts";

/** Required members that are not there. */
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

/** Members that their object does not have. */
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
  if (name === "cache_control" && isThinking(String(object.type))) {
    return { rule: "thinking_cache_control", message };
  }
  const binding = name === "block_binding" && path.startsWith("thinking");
  return { rule: binding ? "block_binding_header" : "unknown_field", message };
}

/** Members of the wrong type. */
export function wrongMemberTypes(
  objects: readonly ShapedObject[],
  { body }: MessagesRequest,
): MessagesViolation[] {
  const findings: MessagesViolation[] = [];
  const expect = (fits: boolean, path: string, wanted: string) => {
    if (!fits) findings.push({ rule: "field_type", message: `${path}: Input should be ${wanted}` });
  };
  const optional = (value: JsonValue | undefined, fits: (value: JsonValue) => boolean) =>
    (value ?? null) === null || fits(value as JsonValue);
  if (body.model !== undefined) expect(typeof body.model === "string", "model", "a valid string");
  if (body.messages !== undefined) expect(Array.isArray(body.messages), "messages", "a valid list");
  const text = (value: JsonValue) => typeof value === "string" || Array.isArray(value);
  expect(optional(body.system, text), "system", "a valid string or list");
  expect(optional(body.tools, Array.isArray), "tools", "a valid list");
  expect(optional(body.stream, (value) => typeof value === "boolean"), "stream", "a valid boolean");
  for (const name of ["thinking", "tool_choice", "output_config", "metadata", "cache_control"]) {
    expect(optional(body[name], isJsonObject), name, "a valid dictionary");
  }
  const lists: (readonly [string, JsonValue | undefined])[] = [
    ["messages", body.messages],
    ["tools", body.tools],
    ["system", body.system],
    ...contentLists(body.messages),
  ];
  for (const [path, value] of lists) {
    if (!Array.isArray(value)) continue;
    value.forEach((entry, index) => expect(isJsonObject(entry), `${path}.${index}`, "a valid dictionary"));
  }
  for (const [path, content] of contentLists(body.messages)) {
    if (content !== undefined) expect(text(content), path, "a valid string or list");
  }
  for (const { path, object, shape } of objects) {
    const { type } = object;
    const known = path === "" ? [] : [...shape.required, ...shape.optional];
    for (const name of known.filter((name) => STRING_MEMBERS.includes(name))) {
      const value = object[name];
      if (value !== undefined) expect(typeof value === "string", member(path, name), "a valid string");
    }
    if (type === "tool_use" && object.input !== undefined) {
      expect(isJsonObject(object.input), `${path}.input`, "a valid dictionary");
    }
    if (type === "tool_result") {
      expect(optional(object.content, text), `${path}.content`, "a valid string or list");
      expect(
        object.is_error === undefined || typeof object.is_error === "boolean",
        `${path}.is_error`,
        "a valid boolean",
      );
    }
    if (object.input_schema !== undefined && path.startsWith("tools.")) {
      const { input_schema: schema } = object;
      expect(isJsonObject(schema), `${path}.input_schema`, "a valid dictionary");
      if (isJsonObject(schema)) {
        expect(schema.type === "object", `${path}.input_schema.type`, "'object'");
      }
    }
    if (path.endsWith("cache_control.ephemeral")) {
      expect(type === "ephemeral", path.slice(0, -".ephemeral".length), "of type 'ephemeral'");
      expect(
        object.ttl === undefined || object.ttl === "5m" || object.ttl === "1h",
        `${path}.ttl`,
        "'5m' or '1h'",
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
