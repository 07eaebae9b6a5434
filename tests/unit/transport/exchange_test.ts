import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import {
  type EventStream,
  type ExchangeOptions,
  readEventStream,
  type RetryInfo,
} from "../../../src/transport/exchange.ts";
import { createPlayer } from "../../../src/transport/player.ts";
import {
  type FakeClock,
  fakeClock,
  hangingSse,
  liveSend,
  realClock,
  requestTo,
  sse,
  withRawServer,
  withServer,
} from "./support.ts";

interface Attempt {
  readonly clock: FakeClock;
  readonly retries: RetryInfo[];
  readonly options: ExchangeOptions;
}

function attempt(origin: string, changes: Partial<ExchangeOptions> = {}): Attempt {
  const clock = fakeClock();
  const retries: RetryInfo[] = [];
  const options: ExchangeOptions = {
    send: liveSend(origin),
    request: requestTo(`${origin}/v1/responses`),
    signal: new AbortController().signal,
    clock,
    random: () => 0,
    classify: responsesApi.classify,
    onRetry: (info) => retries.push(info),
    ...changes,
  };
  return { clock, retries, options };
}

function openEventStream(options: ExchangeOptions): Promise<EventStream> {
  return readEventStream(options, (stream) => Promise.resolve({ result: stream, failure: null }));
}

async function textOf(options: ExchangeOptions): Promise<string> {
  const { events } = await openEventStream(options);
  let text = "";
  for await (const batch of events) text += batch.map(({ data }) => data).join("|");
  return text;
}

async function errorOf(promise: Promise<unknown>): Promise<RepriseError> {
  const error = await promise.then(() => assert.fail("must not succeed"), (error) => error);
  assert.ok(error instanceof RepriseError, String(error));
  assert.ok(!`${error.message} ${JSON.stringify(error.details)}`.includes("canary"), error.message);
  return error;
}

function json(
  status: number,
  error: Record<string, unknown>,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error }, { status, headers });
}

Deno.test("all events come, the first one included, and the headers of the answer with them", async () => {
  await withServer(
    () => sse(["data: 1\n\nda", "ta: 2\n\n", "data: 3"], { "openai-organization": "org-1" }),
    async (origin) => {
      const { options, retries } = attempt(origin);
      const stream = await openEventStream(options);
      const seen: string[] = [];
      for await (const batch of stream.events) seen.push(...batch.map(({ data }) => data));
      assert.deepEqual(seen, ["1", "2", "3"]);
      assert.deepEqual([stream.status, stream.headers.get("openai-organization"), retries.length], [
        200,
        "org-1",
        0,
      ]);
    },
  );
});

Deno.test("a failure before the first event is tried again, with the waits of the protocol", async (t) => {
  const rate = { code: "rate_limit_exceeded", message: "Slow down" };
  const rows: [string, (count: number) => Response, number[]][] = [
    ["429 with retry-after", () => json(429, rate, { "retry-after": "3" }), [3000]],
    ["429 without", () => json(429, rate), [500]],
    ["429 twice", (count) => count < 3 ? json(429, rate) : sse("data: ok\n\n"), [500, 1000]],
    ["500", () => new Response("<h1>oops</h1>", { status: 500 }), [500]],
    [
      "503 with a date",
      () => json(503, {}, { "retry-after": new Date(Date.UTC(2026, 10, 21) + 9000).toUTCString() }),
      [9000],
    ],
    ["409", () => json(409, { message: "Conflict" }), [500]],
    ["an empty stream", () => sse(""), [500]],
    ["a stream of comments only", () => sse(": OPENROUTER PROCESSING\n\n"), [500]],
    ["advice to try a refusal again", () => json(400, { message: "x" }, { "x-should-retry": "true" }), [500]],
  ];
  for (const [name, answer, slept] of rows) {
    await t.step(name, async () => {
      await withServer(
        (_request, count) => count === 1 || slept.length > 1 ? answer(count) : sse("data: ok\n\n"),
        async (origin) => {
          const { options, clock, retries } = attempt(origin);
          assert.equal(await textOf(options), "ok");
          assert.deepEqual(clock.slept, slept);
          assert.deepEqual(
            retries.map(({ attempt, delayMs }) => [attempt, delayMs]),
            slept.map((wait, i) => [i + 1, wait]),
          );
        },
      );
    });
  }
});

