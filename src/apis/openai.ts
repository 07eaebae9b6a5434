/** Properties that the APIs of OpenAI and compatible servers share. */
import type { Api } from "./api.ts";

/** Error bodies with all four members (protocol §6.1), and headers. */
export const openaiServers: Pick<Api, "errors" | "recordedHeaders" | "keyHeader"> = {
  errors: {
    idHeader: "x-request-id",
    body: ({ message, type, param, code }) => ({ error: { message, type, param, code } }),
  },
  recordedHeaders: {
    request: ["openai-beta"],
    response: /^openai-(?:organization|project|version|model|processing-ms)$/,
  },
  // Sent by Azure.
  keyHeader: "api-key",
};
