import { deepStrictEqual, match, ok, rejects, strictEqual } from "node:assert/strict";
import { cutFrame } from "../../support/socket_server.ts";
import {
  answerAll,
  eventsOf,
  inputs,
  refusing,
  reply,
  say,
  scene,
  sendAll,
  sentBack,
  textOf,
} from "./socket_scene.ts";
import { test } from "../../support/test.ts";

Deno.test("an answer over a WebSocket is an event stream with the headers of the upgrade", async () => {
  await scene(answerAll, async ({ send, received, overHttp, notes }) => {
    const response = await send([say("hi")]);
    strictEqual(response.status, 200);
    strictEqual(response.transport, "ws");
    strictEqual(response.headers.get("content-type"), "text/event-stream");
    strictEqual(response.headers.get("openai-organization"), "org-test");
    strictEqual(response.headers.get("sec-websocket-accept"), null);
    const events = eventsOf("resp_1", "r1").map((event) =>
      `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
    );
    strictEqual(await textOf(response), events.join(""));
    deepStrictEqual(received, [{ type: "response.create", model: "m", store: false, input: [say("hi")] }]);
    deepStrictEqual([overHttp, notes], [[], []]);
  });
});

test.long("a request that extends the last one sends only its new items", async () => {
  await scene(answerAll, async ({ send, received }) => {
    await textOf(await send([say("a")]));
    await textOf(await send([say("a"), sentBack("r1"), say("b")]));
    // The id of a message is not always sent back.
    const { id: _, ...anonymous } = sentBack("r2");
    await textOf(await send([say("a"), sentBack("r1"), say("b"), anonymous, say("c"), say("d")]));
    deepStrictEqual(
      received.slice(1).map(({ previous_response_id, input }) => [previous_response_id, input]),
      [
        ["resp_1", [say("b")]],
        ["resp_2", [say("c"), say("d")]],
      ],
    );
  });
});

for (
  const [why, input, more] of [
    ["another input", [say("other"), sentBack("r1"), say("b")], {}],
    ["another field", [say("a"), sentBack("r1"), say("b")], { model: "n" }],
    ["a changed output", [say("a"), sentBack("r9"), say("b")], {}],
    ["a missing output", [say("a"), say("b")], {}],
    ["nothing new", [say("a"), sentBack("r1")], {}],
    ["a longer output", [say("a"), { ...sentBack("r1"), note: "x" }, say("b")], {}],
  ] as const
) {
  Deno.test(`a request with ${why} sends its whole input`, async () => {
    await scene(answerAll, async ({ send, received }) => {
      await textOf(await send([say("a")]));
      await textOf(await send(input, more));
      strictEqual(received[1]?.previous_response_id, undefined);
      deepStrictEqual(received[1]?.input, input);
    });
  });
}

for (
  const [name, error] of [
    ["with its code", {
      code: "previous_response_not_found",
      message: "Not found.",
    }],
    ["without a code", { code: null, message: "Invalid previous_response_id." }],
    ["by its parameter", { code: null, message: "No.", param: "previous_response_id" }],
  ] as const
) {
  Deno.test(`a response that the server lost (${name}) is no failure: the whole input is sent`, async () => {
    await scene((socket, message, nth, raw) => {
      if (message.previous_response_id === undefined) answerAll(socket, message, nth, raw);
      else sendAll(socket, [refusing(error, 400)]);
    }, async ({ send, received, connections }) => {
      await textOf(await send([say("a")]));
      match(await textOf(await send([say("a"), sentBack("r1"), say("b")])), /resp_3/);
      deepStrictEqual(inputs(received), [
        [undefined, ["message"]],
        ["resp_1", ["message"]],
        [undefined, ["message", "message", "message"]],
      ]);
      deepStrictEqual(connections, [1, 1, 1]);
    });
  });
}

Deno.test("a miss that names previous_response_id is no lost response: nothing is sent again", async () => {
  const error = { code: "fixture_miss", message: "It differs at previous_response_id" };
  await scene((socket, message, nth, raw) => {
    if (message.previous_response_id === undefined) answerAll(socket, message, nth, raw);
    else sendAll(socket, [refusing(error, 400)]);
  }, async ({ send, received }) => {
    await textOf(await send([say("a")]));
    strictEqual((await send([say("a"), sentBack("r1"), say("b")])).status, 400);
    strictEqual(received.length, 2);
  });
});

const LIMIT = refusing({ code: "websocket_connection_limit_reached", message: "limit reached" }, 400);

Deno.test("at the limit of a connection the whole input goes over another one", async () => {
  await scene((socket, message, nth, raw) => {
    if (nth !== 2) return answerAll(socket, message, nth, raw);
    sendAll(socket, [LIMIT]);
    socket.close(1000);
  }, async ({ send, received, connections, overHttp }) => {
    await textOf(await send([say("a")]));
    match(await textOf(await send([say("a"), sentBack("r1"), say("b")])), /resp_3/);
    deepStrictEqual(connections, [1, 1, 2]);
    strictEqual(received[2]?.previous_response_id, undefined);
    deepStrictEqual(overHttp, []);
  });
});

Deno.test("the limit of a connection in the middle of an answer is a cut", async () => {
  await scene(
    (socket) => sendAll(socket, [...eventsOf("resp_1", "r1").slice(0, 2), LIMIT]),
    async ({ send }) => {
      const response = await send([say("a")]);
      await rejects(textOf(response), { code: "stream_cut" });
    },
  );
});

Deno.test("a connection that closed between requests is replaced", async () => {
  const closed = Promise.withResolvers<void>();
  await scene((socket, message, nth, raw) => {
    answerAll(socket, message, nth, raw);
    if (nth > 1) return;
    socket.on("close", () => closed.resolve());
    socket.close(1001, "idle");
  }, async ({ send, received, connections }) => {
    await textOf(await send([say("a")]));
    await closed.promise;
    match(await textOf(await send([say("a"), sentBack("r1"), say("b")])), /resp_2/);
    deepStrictEqual(connections, [1, 2]);
    strictEqual(received[1]?.previous_response_id, undefined);
  });
});

test.long("a reused connection that closes before it answers is replaced at once", async () => {
  await scene((socket, message, nth, raw) => {
    if (nth === 2) raw.destroy();
    else answerAll(socket, message, nth, raw);
  }, async ({ send, connections }) => {
    await textOf(await send([say("a")]));
    match(await textOf(await send([say("a"), sentBack("r1"), say("b")])), /resp_3/);
    deepStrictEqual(connections, [1, 1, 2]);
  });
});

for (const code of [1001, 1005, 1011, 1012, 1013]) {
  Deno.test(`a close with ${code} before the answer is a cut that may be tried again`, async () => {
    await scene(
      (socket) => code === 1005 ? socket.close() : socket.close(code, "why"),
      async ({ send, overHttp }) => {
        await rejects(send([say("a")]), { code: "stream_cut" });
        deepStrictEqual(overHttp, []);
      },
    );
  });
}

for (const code of [1000, 1002, 1003, 1007, 1008, 1009, 1010, 4000]) {
  Deno.test(`after a close with ${code} before the answer the run uses HTTP`, async () => {
    await scene((socket) => socket.close(code, "no"), async ({ send, received, overHttp, notes }) => {
      strictEqual((await send([say("a")])).status, 418);
      strictEqual((await send([say("a")])).status, 418);
      strictEqual(received.length, 1);
      strictEqual(overHttp.length, 2);
      strictEqual(notes.length, 1);
      match(notes[0] ?? "", new RegExp(`code ${code}`));
    });
  });
}

for (const at of [1, 2]) {
  for (const code of [1000, 1001, 1002, 1003, 1008, 1011, 1012, null]) {
    test.long(`a loss (${code ?? "without a close"}) after message ${at} is a cut, then the whole input`, async () => {
      await scene((socket, message, nth, raw) => {
        if (nth !== 1) return answerAll(socket, message, nth, raw);
        sendAll(socket, eventsOf("resp_1", "r1").slice(0, at));
        if (code === null) cutFrame(raw, "{}", 3);
        else socket.close(code, "why");
      }, async ({ send, received, connections, overHttp }) => {
        const response = await send([say("a")]);
        const read: string[] = [];
        await rejects(async () => {
          for await (const chunk of response.body) read.push(new TextDecoder().decode(chunk));
        }, { code: "stream_cut" });
        strictEqual(read.length, at);
        await textOf(await send([say("a"), sentBack("r1"), say("b")]));
        strictEqual(received[1]?.previous_response_id, undefined);
        deepStrictEqual([connections, overHttp], [[1, 2], []]);
      });
    });
  }
}

Deno.test("an error with a status is an answer with that status and the headers of the error", async () => {
  const error = { code: "rate_limit_exceeded", message: "Slow down.", headers: { "Retry-After": "7" } };
  await scene((socket, message, nth, raw) => {
    if (nth === 2) sendAll(socket, [refusing(error, 429)]);
    else answerAll(socket, message, nth, raw);
  }, async ({ send, received, connections }) => {
    await textOf(await send([say("a")]));
    const refused = await send([say("a"), sentBack("r1"), say("b")]);
    strictEqual(refused.status, 429);
    strictEqual(refused.headers.get("retry-after"), "7");
    deepStrictEqual(JSON.parse(await textOf(refused)), { error });
    // An error evicts the response that the request continued.
    await textOf(await send([say("a"), sentBack("r1"), say("b")]));
    strictEqual(received[2]?.previous_response_id, undefined);
    deepStrictEqual(connections, [1, 1, 1]);
  });
});

Deno.test("an error in the middle of an answer ends it, and the next request has a connection of its own", async () => {
  await scene((socket, message, nth, raw) => {
    if (nth > 1) return answerAll(socket, message, nth, raw);
    const events = eventsOf("resp_1", "r1");
    sendAll(socket, [
      events[0] ?? {},
      refusing({ code: "server_error", message: "Oops." }, 500),
      events[2] ?? {},
    ]);
  }, async ({ send, connections }) => {
    const text = await textOf(await send([say("a")]));
    match(text, /event: error\n/);
    ok(!text.includes("response.completed"));
    match(await textOf(await send([say("a")])), /resp_2/);
    deepStrictEqual(connections, [1, 2]);
  });
});

test.long("a failed or incomplete response is not continued", async () => {
  for (const status of ["failed", "incomplete"]) {
    await scene((socket) => {
      const [created = {}, done = {}] = eventsOf("resp_1", "r1");
      const response = { id: "resp_1", status, output: [reply("r1")] };
      sendAll(socket, [created, done, { type: `response.${status}`, response }]);
    }, async ({ send, received }) => {
      await textOf(await send([say("a")]));
      await textOf(await send([say("a"), sentBack("r1"), say("b")]));
      strictEqual(received[1]?.previous_response_id, undefined);
    });
  }
});
