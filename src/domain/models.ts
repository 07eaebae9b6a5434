/**
 * Facts about models, by the start of their names: the only place for such facts. A model that is not in the table is
 * used all the same, with the facts that hold for every model.
 */

/** Facts about the models of one family. */
interface ModelFacts {
  /** Input and output tokens together, where known. */
  readonly contextTokens?: number;
  /** The most output tokens that one request may ask for, if that is less than our default. */
  readonly maxOutputTokens?: number;
  /**
   * Thinking mode of a Claude model (protocol §9): the model decides, the request sets a budget, or no thinking.
   */
  readonly thinking?: "adaptive" | "budget" | "none";
  /** Thinking is valid only while everything before it stays unchanged (protocol §11). */
  readonly prefixBound?: true;
}

/** Facts by family, the beginning of a model's name; the longest one that fits counts. */
const MODELS: Readonly<Record<string, ModelFacts>> = {
  "gpt-5.6": {},
  "gpt-5.5": {},
  "gpt-5.4": {},
  "gpt-5.3": {},
  "gpt-5.2": { contextTokens: 400_000 },
  "gpt-5.1": { contextTokens: 400_000 },
  "gpt-5": { contextTokens: 400_000 },
  "gpt-6.1": {},
  "gpt-6": {},
  "o4": { contextTokens: 200_000 },
  "o3": { contextTokens: 200_000 },
  "o1": { contextTokens: 200_000 },
  "codex-mini": { contextTokens: 200_000 },
  "gpt-oss": { contextTokens: 131_072 },
  "claude-3": { contextTokens: 200_000, maxOutputTokens: 4096, thinking: "none" },
  "claude-3-5": { contextTokens: 200_000, maxOutputTokens: 8192, thinking: "none" },
  "claude-3-7": { contextTokens: 200_000, thinking: "budget" },
  "claude-opus-4": { contextTokens: 200_000, thinking: "budget" },
  "claude-sonnet-4": { contextTokens: 200_000, thinking: "budget" },
  "claude-haiku-4": { contextTokens: 200_000, thinking: "budget" },
  "claude-opus-4-6": { thinking: "adaptive" },
  "claude-opus-4-7": { thinking: "adaptive" },
  "claude-opus-4-8": { thinking: "adaptive" },
  "claude-sonnet-4-6": { thinking: "adaptive" },
  "claude-mythos": { thinking: "adaptive" },
  "claude-sonnet-5": { thinking: "adaptive" },
  "claude-haiku-5": { thinking: "adaptive" },
  "claude-opus-5": { thinking: "adaptive" },
  "claude-opus-5-5": { thinking: "adaptive", prefixBound: true },
  "claude-fable-5": { thinking: "adaptive" },
  "claude-fable-5-1": { thinking: "adaptive", prefixBound: true },
};

/** Facts about a model, or `null` if it is not in the table. */
export function modelFacts(model: string): ModelFacts | null {
  return MODELS[familyOf(model) ?? ""] ?? null;
}

/**
 * The family of a model, or `null` if it is not in the table: then only the same name fits. Reasoning may be reusable within
 * a family, never across (protocol §4.3).
 */
export function familyOf(model: string): string | null {
  const name = model.toLowerCase();
  let best: string | null = null;
  for (const prefix of Object.keys(MODELS)) {
    const next = name.charAt(prefix.length);
    if (!name.startsWith(prefix) || (next !== "" && next !== "-")) continue;
    if (prefix.length > (best?.length ?? 0)) best = prefix;
  }
  return best;
}
