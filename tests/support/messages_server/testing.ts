import type { JsonObject, JsonValue } from "../../../src/domain/json.ts";
import { type MessagesServer, type MessagesServerOptions, startMessagesServer } from "../messages_server.ts";

/** Its thinking is bound to what came before it. */
export const MODEL = "claude-opus-5-5";
/** The beta header of binding controls. */
export const BINDING = { "anthropic-beta": "thinking-binding-controls-2026-08-01" };
/** The `thinking` that asks for blocks of another conversation to be dropped. */
export const DROP: JsonObject = {
  thinking: { type: "adaptive", block_binding: { prefix_mismatch_behavior: "drop_block" } },
};

/** A test with a server of its own that leaves nothing open. */
export function messagesTest(
  name: string,
  options: MessagesServerOptions,
  body: (server: MessagesServer) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using server = startMessagesServer(options);
    await body(server);
  });
}

export const user: JsonObject = { role: "user", content: "go" };

export const requestBody = (messages: JsonValue = [user], extra: JsonObject = {}): JsonObject => ({
  model: MODEL,
  max_tokens: 2048,
  stream: true,
  messages,
  ...extra,
});

export async function post(
  server: MessagesServer,
  body: JsonObject = requestBody(),
  headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
  return await fetch(`${server.baseUrl}/messages`, {
    method: "POST",
    headers: {
      "authorization": "Bearer key-1",
      "anthropic-version": "2026-10-21",
      "content-type": "application/json",
      ...headers,
    },
    body: JSON.stringify(body),
  });
}

/** The content of an answer without a stream. */
export async function contentOf(
  server: MessagesServer,
  messages: JsonValue,
  extra: JsonObject = {},
  headers: Readonly<Record<string, string>> = {},
): Promise<readonly JsonObject[]> {
  const response = await post(server, requestBody(messages, { ...extra, stream: false }), headers);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error.message);
  return answer.content;
}

/** The words of a refusal. */
export async function errorOf(response: Response): Promise<string> {
  return `${response.status} ${(await response.json()).error.message}`;
}

/** The `data:` payloads of a stream as objects. */
export async function eventsOf(response: Response): Promise<JsonObject[]> {
  const text = (await response.text()).replace(/\r\n?/g, "\n");
  return text.split("\n").filter((line) => line.startsWith("data: {")).map((line) =>
    JSON.parse(line.slice(6))
  );
}

export const types = (events: readonly JsonObject[]) => events.map((event) => event.type);
