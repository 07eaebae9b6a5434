/** Files of a fixture that no reader accepts: what `show` says, and what `lint` finds. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { PROMPT, responseEvents, SHELL_OUTPUT, socketExchange } from "../../support/socket_fixture.ts";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { edit, type GivenExchange, seal, write } from "./recording_files.ts";

const STREAM = 'data: {"type":"response.created"}\n\ndata: {"type":"response.completed"}\n\n';
const HTTP: GivenExchange = { body: STREAM };
const CREATE = { type: "response.create", model: "gpt-6-sol" };
const socket = (more: Json, events: readonly Json[] = ["{}"]) =>
  socketExchange({ message: CREATE, events, ...more });

/** A fixture, what happens to it, and what its reader says. */
interface Damage {
  /** @default {three over HTTP} */
  readonly exchanges?: readonly GivenExchange[];
  readonly header?: Json;
  /** Members of files; sums fit again. */
  readonly members?: Readonly<Record<string, Json>>;
  /** A change after that; sums stay. */
  readonly harm?: (path: string) => void;
  /** Left out if readers other than `lint` do not mind. */
  readonly says?: RegExp;
  readonly lint?: string;
  readonly code?: string;
}

const [REQUEST, RESPONSE, BODY] = [
  "exchanges/0001/request.json",
  "exchanges/0001/response.json",
  "exchanges/0001/body",
] as const;
const response = (members: Json, says: RegExp): Damage => ({ members: { [RESPONSE]: members }, says });
const header = (members: Json, says: RegExp): Damage => ({ header: members, says, lint: "bad_header" });
const harm = (change: (path: string) => void, says: RegExp, lint = "bad_exchange"): Damage => ({
  harm: change,
  says,
  lint,
});
const sockets = (exchange: GivenExchange, says: RegExp): Damage => ({ exchanges: [exchange], says });
const request = (members: Json, says: RegExp): Damage => ({ members: { [REQUEST]: members }, says });
const FIRST = "2026-11-01T00:00:00.000Z";
const recordings = (says: RegExp, ...ranges: readonly Json[]): Damage =>
  header({ recordings: ranges.map((exchanges) => ({ created: FIRST, exchanges })) }, says);
const edited = (from: RegExp, to: string, says: RegExp, lint: string): Damage =>
  harm((path) => edit(`${path}/${BODY}`, (text) => text.replaceAll(from, to)), says, lint);
const remove = (name: string) => (path: string) => Deno.removeSync(`${path}/${name}`, { recursive: true });
const NO_BREAKS = /headers\["x-a"\]: a header holds no line breaks/;
const STATUS = /response\.json": status: must be from 200 to 599$/;
const FORMAT = /fixture\.json": format: expected "reprise\.fixture\/1"/;

