/** `reprise record` with clients that use the WebSocket of the Responses API. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { readFixture } from "../../../src/fixture/read.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { type Called, denoCache, Sandbox } from "../../support/reprise.ts";
import { answer, functionCall, message, reasoning } from "../../support/scripted_api/responses_script.ts";
import {
  type ResponsesSocket,
  type ResponsesSocketOptions,
  startResponsesSocket,
} from "../../support/scripted_api/socket.ts";
import { SocketClient } from "../../support/socket_client.ts";
import { Listening } from "../listening.ts";

const CALLS: ResponsesSocketOptions = {
  script: [
    answer([reasoning("Look"), functionCall("ls", {}, { callId: "call_1" })]),
    answer([message("done")]),
  ],
};

/** A message that asks for a response. */
const create = (extra: JsonObject = {}): JsonObject => ({
  type: "response.create",
  model: "gpt-test",
  store: false,
  input: [{ role: "user", content: "hello" }],
  ...extra,
});
const OUTPUT: JsonObject = { type: "function_call_output", call_id: "call_1", output: "a.txt" };

/** Messages of a long answer, of 1 MiB each. */
const COUNT = 40;
const TOKEN = "token-of-the-recorder-1";

function idOf(events: readonly JsonObject[]): string {
  return String((events.at(-1)?.response as JsonObject | undefined)?.id);
}

/** Starts `record` in front of a server, without a command. */
function startRecorder(sandbox: Sandbox, upstream: string, ...more: string[]): Promise<Listening> {
  const origin = upstream.replace(/\/v1$/, "");
  return Listening.start(
    sandbox,
    "record",
    "--upstream",
    origin,
    "--out",
    `${sandbox.directory}/out`,
    ...more,
  );
}

/** Records the traffic of a script that Deno runs after `--`. */
async function recordScript(
  sandbox: Sandbox,
  server: ResponsesSocket,
  script: string,
  cwd?: string,
): Promise<Called> {
  const upstream = server.baseUrl.replace(/\/v1$/, "");
  const command = [Deno.execPath(), "eval", "--quiet", script];
  return await sandbox.call(
    ["record", "--upstream", upstream, "--out", `${sandbox.directory}/out`, "--", ...command],
    { env: denoCache(), ...(cwd === undefined ? {} : { cwd }) },
  );
}

/** The bytes of an exchange's files. */
function filesOf(sandbox: Sandbox, number: number, out = "out") {
  const folder = `${sandbox.directory}/${out}/exchanges/${String(number).padStart(4, "0")}`;
  return {
    request: JSON.parse(Deno.readTextFileSync(`${folder}/request.json`)),
    body: Deno.readTextFileSync(`${folder}/body`),
  };
}

Deno.test("record keeps each response of a WebSocket as an exchange, whose request has the whole input", async () => {
  await using server = await startResponsesSocket(CALLS);
  await using sandbox = new Sandbox();
  const recorder = await startRecorder(sandbox, server.baseUrl);
  let texts: readonly string[];
  {
    await using client = await SocketClient.open(`${recorder.origin}/v1`);
    const warm = await client.ask(create({ generate: false, input: [] }));
    const first = await client.ask(create({ previous_response_id: idOf(warm) }));
    await client.ask(create({ previous_response_id: idOf(first), input: [OUTPUT] }));
    await recorder.started.printed('"exchange"', 3);
    texts = client.texts;
  }
  const { code, ended } = await recorder.end();
  assert.deepEqual([code, ended.published, ended.over_socket, ended.dropped], [0, 3, 3, 0]);
  assert.deepEqual(server.refusals, []);
  assert.equal(server.upgrades[0]?.headers.authorization, "Bearer key-1");

  const bodies = [1, 2, 3].map((number) => filesOf(sandbox, number).body);
  assert.equal(bodies.join(""), texts.map((text) => `${text}\n`).join(""));
  assert.deepEqual(filesOf(sandbox, 2).request.body, server.requests[1]?.message);
  const { exchanges } = readFixture(denoFiles, `${sandbox.directory}/out`);
  const inputs = exchanges.map(({ request }) => (request.json as JsonObject).input as JsonObject[]);
  assert.deepEqual(inputs.map((items) => items.map(({ type }) => type ?? "message")), [
    [],
    ["message"],
    ["message", "reasoning", "function_call", "function_call_output"],
  ]);
  assert.deepEqual(exchanges.map(({ request }) => request.method), ["POST", "POST", "POST"]);
  const linted = await sandbox.call(["fixture", "lint", `${sandbox.directory}/out`]);
  assert.equal(linted.code, 0, linted.stdout + linted.stderr);
});

