/** Answers of a remote that are errors, lies or cut, and what a verb makes of each. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { type Called, said } from "../../support/reprise.ts";
import { S3Server } from "../../support/s3_server.ts";
import { test } from "../../support/test.ts";
import { ID, SessionHome } from "../sessions/home.ts";

const SECRETS = /test-key-id|test-secret-key|token-1|hidden/;
const xml = (text: string, status = 200, headers: HeadersInit = {}) => () =>
  new Response(text, { status, headers });
const failure = (status: number, code: string, headers: HeadersInit = {}) =>
  xml(`<Error><Code>${code}</Code><AWSAccessKeyId>test-key-id</AWSAccessKeyId></Error>`, status, headers);
const listing = (inner: string) => xml(`<ListBucketResult>${inner}</ListBucketResult>`);
const object = (key: string) => `<Contents><Key>${key}</Key><Size>1</Size></Contents>`;

/** A home with a session, and its remote. */
class Place extends SessionHome {
  readonly server = new S3Server();

  constructor() {
    super();
    this.session();
  }

  verb(args: readonly string[]): Promise<Called> {
    return this.call(args, { env: { ...this.server.env, AWS_SESSION_TOKEN: "token-1" } });
  }

  /** Requires a verb to fail in a way; returns the requests that it sent. */
  async fails(
    args: readonly string[],
    code: string,
    exit: number,
    says: RegExp,
    hint = /./,
  ): Promise<readonly string[]> {
    const called = await this.verb([...args, "--json"]);
    const error: Json = JSON.parse(called.stdout);
    assert.deepEqual([error.code, called.code], [code, exit], said(called));
    assert.match(error.message, says);
    assert.match(error.hint, hint);
    assert.doesNotMatch(said(called), SECRETS);
    return this.server.requests.splice(0);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}

const LS = ["ls", "--remote"];
const bad = (answer: () => Response, says: RegExp, hint = /./, times = 3) => ({
  answer,
  code: "bad_remote",
  exit: 2,
  says,
  hint,
  times,
});
const denied = (answer: () => Response, says: RegExp, hint = /./) => ({
  answer,
  code: "remote_denied",
  exit: 8,
  says,
  hint,
  times: 1,
});
/** A date in the header of an answer, that many minutes from now. */
const dated = (minutes: number) => ({ date: new Date(Date.now() + minutes * 60_000).toUTCString() });
const LOGIN = { location: "https://login.example.com/start?token=hidden" };
const PAGE = { "content-type": "text/html; charset=utf-8" };

/** Answers that end a verb: refused keys at once, others if they come three times, for a store may err once. */
const FAILURES: Readonly<Record<string, ReturnType<typeof bad>>> = {
  "wrong keys": denied(
    failure(403, "SignatureDoesNotMatch"),
    /403 \(SignatureDoesNotMatch\)$/,
    /^Check AWS_/,
  ),
  "wrong keys, or a clock that is 14 minutes off": denied(
    failure(403, "SignatureDoesNotMatch", dated(14)),
    /403 \(SignatureDoesNotMatch\)$/,
    /^Check AWS_/,
  ),
  "a signature that a clock 16 minutes off may have spoiled": denied(
    failure(403, "SignatureDoesNotMatch", dated(-16)),
    /403 \(SignatureDoesNotMatch\); the clock here says .* GMT, that of the remote .* GMT$/,
    /^Set the clock that is wrong.* Check AWS_/,
  ),
  "no login": denied(failure(401, "Unauthorized"), /401/),
  "a wrong clock": denied(
    failure(403, "RequestTimeTooSkewed", { date: "Sat, 21 Nov 2026 20:18:00 GMT" }),
    /the clock here says .*, that of the remote Sat, 21 Nov 2026 20:18:00 GMT/,
    /^Set the clock that is wrong/,
  ),
  "a wrong clock, with its time in the body alone": denied(
    xml(
      "<Error><Code>RequestTimeTooSkewed</Code><ServerTime>2026-01-02T03:04:05Z</ServerTime></Error>",
      403,
      dated(0),
    ),
    /that of the remote Fri, 02 Jan 2026 03:04:05 GMT$/,
  ),
  "a wrong clock, although both agree": denied(
    failure(403, "RequestTimeTooSkewed", dated(0)),
    /refuses the time of the request \(RequestTimeTooSkewed\), but the clocks agree$/,
    /^Try again/,
  ),
  "an old session token": denied(
    failure(400, "ExpiredToken"),
    /session token: status 400 \(ExpiredToken\)/,
  ),
  "a missing bucket": {
    ...bad(failure(404, "NoSuchBucket"), /bucket does not exist/),
    code: "no_such_bucket",
  },
  "no such operation": bad(failure(501, "NotImplemented"), /501/, /lacks this operation.*If-None-Match/),
  "no such method": bad(failure(405, "MethodNotAllowed"), /405/, /lacks this operation/),
  "a redirect": bad(
    xml("", 307, LOGIN),
    /307, a redirect to https:\/\/login\.example\.com$/,
    /not followed.*AWS_REGION/,
  ),
  "a redirect to another region": bad(
    failure(301, "PermanentRedirect", { "x-amz-bucket-region": "eu-west-1" }),
    /301 \(PermanentRedirect\): another region$/,
    /^Set AWS_REGION to eu-west-1/,
  ),
  "the wrong region": bad(
    xml("<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-2</Region></Error>", 400),
    /AuthorizationHeaderMalformed/,
    /^Set AWS_REGION to eu-west-2/,
  ),
  "what a cache has": bad(() => new Response(null, { status: 304 }), /304, although/, /cache/),
  "a page": bad(xml("<html>", 400), /status 400, a web page/, /login page/),
  "a page that refuses": bad(xml("<!DOCTYPE html><p>Log in", 403), /status 403, a web page/, /login page/),
  "a page that is called missing": bad(xml("Not here", 404, PAGE), /status 404, a web page/, /login page/),
  "a login page": bad(xml("\n<!doctype html><title>Log in</title>"), /status 200, a web page/, /login page/),
  "a login page by its type": bad(xml("<p>Log in", 200, PAGE), /status 200, a web page/, /login page/),
  "an empty list": bad(xml(""), /list of objects cannot be read/),
  "half a list": bad(xml(`<ListBucketResult>${object("a")}`), /list of objects cannot be read/),
  "an error as a list": bad(failure(200, "InternalError"), /list of objects cannot be read/),
  "too many objects": bad(listing(object("a/x").repeat(10_001)), /list of objects cannot be read/),
  "objects without an end": bad(listing("<Contents>".repeat(700_000)), /list of objects cannot be read/),
  "a page that comes again": bad(
    listing("<IsTruncated>true</IsTruncated><NextContinuationToken>same</NextContinuationToken>"),
    /does not end/,
    /./,
    2,
  ),
};

for (const [name, { answer, code, exit, says, hint, times }] of Object.entries(FAILURES)) {
  test.long(`a remote that answers a list with ${name} ends the verb as ${code}, after ${times} of them`, async () => {
    await using place = new Place();
    let mistakes = Infinity;
    place.server.instead = () => mistakes-- > 0 ? answer() : null;
    assert.equal((await place.fails(LS, code, exit, says, hint)).length, times);
    if (times < 3) return;
    mistakes = 2;
    const called = await place.verb(LS);
    assert.equal(called.code, 0, said(called));
  });
}

/** Answers to the put of a turn that is not stored. */
const PUTS: Readonly<Record<string, () => Response>> = {
  "409": failure(409, "ConditionalRequestConflict"),
  "429": failure(429, "SlowDown"),
  "507": failure(507, "InsufficientStorage"),
  "400 RequestTimeout": failure(400, "RequestTimeout"),
};

for (const [name, answer] of Object.entries(PUTS)) {
  test.long(`a turn whose put is answered with ${name} is looked up and put again`, async () => {
    await using place = new Place();
    const key = `${ID}/turns/000002.json`;
    let refusals = 2;
    place.server.instead = ({ method }, asked) =>
      method === "PUT" && asked === key && refusals-- > 0 ? answer() : null;
    const called = await place.verb(["sync", ID]);
    assert.equal(called.code, 0, said(called));
    const requests = place.server.requests.filter((request) => request.endsWith(key));
    const methods = requests.map((request) => request.split(" ")[0]).join(" ");
    assert.equal(methods, "PUT GET PUT GET PUT");
    assert.ok(place.server.objects.has(key));
  });
}

test.long("a remote that does not answer ends a verb when its time is over", async () => {
  await using place = new Place();
  const sync = ["sync", ID, "--timeout", "1"];
  const unreachable = (says: RegExp) => place.fails(sync, "remote_unreachable", 10, says);
  place.server.isMute = () => true;
  await unreachable(/^Cannot use s3:\/\/sessions: it does not answer$/);
  place.server.isMute = () => false;
  assert.equal((await place.verb(["sync", ID])).code, 0);
  place.server.requests.splice(0);
  place.server.instead = failure(503, "SlowDown");
  const start = performance.now();
  const requests = await unreachable(/within 1 seconds?: it answers with status 503$/);
  assert.ok(requests.length >= 3 && requests.length < 9, requests.join());
  assert.ok(performance.now() - start < 3000);
  place.server.isMute = () => true;
  await unreachable(/within 1 seconds?: no answer came$/);
});

test.long({
  name: "a list without an end ends a verb when its time is over",
  // The runtime keeps the body of an answer whose head comes just when the time of its request is over.
  sanitizeResources: false,
  async fn() {
    await using place = new Place();
    let page = 0;
    place.server.instead = ({ method }, key) => {
      if (method !== "GET" || key !== "") return null;
      const next = `<IsTruncated>true</IsTruncated><NextContinuationToken>${++page}</NextContinuationToken>`;
      return listing(object(`${ID}/turns/${String(page).padStart(6, "0")}.json`) + next)();
    };
    for (
      const verb of [LS, ["sync"], ["sync", ID], ["fsck", "--all", "--remote"], [
        "rm",
        "x",
        "--yes",
        "--remote",
      ]]
    ) {
      page = 0;
      const start = performance.now();
      const says = /within 0\.5 seconds: its list of objects did not end after \d+ pages?$/;
      await place.fails([...verb, "--timeout", "0.5"], "remote_unreachable", 10, says, /--timeout/);
      assert.ok(performance.now() - start < 3000);
      assert.ok(page > 1, `${page} pages`);
    }
  },
});

/** Keys that no request can name, as a list spells them, and as they are named on stderr. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  "a/../b/x": '"a/../b/x"',
  [`${ID}/turns/..`]: `"${ID}/turns/.."`,
  "./x": '"./x"',
  "a/%00/b": String.raw`"a/\u0000/b"`,
  "a/%ff": '"a/%ff"',
  ["k".repeat(1025)]: `"${"k".repeat(80)}`,
};

for (const [key, named] of Object.entries(UNREACHABLE)) {
  test.long(`a key that no request can name is named and passed over: ${named}`, async () => {
    await using place = new Place();
    assert.equal((await place.verb(["sync", ID])).code, 0);
    const keys = [...place.server.objects.keys()].sort();
    place.server.instead = ({ method, url }, asked) => {
      if (method !== "GET" || asked !== "") return null;
      const prefix = new URL(url).searchParams.get("prefix") ?? "";
      const listed = [...place.server.objects.keys()].filter((each) => each.startsWith(prefix));
      return listing([...listed, ...key.startsWith(prefix) ? [key] : []].map(object).join(""))();
    };
    for (const verb of [LS, ["sync"], ["fsck", "--all", "--remote"]]) {
      const called = await place.verb(verb);
      assert.equal(called.code, 0, said(called));
      assert.ok(called.stderr.includes(`passed over ${named}`), said(called));
      assert.match(called.stdout, new RegExp(ID));
    }
    assert.deepEqual([...place.server.objects.keys()].sort(), keys);
    const removed = await place.verb(["rm", ID, "--remote", "--yes"]);
    assert.equal(removed.code, 0, said(removed));
    assert.deepEqual([...place.server.objects.keys()], [`${ID}/removed.json`]);
  });
}

test.long("of many keys that no request can name, three are named, and the others are counted", async () => {
  await using place = new Place();
  place.server.instead = listing([..."abcde"].map((name) => object(`${name}/../x`)).join(""));
  const called = await place.verb(LS);
  assert.equal(called.code, 0, said(called));
  assert.deepEqual(called.stderr.match(/passed over .*/g)?.map((line) => line.slice(12, 22)), [
    ...['"a/../x" o', '"b/../x" o', '"c/../x" o'],
    "2 more suc",
  ]);
});

