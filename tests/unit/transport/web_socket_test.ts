import { deepStrictEqual, ok, rejects, strictEqual } from "node:assert/strict";
import { readText } from "../../../src/transport/http.ts";
import { type ClientSocket, openWebSocket, type SocketEvent } from "../../../src/transport/web_socket.ts";
import { cutFrame, type SocketBehaviour, startSocketServer } from "../../support/socket_server.ts";
import { test } from "../../support/test.ts";

const BYTES = new TextEncoder();

/** Opens a connection to a server with this behaviour, and passes it to `use`. */
async function connected(
  behaviour: SocketBehaviour,
  use: (socket: ClientSocket, stop: AbortController) => Promise<void>,
): Promise<void> {
  await using server = await startSocketServer(behaviour);
  const stop = new AbortController();
  const upgrade = await openWebSocket(optionsFor(server.port, stop.signal));
  ok("socket" in upgrade);
  try {
    await use(upgrade.socket, stop);
  } finally {
    upgrade.socket.terminate();
    if (!stop.signal.aborted) { while ((await upgrade.socket.next()).kind !== "close"); }
  }
}

function optionsFor(port: number, signal: AbortSignal) {
  return {
    url: `ws://127.0.0.1:${port}/v1/responses?api-version=1`,
    headers: { authorization: "Bearer sk-test" },
    signal,
    openTimeoutMs: 5000,
    maxMessageBytes: 1000,
    monotonic: () => performance.now(),
  };
}

function textOf(event: SocketEvent): string {
  return event.kind === "text" ? new TextDecoder().decode(event.bytes) : event.kind;
}

Deno.test("a WebSocket sends its headers, shows those of the answer, and negotiates no compression", async () => {
  await using server = await startSocketServer({});
  const { signal } = new AbortController();
  const upgrade = await openWebSocket(optionsFor(server.port, signal));
  ok("socket" in upgrade);
  strictEqual(upgrade.socket.headers.get("x-connection"), "1");
  strictEqual(upgrade.socket.headers.get("openai-organization"), "org-test");
  const request = server.upgrades[0];
  strictEqual(request?.url, "/v1/responses?api-version=1");
  strictEqual(request?.headers.authorization, "Bearer sk-test");
  strictEqual(request?.headers["sec-websocket-extensions"], undefined);
  upgrade.socket.close(1000);
  strictEqual((await upgrade.socket.next()).kind, "close");
});

Deno.test("messages arrive as the bytes that were sent, in order, with their times, and then the close", async () => {
  const texts = ["{}", '{"a": "ä€😀"}', ""];
  await connected({
    onSocket: (socket) => {
      socket.on("message", (data) => {
        for (const text of [...texts, data.toString()]) socket.send(text);
        socket.close(1012, "restart");
      });
    },
  }, async (socket) => {
    socket.send("hello");
    let last = 0;
    for (const text of [...texts, "hello"]) {
      const event = await socket.next();
      ok(event.kind === "text");
      deepStrictEqual(event.bytes, BYTES.encode(text));
      ok(event.arrivedAt >= last);
      last = event.arrivedAt;
    }
    const end = await socket.next();
    deepStrictEqual({ ...end, arrivedAt: 0 }, { kind: "close", code: 1012, reason: "restart", arrivedAt: 0 });
    strictEqual((await socket.next()).kind, "close");
    strictEqual(socket.isOpen, false);
    socket.send("ignored");
  });
});

Deno.test("a binary message is no text", async () => {
  await connected({ onSocket: (socket) => socket.send(new Uint8Array([1, 2])) }, async (socket) => {
    const event = await socket.next();
    ok(event.kind === "binary");
    deepStrictEqual(event.bytes, new Uint8Array([1, 2]));
  });
});

Deno.test("a refused upgrade shows status, headers and body", async () => {
  await using server = await startSocketServer({
    refusal: { status: 401, headers: { "x-request-id": "req_1" }, body: '{"error":{}}' },
  });
  const upgrade = await openWebSocket(optionsFor(server.port, new AbortController().signal));
  ok("refusal" in upgrade);
  strictEqual(upgrade.refusal.status, 401);
  strictEqual(upgrade.refusal.headers.get("x-request-id"), "req_1");
  strictEqual(await readText(upgrade.refusal.body, 1000), '{"error":{}}');
});

