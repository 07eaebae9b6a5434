import assert from "node:assert/strict";
import { RepriseError } from "../../../src/domain/errors.ts";
import { discard, readText } from "../../../src/transport/http.ts";
import { createLiveSend } from "../../../src/transport/live.ts";
import { hangingSse, livePorts, liveSend, requestTo, sse, withRawServer, withServer } from "./support.ts";
import { test } from "../../support/test.ts";

const SIGNAL = new AbortController().signal;

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function codeIs(code: string, pattern: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof RepriseError, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(error.message, pattern);
    assert.ok(!`${error.message} ${error.hint} ${JSON.stringify(error.details)}`.includes("canary"));
    return true;
  };
}

Deno.test(
  "a request is sent unchanged, asks for no compression, and the answer comes back with its headers",
  async () => {
    const seen: (string | null)[] = [];
    await withServer(async (request) => {
      seen.push(request.method, request.headers.get("authorization"), request.headers.get("accept-encoding"));
      await Promise.resolve();
      return sse("data: 1\n\n", { "x-request-id": "req_1" });
    }, async (origin) => {
      const response = await liveSend(origin)(requestTo(`${origin}/v1/responses`), SIGNAL);
      assert.deepEqual([response.status, response.headers.get("x-request-id")], [200, "req_1"]);
      assert.equal(await readText(response.body, 1000), "data: 1\n\n");
      assert.deepEqual(seen, ["POST", "Bearer sk-canary-key", "identity"]);
    });
  },
);

Deno.test("a redirect is an answer and is not followed", async () => {
  await withServer(
    (_request, count) =>
      count === 1 ? Response.redirect("https://elsewhere.example/v1?token=secret", 307) : sse("data: 1\n\n"),
    async (origin, count) => {
      const response = await liveSend(origin)(requestTo(origin), SIGNAL);
      await discard(response.body);
      assert.deepEqual([response.status, count()], [307, 1]);
    },
  );
});

Deno.test("the key goes to its own origin only, over https or to this machine", async () => {
  let fetched = 0;
  const ports = livePorts(() => {
    fetched++;
    return Promise.reject(new TypeError("must not be called"));
  });
  const limits = { responseTimeoutMs: 1000, idleTimeoutMs: 1000, maxBodyBytes: 1000 };
  const rows: [string, string, RegExp][] = [
    [
      "https://api.openai.com",
      "https://api.openai.com.evil.example/v1",
      /the key belongs to https:\/\/api\.openai\.com$/,
    ],
    ["https://api.openai.com", "https://api.openai.com:8443/v1", /the key belongs/],
    ["https://api.openai.com", "http://api.openai.com/v1", /the key belongs/],
    ["http://127.0.0.1:80", "http://127.0.0.1:81/", /the key belongs/],
    ["http://gateway.example", "http://gateway.example/v1", /unencrypted/],
    ["http://10.0.0.7:8080", "http://10.0.0.7:8080/v1", /unencrypted/],
    ["http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example/v1", /unencrypted/],
  ];
  for (const [origin, url, pattern] of rows) {
    const send = createLiveSend(ports, { ...limits, origin });
    await assert.rejects(send(requestTo(url), SIGNAL), codeIs("insecure_url", pattern));
  }
  assert.equal(fetched, 0);
});

Deno.test("connection failures name the host and the cause", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const closed = `http://127.0.0.1:${listener.addr.port}`;
  listener.close();
  await assert.rejects(
    liveSend(closed)(requestTo(closed), SIGNAL),
    codeIs("network_failed", /^Cannot reach 127\.0\.0\.1:\d+: the connection was refused$/),
  );
  await withServer(() => sse(""), async (origin) => {
    const tls = origin.replace("http:", "https:");
    await assert.rejects(
      liveSend(tls)(requestTo(tls), SIGNAL),
      codeIs("network_failed", /TLS handshake failed/),
    );
  });
});