Deno.test("a command that uses two WebSockets at a time, and HTTP, is recorded whole", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const script = `
    const base = Deno.env.get("OPENAI_BASE_URL");
    const one = () => new Promise((resolve, reject) => {
      const socket = new WebSocket(base.replace(/^http/, "ws") + "/responses", {
        headers: { authorization: "Bearer key-1" },
      });
      socket.onopen = () => socket.send(JSON.stringify(${JSON.stringify(create())}));
      socket.onerror = (event) => reject(event.message);
      socket.onmessage = ({ data }) => {
        if (JSON.parse(data).type === "response.completed") {
          socket.close();
          resolve();
        }
      };
    });
    await Promise.all([one(), one()]);
    const body = JSON.stringify({ model: "gpt-test", stream: true, store: false, input: "hello" });
    const headers = { "content-type": "application/json" };
    await (await fetch(base + "/responses", { method: "POST", headers, body })).text();`;
  const called = await recordScript(sandbox, server, script);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stderr, /recorded 3 exchanges \(2 over WebSocket\) into/);
  const requests = [1, 2, 3].map((number) => filesOf(sandbox, number).request);
  assert.deepEqual(requests.map(({ transport, connection }) => [transport, connection]), [
    ["ws", 1],
    ["ws", 2],
    [undefined, undefined],
  ]);
});

Deno.test("the end of a test closes its WebSockets, and reports its exchanges", async () => {
  await using server = await startResponsesSocket({ script: () => answer([message("hi")]) });
  await using sandbox = new Sandbox();
  const origin = server.baseUrl.replace(/\/v1$/, "");
  const args = ["record", "--suite", "--json", "--upstream", origin, "--out", `${sandbox.directory}/out`];
  const started = sandbox.start(args, { stdin: "piped" });
  await started.printed('"ready"');
  const { environment } = JSON.parse(started.stdout.split("\n")[0] ?? "");
  const base = new URL(environment.OPENAI_BASE_URL);
  await using client = await SocketClient.open(`${base.origin}/t/a${base.pathname}`);
  await client.ask(create());
  const stdin = started.process.stdin.getWriter();
  await stdin.write(new TextEncoder().encode('{"type":"end","test":"a"}\n'));
  await started.printed('"test.ended"');
  const report = JSON.parse(started.stdout.trimEnd().split("\n").at(-1) ?? "");
  assert.deepEqual([report.exit_code, report.recorded], [0, 1]);
  assert.equal((await client.closed).code, 1001);
  await stdin.close();
  assert.equal((await started.ended()).code, 0);
});

Deno.test("a message with the token of the recorder goes nowhere, and costs record its exit code", async () => {
  await using server = await startResponsesSocket(CALLS);
  await using sandbox = new Sandbox();
  const origin = server.baseUrl.replace(/\/v1$/, "");
  const started = sandbox.start([
    ...["record", "--json", "--upstream", origin, "--out", `${sandbox.directory}/out`],
    ...["--token", TOKEN],
  ]);
  await started.printed('"ready"');
  const { origin: at } = JSON.parse(started.stdout.split("\n")[0] ?? "");
  const socket = new WebSocket(`${at.replace(/^http/, "ws")}/v1/responses`, {
    headers: { authorization: `Bearer ${TOKEN}` },
  });
  const closed = Promise.withResolvers<number>();
  socket.onopen = () => socket.send(JSON.stringify(create({ input: `my key is ${TOKEN}` })));
  socket.onclose = ({ code }) => closed.resolve(code);
  assert.equal(await closed.promise, 1008);
  assert.ok(!JSON.stringify(server.upgrades[0]?.headers).includes(TOKEN));
  started.process.kill("SIGINT");
  const { code, stdout } = await started.ended();
  assert.equal(code, 7);
  assert.match(stdout, /"code":"token_refused"/);
  assert.equal(server.requests.length, 0);
});

/** A WebSocket that reads only when it is asked to, on a bare connection: `WebSocket` reads by itself. */
async function connectUnread(origin: string, message: JsonObject): Promise<Deno.TcpConn> {
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
  const { code, ended } = await recorder.end();
  assert.deepEqual([code, ended.published], [0, 1]);
  assert.ok(filesOf(sandbox, 1).body === messages.map((message) => `${message}\n`).join(""));
});
