/** Faults of networks and servers: each with its exit code and the kept events. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { answer, message, rateLimited, reasoning, unfinished } from "../support/responses_server.ts";
import {
  endlessLine,
  htmlPage,
  httpError,
  invalidUtf8,
  redirect,
  serverError,
} from "../support/responses_server/faults.ts";
import type { ScriptedResponse } from "../support/responses_server/script.ts";
import { ending, events } from "../support/reprise.ts";
import { assertError, type ExpectedError, HELLO, Place, READS_A } from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s", "Hi"];
/** One more than the cap of a line. */
const OVER_THE_CAP = 64 * 1024 * 1024 + 1;

/** A run against one answer: what it ends with, after how many requests. */
function ends(response: ScriptedResponse, expected: ExpectedError & { readonly requests?: number }) {
  return async () => {
    await using place = new Place(() => response);
    assertError(await place.call(RUN), expected);
    assert.equal(place.server.requests.length, expected.requests ?? 1);
    assert.equal(place.sandbox.turns("s").at(-1).events.at(-1).type, "run_ended");
  };
}

function kinds(place: Place): string[] {
  return place.sandbox.turns("s").map(({ kind }) => kind);
}

test("a base URL that leads nowhere: that is no URL, or more than a URL, is exit 2", async () => {
  await using place = new Place([]);
  const urls = [
    "api.openai.com/v1",
    "ftp://127.0.0.1/v1",
    "file:///etc/passwd",
    "https://user:secret@127.0.0.1/v1",
    "https://127.0.0.1/v1?key=x",
    "https://127.0.0.1/v1#x",
    "https://",
  ];
  for (const url of urls) {
    const called = await place.call(["run", "--json", "--base-url", url, "Hi"]);
    assertError(called, { code: "bad_url", exit: 2, hint: /--base-url/ });
  }
});

test("a base URL that leads nowhere: that would carry the key unencrypted to another machine is exit 2, and nothing is sent", async () => {
  await using place = new Place([]);
  // The unspecified address reaches this machine's server, but is not loopback.
  const url = place.server.baseUrl.replace("127.0.0.1", "0.0.0.0");
  const called = await place.call(["run", "--json", "--base-url", url, "Hi"]);
  assertError(called, { code: "insecure_url", exit: 2, says: /unencrypted/, hint: /https/ });
  assert.equal(place.server.requests.length, 0);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
});

test.long("a base URL that leads nowhere: a name that does not resolve is exit 10, after reported retries", async () => {
  await using place = new Place([]);
  const called = await place.call([...RUN, "--base-url", "https://no-such-host.invalid/v1"]);
  assertError(called, { code: "network_failed", exit: 10, says: /no-such-host\.invalid/ });
  const retries = events(called).filter((event) => event.type === "notice" && event.kind === "retry");
  assert.equal(retries.length, 2);
});

test.long("a base URL that leads nowhere: whose port is closed is exit 10", async () => {
  await using place = new Place([]);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const called = await place.call([...RUN, "--base-url", `http://127.0.0.1:${port}/v1`]);
  assertError(called, { code: "network_failed", exit: 10, says: /refused/ });
});

test.long("a base URL that leads nowhere: that speaks no TLS is exit 10", async () => {
  await using place = new Place([]);
  const called = await place.call([...RUN, "--base-url", place.server.baseUrl.replace("http:", "https:")]);
  assertError(called, { code: "network_failed", exit: 10, says: /TLS/ });
  assert.equal(place.server.requests.length, 0);
});

test("a base URL that leads nowhere: that is no API is exit 13 for a 404", async () => {
  await using place = new Place([]);
  const called = await place.call([...RUN, "--base-url", place.server.baseUrl.replace("/v1", "/v2/nope")]);
  assert.equal(called.code, 13, called.stdout);
});

test("a base URL that leads nowhere: that redirects is exit 10, and nothing reaches the target", async () => {
  for (const status of [301, 302, 307, 308]) {
    await using target = new Place([HELLO]);
    await using place = new Place([redirect(`${target.server.baseUrl}/responses?token=hidden`, status)]);
    const called = await place.call(RUN);
    const error = assertError(called, { code: "redirected", exit: 10, hint: /base URL/ });
    assert.ok(!String(error.message).includes("hidden"));
    assert.equal(target.server.requests.length, 0);
  }
});

test(
  "a base URL that leads nowhere: that answers with a web page is exit 10",
  ends(htmlPage(), {
    code: "bad_stream",
    exit: 10,
    says: /"text\/html"/,
  }),
);

for (
  const [name, response, expected] of [
    ["403 is exit 8", httpError(403, { message: "Country not supported." }), {
      code: "unauthorized",
      exit: 8,
      says: /403/,
    }],
    ["404 is exit 13", httpError(404, { message: "No such model.", code: "model_not_found" }), {
      code: "request_refused",
      exit: 13,
      says: /No such model/,
    }],
    [
      "400 for the context window is exit 11",
      httpError(400, { message: "Your input exceeds the context window.", code: "context_length_exceeded" }),
      { code: "context_overflow", exit: 11 },
    ],
    [
      "any other 400 is exit 13 with the API's words",
      httpError(400, { message: "Unsupported parameter: 'x'.", code: "unsupported_parameter" }),
      { code: "request_refused", exit: 13, says: /Unsupported parameter/ },
    ],
  ] as const
) {
  test.long(`an answer other than 200 has the exit code of its kind: ${name}`, ends(response, expected));
}

