/**
 * A minimal server, to measure the least cost: `bare_server.ts FILE whole|events` answers every request with the bytes of
 * FILE, in one piece or one event at a time, and prints its port as `reprise serve` does. It imports nothing: its text is
 * compiled as a program of its own, because runtimes of different versions are not equally fast.
 *
 * @module
 */
const [file = "", delivery = "whole"] = Deno.args;
// A binary that was just compiled is tried with it.
if (file === "--version") Deno.exit(0);
const whole = Deno.readFileSync(file);
const events = eventsOf(whole);

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  await request.arrayBuffer();
  return new Response(delivery === "events" ? streamOf(events) : whole, {
    headers: { "content-type": "text/event-stream" },
  });
});
Deno.addSignalListener("SIGTERM", () => server.shutdown().finally(() => Deno.exit(0)));
Deno.stdout.writeSync(
  new TextEncoder().encode(`${JSON.stringify({ type: "ready", port: server.addr.port })}\n`),
);

function eventsOf(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer>[] {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let start = 0;
  for (let at = 1; at < bytes.length; at++) {
    if (bytes[at] !== 0x0a || bytes[at - 1] !== 0x0a) continue;
    parts.push(bytes.subarray(start, at + 1));
    start = at + 1;
  }
  return parts;
}

function streamOf(parts: readonly Uint8Array<ArrayBuffer>[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  let next = 0;
  return new ReadableStream({
    pull(controller) {
      const part = parts[next++];
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  }, { highWaterMark: 0 });
}
