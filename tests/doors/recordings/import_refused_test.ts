/** Files that `fixture import` refuses, with the reason, and leaves nothing of. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { withHome } from "./home.ts";
import { ANSWER, BASE, cassette, chunked, gzip, HEADERS, imported, refused, STREAM } from "./importing.ts";
import {
  API_ENTRIES,
  CUT_ENTRIES,
  EMPTY_ENTRIES,
  entry,
  har,
  LEFT_OUT,
  ofGo,
  OTHER_ENTRIES,
} from "./import_sources.ts";

withHome("an entry of a HAR file without its whole bodies is refused by its number", async (home) => {
  for (const [change, says] of CUT_ENTRIES) {
    const content = har("Firefox", entry(), entry(change));
    await refused(home, content, says);
    await refused(home, content, /entry 2 \(POST https:\/\/api\.openai\.com\/v1\/chat\/completions\)/);
  }
  await refused(home, har("Polly.JS", entry({ content: { text: undefined } })), /is not in the file$/);
  const hex = entry({ content: { _isBinary: true, text: '["7b7g"]' } });
  await refused(home, har("Polly.JS", hex), /is not hexadecimal$/);
});

withHome("an answer in a HAR file is empty only if the file or HTTP says so", async (home) => {
  for (const change of EMPTY_ENTRIES) {
    const { exchanges: [exchange] } = await imported(home, har("Firefox", entry(change)));
    assert.equal(exchange?.text, "", JSON.stringify(change));
  }
});

withHome("entries of a HAR file that are no exchanges are left out and named", async (home) => {
  const all = LEFT_OUT.map(([change]) => entry(change));
  const { report, exchanges } = await imported(home, har("Playwright", ...all, entry()));
  assert.equal(exchanges.length, 1);
  assert.deepEqual(
    report.skipped.map((each: string) =>
      each.replace(/^entry \d \([A-Z]+ \w+:\/\/api\.openai\.com[^?]*\): /, "")
    ),
    LEFT_OUT.map(([, why]) => why),
  );
  await refused(home, har("Playwright", ...all), /no entry can be imported: entry 1 /);
});

withHome("entries of a HAR file that call no known API are left out and counted", async (home) => {
  const others = OTHER_ENTRIES.map(entry);
  const { report, header } = await imported(home, har("WebInspector", ...others, entry()));
  assert.deepEqual(report.skipped, [`${others.length} entries that call no known API`]);
  assert.match(header.note, /Left out: 6 entries that call no known API\.$/);
  await refused(home, har("WebInspector", others[0] ?? {}), /: 1 entry that calls no known API$/);
  for (const change of API_ENTRIES) {
    const { report, exchanges } = await imported(home, har("WebInspector", entry(change)));
    assert.deepEqual([exchanges.length, report.skipped], [1, []], JSON.stringify(change));
  }
});

withHome(
  "a stream without its terminal event is refused, or kept with --keep-cut and marked",
  async (home) => {
    const headers = { ...HEADERS, "content-type": ["text/event-stream; charset=utf-8"] };
    const response = (string: string) => cassette({ response: { headers, body: { string } } });
    assert.equal((await imported(home, response(STREAM))).exchanges[0]?.response.terminal, undefined);
    const cut = response(STREAM.slice(0, -20));
    await refused(home, cut, /the stream of exchange 1 has no terminal event/, /--keep-cut/);
    const { exchanges: [kept] } = await imported(home, cut, { flags: ["--keep-cut"] });
    assert.deepEqual([kept?.response.terminal, kept?.text], [false, STREAM.slice(0, -20)]);
  },
);

withHome(
  "a kept header that no server could send is refused, and one that is not kept is no matter",
  async (home) => {
    const of = (name: string, value: string) => ({ response: { headers: { ...HEADERS, [name]: [value] } } });
    for (const value of ["a\r\nX-Evil: 1", "a\u0000", "a\u007f", "\u0100"]) {
      await refused(
        home,
        cassette({}, of("x-request-id", value)),
        /: exchange 2 cannot be kept: headers\["x-request-id"\]: a header holds no line breaks/,
      );
      await imported(home, cassette(of("x-other", value)));
    }
    const { exchanges: [exchange] } = await imported(home, cassette(of("x-request-id", "\tcafé ~")));
    assert.equal(exchange?.response.headers["x-request-id"], "\tcafé ~");
  },
);

const packed = new Uint8Array(gzipSync(JSON.stringify(ANSWER)));
const WHOLE: readonly string[] = [
  chunked([STREAM]),
  cassette({ response: { ...gzip, body: { string: packed } } }, {}).trimEnd(),
  stringify(ofGo(1)).split("duration")[0] ?? "",
  stringify(ofGo(2)).split("duration")[0] ?? "",
];

withHome("a recording that is cut off anywhere is refused", async (home) => {
  for (const whole of WHOLE) {
    for (let length = 1; length < whole.length; length += Math.ceil(whole.length / 25)) {
      await refused(home, whole.slice(0, length), /^Cannot import/);
    }
  }
});

const withBody = (string: Uint8Array, headers: Json = gzip.headers) =>
  cassette({ response: { headers, body: { string } } });
const nested = [
  "a: &a [x, x, x, x, x, x, x, x, x]",
  ...[..."bcdefgh"].map((name, index) =>
    `${name}: &${name} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(", ")}]`
  ),
];
const mocks = (tool: string, ...contents: readonly Json[]) =>
  contents.map((content) =>
    [
      typeof content === "string" ? content : JSON.stringify(content),
      new RegExp(`: it is of ${tool}: it describes answers`),
      /reprise record/,
    ] as const
  );

/** A cassette without its version. */
const unversioned = (body: string, end: string) =>
  `interactions:
- request: {method: POST, uri: ${BASE}/responses, body: "{}"}
  response:
    body: {string: '${body}'}
    headers: {content-type: [application/json]}
    status:
      code: 200${end}`;

