/** Files of a fixture that no reader accepts: what `show` says, and what `lint` finds. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { PROMPT, responseEvents, SHELL_OUTPUT, socketExchange } from "../../support/socket_fixture.ts";
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
  /** Code of a finding. @default {"bad_exchange"} */
  readonly lint?: string;
  /** Code of the error. @default {"bad_fixture"} */
  readonly code?: string;
}

const [REQUEST, RESPONSE, BODY] = ["request.json", "response.json", "body"].map((name) =>
  `exchanges/0001/${name}`
) as [
  string,
  string,
  string,
];
const response = (members: Json, says: RegExp): Damage => ({ members: { [RESPONSE]: members }, says });
const header = (members: Json, says: RegExp): Damage => ({ header: members, says, lint: "bad_header" });
const harm = (change: (path: string) => void, says: RegExp, lint = "bad_exchange"): Damage => ({
  harm: change,
  says,
  lint,
});
const sockets = (exchange: GivenExchange, says: RegExp): Damage => ({ exchanges: [exchange], says });
const recordings = (ranges: Json, says: RegExp): Damage =>
  header({ recordings: ranges.map((exchanges: Json) => ({ created: FIRST, exchanges })) }, says);
const FIRST = "2026-11-01T00:00:00.000Z";
/** Values of headers that no server can send. */
const UNSENDABLE = ["a\r\nX-Evil: 1", "a\u0000", "\u0100", "a\u0001", "a\u007f", "a\u001b[2J"];
const remove = (name: string) => (path: string) => Deno.removeSync(`${path}/${name}`, { recursive: true });

