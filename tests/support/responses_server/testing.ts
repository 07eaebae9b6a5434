import type { JsonObject } from "../../../src/domain/json.ts";
import { type ResponsesServer, type ServerOptions, startResponsesServer } from "../responses_server.ts";

export const MODEL = "gpt-test";

/** A test with a server of its own that leaves nothing open. */
export function serverTest(
  name: string,
  options: ServerOptions,
  body: (server: ResponsesServer) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using server = startResponsesServer(options);
    await body(server);
  });
}

export const requestBody = (input: JsonObject["input"], extra: JsonObject = {}): JsonObject => ({
  model: MODEL,
  store: false,
  stream: true,
  include: ["reasoning.encrypted_content"],
  input: input ?? "hello",
  ...extra,
});

export async function post(
  server: ResponsesServer,
  body: JsonObject = requestBody("hello"),
): Promise<Response> {
  return await fetch(`${server.baseUrl}/responses`, {
    method: "POST",
    redirect: "manual",
    headers: { "authorization": "Bearer key-1", "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The `data:` payloads of a stream as objects. */
export async function eventsOf(response: Response): Promise<JsonObject[]> {
  const text = (await response.text()).replace(/\r\n?/g, "\n");
  return text.split("\n").filter((line) => line.startsWith("data: {")).map((line) =>
    JSON.parse(line.slice(6))
  );
}

export const types = (events: readonly JsonObject[]) => events.map((event) => event.type);