Deno.test("a request that cannot succeed is not tried again, and ends with its own code", async (t) => {
  const rows: [string, () => Response, string][] = [
    [
      "401",
      () => json(401, { message: "Incorrect API key provided: sk-canary-key", code: "invalid_api_key" }),
      "unauthorized",
    ],
    [
      "400",
      () => json(400, { message: "No tool output found", type: "invalid_request_error" }),
      "request_refused",
    ],
    [
      "spent quota",
      () => json(429, { code: "insufficient_quota", message: "x" }, { "retry-after": "1" }),
      "quota_exhausted",
    ],
    [
      "spent quota with advice",
      () => json(429, { code: "insufficient_quota", message: "x" }, { "x-should-retry": "true" }),
      "quota_exhausted",
    ],
    ["context", () => json(400, { code: "context_length_exceeded", message: "x" }), "context_overflow"],
    ["500 with advice", () => json(500, { message: "x" }, { "x-should-retry": "false" }), "provider_failed"],
    [
      "HTML",
      () => new Response("<h1>Log in</h1>", { headers: { "content-type": "text/html" } }),
      "bad_stream",
    ],
    ["JSON with an error and status 200", () => json(200, { code: 429, message: "x" }), "bad_stream"],
    ["no content", () => new Response(null, { status: 204 }), "bad_stream"],
    [
      "invalid UTF-8",
      () => new Response(Uint8Array.of(0x64, 0xff), { headers: { "content-type": "text/event-stream" } }),
      "bad_stream",
    ],
  ];
  for (const [name, answer, code] of rows) {
    await t.step(name, async () => {
      await withServer(answer, async (origin, count) => {
        const { options, clock } = attempt(origin);
        const error = await errorOf(openEventStream(options));
        assert.deepEqual([error.code, clock.slept.length, count()], [code, 0, 1], error.message);
      });
    });
  }
});

Deno.test("the error repeats the provider's message, for people and for programs", async () => {
  await withServer(
    () =>
      json(429, { code: "insufficient_quota", type: "insufficient_quota", message: "Spent.", param: null }, {
        "x-request-id": "req_7",
      }),
    async (origin) => {
      const error = await errorOf(openEventStream(attempt(origin).options));
      assert.equal(error.message, 'The account\'s quota is used up (HTTP 429, "insufficient_quota"): Spent');
      assert.deepEqual(error.details, {
        status: 429,
        provider_code: "insufficient_quota",
        provider_type: "insufficient_quota",
        param: null,
        retryable: false,
        request_id: "req_7",
      });
      assert.ok(error.hint);
    },
  );
});

Deno.test("an error names its request by the id that each provider gives it", async () => {
  for (const name of ["x-request-id", "request-id", "apim-request-id"]) {
    await withServer(() => json(400, { message: "No" }, { [name]: "req_8" }), async (origin) => {
      const error = await errorOf(openEventStream(attempt(origin).options));
      assert.equal(error.details.request_id, "req_8", name);
    });
  }
});

Deno.test("retries end, with the error of the last attempt", async () => {
  await withServer(
    (_request, count) => json(500 + count, { message: `attempt ${count}` }),
    async (origin, count) => {
      const { options, clock } = attempt(origin);
      const error = await errorOf(openEventStream(options));
      assert.match(error.message, /HTTP 503.*attempt 3$/);
      assert.deepEqual([count(), clock.slept], [3, [500, 1000]]);
    },
  );
});

Deno.test("connection errors are tried again", async () => {
  await withRawServer(
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\ndata: 1",
    async (origin) => {
      const { options, retries } = attempt(origin);
      assert.equal((await errorOf(openEventStream(options))).code, "stream_cut");
      assert.deepEqual(retries.map(({ failure }) => failure.code), ["stream_cut", "stream_cut"]);
    },
  );
  await withRawServer("", async (origin) => {
    const { options, retries } = attempt(origin);
    assert.equal((await errorOf(openEventStream(options))).code, "network_failed");
    assert.equal(retries.length, 2);
  });
});

