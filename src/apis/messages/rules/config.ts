/** Rules on the settings of a request: thinking, tools, and the version of the API (protocol §9). */
import { isJsonObject, type JsonValue, objectsIn, plainText } from "../../../domain/json.ts";
import { isOneOf, isPresent, quotedList, shapeOf } from "../../rule.ts";
import { isCustom, type MessagesRequest, VERSION_2026_10_21 } from "./request.ts";
import type { MessagesViolation, MessagesViolations } from "./rule.ts";
import { THINKING, TOOL_CHOICES } from "./shapes.ts";

const MIN_BUDGET_TOKENS = 1024;
const MAX_BREAKPOINTS = 4;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];
const DISPLAYS = ["summarized", "omitted"];
const BINDING_BEHAVIORS = ["drop_block", "error"];
/** Form of tool names and `tool_use` ids. */
export const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const MAX_TOOL_NAME_CHARS = 128;

export function* versionHeader({ version }: MessagesRequest): MessagesViolations {
  if (!version) yield { rule: "version_header", message: "anthropic-version: header is required" };
}

/** Members that version 2026-10-21 no longer accepts. */
export function* versionChanges({ version, body, blocks }: MessagesRequest): MessagesViolations {
  if (version !== VERSION_2026_10_21) return;
  const rule = "version_2026_10_21";
  for (const name of ["temperature", "top_p", "top_k"].filter((each) => isPresent(body[each]))) {
    yield { rule, message: `${name}: not supported by version ${VERSION_2026_10_21}` };
  }
  for (const { path, role, type, block } of blocks) {
    if (role === "assistant" && type === "document") {
      yield { rule, message: `${path}: \`document\` blocks are not permitted in assistant messages` };
    } else if (role === "user" && type === "text" && isPresent(block.citations)) {
      yield { rule, message: `${path}.text.citations: not permitted in user messages` };
    }
  }
}

export function* maxTokens({ body: { max_tokens: limit } }: MessagesRequest): MessagesViolations {
  const isInteger = Number.isInteger(limit);
  if (limit === undefined || isInteger && Number(limit) >= 0) return;
  const wanted = isInteger ? "greater than or equal to 0" : "a valid integer";
  yield { rule: "max_tokens", message: `max_tokens: Input should be ${wanted}`, shape: shapeOf(limit) };
}

export function* thinkingConfig({ body }: MessagesRequest): MessagesViolations {
  const { thinking: config, max_tokens: limit } = body;
  if (!isJsonObject(config)) return;
  const refused = (message: string, value?: JsonValue): MessagesViolation => ({
    rule: "thinking_config",
    message,
    shape: `${message} ${shapeOf(value)}`,
  });
  const { type, budget_tokens: budget, display, block_binding: binding } = config;
  if (typeof type !== "string" || !THINKING.has(type)) {
    yield refused(`thinking: ${unknownTag(type, [...THINKING.keys()])}`);
    return;
  }
  if (type === "enabled" && budget !== undefined) {
    const least =
      `thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_BUDGET_TOKENS}`;
    if (!Number.isInteger(budget) || Number(budget) < MIN_BUDGET_TOKENS) yield refused(least, budget);
    else if (typeof limit === "number" && Number(budget) >= limit) {
      yield refused("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
  }
  if (isPresent(display) && !isOneOf(display, DISPLAYS)) {
    yield refused(`thinking.${type}.display: ${shouldBe(DISPLAYS)}`, display);
  }
  const behavior = isJsonObject(binding) ? binding.prefix_mismatch_behavior : undefined;
  if (isPresent(behavior) && !isOneOf(behavior, BINDING_BEHAVIORS)) {
    const path = `thinking.${type}.block_binding.prefix_mismatch_behavior`;
    yield refused(`${path}: ${shouldBe(BINDING_BEHAVIORS)}`, behavior);
  }
}

export function* outputConfig({ body: { output_config: config } }: MessagesRequest): MessagesViolations {
  if (!isJsonObject(config)) return;
  const { effort, format } = config;
  if (isPresent(effort) && !isOneOf(effort, EFFORTS)) {
    yield {
      rule: "output_config",
      message: `output_config.effort: ${shouldBe(EFFORTS)}`,
      shape: `effort ${shapeOf(effort)}`,
    };
  }
  const schema = isJsonObject(format) && format.type === "json_schema" && isJsonObject(format.schema);
  if (isPresent(format) && !schema) {
    yield {
      rule: "output_config",
      message: "output_config.format: Input should be of type 'json_schema' with a schema",
      shape: `format ${shapeOf(isJsonObject(format) ? format.type : format)}`,
    };
  }
}

export function* toolChoice({ body: { tool_choice: choice } }: MessagesRequest): MessagesViolations {
  if (!isJsonObject(choice) || typeof choice.type === "string" && TOOL_CHOICES.has(choice.type)) return;
  yield { rule: "tool_choice", message: `tool_choice: ${unknownTag(choice.type, [...TOOL_CHOICES.keys()])}` };
}

export function* toolNames({ body }: MessagesRequest): MessagesViolations {
  const tools = objectsIn(body.tools);
  for (const [index, tool] of tools.entries()) {
    const { name } = tool;
    if (!isCustom(tool) || typeof name !== "string") continue;
    if (NAME_PATTERN.test(name) && name.length <= MAX_TOOL_NAME_CHARS) continue;
    const pattern = `^[a-zA-Z0-9_-]{1,${MAX_TOOL_NAME_CHARS}}$`;
    yield {
      rule: "tool_name",
      message: `tools.${index}.custom.name: String should match pattern '${pattern}'`,
    };
  }
  const names = tools.map(({ name }) => name).filter((name) => typeof name === "string");
  if (new Set(names).size === names.length) return;
  yield { rule: "duplicate_tool", message: "tools: Tool names must be unique." };
}

export function* cacheBreakpoints({ body, blocks }: MessagesRequest): MessagesViolations {
  const marked = [
    body,
    ...objectsIn(body.tools),
    ...objectsIn(body.system),
    ...blocks.flatMap(({ block }) => [block, ...objectsIn(block.content)]),
  ];
  const count = marked.filter((value) => isJsonObject(value.cache_control)).length;
  if (count <= MAX_BREAKPOINTS) return;
  yield {
    rule: "cache_breakpoints",
    message: `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${count}.`,
  };
}

export function* prefill({ messages }: MessagesRequest): MessagesViolations {
  if (messages.at(-1)?.role !== "assistant") return;
  yield {
    rule: "prefill",
    message:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
  };
}

function unknownTag(tag: JsonValue | undefined, known: readonly string[]): string {
  if (tag === undefined) return "Unable to extract tag using discriminator 'type'";
  return `Input tag '${plainText(tag)}' found using 'type' does not match any of the expected tags: ${
    quotedList(known)
  }`;
}

function shouldBe(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return `Input should be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