Deno.test("a redirect is a refusal: the key goes nowhere else", async () => {
  await using target = await startSocketServer({});
  await using server = await startSocketServer({
    refusal: { status: 307, headers: { location: `ws://127.0.0.1:${target.port}/` } },
  });
  const upgrade = await openWebSocket(optionsFor(server.port, new AbortController().signal));
  ok("refusal" in upgrade);
  strictEqual(upgrade.refusal.status, 307);
  strictEqual(await readText(upgrade.refusal.body, 1000), "");
  strictEqual(target.upgrades.length, 0);
});

test.long("a connection that is refused, or that nothing answers, is an error", async () => {
  const server = await startSocketServer({});
  await server[Symbol.asyncDispose]();
  await rejects(openWebSocket(optionsFor(server.port, new AbortController().signal)), /ECONNREFUSED|refused/);
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const options = optionsFor(listener.addr.port, new AbortController().signal);
  const silent = listener.accept();
  await rejects(openWebSocket({ ...options, openTimeoutMs: 50 }), /timed out/);
  (await silent).close();
});

for (const length of [1, 2, 5]) {
  Deno.test(`a frame that is cut after ${length} bytes is no message, and the close has no code`, async () => {
    await connected({
      onSocket: (socket, _, raw) => {
        socket.send("whole");
        cutFrame(raw, "broken", length);
      },
    }, async (socket) => {
      strictEqual(textOf(await socket.next()), "whole");
      const end = await socket.next();
      ok(end.kind === "close");
      strictEqual(end.code, 1006);
    });
  });
}

Deno.test("a message over the cap, and text that is not UTF-8, end the connection with their cause", async () => {
  await connected({ onSocket: (socket) => socket.send("x".repeat(1001)) }, async (socket) => {
    const end = await socket.next();
    ok(end.kind === "close");
    ok(/size/i.test(end.cause?.message ?? ""), String(end.cause));
  });
  await connected({
    onSocket: (_, __, raw) => void raw.write(new Uint8Array([0x81, 1, 0xff])),
  }, async (socket) => {
    const end = await socket.next();
    ok(end.kind === "close");
    ok(/UTF-8/i.test(end.cause?.message ?? ""), String(end.cause));
  });
});

Deno.test("aborting ends the wait for a message, and the connection", async () => {
  const closed = Promise.withResolvers<number>();
  await connected({ onSocket: (socket) => socket.on("close", closed.resolve) }, async (socket, stop) => {
    const waiting = socket.next();
    stop.abort(new Error("stopped"));
    await rejects(waiting, /stopped/);
    strictEqual(await closed.promise, 1006);
  });
});

Deno.test("aborting ends an upgrade", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const stop = new AbortController();
  const opening = openWebSocket(optionsFor(listener.addr.port, stop.signal));
  const connection = await listener.accept();
  stop.abort(new Error("stopped"));
  await rejects(opening, /stopped/);
  connection.close();
});

test.long("while messages wait to be taken, the server has to wait, and none is lost", async () => {
  const count = 60;
  let unsent = () => 0;
  await using server = await startSocketServer({
    onSocket: (socket) => {
      // The server waits half a minute for the end after it closed: it closes when the last one is sent.
      const close = () => socket.close(1000);
      for (let at = 0; at < count; at++) {
        socket.send(String(at).padEnd(1_000_000), at === count - 1 ? close : undefined);
      }
      unsent = () => socket.bufferedAmount;
    },
  });
  const options = optionsFor(server.port, new AbortController().signal);
  const upgrade = await openWebSocket({ ...options, maxMessageBytes: 1_000_000 });
  ok("socket" in upgrade);
  await new Promise((resolve) => setTimeout(resolve, 300));
  ok(unsent() > 20_000_000, `${unsent()} bytes are not sent`);
  for (let at = 0; at < count; at++) strictEqual(textOf(await upgrade.socket.next()).trim(), String(at));
  const end = await upgrade.socket.next();
  strictEqual(end.kind === "close" && end.code, 1000);
});

test.long("a peer that does not read leaves no room, and there is room again when it reads", async () => {
  let peer: { pause(): void; resume(): void } | undefined;
  const opened = Promise.withResolvers<void>();
  const onSocket: SocketBehaviour["onSocket"] = (socket) => {
    socket.pause();
    peer = socket;
    opened.resolve();
  };
  await connected({ onSocket }, async (socket) => {
    await opened.promise;
    const message = BYTES.encode("x".repeat(1024 * 1024));
    let sent = 0;
    while (socket.room() === null && sent < 64) {
      socket.send(message);
      sent += 1;
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    ok(sent < 64, "there was room for everything");
    peer?.resume();
    await socket.room();
    strictEqual(socket.room(), null);
  });
});
