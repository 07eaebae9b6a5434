/** Answers of S3 and their meaning, and the time that an operation may take. */
import assert from "node:assert/strict";
import type { Clock } from "../../../src/domain/ports.ts";
import { parseRemote } from "../../../src/remote/address.ts";
import { probe } from "../../../src/remote/open.ts";
import { S3Store } from "../../../src/remote/s3.ts";
import { SessionRemote } from "../../../src/remote/session_remote.ts";
import type { PendingTurn } from "../../../src/store/write/turn_remote.ts";
import { encodeTurn } from "../../../src/domain/turn.ts";
import { parseTurn } from "../../../src/store/read/turn.ts";
import { ID, userDraft } from "../store/support.ts";
import { test } from "../../support/test.ts";

type Answer = Response | Error;

/** A clock that moves only by its own sleeps. */
class ManualClock implements Clock {
  time = 0;
  now = () => this.time;
  monotonic = () => this.time;
  sleep = (milliseconds: number) => {
    this.time += milliseconds;
    return Promise.resolve();
  };
}

/** A store whose server answers as `answers` says; each request takes `takesMs`. */
function storeWith(
  answers: (request: Request) => Answer,
  { takesMs = 10, endpoint = "https://s3.example.com/base" as string | null } = {},
) {
  const clock = new ManualClock();
  const requests: Request[] = [];
  const fetch = (input: RequestInfo | URL, init?: RequestInit) => {
    const request = new Request(input, init);
    requests.push(request);
    clock.time += takesMs;
    const answer = answers(request);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const store = new S3Store(parseRemote("s3://bucket/pre"), {
    fetch,
    clock,
    settings: {
      region: "eu-west-1",
      endpoint: endpoint === null ? null : new URL(endpoint),
      accessKeyId: "id-1",
      secretAccessKey: "secret-1",
      sessionToken: "token-1",
    },
    timeoutMs: 10_000,
  });
  return { store, clock, requests };
}

const failure = (status: number, code: string, headers: HeadersInit = {}) => () =>
  new Response(
    `<?xml version="1.0"?><Error><Code>${code}</Code><AWSAccessKeyId>id-1</AWSAccessKeyId></Error>`,
    {
      status,
      headers,
    },
  );

Deno.test("a key is below the prefix, and the request is signed without showing the secret", async () => {
  for (
    const [endpoint, url] of [
      ["https://s3.example.com/base", "https://s3.example.com/base/bucket/pre/a/turns/000001.json"],
      [null, "https://bucket.s3.eu-west-1.amazonaws.com/pre/a/turns/000001.json"],
    ] as const
  ) {
    const { store, requests } = storeWith(() => new Response(""), { endpoint });
    assert.equal(await store.putNew("a/turns/000001.json", new Uint8Array([1])), "stored");
    const [{ url: sent, headers, redirect }] = requests as [Request];
    assert.deepEqual([sent, redirect], [url, "manual"]);
    assert.equal(headers.get("if-none-match"), "*");
    assert.match(headers.get("authorization") ?? "", /Credential=id-1\/.*SignedHeaders=[^,]*if-none-match/);
    assert.ok(![...headers].join().includes("secret-1"));
  }
});

/** Answers to a conditional put. */
const PUTS: readonly (readonly [string, () => Answer, string])[] = [
  ["200", () => new Response(""), "stored"],
  ["412", failure(412, "PreconditionFailed"), "taken"],
  ["409", failure(409, "ConditionalRequestConflict"), "taken"],
  ["429", failure(429, "SlowDown"), "unknown"],
  ["500", failure(500, "InternalError"), "unknown"],
  ["503", failure(503, "SlowDown"), "unknown"],
  ["507", failure(507, "InsufficientStorage"), "unknown"],
  ["520", failure(520, "Unknown"), "unknown"],
  ["400 RequestTimeout", failure(400, "RequestTimeout"), "unknown"],
  ["a cut connection", () => new TypeError("connection closed"), "unknown"],
  ["no answer", () => new DOMException("timed out", "TimeoutError"), "unknown"],
];

for (const [name, answer, meaning] of PUTS) {
  Deno.test(`a conditional put that is answered with ${name} is sent once and means: ${meaning}`, async () => {
    const { store, requests } = storeWith(answer);
    assert.equal(await store.putNew("x", new Uint8Array()), meaning);
    assert.equal(requests.length, 1);
  });
}

/** Answers that end an operation: at once if keys are refused, otherwise when they have come three times. */
const FAILURES: readonly (readonly [string, () => Response, string, RegExp])[] = [
  ["wrong keys", failure(403, "SignatureDoesNotMatch"), "remote_denied", /403 \(SignatureDoesNotMatch\)/],
  ["no login", failure(401, "Unauthorized"), "remote_denied", /401/],
  [
    "a wrong clock",
    failure(403, "RequestTimeTooSkewed", { date: "Sat, 21 Nov 2026 20:18:00 GMT" }),
    "remote_denied",
    /the clock here says .*, that of the remote Sat, 21 Nov 2026 20:18:00 GMT/,
  ],
  [
    "an old session token",
    failure(400, "ExpiredToken"),
    "remote_denied",
    /session token: status 400 \(ExpiredToken\)/,
  ],
  ["a wrong session token", failure(400, "InvalidToken"), "remote_denied", /session token/],
  ["no such operation", failure(501, "NotImplemented"), "bad_remote", /501/],
  ["a missing bucket", failure(404, "NoSuchBucket"), "no_such_bucket", /bucket does not exist/],
  [
    "a redirect",
    () => new Response("", { status: 307, headers: { location: "https://elsewhere.example.com/" } }),
    "bad_remote",
    /307, a redirect/,
  ],
  ["a page", () => new Response("<html>", { status: 400 }), "bad_remote", /status 400/],
];

for (const [name, answer, code, message] of FAILURES) {
  const times = code === "remote_denied" ? 1 : 3;
  Deno.test(`${name}: the operation fails as ${code}, is sent ${times}×, and shows no key`, async () => {
    const { store, requests } = storeWith(answer);
    const operations: readonly (() => Promise<unknown>)[] = [
      () => store.get("x"),
      () => store.putNew("x", new Uint8Array()),
      () => store.remove("x"),
    ];
    for (const operation of operations) {
      await assert.rejects(operation(), (error: Error & { code?: string; hint?: string }) => {
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.doesNotMatch(
          `${error.message} ${error.hint} ${JSON.stringify(error)}`,
          /id-1|secret-1|token-1/,
        );
        return true;
      });
    }
    assert.equal(requests.length, 3 * times);
  });

  if (times > 1) {
    Deno.test(`${name} that a store answers by mistake does not end an operation`, async () => {
      let mistakes = times - 1;
      const { store } = storeWith(() => mistakes-- > 0 ? answer() : new Response("here"));
      assert.deepEqual((await store.get("x"))?.bytes, new TextEncoder().encode("here"));
      mistakes = times - 1;
      assert.equal(await store.putNew("x", new Uint8Array()), "stored");
    });
  }
}

/** Lists that were cut without an error of the connection. */
const CUT_LISTS: Readonly<Record<string, string>> = {
  "an empty list": "",
  "half a list": "<ListBucketResult><Contents><Key>pre/a</Key>",
  "an error as a list": "<Error><Code>InternalError</Code></Error>",
};

for (const [name, text] of Object.entries(CUT_LISTS)) {
  Deno.test(`${name} is requested again`, async () => {
    const answers = [text, text, "<ListBucketResult></ListBucketResult>"];
    const { store, requests } = storeWith(() => new Response(answers.shift()));
    assert.deepEqual(await Array.fromAsync(store.list("a/")), []);
    assert.equal(requests.length, 3);
    const broken = storeWith(() => new Response(text));
    await assert.rejects(Array.fromAsync(broken.store.list("a/")), {
      code: "bad_remote",
      message: /list of objects cannot be read/,
    });
  });
}

Deno.test("the size of an object whose length a proxy leaves out is that of its content", async () => {
  const { store } = storeWith(({ method }) => new Response(method === "HEAD" ? null : "here"));
  assert.equal(await store.size("x"), 4);
});

Deno.test("reads are repeated until the store answers, or the time is over", async () => {
  let failures = 3;
  const { store, requests } = storeWith(() =>
    failures-- > 0 ? failure(503, "SlowDown")() : new Response("here")
  );
  assert.deepEqual((await store.get("x"))?.bytes, new TextEncoder().encode("here"));
  assert.equal(requests.length, 4);
  const gone = storeWith(() => new TypeError("no route"));
  await assert.rejects(gone.store.get("x"), {
    code: "remote_unreachable",
    exitCode: 10,
    message: /within 10 seconds: no answer came \(no route\)/,
  });
  assert.ok(gone.clock.time <= 10_000, `${gone.clock.time} ms`);
  const mute = storeWith(() => new DOMException("Signal timed out.", "TimeoutError"));
  await assert.rejects(mute.store.get("x"), { message: /within 10 seconds: no answer came$/ });
});

Deno.test("the length of an object is looked up without reading it", async () => {
  const { store, requests } = storeWith(({ url }) =>
    url.endsWith("/missing")
      ? new Response(null, { status: 404 })
      : new Response(null, { headers: { "content-length": "42" } })
  );
  assert.deepEqual([await store.size("x"), await store.size("missing")], [42, null]);
  assert.deepEqual(requests.map(({ method }) => method), ["HEAD", "HEAD"]);
});

function pendingTurn(): PendingTurn {
  const { bytes } = encodeTurn(userDraft("hello"), {
    session: ID,
    turn: 1,
    firstSeq: 1,
    prev: null,
    at: "2026-11-21T20:18:00.000Z",
  });
  const parsed = parseTurn(bytes);
  assert.ok(parsed.status === "ok");
  return { turn: parsed.turn, bytes, blobs: [] };
}

Deno.test("a put that the store refuses for a while is repeated with pauses, as long as the time lasts", async () => {
  let refusals = 8;
  const answers = ({ method }: Request) => {
    if (method === "GET") return new Response("", { status: 404 });
    return refusals-- > 0 ? failure(503, "SlowDown")() : new Response("");
  };
  const { store, clock } = storeWith(answers);
  assert.equal(await new SessionRemote(store, ID).store(pendingTurn()), "stored");
  assert.ok(clock.time > 5000, `${clock.time} ms`);
  refusals = Infinity;
  const full = storeWith(answers);
  await assert.rejects(new SessionRemote(full.store, ID).store(pendingTurn()), {
    code: "remote_unreachable",
  });
  assert.ok(full.clock.time > 7000 && full.clock.time <= 11_000, `${full.clock.time} ms`);
  assert.ok(full.requests.length < 30, `${full.requests.length} requests`);
});

Deno.test("an object that is longer than its kind may be is damage of its session", async () => {
  const { store } = storeWith(({ url }) =>
    new Response("x".repeat(5000), { status: url.endsWith("missing/removed.json") ? 404 : 200 })
  );
  await assert.rejects(store.get(`${ID}/removed.json`), {
    code: "session_damaged",
    message: `Cannot read s3://bucket/pre/${ID}/removed.json: it has more than 4096 bytes`,
  });
  await assert.rejects(store.get(`${ID}/turns/000001.json`, store.deadline(), 4999), {
    code: "session_damaged",
  });
  assert.equal((await store.get(`${ID}/turns/000001.json`))?.bytes.length, 5000);
  // A long answer without an object is none of the session.
  assert.equal(await store.get("missing/removed.json"), null);
});

for (
  const key of [
    "pre/b/x",
    "other/a/x",
    "pre/a/../b/x",
    "pre/a/./x",
    "pre/a/..",
    "pre/a/%2e%2e/b/x",
  ]
) {
  Deno.test(`a list of a/ with the key ${key} is refused`, async () => {
    const { store } = storeWith(() =>
      new Response(
        "<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>pre/a/first</Key><Size>1</Size></Contents>" +
          `<Contents><Key>${key}</Key><Size>1</Size></Contents></ListBucketResult>`,
      )
    );
    await assert.rejects(Array.fromAsync(store.list("a/")), {
      code: "bad_remote",
      message: /it lists ".*", which is outside/,
    });
  });
}

for (
  const [what, token] of [["returns to a page", () => "same"], ["has ever new pages", counting()]] as const
) {
  test.long(`a list that ${what} is refused`, async () => {
    const { store } = storeWith(() =>
      new Response(
        `<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>${token()}` +
          "</NextContinuationToken></ListBucketResult>",
      ), { takesMs: 0 });
    await assert.rejects(Array.fromAsync(store.list("")), { code: "bad_remote", message: /does not end/ });
  });
}

test.long("a list with objects without end, or with too many, is refused at once", async () => {
  const object = "<Contents><Key>pre/a/x</Key><Size>1</Size></Contents>";
  for (const objects of ["<Contents>".repeat(700_000), object.repeat(10_001)]) {
    const { store } = storeWith(() => new Response(`<ListBucketResult>${objects}</ListBucketResult>`));
    await assert.rejects(Array.fromAsync(store.list("a/")), {
      code: "bad_remote",
      message: /cannot be read/,
    });
  }
});

function counting(): () => string {
  let count = 0;
  return () => String(count++);
}

Deno.test("the put of a turn and the read after it share one deadline", async () => {
  // Each request takes four seconds and has no answer: the third one begins before the deadline.
  const { store, clock, requests } = storeWith(
    ({ url }) => url.endsWith("removed.json") ? new Response("", { status: 404 }) : new TypeError("cut off"),
    {
      takesMs: 4000,
    },
  );
  await assert.rejects(new SessionRemote(store, ID).store(pendingTurn()), { code: "remote_unreachable" });
  assert.deepEqual(requests.map(({ method }) => method), ["GET", "PUT", "GET", "GET"]);
  assert.ok(clock.time <= 4000 + 12_000 + 1000, `${clock.time} ms`);
});

Deno.test("a store that ignores If-None-Match is refused, and the probe leaves nothing", async () => {
  const objects = new Map<string, string>();
  let isSafe = false;
  const { store, requests } = storeWith((request) => {
    if (request.method === "DELETE") objects.delete(request.url);
    else if (isSafe && objects.has(request.url)) return new Response("", { status: 412 });
    else objects.set(request.url, request.method);
    return new Response(null, { status: request.method === "DELETE" ? 204 : 200 });
  });
  await assert.rejects(probe(store, () => 0.5), {
    code: "remote_unsafe",
    exitCode: 2,
    message: /ignores the header If-None-Match/,
  });
  assert.deepEqual([objects.size, requests.length], [0, 3]);
  isSafe = true;
  await probe(store, () => 0.5);
  assert.equal(objects.size, 0);
});

Deno.test("a store that does not answer is named at the first use, within the time of one operation", async () => {
  const { store, clock } = storeWith(() => new TypeError("no route"));
  await assert.rejects(probe(store, () => 0.5), {
    code: "remote_unreachable",
    message: "Cannot use s3://bucket/pre: it does not answer",
  });
  assert.ok(clock.time <= 10_000, `${clock.time} ms`);
});