test.long("keys just short enough, with dots in their parts, an empty part or a backslash are keys like any other", async () => {
  await using place = new Place();
  place.server.instead = listing(
    ["k".repeat(1024), "a/..b/x", "a/b../x", "a//b", "a/", "a%5Cb"].map(object).join(""),
  );
  const called = await place.verb(LS);
  assert.equal(called.code, 0, said(called));
  assert.doesNotMatch(called.stderr, /passed over/);
});

test.long("a list of other keys than asked for ends a verb", async () => {
  await using place = new Place();
  place.server.instead = listing(object("other/x"));
  const says = /it lists "other\/x", which is outside of what was asked/;
  await place.fails([...LS, "s3://sessions/pre"], "bad_remote", 2, says);
});

test.long("a put that a web page answers is not stored, also if its status says so", async () => {
  await using place = new Place();
  assert.equal((await place.verb(["sync", ID])).code, 0);
  place.server.objects.clear();
  place.server.instead = ({ method }) => method === "PUT" ? xml("<html>Log in")() : null;
  await place.fails(["sync", ID], "bad_remote", 2, /status 200, a web page/, /login page/);
});

test.long("an object that is longer than its kind may be is damage of its session", async () => {
  await using place = new Place();
  place.server.objects.set(`${ID}/removed.json`, new Uint8Array(5000));
  await place.fails(["sync", ID], "session_damaged", 12, /removed\.json: it has more than 4096 bytes/);
});

