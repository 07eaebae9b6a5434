/**
 * The least that a program costs. Without arguments it ends at once. `bare FILE` answers each request with the bytes of
 * FILE, and prints its port as `reprise serve` does. It imports nothing: its text is compiled as a program of its own.
 */
const [file = "--version"] = Deno.args;
// `--version` tries a binary that was just compiled.
if (file === "--version") Deno.exit(0);
const body = Deno.readFileSync(file);
const headers = { "content-type": "text/event-stream" };
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  await request.arrayBuffer();
  return new Response(body, { headers });
});
Deno.addSignalListener("SIGTERM", () => server.shutdown().finally(() => Deno.exit(0)));
const ready = JSON.stringify({ type: "ready", port: server.addr.port });
Deno.stdout.writeSync(new TextEncoder().encode(`${ready}\n`));
