/** The openai client as a reader of streams, for the bench that compares with it. */
import OpenAI from "openai";

/** Reads the body of a streamed response with the client; returns the number of its events. */
export async function countEvents(body: ReadableStream<Uint8Array>): Promise<number> {
  const client = new OpenAI({
    apiKey: "sk-bench",
    baseURL: "http://127.0.0.1:1/v1",
    fetch: () => Promise.resolve(new Response(body, { headers: { "content-type": "text/event-stream" } })),
  });
  const stream = await client.responses.create({ model: "gpt-bench", input: "Go", stream: true });
  let events = 0;
  for await (const _event of stream) events++;
  return events;
}
