/** Files that `fixture import` refuses, with the reason, and leaves nothing of. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { withHome } from "./home.ts";
import { ANSWER, BASE, cassette, chunked, gzip, HEADERS, imported, refused, STREAM } from "./importing.ts";
import { type Change, CUT_ENTRIES, entry, har, ofGo } from "./import_sources.ts";

withHome(
  "a cut entry of a HAR file is refused by its number, and left out if it calls no API",
  async (home) => {
    for (const [change, says] of CUT_ENTRIES) {
      const content = har("Firefox", entry(), entry(change));
      await refused(home, content, says);
      if (change.content?.["encoding"] !== undefined) continue;
      await refused(home, content, /: entry 2 \(POST https:\/\/api\.openai\.com\/v1\/chat\/completions\): /);
      const elsewhere: Change = {
        ...change,
        request: { ...change.request, url: "https://www.example.com/page?key=hidden" },
      };
      const { report, exchanges } = await imported(home, har("Firefox", entry(), entry(elsewhere)));
      assert.equal(exchanges.length, 1);
      assert.match(report.skipped.join(), /^entry 2 \(POST https:\/\/www\.example\.com\/page\): [^?]*$/);
    }
    const extra = [
      entry({ request: { method: "OPTIONS" } }),
      entry({ request: { url: "data:text/plain,hello" } }),
      entry({ request: { url: "wss://api.openai.com/v1/responses" }, response: { status: 101 } }),
    ];
    const { report: { skipped } } = await imported(home, har("WebInspector", ...extra, entry()));
    assert.deepEqual(skipped.map((each: string) => each.replace(/^.*: /, "")), [
      "it is a preflight of a browser",
      "it is no HTTP request",
      "it is no HTTP request",
    ]);
    await refused(home, har("WebInspector", ...extra), /no entry can be imported: entry 1 /);
  },
);

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

const REFUSED: readonly (readonly [string | Uint8Array, RegExp, RegExp?])[] = [
  ...mocks("nock", [{ scope: BASE, method: "POST", path: "/x", status: 200 }]),
  ...mocks("WireMock", { mappings: [] }),
  ...mocks("msw", 'import { http } from "msw";\nexport const handlers = [];\n'),
  ...mocks("aimock", { fixtures: [{ match: {}, response: {} }] }),
  ...mocks("MockServer", [{ httpRequest: {}, httpResponse: {} }]),
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