test.long("a remote that ignores If-None-Match is refused, and the probe leaves nothing", async () => {
  await using place = new Place();
  const { objects } = place.server;
  place.server.instead = ({ method }, key) => {
    if (method !== "PUT") return null;
    objects.set(key, new Uint8Array(1));
    return new Response("");
  };
  const requests = await place.fails(["sync", ID], "remote_unsafe", 2, /ignores the header If-None-Match/);
  assert.deepEqual([objects.size, requests.map((request) => request.split(" ")[0]).join()], [
    0,
    "PUT,PUT,DELETE",
  ]);
});

test.long("a request is signed, and shows neither the secret nor a key of another prefix", async () => {
  await using place = new Place();
  const sent: Headers[] = [];
  place.server.instead = ({ headers }) => {
    sent.push(headers);
    return null;
  };
  const called = await place.verb(["sync", ID, "--remote", "s3://sessions/pre"]);
  assert.equal(called.code, 0, said(called));
  const puts = sent.filter((headers) => headers.has("if-none-match"));
  assert.ok(puts.length > 5);
  for (const headers of puts) {
    const signature = /Credential=test-key-id\/.*SignedHeaders=[^,]*if-none-match/;
    assert.match(headers.get("authorization") ?? "", signature);
    assert.ok(![...headers].join().includes("test-secret-key"));
  }
  assert.ok([...place.server.objects.keys()].every((key) => key.startsWith(`pre/${ID}/`)));
});