Deno.test("names that do not resolve and certificates that are not trusted are different errors", async () => {
  const rows: [string, RegExp][] = [
    [
      "client error (Connect): dns error: failed to lookup address information: Name or service not known",
      /does not resolve$/,
    ],
    ["client error (Connect): invalid peer certificate: UnknownIssuer", /certificate is not trusted$/],
    [
      "client error (Connect): tcp connect error: Network is unreachable (os error 101)",
      /network is unreachable$/,
    ],
    [
      "client error (SendRequest): connection closed before message completed",
      /broke off before the answer$/,
    ],
    ["something\nquite new", /: "something quite new"$/],
  ];
  for (const [said, pattern] of rows) {
    // Versions of Deno say it in the message or in the cause.
    for (const error of [new TypeError(said), new TypeError("fetch failed", { cause: new Error(said) })]) {
      const ports = livePorts(() => Promise.reject(error));
      const limits = {
        responseTimeoutMs: 1000,
        idleTimeoutMs: 1000,
        maxBodyBytes: 1000,
        origin: "https://a.example",
      };
      const sent = createLiveSend(ports, limits)(requestTo("https://a.example/v1"), SIGNAL);
      await assert.rejects(sent, codeIs("network_failed", pattern));
    }
  }
});

Deno.test("a header that HTTP cannot carry is refused without quoting it", async () => {
  const origin = "http://127.0.0.1:9";
  for (const value of ["Bearer sk-canary\nx", "Bearer sk-canary\u4e00"]) {
    const sent = liveSend(origin)({ url: origin, headers: { authorization: value }, body: "" }, SIGNAL);
    await assert.rejects(sent, codeIs("bad_configuration", /"authorization"/));
  }
});

Deno.test("a connection that breaks off in the middle is a cut", async () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
  await withRawServer(`${head}9\r\ndata: 1\n\n\r\n`, async (origin) => {
    const response = await liveSend(origin)(requestTo(origin), SIGNAL);
    await assert.rejects(readText(response.body, 1000), codeIs("stream_cut", /broke off in the middle/));
  });
});

Deno.test("no answer and a silent body run into their timeouts", async () => {
  const held = Promise.withResolvers<Response>();
  await withServer(() => held.promise, async (origin) => {
    await assert.rejects(
      liveSend(origin, { responseTimeoutMs: 40 })(requestTo(origin), SIGNAL),
      codeIs("network_failed", /no answer within 0\.04 s$/),
    );
    held.resolve(sse(""));
  });
  const { response: hanging, gone } = hangingSse("data: 1\n\n");
  await withServer(() => hanging, async (origin) => {
    // The longer limit on the answer must not hide the shorter one on the body.
    const response = await liveSend(origin, { responseTimeoutMs: 20_000, idleTimeoutMs: 40 })(
      requestTo(origin),
      SIGNAL,
    );
    await assert.rejects(readText(response.body, 1000), codeIs("stream_cut", /nothing came for 0\.04 s$/));
    await gone;
  });
});

test.long("a body that keeps talking meets no idle timeout", async () => {
  async function* slow() {
    for (let part = 0; part < 12; part++) {
      await new Promise((resolve) => setTimeout(resolve, 150));
      yield new TextEncoder().encode("data: 1\n\n");
    }
  }
  await withServer(() => new Response(ReadableStream.from(slow())), async (origin) => {
    const response = await liveSend(origin, { idleTimeoutMs: 1500 })(requestTo(origin), SIGNAL);
    assert.equal((await readText(response.body, 1000)).length, 108);
  });
});

