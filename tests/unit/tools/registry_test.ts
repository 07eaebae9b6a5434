import assert from "node:assert/strict";
import fc from "fast-check";
import * as z from "zod";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/domain/json.ts";
import {
  ALL_TOOLS,
  parseArguments,
  READING_TOOLS,
  TOOL_GROUPS,
  toolSchemas,
  WRITING_TOOLS,
} from "../../../src/tools/registry.ts";
import { type Tool, type ToolContext, ToolFailure } from "../../../src/tools/tool.ts";
import { test } from "../../support/test.ts";

const tool = (name: string): Tool => {
  const found = ALL_TOOLS.find((candidate) => candidate.name === name);
  assert(found !== undefined);
  return found;
};

Deno.test("tools offer strict function schemas: closed, every member required", () => {
  const schemas = toolSchemas(ALL_TOOLS);
  for (const schema of schemas) {
    assert.deepEqual(Object.keys(schema), ["type", "name", "description", "parameters", "strict"]);
    const { properties, required, additionalProperties } = schema.parameters as JsonObject;
    assert.equal(additionalProperties, false);
    assert(isJsonObject(properties));
    assert.deepEqual(required, Object.keys(properties));
  }
});

Deno.test("tools come in groups: those that only read first, then those that write, then the shell", () => {
  assert.deepEqual([...TOOL_GROUPS], [
    ["read_file", "read"],
    ["list_files", "read"],
    ["search_text", "read"],
    ["write_file", "write"],
    ["edit_file", "write"],
    ["shell", "shell"],
  ]);
  assert.deepEqual(ALL_TOOLS.map(({ name, group }) => [name, group]), [...TOOL_GROUPS]);
  assert(READING_TOOLS.every(({ group }) => group === "read"));
  assert(WRITING_TOOLS.every(({ group }) => group === "write"));
});

Deno.test("tools check the same shape that they offer", () => {
  for (const { name, parameters, shape } of ALL_TOOLS) {
    const generated = z.toJSONSchema(shape) as unknown as JsonObject;
    assert.deepEqual(plain(generated), plain(parameters), name);
  }
});

/** A schema without what says nothing about the shape; `anyOf` of two types is a list of types. */
function plain(schema: JsonValue | undefined): JsonValue {
  if (!isJsonObject(schema)) return schema ?? null;
  if (Array.isArray(schema.anyOf)) {
    const choices = schema.anyOf.map(plain).filter(isJsonObject);
    return { ...Object.assign({}, ...choices), type: choices.map(({ type }) => type ?? null) };
  }
  const kept = Object.entries(schema).filter(([name]) =>
    !["$schema", "description", "minimum", "maximum"].includes(name)
  );
  return Object.fromEntries(kept.map(([name, value]) => [
    name,
    name === "properties" && isJsonObject(value)
      ? Object.fromEntries(Object.entries(value).map(([member, inner]) => [member, plain(inner)]))
      : value ?? null,
  ]));
}

Deno.test("arguments that fit come through as they were parsed, left-out options as null", () => {
  assert.deepEqual(parseArguments(tool("read_file"), '{"path":"a","offset":2,"limit":null}'), {
    ok: true,
    args: { path: "a", offset: 2, limit: null },
  });
  assert.deepEqual(parseArguments(tool("read_file"), '{"path":"a"}'), {
    ok: true,
    args: { path: "a", offset: null, limit: null },
  });
  assert.equal(parseArguments(tool("list_files"), "{}").ok, true);
});

Deno.test("arguments that do not fit are refused in words that a model can act on", () => {
  const rows: [string, RegExp][] = [
    [
      '{"path":"a"',
      /^Cannot call read_file: the arguments are not valid JSON; send one object with "path" \(string\), "offset" \(integer or null\)/,
    ],
    ["[]", /must be one JSON object/],
    ["", /not valid JSON/],
    ["null", /must be one JSON object/],
    ["{}", /"path": .*expected string/],
    ['{"path":7}', /"path": .*expected string/],
    ['{"path":"a","offset":"2"}', /"offset": .*expected/],
    ['{"path":"a","offset":1.5}', /"offset": .*expected/],
    ['{"path":"a","lines":3}', /"lines"/],
    ['{"path":"a","__proto__":{"offset":1},"constructor":1}', /constructor|__proto__/],
    [`{"path":"${"x".repeat(2_000_000)}"}`, /characters long/],
  ];
  for (const [text, message] of rows) {
    const parsed = parseArguments(tool("read_file"), text);
    assert(!parsed.ok, text.slice(0, 60));
    assert.match(parsed.message, message);
    assert(parsed.message.isWellFormed());
  }
});

Deno.test("arguments of any text never throw", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
    for (const candidate of ALL_TOOLS) assert.equal(typeof parseArguments(candidate, text).ok, "boolean");
  }));
});

test.long("tools turn any trouble of the system into an error result without paths", async () => {
  const context: ToolContext = {
    root: "/nonexistent-workspace",
    signal: new AbortController().signal,
    protectedPaths: [],
    env: () => undefined,
    isHidden: () => false,
  };
  for (const candidate of ALL_TOOLS) {
    const args = {
      path: ".",
      offset: null,
      limit: null,
      pattern: "x",
      depth: null,
      glob: null,
      ignore_case: null,
      content: "x",
      old_text: "x",
      new_text: "y",
      command: "true",
      argv: null,
      timeout_seconds: null,
    };
    const { status, output } = await candidate.run(args, context);
    assert.equal(status, "error");
    assert(!output.includes("nonexistent-workspace"), output);
    const reported = () => JSON.stringify(candidate.subject(args, context));
    if (candidate.group !== "shell") assert.throws(reported, ToolFailure);
  }
});
