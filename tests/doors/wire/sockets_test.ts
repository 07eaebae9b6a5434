/** Runs over a WebSocket. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { said, Sandbox } from "../../support/reprise.ts";
import { startSocketServer } from "../../support/scripted_api/socket_server.ts";
import { test } from "../../support/test.ts";
import { ends, HTTP_ANSWER, SOCKETS } from "./sockets.ts";

for (
  const [name, { reactions, flags = [], refusal, exit = 0, sent, connections, says }] of Object.entries(
    SOCKETS,
  )
) {
  test.long(`over a WebSocket, ${name}`, async () => {
    const received: string[] = [];
    const used: number[] = [];
    await using server = await startSocketServer({
      ...(refusal === undefined ? {} : { refusal }),
      onSocket: (socket, number, raw) =>
        socket.on("message", (data) => {
          const { type, stream, previous_response_id: id = "-", input }: Json = JSON.parse(data.toString());
          assert.deepEqual([type, stream], ["response.create", undefined]);
          used.push(number);
          const nth = received.push(`${id}:${input.length}`);
          (reactions[nth - 1] ?? ends)(socket, nth, raw);
        }),
      onRequest: (_, response) => {
        received.push("http");
        response.writeHead(200, { "content-type": "text/event-stream" }).end(HTTP_ANSWER);
      },
    });
    await using sandbox = new Sandbox();
    Deno.writeTextFileSync(`${sandbox.workspace}/a.txt`, "alpha\n");
    const base = `http://127.0.0.1:${server.port}/v1`;
    const to = ["--transport", "ws", "-m", "gpt-5.6", "--base-url", base, ...flags];
    const env = { OPENAI_API_KEY: "sk-1" };
    const called = await sandbox.call(["run", "--json", "--new", "-s", "s", ...to, "Go"], { env });
    assert.equal(received.join(" "), sent, said(called));
    assert.equal(called.code, exit, said(called));
    if (says !== undefined) assert.match(said(called), says);
    assert.equal(used.join(" "), connections ?? used.map(() => 1).join(" "));
    const checked = await sandbox.call(["fsck", "s", "--requests"]);
    assert.equal(checked.code, 0, said(checked));
  });
}

test.long("a run over a WebSocket waits for no server beyond its own time", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  await using sandbox = new Sandbox();
  const base = `http://127.0.0.1:${listener.addr.port}/v1`;
  const args = ["--transport", "ws", "-m", "gpt-5.6", "--base-url", base, "--timeout", "0.5", "Go"];
  const called = await sandbox.call(["run", "--new", ...args], { env: { OPENAI_API_KEY: "sk-1" } });
  assert.equal(called.code, 124, said(called));
});