Deno.test(
  "aborting rejects at once with the signal's reason, before and after the answer, and leaves nothing",
  async () => {
    const reason = new Error("stopped by the user");
    const held = Promise.withResolvers<Response>();
    await withServer(() => held.promise, async (origin) => {
      const abort = new AbortController();
      const sent = liveSend(origin)(requestTo(origin), abort.signal);
      setTimeout(() => abort.abort(reason), 10);
      await assert.rejects(sent, reason);
      await assert.rejects(liveSend(origin)(requestTo(origin), abort.signal), reason);
      held.resolve(sse(""));
    });
    const { response: hanging, gone } = hangingSse("data: 1\n\n");
    await withServer(() => hanging, async (origin) => {
      const abort = new AbortController();
      const response = await liveSend(origin)(requestTo(origin), abort.signal);
      const body = response.body[Symbol.asyncIterator]();
      assert.equal((await body.next()).done, false);
      const next = body.next();
      const start = performance.now();
      abort.abort(reason);
      await assert.rejects(next, reason);
      assert.ok(performance.now() - start < 10_000);
      await gone;
    });
  },
);

Deno.test("releasing a body that was not read, or only in part, closes the connection", async () => {
  const rows: [Record<string, string>, number][] = [[{}, 0], [{}, 1], [{ "content-encoding": "gzip" }, 0]];
  for (const [headers, parts] of rows) {
    const { response: hanging, gone } = hangingSse("data: 1\n\n");
    for (const [name, value] of Object.entries(headers)) hanging.headers.set(name, value);
    await withServer(() => hanging, async (origin) => {
      const response = await liveSend(origin)(requestTo(origin), SIGNAL);
      const body = response.body[Symbol.asyncIterator]();
      for (let part = 0; part < parts; part++) await body.next();
      await body.return?.();
      await gone;
    });
  }
});

Deno.test("a gzipped answer is read although the request accepts only plain text, and its decoded bytes are counted", async () => {
  const small = await gzip("data: packed\n\n");
  const bomb = await gzip("x".repeat(4 * 1024 * 1024));
  assert.ok(bomb.length < 8192);
  await withServer((_request, count) => {
    const headers = { "content-encoding": "gzip", "content-type": "text/event-stream" };
    return new Response(count === 1 ? small : bomb, { headers });
  }, async (origin) => {
    const send = liveSend(origin, { maxBodyBytes: 1024 * 1024 });
    assert.equal(await readText((await send(requestTo(origin), SIGNAL)).body, 1000), "data: packed\n\n");
    const response = await send(requestTo(origin), SIGNAL);
    await assert.rejects(readText(response.body, 1e9), codeIs("bad_stream", /longer than 1048576 bytes$/));
  });
});

Deno.test("an endless answer ends at the cap", async () => {
  const chunk = new Uint8Array(65_536);
  const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
  await withServer(() => new Response(endless()), async (origin) => {
    const response = await liveSend(origin, { maxBodyBytes: 1_000_000 })(requestTo(origin), SIGNAL);
    await assert.rejects(readText(response.body, 1e9), codeIs("bad_stream", /longer than 1000000 bytes$/));
  });
});

/** A body whose reads never end by themselves and hear no signal, as a runtime may return. */
function deafBody(
  first: string,
): { readonly body: ReadableStream<Uint8Array>; readonly canceled: () => boolean } {
  let canceled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(new TextEncoder().encode(first)),
    cancel: () => {
      canceled = true;
    },
  });
  return { body, canceled: () => canceled };
}

for (const moment of ["between two reads", "during a read"] as const) {
  Deno.test(`an abort ${moment} ends the wait, whatever the runtime's body does`, async () => {
    const { body, canceled } = deafBody("data: 1\n\n");
    const headers = { "content-type": "text/event-stream" };
    const ports = livePorts(() => Promise.resolve(new Response(body, { headers })));
    const send = createLiveSend(ports, {
      responseTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      maxBodyBytes: 1000,
      origin: "http://127.0.0.1:9",
    });
    const abort = new AbortController();
    const response = await send(requestTo("http://127.0.0.1:9"), abort.signal);
    const iterator = response.body[Symbol.asyncIterator]();
    assert.equal((await iterator.next()).done, false);
    const reason = new Error("stopped");
    if (moment === "between two reads") abort.abort(reason);
    const next = iterator.next();
    abort.abort(reason);
    await assert.rejects(next, reason);
    assert.ok(canceled());
  });
}
