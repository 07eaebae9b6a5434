/** The tools that a run may offer, their schemas as the API takes them, and the check of a call's arguments. */
import { isJsonObject, type JsonObject, type JsonValue } from "../domain/json.ts";
import { editFile } from "./writing/edit_file.ts";
import { listFiles } from "./reading/list_files.ts";
import { readFile } from "./reading/read_file.ts";
import { searchText } from "./reading/search_text.ts";
import { shell } from "./shell/shell.ts";
import type { Tool, ToolGroup } from "./tool.ts";
import { writeFile } from "./writing/write_file.ts";

/** The longest arguments text that is parsed, in UTF-16 units. */
const MAX_ARGUMENTS_CHARS = 1024 * 1024;

/** The tools that change nothing, in the order in which they are offered. */
const READING_TOOLS: readonly Tool[] = [readFile, listFiles, searchText];
/** The tools that write files of the workspace. */
const WRITING_TOOLS: readonly Tool[] = [writeFile, editFile];
/** Every tool there is, those that only read first. Which of them a run offers is the run's decision. */
export const ALL_TOOLS: readonly Tool[] = [...READING_TOOLS, ...WRITING_TOOLS, shell];
/** The group of every tool by name, as the policy takes it. */
export const TOOL_GROUPS: ReadonlyMap<string, ToolGroup> = new Map(
  ALL_TOOLS.map(({ name, group }) => [name, group]),
);

/** The tools as `tools` of a Responses request (protocol §1.4). */
export function toolSchemas(tools: readonly Tool[]): JsonObject[] {
  return tools.map(({ name, description, arguments: args }) => ({
    type: "function",
    name,
    description,
    parameters: {
      type: "object",
      properties: Object.fromEntries(Object.entries(args).map(([name, { schema }]) => [name, schema])),
      required: Object.keys(args),
      additionalProperties: false,
    },
    strict: true,
  }));
}

/** The arguments of a call, or why it cannot run in words that the model can act on. */
type ParsedArguments =
  | { readonly ok: true; readonly args: JsonObject }
  | { readonly ok: false; readonly message: string };

/**
 * Parses and checks the arguments text of a call. Optional members that a server without strict schemas left
 * out are `null` in `args`.
 */
export function parseArguments(tool: Tool, argumentsText: string): ParsedArguments {
  const refuse = (why: string) => ({ ok: false, message: `Cannot call ${tool.name}: ${why}` }) as const;
  if (argumentsText.length > MAX_ARGUMENTS_CHARS) {
    return refuse(
      `the arguments are ${argumentsText.length} characters long, at most ${MAX_ARGUMENTS_CHARS} are read`,
    );
  }
  let value: JsonValue;
  try {
    value = JSON.parse(argumentsText);
  } catch {
    return refuse(`the arguments are not valid JSON; send one object with ${memberList(tool)}`);
  }
  if (!isJsonObject(value)) return refuse(`the arguments must be one JSON object with ${memberList(tool)}`);
  const args = withNulls(tool, value);
  const checked = tool.shape.safeParse(args);
  if (checked.success) return { ok: true, args };
  const problems = checked.error.issues.map((issue) =>
    issue.path.length === 0 ? issue.message : `"${issue.path.join(".")}": ${issue.message}`
  );
  return refuse(`${problems.join("; ")} (expected ${memberList(tool)})`);
}

function withNulls(tool: Tool, args: JsonObject): JsonObject {
  const missing = Object.entries(tool.arguments)
    .filter(([name, { isNullable }]) => !Object.hasOwn(args, name) && isNullable)
    .map(([name]) => [name, null]);
  return { ...args, ...Object.fromEntries(missing) };
}

function memberList(tool: Tool): string {
  return Object.entries(tool.arguments)
    .map(([name, { schema }]) => `"${name}" (${[schema.type].flat().join(" or ")})`).join(", ");
}
