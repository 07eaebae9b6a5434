/** `reprise serve` with clients that use the WebSocket of the Responses API. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../../src/domain/json.ts";
import { writeFixture } from "../../doors/recordings/recording_files.ts";
import { Sandbox } from "../../support/reprise.ts";
import { SocketClient } from "../../support/socket_client.ts";
import {
  AGENT_FIELDS,
  agentLoop,
  PROMPT,
  responseEvents,
  SHELL_OUTPUT,
  socketExchange,
} from "../../support/socket_fixture.ts";
import { Listening } from "../listening.ts";

const CREATE: JsonObject = { type: "response.create", ...AGENT_FIELDS };
const WARM_UP: JsonObject = { ...CREATE, generate: false, input: [] };

/** Sends the bytes of an upgrade and of one message; returns all bytes that come, and whether the end was orderly. */
async function rawAnswer(
  server: Listening,
  headers: readonly string[],
  message: string | null,
): Promise<Uint8Array> {
  const { hostname, port } = new URL(server.origin);
  using connection = await Deno.connect({ hostname, port: Number(port) });
  const head = ["GET /v1/responses HTTP/1.1", "Upgrade: websocket", "Connection: Upgrade"];
  const key = ["Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="];
  const text = `${[...head, ...key, ...headers].join("\r\n")}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(text));
  if (message !== null) await connection.write(clientFrame(message));
  const parts: number[] = [];
  const buffer = new Uint8Array(65536);
  try {
    for (;;) {
      const read = await connection.read(buffer);
      if (read === null) break;
      parts.push(...buffer.subarray(0, read));
    }
  } catch (error) {
    assert(error instanceof Deno.errors.ConnectionReset, String(error));
  }
  return new Uint8Array(parts);
}

/** A masked text frame of at most 65,535 bytes (RFC 6455 §5.2); its mask is zero. */
function clientFrame(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(text);
  return new Uint8Array([0x81, 0x80 | 126, bytes.length >> 8, bytes.length & 255, 0, 0, 0, 0, ...bytes]);
}

/** Splits the bytes after an upgrade into whole frames, as `[opcode, length]`, and the number of bytes left over. */
function framesIn(bytes: Uint8Array): { readonly whole: readonly [number, number][]; readonly left: number } {
  const whole: [number, number][] = [];
  let at = 0;
  for (;;) {
    const [first, second] = bytes.subarray(at);
    if (first === undefined || second === undefined) break;
    const wide = second === 126;
    const length = wide ? (bytes[at + 2] ?? 0) << 8 | (bytes[at + 3] ?? 0) : second;
    const end = at + (wide ? 4 : 2) + length;
    if (end > bytes.length) break;
    whole.push([first & 15, length]);
    at = end;
  }
  return { whole, left: bytes.length - at };
}

function bodyOf(answer: Uint8Array): { readonly head: string; readonly body: Uint8Array } {
  const text = new TextDecoder("latin1").decode(answer);
  const end = text.indexOf("\r\n\r\n") + 4;
  return { head: text.slice(0, end), body: answer.subarray(end) };
}

Deno.test("serve plays a recording to two WebSockets one after the other, and names the exchange without a request", async () => {
  await using sandbox = new Sandbox();
  const fixture = writeFixture(`${sandbox.directory}/fixture`, agentLoop());
  const server = await Listening.start(sandbox, "serve", fixture, "--strict-usage");
  {
    await using client = await SocketClient.open(server.baseUrl);
    await client.ask(WARM_UP);
    await client.ask({ ...CREATE, previous_response_id: "resp_0", input: [PROMPT] });
  }
  {
    // Another connection knows no response of the first: the API's own error, and a miss that is counted.
    await using client = await SocketClient.open(server.baseUrl);
    const [event] = await client.ask({ ...CREATE, previous_response_id: "resp_1", input: [SHELL_OUTPUT] });
    assert.equal((event?.error as JsonObject).code, "previous_response_not_found");
  }
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.served, ended.unused.length], [7, 2, 1]);
});

Deno.test("a changed prompt is an error event, and serve ends with 7", async () => {
  await using sandbox = new Sandbox();
  const server = await Listening.start(
    sandbox,
    "serve",
    writeFixture(`${sandbox.directory}/fixture`, agentLoop()),
  );
  {
    await using client = await SocketClient.open(server.baseUrl);
    await client.ask(WARM_UP);
    const changed = { ...PROMPT, content: "Something else" };
    const [event] = await client.ask({ ...CREATE, previous_response_id: "resp_0", input: [changed] });
    assert.deepEqual([event?.type, event?.status, (event?.error as JsonObject).code], [
      "error",
      400,
      "fixture_miss",
    ]);
  }
  const miss = server.events.find(({ type }) => type === "miss");
  assert.match(miss?.message, /differs at .*To record it: .*reprise record --append --out \S+ -- \S+/);
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.missed], [7, 1]);
});

Deno.test("an upgrade with another Host, from a web page, or without the token is refused before 101", async () => {
  await using sandbox = new Sandbox();
  const fixture = writeFixture(`${sandbox.directory}/fixture`, agentLoop());
  const server = await Listening.start(sandbox, "serve", fixture, "--token", "token-of-the-server-1");
  const host = `Host: ${new URL(server.origin).host}`;
  const key = "Authorization: Bearer token-of-the-server-1";
  const statusOf = async (...headers: readonly string[]) => {
    const { head } = bodyOf(await rawAnswer(server, [...headers, "Connection: close"], null));
    return head.split(" ")[1];
  };
  assert.equal(await statusOf("Host: example.com", key), "421");
  assert.equal(await statusOf(host, key, "Origin: http://127.0.0.1"), "403");
  assert.equal(await statusOf(host, "Authorization: Bearer another"), "401");
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.turned_away], [7, 3]);
});

for (const [fault, isCut] of [["reset after 1 event", false], ["reset after 250 bytes", true]] as const) {
  Deno.test(`the fault "${fault}" on the raw socket: whole messages before it, then ${isCut ? "a part of a frame" : "nothing"}`, async () => {
    await using sandbox = new Sandbox();
    const fixture = writeFixture(`${sandbox.directory}/fixture`, agentLoop());
    const server = await Listening.start(sandbox, "serve", fixture, "--fault", fault);
    const host = `Host: ${new URL(server.origin).host}`;
    const { head, body } = bodyOf(await rawAnswer(server, [host], JSON.stringify(WARM_UP)));
    assert.match(head, /^HTTP\/1\.1 101 /);
    const [created] = responseEvents("resp_0", []);
    const { whole, left } = framesIn(body);
    assert.deepEqual(whole, [[1, JSON.stringify(created).length]]);
    assert.equal(left > 0, isCut, `${left} bytes of another frame`);
    await server.end();
  });
}

Deno.test("a stalled answer keeps its place; other lanes continue, and the 17th request at a time is refused", async () => {
  await using sandbox = new Sandbox();
  const lanes = Array.from({ length: 17 }, (_, index) => `lane_${index + 1}`);
  const exchanges = lanes.map((lane, index) =>
    socketExchange({
      message: { ...CREATE, stream_id: lane, input: [{ role: "user", content: lane }] },
      events: responseEvents(`resp_${index + 1}`, []).map((event) => ({ ...event, stream_id: lane })),
    })
  );
  const fixture = writeFixture(`${sandbox.directory}/fixture`, exchanges);
  const server = await Listening.start(sandbox, "serve", fixture, "--fault", "1-16: stall after 1 event");
  {
    await using client = await SocketClient.open(server.baseUrl);
    for (const lane of lanes.slice(0, 16)) {
      client.send({ ...CREATE, stream_id: lane, input: [{ role: "user", content: lane }] });
    }
    const begun = await client.until((events) => events.length >= 16);
    assert.deepEqual(new Set(begun.map(({ type }) => type)), new Set(["response.created"]));
    assert.deepEqual(new Set(begun.map(({ stream_id }) => stream_id)), new Set(lanes.slice(0, 16)));
    const [refused] = await client.ask({ ...CREATE, stream_id: "lane_17", input: [] });
    assert.deepEqual([refused?.type, refused?.stream_id], ["error", "lane_17"]);
    assert.equal((refused?.error as JsonObject).code, "websocket_stream_limit_reached");
  }
  await server.end();
});

Deno.test("recordings of tests play over WebSocket under /t/NAME, each its own", async () => {
  await using sandbox = new Sandbox();
  for (const name of ["one", "two"]) {
    writeFixture(`${sandbox.directory}/suite/${name}`, [
      socketExchange({ message: { ...CREATE, input: [PROMPT] }, events: responseEvents(`resp_${name}`, []) }),
    ]);
  }
  const server = await Listening.start(sandbox, "serve", `${sandbox.directory}/suite`, "--strict-usage");
  for (const name of ["two", "one"]) {
    await using client = await SocketClient.open(`${server.origin}/t/${name}/v1`);
    const events = await client.ask({ ...CREATE, input: [PROMPT] });
    assert.equal((events.at(-1)?.response as JsonObject).id, `resp_${name}`);
  }
  const { code, ended } = await server.end();
  assert.deepEqual([code, ended.served], [0, 2]);
});

Deno.test("with --no-websocket an upgrade gets 426", async () => {
  await using sandbox = new Sandbox();
  const fixture = writeFixture(`${sandbox.directory}/fixture`, agentLoop());
  const server = await Listening.start(sandbox, "serve", fixture, "--no-websocket");
  await assert.rejects(SocketClient.open(server.baseUrl));
  assert.equal(server.events.find(({ type }) => type === "skipped")?.status, 426);
  await server.end();
});
