/** Rules on the settings of a request: thinking, tools, and the version of the API (protocol §9). */
import { isJsonObject, type JsonObject, type JsonValue, plainText } from "../../../domain/json.ts";
import { shapeOf } from "../../rule.ts";
import { isCustom } from "./fields.ts";
import { type MessagesRequest, VERSION_2026_10_21 } from "./request.ts";
import type { MessagesViolation } from "./rule.ts";
import { THINKING, TOOL_CHOICES } from "./shapes.ts";

const MIN_BUDGET_TOKENS = 1024;
const MAX_BREAKPOINTS = 4;
const EFFORTS = ["low", "medium", "high", "xhigh", "max"];
const DISPLAYS = ["summarized", "omitted"];
const BINDING_BEHAVIORS = ["drop_block", "error"];
/** Form of tool names and `tool_use` ids. */
export const NAME_PATTERN = /^[a-zA-Z0-9_-]+$/;
const MAX_TOOL_NAME_CHARS = 128;

/** A request without a version. */
export function versionHeader({ version }: MessagesRequest): MessagesViolation[] {
  return version ? [] : [{ rule: "version_header", message: "anthropic-version: header is required" }];
}

/** Members that version 2026-10-21 no longer accepts. */
export function versionChanges({ version, body, messages }: MessagesRequest): MessagesViolation[] {
  if (version !== VERSION_2026_10_21) return [];
  const refused = (message: string): MessagesViolation => ({ rule: "version_2026_10_21", message });
  return [
    ...["temperature", "top_p", "top_k"].filter((name) => (body[name] ?? null) !== null)
      .map((name) => refused(`${name}: not supported by version ${VERSION_2026_10_21}`)),
    ...messages.flatMap(({ blocks }) => blocks).flatMap(
      ({ path, role, type, block }): MessagesViolation[] => {
        if (role === "assistant" && type === "document") {
          return [refused(`${path}: \`document\` blocks are not permitted in assistant messages`)];
        }
        if (role === "user" && type === "text" && (block.citations ?? null) !== null) {
          return [refused(`${path}.text.citations: not permitted in user messages`)];
        }
        return [];
      },
    ),
  ];
}

/** A limit that is not a number of tokens. */
export function maxTokens({ body }: MessagesRequest): MessagesViolation[] {
  const { max_tokens: limit } = body;
  if (limit === undefined || (Number.isInteger(limit) && Number(limit) >= 0)) return [];
  const wanted = typeof limit === "number" && Number.isInteger(limit)
    ? "greater than or equal to 0"
    : "a valid integer";
  return [{ rule: "max_tokens", message: `max_tokens: Input should be ${wanted}`, shape: shapeOf(limit) }];
}

/** An unknown `thinking`, or one with a wrong budget. */
export function thinkingConfig({ body }: MessagesRequest): MessagesViolation[] {
  const { thinking: config, max_tokens: limit } = body;
  if (!isJsonObject(config)) return [];
  const refused = (message: string, value?: JsonValue): MessagesViolation => ({
    rule: "thinking_config",
    message,
    shape: `${message} ${shapeOf(value)}`,
  });
  const { type, budget_tokens: budget, display, block_binding: binding } = config;
  if (typeof type !== "string" || !THINKING.has(type)) {
    return [refused(`thinking: ${unknownTag(type, [...THINKING.keys()])}`)];
  }
  const findings: MessagesViolation[] = [];
  if (type === "enabled" && budget !== undefined) {
    if (!Number.isInteger(budget) || Number(budget) < MIN_BUDGET_TOKENS) {
      findings.push(
        refused(
          `thinking.enabled.budget_tokens: Input should be greater than or equal to ${MIN_BUDGET_TOKENS}`,
          budget,
        ),
      );
    } else if (typeof limit === "number" && Number(budget) >= limit) {
      findings.push(refused("`max_tokens` must be greater than `thinking.budget_tokens`."));
    }
  }
  if ((display ?? null) !== null && !oneOf(display, DISPLAYS)) {
    findings.push(refused(`thinking.${type}.display: ${shouldBe(DISPLAYS)}`, display));
  }
  const behavior = isJsonObject(binding) ? binding.prefix_mismatch_behavior : undefined;
  if ((behavior ?? null) !== null && !oneOf(behavior, BINDING_BEHAVIORS)) {
    findings.push(
      refused(
        `thinking.${type}.block_binding.prefix_mismatch_behavior: ${shouldBe(BINDING_BEHAVIORS)}`,
        behavior,
      ),
    );
  }
  return findings;
}

