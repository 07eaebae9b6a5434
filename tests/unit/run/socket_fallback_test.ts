import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { livePorts } from "../transport/support.ts";
import { answerAll, eventsOf, say, scene, sendAll, textOf } from "./socket_scene.ts";
import { test } from "../../support/test.ts";

Deno.test("a binary message breaks the protocol", async () => {
  await scene((socket) => socket.send(new Uint8Array([1])), async ({ send }) => {
    await rejects(send([say("a")]), { code: "bad_stream" });
  });
});

Deno.test("bytes that are no frame break the protocol", async () => {
  await scene((_, __, ___, raw) => void raw.write(new Uint8Array([0xff, 0xff, 0xff])), async ({ send }) => {
    await rejects(send([say("a")]), { code: "bad_stream" });
  });
});

test.long("a silent server is an error: before the answer, and inside it", async () => {
  await scene(() => {}, async ({ send }) => {
    await rejects(send([say("a")]), { code: "network_failed", message: /no answer within 0.05 s/ });
  }, { options: { responseTimeoutMs: 50 } });
  await scene((socket) => sendAll(socket, eventsOf("resp_1", "r1").slice(0, 2)), async ({ send }) => {
    await rejects(textOf(await send([say("a")])), { code: "stream_cut", message: /nothing came for 0.05 s/ });
  }, { options: { idleTimeoutMs: 50 } });
});

Deno.test("an answer over the cap is refused", async () => {
  await scene((socket, message, nth, raw) => {
    sendAll(socket, [{ type: "response.created", response: {}, pad: "x".repeat(200) }]);
    answerAll(socket, message, nth, raw);
  }, async ({ send }) => {
    await rejects(textOf(await send([say("a")])), { code: "bad_stream" });
  }, { options: { maxBodyBytes: 100 } });
});

for (const isLater of [false, true]) {
  Deno.test(`stopping ${isLater ? "a later" : "the first"} request ends its wait, and the connection`, async () => {
    const closed = Promise.withResolvers<void>();
    await scene((socket, message, nth, raw) => {
      if (isLater && nth === 1) return answerAll(socket, message, nth, raw);
      socket.on("close", () => closed.resolve());
      sendAll(socket, eventsOf("resp_1", "r1").slice(0, 1));
    }, async ({ send }) => {
      if (isLater) await textOf(await send([say("a")]));
      const stop = new AbortController();
      const reading = textOf(await send([say("b")], {}, stop.signal));
      const begun = performance.now();
      setTimeout(() => stop.abort(new Error("stopped")), 20);
      await rejects(reading, /stopped/);
      ok(performance.now() - begun < 2000);
      await closed.promise;
    });
  });
}

Deno.test("an answer that is not read to its end takes the connection with it", async () => {
  await scene(answerAll, async ({ send, connections }) => {
    const response = await send([say("a")]);
    const events = response.body[Symbol.asyncIterator]();
    await events.next();
    await events.return?.();
    match(await textOf(await send([say("b")])), /resp_2/);
    deepStrictEqual(connections, [1, 2]);
  });
});

for (const status of [301, 400, 401, 403, 404, 405, 426, 429, 500, 503]) {
  Deno.test(`a server that refuses a WebSocket with ${status} gets HTTP for the whole run`, async () => {
    await scene(answerAll, async ({ send, overHttp, notes }) => {
      strictEqual((await send([say("a")])).status, 418);
      strictEqual((await send([say("b")])).status, 418);
      strictEqual(overHttp.length, 2);
      strictEqual(notes.length, 1);
      match(notes[0] ?? "", new RegExp(`refused the WebSocket \\(HTTP ${status}\\)`));
    }, { behaviour: { refusal: { status } } });
  });
}

Deno.test("without a connection one request uses HTTP, whose error says why", async () => {
  await scene(answerAll, async ({ send, overHttp, notes }) => {
    strictEqual((await send([say("a")])).status, 418);
    strictEqual(overHttp.length, 1);
    match(notes[0] ?? "", /Cannot open a WebSocket/);
  }, { url: () => "http://127.0.0.1:1/v1" });
});

Deno.test("a proxy gets no WebSocket", async () => {
  const ports = {
    ...livePorts(),
    env: (name: string) => name === "HTTPS_PROXY" ? "http://proxy:3128" : undefined,
  };
  await scene(answerAll, async ({ send, overHttp, notes }) => {
    strictEqual((await send([say("a")])).status, 418);
    strictEqual(overHttp.length, 1);
    match(notes[0] ?? "", /proxy:3128/);
  }, { options: { ports }, url: () => "https://api.example.test/v1" });
});

Deno.test("the key goes to its origin only, and never unencrypted over a network", async () => {
  await scene(answerAll, async ({ send, overHttp }) => {
    await rejects(send([say("a")]), { code: "insecure_url" });
    deepStrictEqual(overHttp, []);
  }, { options: { origin: "https://api.example.test" } });
  await scene(answerAll, async ({ send, overHttp }) => {
    await rejects(
      send([say("a")]),
      (error) => error instanceof RepriseError && error.code === "insecure_url",
    );
    deepStrictEqual(overHttp, []);
  }, { url: () => "http://192.0.2.1/v1" });
});
