/**
 * Environment variables that lead the clients of common APIs to a base URL. A row is here only if the source or the
 * documentation of the named client shows that the client reads the variable.
 */
import type { ProviderKind } from "../domain/fingerprint.ts";
import { PROVIDERS } from "./providers.ts";

/** Headers in which clients of any API send their key: with `Bearer` before it, or as the whole value. */
export const KEY_HEADERS = ["authorization", "x-api-key", "api-key", "x-goog-api-key"] as const;
export type KeyHeader = (typeof KEY_HEADERS)[number];

/** Key of clients that need no real one. */
export const DUMMY_KEY = "reprise-plays-this";

export interface UpstreamKey {
  readonly variable: string;
  readonly header: KeyHeader;
}

/** API that clients find by an environment variable. */
export interface KnownUpstream {
  /** Variable with the base URL. */
  readonly variable: string;
  readonly api: string;
  /** Provider that clients of this variable expect; without one, host and path decide. */
  readonly provider?: ProviderKind;
  /** Variables with a key of this API, in the order in which clients read them. */
  readonly keys: readonly UpstreamKey[];
  /** Base URL that clients use if the variable is unset; `null` if the user must set it. */
  readonly defaultUrl: string | null;
  /** Path that clients append to the base URL for a request to a model. */
  readonly adds: string;
  /**
   * Condition for the recorder to lead clients of a wrapped command by this variable. `key`: the variable or one of the
   * key variables is set. `set`: the variable is set; other clients read it in another form, or expect a local server.
   */
  readonly opens: "always" | "key" | "set";
  /** Client whose source or documentation was read on 2026-11-23, with its version. */
  readonly source: string;
  /** Variable that the same clients read first. */
  readonly hiddenBy?: string;
}

/** All rows, in the order of their ports. */
export const KNOWN_UPSTREAMS: readonly KnownUpstream[] = [
  upstream("OPENAI_BASE_URL", "OpenAI", {
    provider: "openai",
    defaultUrl: PROVIDERS.openai.defaultUrl,
    adds: "/responses",
    opens: "always",
    source: "openai 6.49.0 (npm)",
  }),
  upstream("ANTHROPIC_BASE_URL", "Anthropic", {
    provider: "anthropic",
    keys: [{ variable: "ANTHROPIC_API_KEY", header: "x-api-key" }, bearer("ANTHROPIC_AUTH_TOKEN")],
    defaultUrl: PROVIDERS.anthropic.defaultUrl,
    adds: "/v1/messages",
    opens: "always",
    source: "@anthropic-ai/sdk 1.12.0 (npm)",
  }),
  upstream("OPENAI_API_BASE", "OpenAI", {
    provider: "openai",
    defaultUrl: PROVIDERS.openai.defaultUrl,
    adds: "/chat/completions",
    opens: "set",
    source: "@langchain/openai 1.5.8 (npm)",
  }),
  upstream("AZURE_OPENAI_ENDPOINT", "Azure OpenAI", {
    provider: "azure",
    keys: [{ variable: "AZURE_OPENAI_API_KEY", header: "api-key" }, bearer("AZURE_OPENAI_AD_TOKEN")],
    defaultUrl: null,
    adds: "/openai/deployments/NAME/chat/completions",
    opens: "key",
    source: "openai 6.49.0 (npm)",
    hiddenBy: "OPENAI_BASE_URL",
  }),
  upstream("GOOGLE_GEMINI_BASE_URL", "Gemini", {
    keys: [
      { variable: "GOOGLE_API_KEY", header: "x-goog-api-key" },
      { variable: "GEMINI_API_KEY", header: "x-goog-api-key" },
    ],
    defaultUrl: "https://generativelanguage.googleapis.com",
    adds: "/v1beta/models/NAME:generateContent",
    opens: "key",
    source: "@google/genai 2.32.0 (npm)",
  }),
  upstream("GOOGLE_VERTEX_BASE_URL", "Vertex AI", {
    keys: [],
    defaultUrl: null,
    adds: "/v1beta1/projects/…/models/NAME:generateContent",
    opens: "set",
    source: "@google/genai 2.32.0 (npm)",
  }),
  upstream("OPENROUTER_BASE_URL", "OpenRouter", {
    defaultUrl: "https://openrouter.ai/api/v1",
    adds: "/chat/completions",
    opens: "key",
    source: "@openrouter/sdk 1.3.19 (npm)",
  }),
  upstream("OPENROUTER_API_BASE", "OpenRouter", {
    defaultUrl: "https://openrouter.ai/api/v1",
    adds: "/chat/completions",
    opens: "set",
    source: "litellm (PyPI)",
  }),
  upstream("MISTRAL_BASE_URL", "Mistral", {
    defaultUrl: "https://api.mistral.ai/v1",
    adds: "/chat/completions",
    opens: "key",
    source: "langchain-mistralai (PyPI)",
  }),
  upstream("GROQ_BASE_URL", "Groq", {
    defaultUrl: "https://api.groq.com",
    adds: "/openai/v1/chat/completions",
    opens: "key",
    source: "groq-sdk 1.6.0 (npm)",
  }),
  upstream("GROQ_API_BASE", "Groq", {
    defaultUrl: "https://api.groq.com/openai/v1",
    adds: "/chat/completions",
    opens: "set",
    source: "litellm (PyPI)",
  }),
  upstream("CEREBRAS_BASE_URL", "Cerebras", {
    defaultUrl: "https://api.cerebras.ai",
    adds: "/v1/chat/completions",
    opens: "key",
    source: "@cerebras/cerebras_cloud_sdk 1.91.0 (npm)",
  }),
  upstream("TOGETHER_BASE_URL", "Together", {
    defaultUrl: "https://api.together.ai/v1",
    adds: "/chat/completions",
    opens: "key",
    source: "together-ai 0.52.0 (npm)",
  }),
  upstream("FIREWORKS_API_BASE", "Fireworks", {
    keys: [bearer("FIREWORKS_API_KEY"), bearer("FIREWORKS_AI_API_KEY")],
    defaultUrl: "https://api.fireworks.ai/inference/v1",
    adds: "/chat/completions",
    opens: "set",
    source: "litellm (PyPI)",
  }),
  upstream("PERPLEXITY_BASE_URL", "Perplexity", {
    defaultUrl: "https://api.perplexity.ai",
    adds: "/chat/completions",
    opens: "key",
    source: "@perplexity-ai/perplexity_ai 0.38.5 (npm)",
  }),
  upstream("DEEPSEEK_API_BASE", "DeepSeek", {
    defaultUrl: "https://api.deepseek.com/v1",
    adds: "/chat/completions",
    opens: "key",
    source: "langchain-deepseek (PyPI)",
  }),
  upstream("XAI_API_BASE", "xAI", {
    defaultUrl: "https://api.x.ai/v1",
    adds: "/chat/completions",
    opens: "set",
    source: "litellm (PyPI)",
  }),
  upstream("CO_API_URL", "Cohere", {
    defaultUrl: "https://api.cohere.com",
    adds: "/v2/chat",
    opens: "key",
    source: "cohere (PyPI)",
  }),
  upstream("AWS_BEDROCK_BASE_URL", "Bedrock", {
    keys: [bearer("AWS_BEARER_TOKEN_BEDROCK")],
    defaultUrl: null,
    adds: "/responses",
    opens: "set",
    source: "openai 6.49.0 (npm)",
  }),
  upstream("ANTHROPIC_BEDROCK_BASE_URL", "Bedrock", {
    keys: [bearer("AWS_BEARER_TOKEN_BEDROCK")],
    defaultUrl: null,
    adds: "/model/NAME/invoke",
    opens: "set",
    source: "@anthropic-ai/bedrock-sdk 1.1.3 (npm)",
  }),
  upstream("OLLAMA_HOST", "Ollama", {
    defaultUrl: "http://127.0.0.1:11434",
    adds: "/api/chat",
    opens: "set",
    source: "ollama (PyPI)",
  }),
  upstream("OLLAMA_BASE_URL", "Ollama", {
    defaultUrl: "http://127.0.0.1:11434",
    adds: "/api/chat",
    opens: "set",
    source: "@langchain/ollama 1.3.0 (npm)",
  }),
];