const ROWS: Readonly<Record<string, Damage>> = {
  "a file where the folder of an exchange belongs": harm((path) => {
    remove("exchanges/0001")(path);
    Deno.writeTextFileSync(`${path}/exchanges/0001`, "");
  }, /request\.json": nothing is there/),
  ...Object.fromEntries(UNSENDABLE.map((value) => [
    `a header with the value ${JSON.stringify(value)}`,
    response(
      { headers: { "x-a": value } },
      /response\.json": headers\["x-a"\]: a header holds no line breaks/,
    ),
  ])),
  "a request with a header of two lines": {
    members: { [REQUEST]: { headers: { "x-a": "a\nb" } } },
    says: /request\.json": headers\["x-a"\]: a header holds no line breaks/,
  },
  ...Object.fromEntries(["", "x a", "x:a", "x\r\na", "é", "(a)"].map((name) => [
    `a header with the name ${JSON.stringify(name)}`,
    response({ headers: { [name]: "1" } }, /: is no name of a header$/),
  ])),
  ...Object.fromEntries([99, 100, 101, 199, 600].map((status) => [
    `the status ${status}`,
    response(
      { status },
      status === 101 ? /its status is 101/ : /response\.json": status: must be from 200 to 599$/,
    ),
  ])),
  "a status that is a text": response({ status: "200" }, /status: expected number, received string$/),
  "chunks of a negative time": response(
    { chunks: [[0, -1]] },
    /chunks\[0\]\[1\]: expected number to be >=0$/,
  ),
  "an unknown end": response({ ended: "soon" }, /ended: expected one of "complete"\|"cut"\|"closed"$/),
  "a hundred wrong members": response(
    { chunks: Array.from({ length: 100 }, () => [-1, 0]) },
    /chunks\[4\]\[0\]: expected number to be >=0; and 95 more$/,
  ),
  "chunks beyond the body": response({ chunks: [[0, 1], [999_999, 2]] }, /chunk/),
  "a method in small letters": {
    members: { [REQUEST]: { method: "post" } },
    says: /method: must be in capital letters$/,
  },
  "a sum that is not that of the request": {
    members: { [REQUEST]: { body: { a: 1 }, body_sha256: "0".repeat(64) } },
    says: /0001/,
  },
  "a header without models and with a number as URL": header(
    { models: undefined, base_url: 1 },
    /fixture\.json": base_url: expected string, received number; models: it is missing$/,
  ),
  ...Object.fromEntries(
    ["reprise.fixture/0", "reprise.turn/2", "reprise.fixture/x", 2, null].map((format) => [
      `the format ${format}`,
      header({ format }, /fixture\.json": format: expected "reprise\.fixture\/1"/),
    ]),
  ),
  "a later format": {
    ...header(
      { format: "reprise.fixture/2" },
      /it is of the format reprise\.fixture\/2, and this version of reprise knows/,
    ),
    code: "format_too_new",
  },
  "a pattern that cannot be used": {
    header: { match: { replace: [{ pattern: "(?=1)", with: "" }] } },
    lint: "bad_header",
  },

  "recordings with a gap": recordings([[1, 1], [3, 3]], /no recording begins with exchange 2/),
  "recordings that overlap": recordings([[1, 2], [2, 3]], /no recording begins with exchange 3/),
  "recordings that begin late": recordings([[2, 3]], /no recording begins with exchange 1/),
  "recordings in another order": recordings([[3, 3], [1, 2]], /no recording begins with exchange 1/),
  "recordings that run backwards": recordings([[1, 2], [3, 2]], /one has the exchanges 3 to 2/),
  "recordings that end early": recordings(
    [[1, 2]],
    /they end with exchange 2, and the fixture has 3 exchanges/,
  ),
  "recordings that end late": recordings(
    [[1, 4]],
    /they end with exchange 4, and the fixture has 3 exchanges/,
  ),
  "no recording": recordings([], /recordings/),
  "a recording of half exchanges": recordings([[1, 1.5]], /recordings/),
  "a recording with three numbers": recordings([[1, 2, 3]], /recordings/),
  "a recording of no day": header({
    recordings: [{ created: "2026-11-31T00:00:00.000Z", exchanges: [1, 3] }],
  }, /recordings/),
  "a recording with an unknown rule": header(
    { recordings: [{ created: FIRST, exchanges: [1, 3], context: { planet: "Mars" } }] },
    /recordings/,
  ),

  "a body with another sum": harm(
    (path) => edit(`${path}/${BODY}`, (text) => `${text}\n`),
    /checksum differs/,
    "changed",
  ),
  "a body whose line ends alone became CRLF": harm(
    (path) => edit(`${path}/${BODY}`, (text) => text.replaceAll("\n", "\r\n")),
    /only its line ends .* CRLF now/,
    "line_ends",
  ),
  "a body whose line ends alone became LF": {
    exchanges: [{ body: STREAM.replaceAll("\n", "\r\n") }],
    ...harm(
      (path) => edit(`${path}/${BODY}`, (text) => text.replaceAll("\r", "")),
      /only its line ends .* LF now/,
      "line_ends",
    ),
  },
  "a missing answer": harm(
    remove("exchanges/0002/response.json"),
    /0002\/response\.json": nothing is there/,
    "missing",
  ),
  "a missing exchange": harm(remove("exchanges/0002"), /0002\/request\.json": nothing is there/),
  "no exchange": { exchanges: [], lint: "no_exchange" },
  "an exchange that fixture.json does not list": harm(
    (path) => write(`${path}/exchanges/0009/request.json`, "{}"),
    /exchanges\/0009": fixture\.json does not list it/,
    "unlisted",
  ),
  "a link instead of a body": harm(
    (path) => {
      Deno.renameSync(`${path}/${BODY}`, `${path}/../elsewhere`);
      Deno.symlinkSync(`${path}/../elsewhere`, `${path}/${BODY}`);
    },
    /link/,
    "bad_file",
  ),
  "a folder instead of a body": harm(
    (path) => {
      remove(BODY)(path);
      Deno.mkdirSync(`${path}/${BODY}`);
    },
    /body/,
  ),
  "a file instead of an exchange": {
    harm: (path) => {
      remove("exchanges/0001")(path);
      write(`${path}/exchanges/0001`, "");
    },
  },
  "a request that is not JSON": {
    harm: (path) => {
      edit(`${path}/${REQUEST}`, (text) => text.slice(0, -5));
      seal(path);
    },
    says: /request\.json": it is not JSON/,
  },
  "a fixture.json of 64 MiB and a byte": harm(
    (path) => Deno.truncateSync(`${path}/fixture.json`, 64 * 1024 ** 2 + 1),
    /fixture\.json": it has 67108865 bytes, and at most 67108864 are read/,
    "bad_header",
  ),

  "a WebSocket with a status of HTTP": sockets(
    socket({ response: { status: 200 } }),
    /its status is 200, and request.json has "transport": "ws"/,
  ),
  "a WebSocket without messages": sockets({ ...socket({}, []), body: "{}\n" }, /has no messages/),
  "a message without its line feed": sockets({ ...socket({}), body: "{} " }, /no line feed ends message 1/),
  "a message beyond the body": sockets(
    { ...socket({}, ["{}", "{}"]), body: "{}\n" },
    /messages do not rise, or go beyond the body of 3 bytes/,
  ),
  "a WebSocket of an API that has none": sockets(
    socket({ request: { path: "/v1/messages" } }),
    /the API of its path has no WebSocket/,
  ),
};

/** Writes the fixture of a row, with its damage. */
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
  await home.refused(
    ["show", "f"],
    "bad_fixture",
    /body": it has 268435457 bytes, and at most 268435456 are read/,
  );
  const found = await home.findings("f");
  assert.deepEqual(found.map((line) => line.split(" ")[1]), ["changed", "bad_exchange", "too_large"]);
}, test.long);

/** Pieces that damage JSON. */
const PIECES = [
  '"',
  "{",
  "}",
  "[",
  ",",
  "\n",
  "0",
  "-1",
  "null",
  '"x"',
  "1e9",
  "[[",
  '"stream_id":5,',
  "resp_1",
  "é",
];

withHome(
  "damage anywhere in an exchange over a WebSocket is an error about the fixture, or can be shown",
  async (home) => {
    const message = { ...CREATE, input: [PROMPT] };
    const path = home.fixture("f", [
      socketExchange({ message, events: responseEvents("resp_1", []) }),
      socketExchange({
        message: { ...CREATE, previous_response_id: "resp_1", input: [SHELL_OUTPUT] },
        events: [],
      }),
    ]);
    let state = 11;
    const random = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
    const codes = [0, 0, 0];
    for (let round = 0; round < 150; round++) {
      const file = `${path}/exchanges/000${1 + random(2)}/${
        ["request.json", "response.json", "body"][random(3)]
      }`;
      const text = Deno.readTextFileSync(file);
      const from = random(text.length + 1);
      Deno.writeTextFileSync(
        file,
        text.slice(0, from) + PIECES[random(PIECES.length)] + text.slice(from + random(8)),
      );
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