Deno.test("nothing is tried again after the first event", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99\r\n\r\n";
  await withRawServer(`${head}data: 1\n\ndata: 2`, async (origin) => {
    const { options, retries } = attempt(origin);
    const { events } = await openEventStream(options);
    const seen: string[] = [];
    const error = await errorOf((async () => {
      for await (const batch of events) seen.push(...batch.map(({ data }) => data));
    })());
    assert.deepEqual([error.code, seen, retries.length], ["stream_cut", ["1"], 0]);
  });
});

Deno.test("a redirect ends the exchange and names the target's origin only", async () => {
  await withServer((_request, count) => {
    const location = count === 1 ? "https://elsewhere.example/v1?token=canary" : "/moved";
    return new Response(null, { status: 308, headers: { location } });
  }, async (origin, count) => {
    const { options } = attempt(origin);
    const error = await errorOf(openEventStream(options));
    assert.equal(error.code, "redirected");
    assert.equal(
      error.message,
      `Cannot use ${origin}/v1/responses: it redirects to https://elsewhere.example (HTTP 308)`,
    );
    assert.match((await errorOf(openEventStream(options))).message, new RegExp(`redirects to ${origin} `));
    assert.equal(count(), 2);
  });
});

Deno.test(
  "aborting ends the wait for the answer, for a retry and for events, with the signal's reason",
  async (t) => {
    const reason = new Error("stopped by the user");
    await t.step("while waiting to try again", async () => {
      const busy = () => json(500, { message: "x" }, { "retry-after": "60" });
      await withServer(busy, async (origin, count) => {
        const abort = new AbortController();
        const onRetry = () => void setTimeout(() => abort.abort(reason), 5);
        const { options } = attempt(origin, { signal: abort.signal, clock: realClock, onRetry });
        const start = performance.now();
        await assert.rejects(openEventStream(options), reason);
        assert.ok(performance.now() - start < 10_000);
        assert.equal(count(), 1);
      });
    });
    await t.step("before the first event and after it", async () => {
      for (const said of [": nothing yet\n\n", "data: 1\n\n"]) {
        const { response: hanging, gone } = hangingSse(said);
        await withServer(() => hanging, async (origin) => {
          const abort = new AbortController();
          const { options, retries } = attempt(origin, { signal: abort.signal });
          setTimeout(() => abort.abort(reason), 20);
          await assert.rejects(textOf(options), reason);
          await gone;
          assert.equal(retries.length, 0);
        });
      }
    });
    await t.step("before anything was sent", async () => {
      await withServer(() => sse("data: 1\n\n"), async (origin, count) => {
        const { options } = attempt(origin, { signal: AbortSignal.abort(reason) });
        await assert.rejects(openEventStream(options), reason);
        assert.equal(count(), 0);
      });
    });
  },
);

Deno.test("leaving the events early closes the connection, even before the first is looked at", async () => {
  for (const look of [false, true]) {
    const { response: hanging, gone } = hangingSse("data: 1\n\n");
    await withServer(() => hanging, async (origin) => {
      const { events } = await openEventStream(attempt(origin).options);
      const iterator = events[Symbol.asyncIterator]();
      if (look) await iterator.next();
      await iterator.return?.();
      await gone;
    });
  }
});

Deno.test("a played exchange goes the same way, and a missing one is not tried again", async () => {
  const chunks = [new TextEncoder().encode("data: 1\n\n")];
  const send = createPlayer(
    [{ status: 200, headers: { "content-type": "text/event-stream" }, chunks }],
  );
  const { options, retries } = attempt("https://api.openai.com", { send });
  assert.equal(await textOf(options), "1");
  assert.equal((await errorOf(openEventStream(options))).code, "fixture_miss");
  assert.equal(retries.length, 0);
});

Deno.test("a server that repeats the key does not get it into a message", async () => {
  const body = JSON.stringify({
    error: { message: "Who is canary-of-another-form? No canary-of-another-form!" },
  });
  await withServer(() => new Response(body, { status: 400 }), async (origin) => {
    const request = { url: origin, headers: { "api-key": "canary-of-another-form" }, body: "{}" };
    const error = await errorOf(openEventStream(attempt(origin, { request }).options));
    assert.match(error.message, /Who is \[key\]\? No \[key\]!$/);
  });
});