export const UPSTREAM_VARIABLES: readonly string[] = [
  ...new Set(KNOWN_UPSTREAMS.flatMap(({ variable, keys }) => [variable, ...keys.map((key) => key.variable)])),
];

export function knownUpstream(variable: string): KnownUpstream | null {
  return KNOWN_UPSTREAMS.find((row) => row.variable === variable) ?? null;
}

/** Returns the variables with the key of the API that a variable leads to: for an unknown variable, the usual one. */
export function keysOf(variable: string): readonly UpstreamKey[] {
  return knownUpstream(variable)?.keys ?? [usualKey(variable)];
}

/** The variable that is named after a base URL's: `ACME_API_KEY` for `ACME_BASE_URL`. */
function usualKey(variable: string): UpstreamKey {
  const stem = variable.replace(/_(?:(?:API_)?(?:BASE_?)?UR[LI]|(?:API_)?BASE|ENDPOINT|HOST)$/, "");
  return bearer(`${stem}_API_KEY`);
}

/** A row; without `keys`, clients read the usual one. */
function upstream(
  variable: string,
  api: string,
  row: Omit<KnownUpstream, "variable" | "api" | "keys"> & Partial<Pick<KnownUpstream, "keys">>,
): KnownUpstream {
  return { variable, api, keys: [usualKey(variable)], ...row };
}

/**
 * Returns the base URL in the value of a variable. Clients of Ollama take `HOST`, `:PORT` and `0.0.0.0` as well, the
 * address that its server listens on.
 */
export function urlInVariable(variable: string, value: string): string {
  if (variable !== "OLLAMA_HOST") return value;
  const [, scheme, rest = ""] = /^(?:([a-z]+):\/\/)?(.*)$/i.exec(value.trim()) ?? [];
  const [, host = "", port, path = ""] = /^(\[[^\]]*\]|[^:/]*)(?::(\d+))?(\/.*)?$/.exec(rest) ?? [];
  const reached = host === "" || host === "0.0.0.0" || host === "[::]" ? "127.0.0.1" : host;
  const reachedPort = port ?? (scheme === undefined ? "11434" : undefined);
  return `${scheme ?? "http"}://${reached}${reachedPort === undefined ? "" : `:${reachedPort}`}${path}`;
}

function bearer(variable: string): UpstreamKey {
  return { variable, header: "authorization" };
}
