/** Rules on members: missing, of the wrong type, unknown (protocol §9, §10). */
import { isJsonObject, type JsonObject, type JsonValue, plainText } from "../../../domain/json.ts";
import { shapeOf } from "../../rule.ts";
import type { MessagesRequest, ShapedObject } from "./request.ts";
import type { MessagesViolation, MessagesViolations } from "./rule.ts";
import { isThinking, MESSAGE, STRING_MEMBERS } from "./shapes.ts";

export function* missingMembers({ objects, body }: MessagesRequest): MessagesViolations {
  for (const { path, object, shape } of [...objects, ...messageObjects(body)]) {
    for (const name of shape.required) {
      if (Object.hasOwn(object, name)) continue;
      yield { rule: "missing_field", message: `${member(path, name)}: Field required` };
    }
  }
}

export function* unknownMembers({ objects, body }: MessagesRequest): MessagesViolations {
  for (const { path, object, shape } of objects) {
    // Only the request itself has no type.
    const known = path === "" ? shape.all : ["type", ...shape.all];
    yield* extraMembers(path, object, known);
  }
  for (const { path, object, shape } of messageObjects(body)) yield* extraMembers(path, object, shape.all);
}

function* extraMembers(path: string, object: JsonObject, known: readonly string[]): MessagesViolations {
  for (const name of Object.keys(object).filter((each) => !known.includes(each))) {
    const message = `${member(path, name)}: Extra inputs are not permitted`;
    const isBinding = name === "block_binding" && path.startsWith("thinking");
    if (name === "cache_control" && isThinking(plainText(object.type))) {
      yield { rule: "thinking_cache_control", message };
    } else yield { rule: isBinding ? "block_binding_header" : "unknown_field", message };
  }
}

/** The messages, whose members no type decides. */
function messageObjects({ messages }: JsonObject): ShapedObject[] {
  if (!Array.isArray(messages)) return [];
  return messages.flatMap((object: JsonValue, index: number) =>
    isJsonObject(object) ? [{ path: `messages.${index}`, object, shape: MESSAGE }] : []
  );
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

export function* wrongMemberTypes({ objects, body }: MessagesRequest): MessagesViolations {
  const contents = messageObjects(body).map(({ path, object }) =>
    [`${path}.content`, object.content] as const
  );
  yield* expected("model", body.model, "string");
  yield* expected("messages", body.messages, "list");
  for (const [name, kind] of Object.entries(NULLABLE)) yield* expected(name, body[name] ?? undefined, kind);
  const lists = ["messages", "tools", "system"].map((name) => [name, body[name]] as const);
  for (const [path, list] of [...lists, ...contents]) {
    for (const [index, entry] of Array.isArray(list) ? list.entries() : []) {
      yield* expected(`${path}.${index}`, entry, "dictionary");
    }
  }
  for (const [path, content] of contents) yield* expected(path, content, "string or list");
  for (const object of objects) yield* wrongTypesIn(object);
}

/** Checks a member that may be absent. */
function* expected(path: string, value: JsonValue | undefined, kind: Kind): MessagesViolations {
  if (value !== undefined && !FITS[kind](value)) yield wrong(path, `a valid ${kind}`, value);
}

function wrong(path: string, wanted: string, value: JsonValue | undefined): MessagesViolation {
  const shape = `${path.replace(/\.\d+/g, "")} ${shapeOf(value)}`;
  return { rule: "field_type", message: `${path}: Input should be ${wanted}`, shape };
}

function* wrongTypesIn({ path, object, shape }: ShapedObject): MessagesViolations {
  const { type, input_schema: schema, ttl } = object;
  for (const name of path === "" ? [] : shape.all.filter((each) => STRING_MEMBERS.includes(each))) {
    yield* expected(member(path, name), object[name], "string");
  }
  if (type === "tool_use") yield* expected(`${path}.input`, object.input, "dictionary");
  if (type === "tool_result") {
    yield* expected(`${path}.content`, object.content ?? undefined, "string or list");
    yield* expected(`${path}.is_error`, object.is_error, "boolean");
  }
  if (path.startsWith("tools.")) {
    yield* expected(`${path}.input_schema`, schema, "dictionary");
    if (isJsonObject(schema) && schema.type !== "object") {
      yield wrong(`${path}.input_schema.type`, "'object'", schema.type);
    }
  }
  if (path.endsWith("cache_control.ephemeral")) {
    if (type !== "ephemeral") yield wrong(path.slice(0, -".ephemeral".length), "of type 'ephemeral'", type);
    if (ttl !== undefined && ttl !== "5m" && ttl !== "1h") yield wrong(`${path}.ttl`, "'5m' or '1h'", ttl);
  }
}

function member(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}
