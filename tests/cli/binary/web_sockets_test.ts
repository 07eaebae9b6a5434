/** Clients that use the WebSocket of the Responses API, through `record` and `serve`. */
import assert from "node:assert/strict";
import { exchangesOf } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
import { startResponsesSocket } from "../../support/scripted_api/socket.ts";
import { Serving } from "../serving.ts";
import { running } from "./wrapping.ts";

/** A message that asks for a response. */
const create = (extra: Json = {}): Json => ({
  type: "response.create",
  model: "gpt-test",
  store: false,
  input: [{ role: "user", content: "hello" }],
  ...extra,
});

/** Starts `record` in front of a server, without a command. */
function startRecorder(sandbox: Sandbox, upstream: string, ...more: string[]): Promise<Serving> {
  const where = ["--upstream", upstream.replace(/\/v1$/, ""), "--out", `${sandbox.directory}/out`];
  return Serving.start(sandbox, ["record", "--json", ...where, ...more]);
}

/** Messages of a long answer, of 1 MiB each. */
const COUNT = 40;
const TOKEN = "token-of-the-recorder-1";

Deno.test("tests of a command that use WebSockets at a time, and HTTP, are recorded whole, and play again", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const out = `${sandbox.directory}/out`;
  const script = `
    const { origin, pathname } = new URL(Deno.env.get("OPENAI_BASE_URL"));
    const base = (test) => origin + "/t/" + test + pathname;
    const one = (test) => new Promise((resolve, reject) => {
      const socket = new WebSocket(base(test).replace(/^http/, "ws") + "/responses", {
        headers: { authorization: "Bearer key-1" },
      });
      socket.onopen = () => socket.send(JSON.stringify(${JSON.stringify(create())}));
      socket.onerror = (event) => reject(event.message);
      socket.onmessage = ({ data }) => {
        if (JSON.parse(data).type !== "response.completed") return;
        socket.close();
        resolve(JSON.parse(data).response.id);
      };
    });
    console.log(await Promise.all(["one", "one", "two"].map(one)).then((ids) => ids.sort().join()));
    const body = JSON.stringify({ model: "gpt-test", stream: true, store: false, input: "hello" });
    const headers = { "content-type": "application/json" };
    await (await fetch(base("one") + "/responses", { method: "POST", headers, body })).text();`;
  const upstream = ["--upstream", server.baseUrl.replace(/\/v1$/, "")];
  const called = await sandbox.call(["record", ...upstream, "--out", out, "--", ...running(script)]);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stderr, /recorded 4 exchanges \(3 over WebSocket\) of 2 tests into/);
  const transports = ["one", "two"].map((test) =>
    exchangesOf(`${out}/${test}`).map(({ request }) => [request.transport, request.connection].join(" "))
  );
  assert.deepEqual(transports, [["ws 1", "ws 2", " "], ["ws 1"]]);
  await server[Symbol.asyncDispose]();
  const served = await sandbox.call(["serve", "--strict-usage", out, "--", ...running(script)]);
  assert.deepEqual([served.code, served.stdout], [0, called.stdout], served.stderr);
});

Deno.test("a message with the token of the recorder goes nowhere, and costs record its exit code", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const recorder = await startRecorder(sandbox, server.baseUrl, "--token", TOKEN);
  const socket = new WebSocket(`${recorder.origin.replace(/^http/, "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const closed = Promise.withResolvers<number>();
  socket.onopen = () => socket.send(JSON.stringify(create({ input: `my key is ${TOKEN}` })));
  socket.onclose = ({ code }) => closed.resolve(code);
  assert.equal(await closed.promise, 1008);
  assert.ok(!JSON.stringify(server.upgrades[0]?.headers).includes(TOKEN));
  assert.equal((await recorder.end()).code, 7);
  assert.ok(recorder.events.some(({ code }) => code === "token_refused"));
  assert.equal(server.requests.length, 0);
});

/** A WebSocket that reads only when it is asked to, on a bare connection: `WebSocket` reads by itself. */
async function connectUnread(origin: string, message: Json): Promise<Deno.TcpConn> {
  const { hostname, port, host } = new URL(origin);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head =
    `GET /v1/responses HTTP/1.1\r\nhost: ${host}\r\nconnection: upgrade\r\nupgrade: websocket\r\n` +
    "sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  const payload = new TextEncoder().encode(JSON.stringify(message));
  assert.ok(payload.length > 125);
  // A text of two bytes of length, under a mask of zeros.
  const frame = [0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0];
  await connection.write(new TextEncoder().encode(head));
  await connection.read(new Uint8Array(4096));
  await connection.write(new Uint8Array([...frame, ...payload]));
  return connection;
}

Deno.test("an upstream that sends faster than the client reads has to wait, and nothing is lost", async () => {
  const response = { id: "resp_1", object: "response", model: "gpt-test" };
  const delta = { type: "response.output_text.delta", item_id: "m", output_index: 0, content_index: 0 };
  const messages = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
    ...Array(COUNT).fill({ ...delta, delta: "x".repeat(1024 ** 2) }),
    { type: "response.completed", response: { ...response, status: "completed", output: [] } },
  ].map((event, sequence_number) => JSON.stringify({ ...event, sequence_number }));
  const asked = Promise.withResolvers<WebSocket>();
  await using upstream = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onmessage = () => asked.resolve(socket);
    return response;
  });
  await using sandbox = new Sandbox();
  const recorder = await startRecorder(sandbox, `http://127.0.0.1:${upstream.addr.port}/v1`);
  const client = await connectUnread(recorder.origin, create({ instructions: "Answer at length" }));
  const socket = await asked.promise;
  for (const message of messages) socket.send(message);
  let waiting = socket.bufferedAmount;
  // Until nothing more goes out: what is under way fills buffers of the kernel and of the recorder.
  for (let before = Infinity; waiting < before;) {
    before = waiting;
    await new Promise((resolve) => setTimeout(resolve, 300));
    waiting = socket.bufferedAmount;
  }
  assert.ok(waiting > COUNT / 4 * 1024 ** 2, `${waiting} bytes wait`);
  // Each message has a head of 4 or 10 bytes.
  const total = messages.reduce((sum, { length }) => sum + length + (length < 2 ** 16 ? 4 : 10), 0);
  const buffer = new Uint8Array(1024 ** 2);
  for (let read = 0; read < total;) {
    const count = await client.read(buffer);
    assert.ok(count !== null, `${read} of ${total} bytes`);
    read += count;
  }
  client.close();
  await recorder.started.printed('"type":"exchange"');
  const { code, events } = await recorder.end();
  assert.deepEqual([code, events.at(-1).published], [0, 1]);
  assert.ok(
    exchangesOf(`${sandbox.directory}/out`)[0]?.text === messages.map((message) => `${message}\n`).join(""),
  );
});
