/** Members that all chunks of the stream share. */
export const HEAD = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
/** Chunks of a whole stream of Chat Completions. */
export const CHUNKS = [
  { ...HEAD, choices: [{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }] },
  { ...HEAD, choices: [{ index: 0, delta: { content: "Hello" }, finish_reason: null }], obfuscation: "x" },
  { ...HEAD, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] },
  { ...HEAD, choices: [], usage: { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 } },
];
/** The events of the {@linkcode CHUNKS} and `[DONE]`, as text. */
export const STREAM = [...CHUNKS.map((chunk) => JSON.stringify(chunk)), "[DONE]"].map((data) =>
  `data: ${data}\n\n`
);
