/** An upstream with one very long answer: a stream of Responses events, made while it is sent. */

const encoder = new TextEncoder();
/** Events in one write. */
const BATCH = 256;

/** Address of the server. */
export interface LongStreamServer {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string;
  stop(): Promise<void>;
}

/** Answers every request with a stream of at least `bytes` bytes (`?bytes=N` in the query says otherwise). */
export function startLongStream(bytes: number): LongStreamServer {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    await request.arrayBuffer();
    const wanted = Number(new URL(request.url).searchParams.get("bytes") ?? bytes);
    return new Response(longStream(wanted), { headers: { "content-type": "text/event-stream" } });
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

function longStream(least: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  const response = {
    id: "resp_long",
    object: "response",
    created_at: 1795292280,
    model: "gpt-5.6",
    output: [],
  };
  const place = { item_id: "msg_long", output_index: 0, content_index: 0 };
  let sent = 0;
  let number = 0;
  const frame = (type: string, members: object) =>
    `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number++, ...members })}\n\n`;
  return new ReadableStream({
    start(controller) {
      const text = frame("response.created", { response: { ...response, status: "in_progress" } });
      sent += text.length;
      controller.enqueue(encoder.encode(text));
    },
    pull(controller) {
      if (sent >= least) {
        controller.enqueue(
          encoder.encode(frame("response.completed", { response: { ...response, status: "completed" } })),
        );
        return controller.close();
      }
      let text = "";
      for (let left = BATCH; left > 0 && sent + text.length < least; left--) {
        text += frame("response.output_text.delta", { ...place, delta: "forty-two of them, ", logprobs: [] });
      }
      sent += text.length;
      controller.enqueue(encoder.encode(text));
    },
  }, { highWaterMark: 0 });
}

/** Reads the whole stream that comes through `origin`; returns how many bytes it had. */
export async function readLongStream(origin: string, query = ""): Promise<number> {
  const response = await fetch(`${origin}/v1/responses${query}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer long-stream" },
    body: JSON.stringify({ model: "gpt-5.6", input: [{ role: "user", content: "Go" }], stream: true }),
  });
  if (response.status !== 200 || response.body === null) {
    throw new Error(`The stream was answered with ${response.status}: ${await response.text()}`);
  }
  let bytes = 0;
  for await (const chunk of response.body) bytes += chunk.length;
  return bytes;
}