const REFUSED: readonly (readonly [string | Uint8Array, RegExp, RegExp?])[] = [
  ...mocks("nock", [{ scope: BASE, method: "POST", path: "/x", status: 200 }]),
  ...mocks("WireMock", { mappings: [] }),
  ...mocks("msw", 'import { http } from "msw";\nexport const handlers = [];\n'),
  ...mocks("aimock", { fixtures: [{ match: {}, response: {} }] }),
  ...mocks("MockServer", [{ httpRequest: {}, httpResponse: {} }]),
  [stringify({ requests: [{}, {}], responses: [{}] }), /it has 2 requests and 1 responses$/],
  [
    stringify({ version: 1, interactions: [{ type: "websocket" }] }),
    /interaction 1 is of a WebSocket or of gRPC$/,
  ],
  [
    stringify({ version: 1, interactions: [{ grpc_messages: [] }] }),
    /interaction 1 is of a WebSocket or of gRPC$/,
  ],
  [cassette({}).replace("version: 1", "version: 3"), /version: expected one of 1\|2\|"1\.0"$/],
  [unversioned("{}", ""), /its last interaction may be cut/],
  [unversioned("{}", "\n      message: O"), /its last interaction may be cut/],
  [unversioned('{"a":', "\n      message: OK\n"), /its last interaction may be cut/],
  [stringify(JSON.parse(har("Polly.JS", entry()))), /does not end with its version, so it may be cut$/],
  [cassette({ request: { uri: "**REDACTED**" } }), /has a placeholder for the server: "\*\*REDACTED\*\*"$/],
  [new Uint8Array(gzipSync(gzipSync("{}"))), /not UTF-8/],
  [new Uint8Array(gzipSync("{}")).subarray(0, 12), /the file is damaged/],
  ["", /it is empty/],
  ["{}", /it is JSON, but no recording/],
  ["interactions: []\nversion: 1\n", /no whole VCR cassette: interactions: there is none$/],
  [
    '!!python/object/apply:os.system ["true"]\n',
    /: expected object, received array \(Unresolved tag: \S+:os\.system at line 1, column 1\)$/,
  ],
  [new Uint8Array([0xff, 0xfe, 0x00]), /not UTF-8/],
  [cassette({ request: { uri: "/v1/responses" } }), /the URL of interaction 1 is not one/],
  [withBody(packed).replace("H4sI", "H4sI*"), /a value marked !!binary is not base64/],
  [
    cassette({ response: { status: { code: 101 } } }),
    /\[0\]\.response\.status\.code: must be from 200 to 599$/,
  ],
  [withBody(new Uint8Array(gzipSync(new Uint8Array(17 * 1024 ** 2)))), /has more than 16777216 bytes once/],
  [nested.join("\n"), /neither JSON nor YAML/],
  [`{"interactions":${"[".repeat(10_000)}`, /nests too deep/],
  [chunked([STREAM]).replace(/"chunks":\[\{"b64":"/, '"chunks":[{"b64":"%'), /chunk 1 is not base64/],
  ['{"type":"response.created"}\n{"type":', /line 2 is not JSON/],
  ['{"type":"response.created",\r"a":1}\n{"type":"response.completed"}', /line 1 is not JSON/],
  ["data: {}\n\n", /those of no known API/],
];

withHome(
  "a file that is no recording, describes answers, is damaged or a bomb is refused with the reason",
  async (home) => {
    for (const [content, says, hint] of REFUSED) await refused(home, content, says, hint);
  },
);
