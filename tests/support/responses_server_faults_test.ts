import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, rateLimited, reasoning, unfinished } from "./responses_server.ts";
import {
  endlessLine,
  htmlPage,
  httpError,
  invalidUtf8,
  quotaExhausted,
  redirect,
  serverError,
} from "./responses_server/faults.ts";
import { functionCall } from "./responses_server/script.ts";
import { eventsOf, post, requestBody, serverTest, types } from "./responses_server/testing.ts";

serverTest(
  "the server ends streams in every way that a client has to tell apart",
  {
    script: [
      answer([message("a")], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
      answer([unfinished(reasoning("half a thought"))], {
        end: { kind: "incomplete", reason: "max_output_tokens" },
      }),
      answer([message("a")], { end: { kind: "failed", error: { code: "server_error", message: "no" } } }),
      answer([], {
        end: { kind: "error_then_failed", error: { code: "insufficient_quota", message: "no" } },
      }),
      answer([], { end: { kind: "error", error: { code: null, message: "no" } } }),
      answer([functionCall("f", {})], { end: { kind: "cut" } }),
    ],
  },
  async (server) => {
    const ends: unknown[][] = [];
    for (let request = 0; request < 6; request++) {
      ends.push(types(await eventsOf(await post(server))).slice(-2));
    }
    assert.deepEqual(ends, [
      ["response.output_item.done", "response.incomplete"],
      ["response.reasoning_summary_text.delta", "response.incomplete"],
      ["response.output_item.done", "response.failed"],
      ["error", "response.failed"],
      ["response.in_progress", "error"],
      ["response.function_call_arguments.done", "response.output_item.done"],
    ]);
  },
);

serverTest(
  "the server breaks connections and stalls, and stopping it ends both",
  {
    script: [
      answer([message("a")], { end: { kind: "reset" } }),
      answer([message("a")], { end: { kind: "stall" } }),
    ],
  },
  async (server) => {
    await assert.rejects((await post(server)).text());
    const stalled = await post(server);
    const reader = stalled.body?.getReader();
    assert.equal((await reader?.read())?.done, false);
    const waiting = reader?.read();
    await server.stop();
    assert.equal((await waiting)?.done, true);
  },
);

serverTest(
  "the server fails requests as servers and proxies do",
  {
    script: [
      rateLimited({ retryAfter: "3" }),
      rateLimited(),
      quotaExhausted(),
      serverError(),
      htmlPage(),
      redirect("http://127.0.0.1:1/v1/responses"),
      httpError(503, { message: "busy", code: "server_is_overloaded" }),
      invalidUtf8(),
      endlessLine(1024 * 1024),
    ],
  },
  async (server) => {
    const got: string[] = [];
    for (let request = 0; request < 9; request++) {
      const response = await post(server);
      const bytes = await response.bytes();
      const extra = response.headers.get("retry-after") ?? response.headers.get("location") ?? "";
      got.push(`${response.status} ${response.headers.get("content-type")?.split(";")[0]} ${extra}`.trim());
      if (request === 7) assert.throws(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));
      if (request === 8) {
        assert(bytes.length > 1024 * 1024 && !new TextDecoder().decode(bytes).endsWith("\n"));
      }
    }
    assert.deepEqual(got, [
      "429 application/json 3",
      "429 application/json",
      "429 application/json",
      "500 application/json",
      "200 text/html",
      "307 undefined http://127.0.0.1:1/v1/responses",
      "503 application/json",
      "200 text/event-stream",
      "200 text/event-stream",
    ]);
    assert.match(await (await post(server)).text(), /no answer to request 10/);
  },
);

serverTest(
  "the server says the same whatever the writes, line ends and noise",
  {
    script: [
      answer([message("héllo 😀")]),
      answer([message("héllo 😀")], {
        delivery: { chunkBytes: 1, lineEnd: "\r\n" },
        noise: ["comments", "keepalive", "unknown_events"],
      }),
      answer([message("héllo 😀")], { delivery: { chunkBytes: 7, lineEnd: "\r" } }),
    ],
  },
  async (server) => {
    const known = (events: JsonObject[]) =>
      types(events).filter((type) => type !== "keepalive" && type !== "response.novelty.delta");
    const plain = await eventsOf(await post(server));
    const noisy = await eventsOf(await post(server));
    assert(noisy.length > plain.length);
    assert.deepEqual(known(noisy), known(plain));
    assert.deepEqual(known(await eventsOf(await post(server))), known(plain));
  },
);

serverTest(
  "the server answers a request without stream as one object",
  { script: [answer([message("whole")])] },
  async (server) => {
    const { output, status } = await (await post(server, requestBody("hello", { stream: false }))).json();
    assert.equal(output[0].content[0].text, "whole");
    assert.equal(status, "completed");
  },
);