test.long("an answer other than 200 has the exit code of its kind: 429, then 500, then an answer completes, and both retries are reported", async () => {
  await using place = new Place([rateLimited({ retryAfter: "0" }), serverError(), HELLO]);
  const called = await place.call(RUN);
  assert.equal(called.code, 0, called.stdout);
  const retries = events(called).filter((event) => event.type === "notice" && event.kind === "retry");
  assert.deepEqual(retries.map((event) => "code" in event && event.code), [
    "rate_limited",
    "provider_failed",
  ]);
  assert.equal(place.server.requests.length, 3);
  assert.equal(new Set(place.server.requests.map(({ text }) => text)).size, 1, "the same bytes each time");
});

const OVERLOADED = { code: "server_is_overloaded", message: "Overloaded, try later" };
const TOO_LONG = { code: "context_length_exceeded", message: "Too long" };

for (
  const [name, response, expected] of [
    [
      "an error event with response.failed after it is exit 10",
      answer([], { end: { kind: "error_then_failed", error: OVERLOADED } }),
      { code: "provider_failed", exit: 10, says: /Overloaded/, requests: 3 },
    ],
    [
      "a flat error event at the end is exit 10",
      answer([], { end: { kind: "error", error: OVERLOADED } }),
      { code: "provider_failed", exit: 10, says: /Overloaded/, requests: 3 },
    ],
    [
      "a quota that is spent in the stream is exit 9",
      answer([], { end: { kind: "failed", error: { code: "insufficient_quota", message: "No credit" } } }),
      { code: "quota_exhausted", exit: 9 },
    ],
    [
      "a context overflow in the stream is exit 11",
      answer([], { end: { kind: "failed", error: TOO_LONG } }),
      { code: "context_overflow", exit: 11 },
    ],
    ["bytes that are not UTF-8 are exit 10", invalidUtf8(), {
      code: "bad_stream",
      exit: 10,
      says: /UTF-8/,
    }],
    ["a line over the cap is exit 10", endlessLine(OVER_THE_CAP), {
      code: "bad_stream",
      exit: 10,
      says: /67108864|64 MiB/,
    }],
    [
      "a response cut by max_output_tokens is exit 6 and says why",
      answer([message("Half")], { end: { kind: "incomplete", reason: "max_output_tokens" } }),
      { code: "incomplete", exit: 6, says: /max_output_tokens/ },
    ],
  ] as const
) {
  test.long(`a stream that goes wrong has the exit code of its kind: ${name}`, ends(response, expected));
}

test.long("a stream that goes wrong has the exit code of its kind: silence longer than the idle timeout is exit 10", async () => {
  await using place = new Place([answer([message("Hello.")], { end: { kind: "stall" } })]);
  const called = await place.call(RUN, { env: { REPRISE_IDLE_TIMEOUT: "0.3" } });
  assertError(called, { code: "stream_cut", exit: 10, says: /0\.3 s/ });
});

test.long("a stream that goes wrong has the exit code of its kind: a stall is exit 124 after --timeout, and what was finished is kept", async () => {
  await using place = new Place([
    answer([reasoning("Hm"), unfinished(message("Never done"))], { end: { kind: "stall" } }),
  ]);
  const called = await place.call([...RUN, "--timeout", "5"]);
  assertError(called, { code: "timed_out", exit: 124, says: /--timeout/ });
  assert.equal(ending(called).state, "timed_out");
  assert.deepEqual(kinds(place), ["user", "model", "harness"]);
});

test.long("a stream that goes wrong has the exit code of its kind: a server that accepts and never answers is exit 124 after --timeout", async () => {
  await using place = new Place([]);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/v1`;
  const called = await place.call([...RUN, "--timeout", "2", "--base-url", url]);
  listener.close();
  assertError(called, { code: "timed_out", exit: 124 });
});

test(
  "a cut stream loses no finished item, and the next run resumes from there: a body that ends early, continued without a prompt",
  cutThenContinued("cut", []),
);

test(
  "a cut stream loses no finished item, and the next run resumes from there: a connection that breaks, continued without a prompt",
  cutThenContinued("reset", []),
);

test(
  "a cut stream loses no finished item, and the next run resumes from there: a body that ends early, continued with a prompt",
  cutThenContinued("cut", ["And now?"]),
);

function cutThenContinued(kind: "cut" | "reset", prompt: readonly string[]) {
  return async () => {
    await using place = new Place([
      READS_A,
      answer([reasoning("Hm"), message("Half an answer"), unfinished(message("lost"))], { end: { kind } }),
      HELLO,
    ]);
    const cut = await place.call(RUN);
    assertError(cut, { code: "stream_cut", exit: 10, hint: /reprise run -s s/ });
    assert.deepEqual(kinds(place), ["user", "model", "tools", "model", "harness"]);
    const next = await place.call(["run", "--json", "-c", ...prompt]);
    assert.equal(next.code, 0, next.stdout + next.stderr);
    assert.equal(ending(next).text, "Hello.");
    assert.deepEqual(place.server.refusals, []);
    const [, , third] = place.server.requests;
    const texts = JSON.stringify(third?.input);
    assert.ok(texts.includes("Half an answer") && !texts.includes("lost"));
    const last = third?.input.at(-1) as JsonObject;
    assert.equal(last.role, prompt.length === 0 ? "assistant" : "user");
  };
}