/** An unknown effort or format. */
export function outputConfig({ body }: MessagesRequest): MessagesViolation[] {
  const { output_config: config } = body;
  if (!isJsonObject(config)) return [];
  const { effort, format } = config;
  const findings: MessagesViolation[] = [];
  if ((effort ?? null) !== null && !oneOf(effort, EFFORTS)) {
    findings.push({
      rule: "output_config",
      message: `output_config.effort: ${shouldBe(EFFORTS)}`,
      shape: `effort ${shapeOf(effort)}`,
    });
  }
  const schema = isJsonObject(format) && format.type === "json_schema" && isJsonObject(format.schema);
  if ((format ?? null) !== null && !schema) {
    findings.push({
      rule: "output_config",
      message: "output_config.format: Input should be of type 'json_schema' with a schema",
      shape: `format ${shapeOf(isJsonObject(format) ? format.type : format)}`,
    });
  }
  return findings;
}

/** An unknown `tool_choice`. */
export function toolChoice({ body }: MessagesRequest): MessagesViolation[] {
  const { tool_choice: choice } = body;
  if (!isJsonObject(choice)) return [];
  const { type } = choice;
  if (typeof type === "string" && TOOL_CHOICES.has(type)) return [];
  return [{
    rule: "tool_choice",
    message: `tool_choice: ${unknownTag(type, [...TOOL_CHOICES.keys()])}`,
  }];
}

/** Invalid or duplicate names of tools. */
export function toolNames({ body }: MessagesRequest): MessagesViolation[] {
  const tools = Array.isArray(body.tools) ? body.tools.filter(isJsonObject) : [];
  const names = tools.map(({ name }) => name).filter((name) => typeof name === "string");
  const unfit = tools.flatMap((tool: JsonObject, index: number): MessagesViolation[] => {
    const { name } = tool;
    if (!isCustom(tool) || typeof name !== "string") return [];
    if (NAME_PATTERN.test(name) && name.length <= MAX_TOOL_NAME_CHARS) return [];
    return [{
      rule: "tool_name",
      message:
        `tools.${index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,${MAX_TOOL_NAME_CHARS}}$'`,
    }];
  });
  return new Set(names).size === names.length
    ? unfit
    : [...unfit, { rule: "duplicate_tool", message: "tools: Tool names must be unique." }];
}

/** Too many cache breakpoints. */
export function cacheBreakpoints({ body, messages }: MessagesRequest): MessagesViolation[] {
  const marked: readonly (JsonValue | undefined)[] = [
    body,
    ...(Array.isArray(body.tools) ? body.tools : []),
    ...(Array.isArray(body.system) ? body.system : []),
    ...messages.flatMap(({ blocks }) =>
      blocks.flatMap(({ block }) => [block, ...(Array.isArray(block.content) ? block.content : [])])
    ),
  ];
  const count = marked.filter((value) => isJsonObject(value) && isJsonObject(value.cache_control)).length;
  if (count <= MAX_BREAKPOINTS) return [];
  return [{
    rule: "cache_breakpoints",
    message: `A maximum of ${MAX_BREAKPOINTS} blocks with cache_control may be provided. Found ${count}.`,
  }];
}

/** A last message of the assistant. */
export function prefill({ messages }: MessagesRequest): MessagesViolation[] {
  if (messages.at(-1)?.role !== "assistant") return [];
  return [{
    rule: "prefill",
    message:
      "This model does not support assistant message prefill. The conversation must end with a user message.",
  }];
}

/** The message about an unknown tag of a union. */
export function unknownTag(tag: JsonValue | undefined, known: readonly string[]): string {
  if (tag === undefined) return "Unable to extract tag using discriminator 'type'";
  return `Input tag '${plainText(tag)}' found using 'type' does not match any of the expected tags: ${
    quotedList(known)
  }`;
}

function shouldBe(values: readonly string[]): string {
  const quoted = values.map((value) => `'${value}'`);
  return `Input should be ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

function quotedList(values: readonly string[]): string {
  return values.map((value) => `'${value}'`).join(", ");
}

function oneOf(value: JsonValue | undefined, values: readonly string[]): boolean {
  return typeof value === "string" && values.includes(value);
}