const ROWS: Readonly<Record<string, Damage>> = {
  "a file where the folder of an exchange belongs": harm((path) => {
    remove("exchanges/0001")(path);
    write(`${path}/exchanges/0001`, "");
  }, /request\.json": nothing is there/),
  "a header of two lines": response({ headers: { "x-a": "a\r\nX-Evil: 1" } }, NO_BREAKS),
  "a request with a header of two lines": request({ headers: { "x-a": "a\nb" } }, NO_BREAKS),
  ...Object.fromEntries(["", "x:a"].map((name) => [
    `a header with the name ${JSON.stringify(name)}`,
    response({ headers: { [name]: "1" } }, /: is no name of a header$/),
  ])),
  "a status above those of answers": response({ status: 600 }, STATUS),
  "chunks beyond the body": response({ chunks: [[0, 1], [999_999, 2]] }, /chunk/),
  "a method in small letters": request({ method: "post" }, /method: must be in capital letters$/),
  "a sum that is not that of the request": request({ body: { a: 1 }, body_sha256: "0".repeat(64) }, /0001/),
  "an earlier format": header({ format: "reprise.fixture/0" }, FORMAT),
  "a later format": {
    ...header(
      { format: "reprise.fixture/2" },
      /it is of the format reprise\.fixture\/2, and this version of/,
    ),
    code: "format_too_new",
  },
  "a pattern that cannot be used": {
    header: { match: { replace: [{ pattern: "(?=1)", with: "" }] } },
    lint: "bad_header",
  },

  "recordings with a gap": recordings(/no recording begins with exchange 2/, [1, 1], [3, 3]),
  "recordings in another order": recordings(/no recording begins with exchange 1/, [3, 3], [1, 2]),
  "recordings that end early": recordings(/they end with exchange 2, and the fixture has 3 exchanges/, [
    1,
    2,
  ]),

  "a body with another sum": edited(/$/g, "\n", /checksum differs/, "changed"),
  "a body whose line ends alone became CRLF": edited(
    /\n/g,
    "\r\n",
    /only its line ends .* CRLF now/,
    "line_ends",
  ),
  "a missing exchange": harm(remove("exchanges/0002"), /0002\/request\.json": nothing is there/),
  "a link instead of a body": harm(
    (path) => {
      Deno.renameSync(`${path}/${BODY}`, `${path}/../elsewhere`);
      Deno.symlinkSync(`${path}/../elsewhere`, `${path}/${BODY}`);
    },
    /link/,
    "bad_file",
  ),
  "a request that is not JSON": harm((path) => {
    edit(`${path}/${REQUEST}`, (text) => text.slice(0, -5));
    seal(path);
  }, /request\.json": it is not JSON/),
  "a fixture.json of 64 MiB and a byte": harm(
    (path) => Deno.truncateSync(`${path}/fixture.json`, 64 * 1024 ** 2 + 1),
    /fixture\.json": it has 67108865 bytes, and at most 67108864 are read/,
    "bad_header",
  ),

  "a WebSocket with a status of HTTP": sockets(
    socket({ response: { status: 200 } }),
    /its status is 200, and request.json has "transport": "ws"/,
  ),
  "a message beyond the body": sockets(
    { ...socket({}, ["{}", "{}"]), body: "{}\n" },
    /messages do not rise, or go beyond the body of 3 bytes/,
  ),
  "a WebSocket of an API that has none": sockets(
    socket({ request: { path: "/v1/messages" } }),
    /the API of its path has no WebSocket/,
  ),
};

function damaged(
  home: RecordingHome,
  { exchanges = [HTTP, HTTP, HTTP], header = {}, members = {}, harm }: Damage,
): string {
  const path = home.fixture("f", exchanges, header);
  for (const [name, more] of Object.entries(members)) {
    edit(`${path}/${name}`, (text) => JSON.stringify({ ...JSON.parse(text), ...more }));
    seal(path);
  }
  harm?.(path);
  return path;
}

for (const [name, row] of Object.entries(ROWS)) {
  withHome(`a fixture is refused, and lint names the error: ${name}`, async (home) => {
    damaged(home, row);
    const { says, lint = "bad_exchange", code = "bad_fixture" } = row;
    if (says !== undefined) {
      const error = await home.json(["show", "f"], { codes: [2] });
      assert.equal(error.code, code, error.message);
      assert.match(error.message, says);
      assert.ok(!/[✖→\n]/.test(error.message), error.message);
    }
    const found = await home.findings("f");
    assert.ok(found.some((line) => line.startsWith(`error ${lint} `)), found.join("\n"));
    if (lint === "bad_header" && says !== undefined) {
      assert.match((await home.json(["ls", "f"])).fixtures[0].problem, says);
    }
  });
}

withHome("a fixture without an exchange is read and grows, and lint names it", async (home) => {
  home.fixture("f", []);
  const { exchanges } = await home.json(["show", "f"]);
  assert.deepEqual(exchanges, []);
  assert.equal((await home.json(["ls", "f"])).fixtures[0].exchanges, 0);
  await home.json(["seal", "f"]);
  assert.deepEqual((await home.findings("f")).map((line) => line.split(" ").slice(0, 2).join(" ")), [
    "error no_exchange",
  ]);
  await using upstream = new RawUpstream(answering("200 OK\r\ncontent-type: application/json", "{}"));
  await using recorder = await home.record(upstream.origin, { out: "f", flags: ["--missing"] });
  assert.equal((await recorder.ask("/v1/responses", { model: "gpt-5.6", input: "Hi" })).status, 200);
  await recorder.end(0);
  assert.deepEqual(await home.findings("f"), []);
});

withHome("names of headers are tokens, and values are anything that can be sent", async (home) => {
  const headers = { "X-Request-Id": "", "x-b!#$%&'*+-.^_`|~9": "\t é ÿ ~\u0080" };
  home.fixture("f", [{ ...HTTP, response: { headers } }]);
  assert.deepEqual(await home.findings("f"), []);
});

withHome("a file instead of a folder is reported as such by every verb", async (home) => {
  const path = home.fixture("a", [HTTP]);
  Deno.symlinkSync(`${path}/fixture.json`, `${home.directory}/link`);
  for (const name of ["a/fixture.json", "a/fixture.json/deeper", "link"]) {
    for (const verb of ["show", "seal", "redact", "lint", "ls"]) {
      await home.refused([verb, name], "bad_fixture", /it is a file, not a folder/);
    }
  }
});

withHome("lint names a body over 256 MiB, and reads the others", async (home) => {
  const path = home.fixture("f", [HTTP, HTTP]);
  Deno.truncateSync(`${path}/${BODY}`, 256 * 1024 ** 2 + 1);
  const says = /body": it has 268435457 bytes, and at most 268435456 are read/;
  await home.refused(["show", "f"], "bad_fixture", says);
  const found = await home.findings("f");
  assert.deepEqual(found.map((line) => line.split(" ")[1]), ["changed", "bad_exchange", "too_large"]);
}, test.long);

const PIECES = [...'"{}[,\n0é', "-1", "null", '"x"', "1e9", "[[", '"stream_id":5,', "resp_1"];

withHome(
  "damage anywhere in an exchange over a WebSocket is an error about the fixture, or can be shown",
  async (home) => {
    const message = { ...CREATE, input: [PROMPT] };
    const next = { ...CREATE, previous_response_id: "resp_1", input: [SHELL_OUTPUT] };
    const path = home.fixture("f", [
      socketExchange({ message, events: responseEvents("resp_1", []) }),
      socketExchange({ message: next, events: [] }),
    ]);
    let state = 11;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    const codes = [0, 0, 0];
    for (let round = 0; round < 150; round++) {
      const name = [REQUEST, RESPONSE, BODY][random(3)] as string;
      const file = `${path}/${name.replace("0001", `000${1 + random(2)}`)}`;
      const text = Deno.readTextFileSync(file);
      const from = random(text.length + 1);
      write(file, text.slice(0, from) + PIECES[random(PIECES.length)] + text.slice(from + random(8)));
      seal(path);
      const called = await home.verb(["show", "f", "--json"]);
      codes[called.code] = (codes[called.code] ?? 0) + 1;
      if (called.code !== 0) assert.equal(JSON.parse(called.stdout).code, "bad_fixture", called.stderr);
      Deno.writeTextFileSync(file, text);
    }
    assert.equal((codes[0] ?? 0) + (codes[2] ?? 0), 150);
    assert.ok(Math.min(codes[0] ?? 0, codes[2] ?? 0) > 20, codes.join());
  },
  test.long,
);
