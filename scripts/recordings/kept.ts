/** Facts of the protocols: texts and members that say nothing about anybody. */

/** Parts of texts that stay wherever they occur. */
export const KEPT: readonly string[] = [
  // Hosts and paths of public APIs.
  "https://",
  "http://",
  "api.openai.com",
  "api.anthropic.com",
  "api.deepseek.com",
  "api.mistral.ai",
  "api.groq.com",
  "openrouter.ai",
  "openai.azure.com",
  "services.ai.azure.com",
  "cognitiveservices.azure.com",
  "api.aws",
  "/openai/v1",
  "/api/v1",
  "/v1",
  "/responses",
  "/compact",
  "/chat/completions",
  "/messages",
  "/files",
  "/vector_stores",
  "?beta=true",
  "starting_after=",
  "stream=true",
  "/models",
  "api-version=2024-05-01-preview",
  "Too Many Requests",
  // Media types and codings.
  "application/json",
  "application/octet-stream",
  "text/event-stream",
  "multipart/form-data",
  "Content-Disposition: form-data",
  "Content-Type: ",
  "boundary=",
  "charset=utf-8",
  "image/png",
  "application/pdf",
  "base64,",
  "keep-alive",
  "chunked",
  "gzip",
  "deflate",
  // Texts of errors, which code reads, and the parameters in them.
  "Unsupported parameter: ",
  " is not supported with this model.",
  "Missing required parameter: ",
  "Use 'max_completion_tokens' instead",
  "'max_tokens'",
  "'temperature'",
  "'reasoning.effort'",
  "'input[1].arguments'",
  "'reasoning'",
  "Item '",
  "' of type ",
  " was provided without its required following item.",
  "No tool output found for tool call ",
  "No tool call found for shell call output with call_id ",
  "Duplicate item found with id ",
  "Remove duplicate items from your input and try again.",
  "This model's maximum context length is ",
  "You exceeded your current quota, please check your plan and billing details.",
  "Your api key: ",
  // A provider's thoughts in another provider's text.
  "<thinking>",
  "</thinking>",
];

/** Members whose values name a kind, a mode or a model. */
const NAMING: ReadonlySet<string> = new Set([
  "allowed_callers",
  "anthropic-version",
  "background",
  "category",
  "code",
  "content-encoding",
  "content-length",
  "context",
  "detail",
  "effort",
  "encoding",
  "event",
  "execution",
  "finish_reason",
  "format",
  "include",
  "inference_geo",
  "method",
  "mode",
  "model",
  "moderation",
  "native_finish_reason",
  "object",
  "openai-version",
  "output_format",
  "param",
  "phase",
  "prompt_cache_retention",
  "purpose",
  "quality",
  "ranker",
  "reason",
  "recorded_with",
  "require_approval",
  "retry-after",
  "retry-after-ms",
  "return_token_budget",
  "role",
  "search_context_size",
  "service_tier",
  "size",
  "source_type",
  "status",
  "stop_reason",
  "summary",
  "syntax",
  "tool_choice",
  "truncation",
  "ttl",
  "type",
  "verbosity",
]);

/** Headers and members whose values are the same for everybody, however they are written. */
const COMMON: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "access-control-allow-origin",
  "alt-svc",
  "cache-control",
  "recorded_with",
  "referrer-policy",
  "strict-transport-security",
  "vary",
  "x-content-type-options",
]);

/** Members whose numbers are places, limits, settings or versions. */
const PLACING =
  /^(?:max_|budget_|top_)|_(?:index|offset)$|^(?:code|index|n|sequence_number|status|temperature|version)$/;

/** True for a value that names a kind, a mode or a model: one word as programs write it. */
export function isNaming(path: readonly (string | number)[], value: string): boolean {
  const names = path.filter((part) => typeof part === "string");
  const name = names.at(-1)?.toLowerCase() ?? "";
  // The phrase after a status, as HTTP has it.
  if (name === "message" && names.at(-2) === "status") return true;
  if (COMMON.has(name)) return true;
  return NAMING.has(name) && /^[\w.:/+[\]-]*$/.test(value);
}

/** True for a number that says where something is, how much is allowed, or which setting was chosen. */
export function isPlacing(path: readonly (string | number)[]): boolean {
  return PLACING.test(String(path.findLast((part) => typeof part === "string") ?? ""));
}
