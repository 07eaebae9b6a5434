/** Differences of one kind of server from the others on the wire (protocol §4.1, §12). */
export interface Dialect {
  /** `event:` lines before each `data:` line. */
  readonly eventLines: boolean;
  /** `data: [DONE]` at the end. */
  readonly done: boolean;
  /** A comment that opens the stream. */
  readonly opening?: string;
  /** Random letters on deltas, unless the request turns them off. */
  readonly obfuscation: boolean;
  /** Deltas of call arguments; otherwise they come whole. */
  readonly argumentDeltas: boolean;
  /** A new id on every event for the same item and response. */
  readonly rotateIds: boolean;
  readonly itemIds: "prefixed" | "uuid";
  readonly responseIds: "resp" | "gen" | "uuid";
  /** Reasoning as summary beside a blob, or as plain text. */
  readonly reasoning: "summary" | "text";
  /** Encrypted again each time it is written, always the same, a short token, or absent. */
  readonly blobs: "rewritten" | "constant" | "token" | "none";
  /** `status` on reasoning items. */
  readonly reasoningStatus: boolean;
}

const OPENAI: Dialect = {
  eventLines: true,
  done: false,
  obfuscation: true,
  argumentDeltas: true,
  rotateIds: false,
  itemIds: "prefixed",
  responseIds: "resp",
  reasoning: "summary",
  blobs: "rewritten",
  reasoningStatus: false,
};

/** The servers that can be played. */
export const DIALECTS = {
  openai: OPENAI,
  azure: OPENAI,
  openrouter: {
    ...OPENAI,
    eventLines: false,
    done: true,
    opening: "OPENROUTER PROCESSING",
    obfuscation: false,
    responseIds: "gen",
    reasoning: "text",
  },
  copilot: { ...OPENAI, rotateIds: true, blobs: "none" },
  lmstudio: { ...OPENAI, obfuscation: false, argumentDeltas: false, reasoning: "text", blobs: "none" },
  xai: { ...OPENAI, obfuscation: false, responseIds: "uuid", blobs: "constant", reasoningStatus: true },
  deepseek: {
    ...OPENAI,
    obfuscation: false,
    itemIds: "uuid",
    responseIds: "uuid",
    reasoning: "text",
    blobs: "token",
    reasoningStatus: true,
  },
} as const satisfies Record<string, Dialect>;

/** The name of a server that can be played. */
export type DialectName = keyof typeof DIALECTS;
