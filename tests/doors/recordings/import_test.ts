/** `fixture import` of files of many tools: the bodies stay byte for byte, and what follows from them. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { stringify } from "yaml";
import { framed } from "./answers.ts";
import { withHome } from "./home.ts";
import {
  ANSWER,
  answered,
  ASKED,
  BASE,
  cassette,
  HEADERS,
  imported,
  listOf,
  refused,
  STREAM,
  url,
} from "./importing.ts";
import { FORMATS, interaction, ofGo, URI } from "./import_sources.ts";
import { exchangesOf } from "./recording_files.ts";
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";

withHome("no field that is written for a list of events holds a line break", async (home) => {
  const types = ["response.created", "a\nevent: b", "a\r\n\r\nevent: c", "response.completed"];
  const lines = types.map((type) => JSON.stringify({ type, text: "one\r\ntwo\n\ndata: three\r" }));
  const { exchanges: [exchange] } = await imported(home, lines.join("\n"));
  assert.deepEqual(exchange?.text.split(/\r\n|\r|\n/).filter((line) => line !== ""), [
    ...["event: response.created", ...lines.slice(0, 3).map((line) => `data: ${line}`)],
    ...["event: response.completed", `data: ${lines[3]}`],
  ]);
});

/** Types of the events in a list, and the number of exchanges. */
const SPLIT: readonly (readonly [number, string])[] = [
  [
    3,
    "response.created response.completed response.created error response.failed response.created response.completed",
  ],
  // Some gateways send items before the response is created.
  [1, "response.output_item.added response.created response.completed"],
  // A message that begins again within one stream is one stream; after its end another begins.
  [1, "message_start message_start message_stop"],
  [2, "message_start message_stop message_start message_stop"],
];

withHome("a list of several responses becomes as many exchanges", async (home) => {
  for (const [count, types] of SPLIT) {
    const source = types.split(" ").map((type) => JSON.stringify({ type })).join("\n");
    assert.equal((await imported(home, source)).exchanges.length, count, types);
  }
});

const RESPONSE = { ...ANSWER, model: "gpt-5.6", created_at: 1_790_000_000 };
const error = (type: string, code: string | null) => ({ error: { message: "no", type, code } });
/** Single bodies: the provider, the path and the status that follow from them. */
const SINGLE: readonly (readonly [Json, string, string, number])[] = [
  [RESPONSE, "openai", "/v1/responses", 200],
  [{ ...RESPONSE, content_filters: [] }, "azure", "/v1/responses", 200],
  [{ id: "resp_1", object: "response.compaction", output: [] }, "openai", "/v1/responses/compact", 200],
  [{ id: "msg_1", type: "message", content: [], usage: {} }, "anthropic", "/v1/messages", 200],
  [error("insufficient_quota", "insufficient_quota"), "openai", "/v1/responses", 429],
  [error("invalid_request_error", null), "openai", "/v1/responses", 400],
  [{ type: "error", error: { type: "overloaded_error", message: "no" } }, "anthropic", "/v1/messages", 529],
  [{ error: { message: "no", param: "messages.[3].role" } }, "compatible", "/v1/chat/completions", 400],
];

withHome("the kind of a single body follows from its content, and its status from its kind", async (home) => {
  for (const [value, ...wanted] of SINGLE) {
    const content = `${JSON.stringify(value, null, 1)}\n`;
    const { exchanges: [exchange], header } = await imported(home, content);
    assert.deepEqual([header.provider, exchange?.request.path, exchange?.response.status], wanted);
    assert.deepEqual([exchange?.text, exchange?.sent], [content, null]);
  }
  const { header } = await imported(home, JSON.stringify({ ...RESPONSE, created_at: 1e300 }));
  assert.equal(header.created, "1970-01-01T00:00:00.000Z", "a time that no calendar has");
});

/** Origin, path and headers of a request, and the provider and base URL that follow. */
const SERVERS: readonly (readonly [string, string, string, string])[] = [
  ["https://api.openai.com", "/v1/threads/T/messages", "openai", "https://api.openai.com/v1"],
  ["https://eu.api.openai.com", "/v1/responses", "openai", "https://eu.api.openai.com/v1"],
  ["https://api.anthropic.com", "/v1/messages?beta=true", "anthropic", "https://api.anthropic.com"],
  ["https://gw.example.com", "/llm/v1/messages/count_tokens", "anthropic", "https://gw.example.com/llm"],
  ["https://api.openai.com.example", "/v1/responses", "compatible", "https://api.openai.com.example/v1"],
  ["http://127.0.0.1:8000", "/v1/responses", "compatible", "http://127.0.0.1:8000/v1"],
];

withHome(
  "the provider and the base URL follow from server and path, and --provider overrides them",
  async (home) => {
    for (const [origin, path, ...wanted] of SERVERS) {
      const value = path.includes("/threads/") ? { to: "bob" } : { model: "m", input: "Hi", messages: [] };
      const body = { type: "json", value };
      const source = listOf({ request: { ...url, url: `${origin}${path}`, body }, response: answered({}) });
      const { header: { provider, base_url } } = await imported(home, source);
      assert.deepEqual([provider, base_url], wanted, origin + path);
      const { header } = await imported(home, source, { flags: ["--provider", "azure"] });
      assert.equal(header.provider, "azure");
    }
  },
);

withHome("each server gets a folder of its own, and no host leads out of the folder", async (home) => {
  const hosts = [
    "a.b",
    "A.b:81",
    "a.b-81",
    "..",
    ".git",
    "-a-",
    "_",
    "fixture.json",
    "session.json",
    "unknown",
  ];
  hosts.push("[::1]:81", "a".repeat(300), "ä.example");
  const exchanges = [...hosts, "a.b"].map((host, index) => ({
    request: { ...url, url: `https://${host}/v1/responses`, body: { type: "text", value: `${index}` } },
    response: answered({}),
  }));
  const { fixtures } = await imported(home, listOf(...exchanges));
  const folders = fixtures.map(({ path }) => path);
  assert.equal(new Set(folders).size, hosts.length);
  for (const folder of folders) {
    assert.match(folder, /^to\/(?!(?:fixture|session)\.json$)[a-z0-9][a-z0-9.-]{0,128}(?<![.-])$/);
  }
  assert.deepEqual(fixtures[0]?.exchanges.map(({ sent }) => sent), ["0", `${hosts.length}`], "in order");
  assert.deepEqual(folders.slice(0, 3), ["to/a.b", "to/a.b-81", "to/a.b-81-2"]);
});

withHome(
  "a placeholder for the server takes the URL of --upstream, and is refused without one",
  async (home) => {
    const of = (...uris: readonly string[]) =>
      stringify({ interactions: uris.map((uri) => interaction({ uri })), version: 1 });
    const one = of("https://eu.<REGION>.example/chat/completions?a=<B>");
    await refused(home, one, /interaction 1 has a placeholder for the server: "/);
    const local = ["--upstream", "http://127.0.0.1:11434/v1/"];
    const { header, exchanges } = await imported(home, one, { flags: local });
    assert.equal(header.base_url, "http://127.0.0.1:11434/v1");
    assert.equal(exchanges[0]?.request.path, "/v1/chat/completions?a=%3CB%3E");
    // A URL replaces one placeholder: two servers do not become one.
    const two = of("<A>/v1/x", "https://<B>.example/v1/x");
    const says = /interaction 2 has a placeholder for the server: "https:\/\/<B>\.example\/v1\/x"$/;
    const hint = /--upstream "https:\/\/<B>\.example=https:\/\/HOST/;
    await refused(home, two, says, hint, "--upstream", "https://a.example");
    const flags = [
      "--upstream",
      "https://a.example",
      "--upstream",
      "https://<B>.example=https://b.example/p",
    ];
    const { fixtures } = await imported(home, two, { flags });
    assert.deepEqual(fixtures.map(({ path, header }) => [path, header.base_url]), [
      ["to/a.example", "https://a.example/v1"],
      ["to/b.example", "https://b.example/p/v1"],
    ]);
  },
);

const lengthened = (body: string) => cassette({ request: { body, headers: { "content-length": ["7"] } } });
const events = (...numbers: readonly number[]) =>
  framed([...numbers.map((sequence_number) => ({ type: "response.created", sequence_number })), {
    type: "response.completed",
  }, { type: "keepalive" }]);
const LACKS: readonly (readonly [source: string, fact: string, lacks: boolean])[] = [
  [lengthened("1234567"), "request_bytes", false],
  [lengthened("123456"), "request_bytes", true],
  [listOf({ request: url, response: answered({}) }), "response_bytes", true],
  [listOf({ request: url, response: answered("{}") }), "response_bytes", false],
  [events(0, 2), "events", true],
  [cassette({}).replace("uri: https", "uri: !!python/unicode https"), "tags", true],
];

withHome("what the source lacks is named in the report and in the note of the fixture", async (home) => {
  for (const [source, fact, lacks] of LACKS) {
    const { report, header } = await imported(home, source);
    assert.equal(report.lost.some(({ what }: Json) => what === fact), lacks, `${fact}: ${source}`);
    assert.match(header.note, /^Imported from source \(/);
  }
  for (
    const given of [{ body: undefined, parsed_body: ASKED }, { body: ASKED }, {
      body: { parsed_body: ASKED },
    }]
  ) {
    const { report: { lost }, exchanges: [exchange] } = await imported(home, cassette({ request: given }));
    assert.ok(lost.some(({ what }: Json) => what === "request_bytes"));
    assert.equal(exchange?.sent, JSON.stringify(ASKED));
  }
  const parsed = cassette({ request: { body: undefined, parsed_body: ASKED } });
  const { header, exchanges } = await imported(home, parsed);
  assert.deepEqual([header.created, header.models], ["2026-11-21T20:18:00.000Z", ["gpt-5.6"]]);
  // Nothing is claimed about its bytes.
  assert.deepEqual(Object.keys(exchanges[0]?.request), ["method", "path", "headers", "recording", "body"]);
});

withHome("keys, cookies and accounts go wherever a source repeats them, as in a recording", async (home) => {
  const [key, cookie, known] = [
    "sk-proj-abcdefghijklmnop1234",
    "UYuMLYCou_tA0.A8bkTTDs0INBmHlG2j",
    "hunter2-hunter2",
  ];
  const request = {
    uri: `${URI}?api_key=${key}`,
    headers: { authorization: [`Bearer ${key}`] },
    body: `my key is ${key}, my word is ${known}`,
  };
  const model = "gpt-5.2_2025-12-11";
  const headers = {
    ...HEADERS,
    "set-cookie": [`__cf_bm=${cookie}; path=/`],
    "openai-organization": ["acme-4f1d"],
    "x-ratelimit-key": [model],
  };
  const kept = { ...ANSWER, nextPageToken: "abc12def34", model };
  const body = { string: JSON.stringify({ ...kept, echo: `${key} ${cookie}` }) };
  const source = cassette({}, { request, response: { headers, body } });
  const { exchanges, header } = await imported(home, source, { env: { MY_SECRET: known } });
  const all = JSON.stringify([header, exchanges.map(({ body: _body, ...rest }) => rest)]);
  for (const secret of [key, known, cookie]) assert.ok(!all.includes(secret), secret);
  const { echo: _echo, ...rest } = JSON.parse(exchanges[1]?.text ?? "");
  assert.deepEqual(rest, kept);
  assert.match(exchanges[1]?.response.headers["openai-organization"], /^account-[0-9a-f]{16}$/);
  assert.ok(Object.keys(header.redactions).length > 0);
  // A key of one server is replaced in the fixture of another too, unless it is also a model or a host.
  for (const value of ["canary-of-another-form", "meta-llama/Llama-3.3-70B", "models.example.com"]) {
    const list = listOf({ request: url, response: answered(`Who is ${value}?`, {}) }, {
      request: { ...url, url: "https://other.example/v1/x", headers: { "x-api-key": value } },
      response: answered({}),
    });
    const { exchanges: [exchange] } = await imported(home, list);
    assert.equal(exchange?.text.includes(value), !value.startsWith("canary"), value);
  }
  const id = "6f9619ff-8b86-4d01-b42d-00cf4fc964ff";
  const json = { model: "gpt-5.6", instructions: `Session ID: ${id}`, input: "Hi", prompt_cache_key: id };
  const uuid = { ...url, body: { type: "text", value: JSON.stringify(json) } };
  const { header: { match } } = await imported(home, listOf({ request: uuid, response: answered({}) }));
  assert.deepEqual(match, { normalize: ["uuid"] });
});

/** URLs that replace a whole one, and the paths that follow. */
const REPLACED: readonly (readonly [url: string, answer: Json, path: string, follows: boolean])[] = [
  ["https://api.openai.com/v1", ANSWER, "/v1/responses", true],
  ["https://gw.example/llm/v1/", ANSWER, "/llm/v1/responses", true],
  ["https://api.anthropic.com", { type: "message", content: [] }, "/v1/messages", true],
  ["https://api.openai.com/v1/chat/completions", ANSWER, "/v1/chat/completions", false],
  ["https://api.openai.com/v1/embeddings", { data: [] }, "/v1/embeddings", false],
];

withHome(
  "a text in the place of a whole URL takes that of --upstream, and the path of the answer",
  async (home) => {
    for (const [url, answer, path, follows] of REPLACED) {
      const source = cassette({
        request: { uri: "**REDACTED**" },
        response: { body: JSON.stringify(answer) },
      });
      for (const flag of [url, `**REDACTED**=${url}`]) {
        const { report, exchanges: [exchange] } = await imported(home, source, {
          flags: ["--upstream", flag],
        });
        assert.equal(exchange?.request.path, path);
        assert.equal(report.lost.some(({ what }: Json) => what === "paths"), follows, url);
      }
    }
    const unknown = cassette({ request: { uri: "**REDACTED**" }, response: { body: "{}" } });
    await refused(
      home,
      unknown,
      /nothing says which path/,
      /whole URL/,
      "--upstream",
      "https://a.example/v1",
    );
  },
);

withHome("a file that is compressed with gzip is read, also in a folder", async (home) => {
  const { exchanges } = await imported(home, new Uint8Array(gzipSync(cassette({}))));
  assert.equal(exchanges[0]?.text, JSON.stringify(ANSWER));
  home.file("from/chat.yaml.gz", new Uint8Array(gzipSync(cassette({}))));
  const { imported: [only] } = await home.json(["import", "from", "folder"]);
  assert.equal(only.fixtures[0].path, "folder/chat");
});

/** Cassettes, and whether something at their end says that they are whole. */
const ENDS: readonly (readonly [string, boolean])[] = [
  [cassette({}), true],
  [cassette({}).replace("version: 1\n", ""), false],
  [`version: 1\n${cassette({}).replace("version: 1\n", "")}`, false],
  [JSON.stringify({ interactions: [interaction()] }), true],
  [stringify(ofGo(2)), false],
];

withHome("a cassette that may lack its end says so", async (home) => {
  for (const [source, isWhole] of ENDS) {
    const { report } = await imported(home, source);
    assert.equal(report.lost.some(({ what }: Json) => what === "whole"), !isWhole, source.slice(0, 40));
  }
});

withHome("an import goes into a folder that is new or empty, and into no other", async (home) => {
  home.file("a.sse", STREAM);
  await home.json(["import", "a.sse", "to"]);
  await home.refused(["import", "a.sse", "to"], "usage", /it is not empty/);
  await home.refused(["import", "a.sse", "to/fixture.json"], "usage", /it is a file/);
  await home.json(["import", "a.sse", "some/where/new"]);
  assert.equal(exchangesOf(`${home.directory}/some/where/new`).length, 1);
});

for (const [format, content] of Object.entries(FORMATS)) {
  withHome(`an exchange in the format ${format} keeps every byte of its bodies`, async (home) => {
    const { exchanges, header } = await imported(home, content);
    const [{ request, response, sent, text } = assert.fail()] = exchanges;
    assert.deepEqual([exchanges.length, header.provider, header.base_url], [1, "openai", BASE]);
    assert.deepEqual([request.method, request.path], ["POST", "/v1/chat/completions"]);
    assert.equal(sent, interaction().request.body);
    assert.deepEqual([response.status, text], [200, interaction().response.body.string]);
    for (const { headers } of [request, response]) assert.equal(headers["content-type"], "application/json");
  });
}

const halves = (bytes: Uint8Array) => [bytes.subarray(0, 9), bytes.subarray(9)];
const ENCODINGS: Readonly<Record<string, (bytes: Uint8Array) => Uint8Array>> = {
  gzip: gzipSync,
  br: brotliCompressSync,
  zstd: (bytes) => new Uint8Array(halves(bytes).flatMap((part) => [...zstdCompressSync(part)])),
  // Many servers omit the header of zlib.
  deflate: deflateRawSync,
  "gzip, zstd": (bytes) => zstdCompressSync(gzipSync(bytes)),
};

for (const [encoding, compress] of Object.entries(ENCODINGS)) {
  withHome(
    `bodies in ${encoding} are decoded in both directions, and refused if they are cut`,
    async (home) => {
      const pack = (value: Json) => new Uint8Array(compress(new TextEncoder().encode(JSON.stringify(value))));
      const headers = { ...HEADERS, "content-encoding": [encoding] };
      const response = { headers, body: { string: pack(ANSWER) } };
      const source = cassette({ request: { headers, body: pack(ASKED) }, response });
      const { exchanges: [exchange] } = await imported(home, source);
      assert.deepEqual([exchange?.sent, exchange?.text], [JSON.stringify(ASKED), JSON.stringify(ANSWER)]);
      assert.equal(exchange?.response.headers["content-encoding"], undefined);
      for (const cut of [pack(ANSWER).slice(0, 20), pack(ANSWER).slice(0, -1)]) {
        await refused(home, cassette({ response: { headers, body: { string: cut } } }), /is damaged/);
      }
    },
  );
}

withHome(
  "a cassette of Ruby's VCR is dated by its headers or its own times, and read only whole",
  async (home) => {
    const of = (date: Json, body: Json) => ({
      request: {
        method: "post",
        uri: "https://api.deepseek.com/chat/completions",
        body: { encoding: "UTF-8", string: "{}" },
        headers: {},
      },
      response: { status: { code: 401, message: "Unauthorized" }, headers: date, body },
      recorded_at: "Mon, 08 Jun 2026 18:45:36 GMT",
    });
    const body = { encoding: "ASCII-8BIT", base64_string: btoa("caf\u00e9 ") };
    const whole = (date: Json) =>
      stringify({ http_interactions: [of(date, body)], recorded_with: "VCR 6.4.0" });
    const { header, exchanges } = await imported(home, whole({ Date: HEADERS.date }));
    assert.equal(header.created, "2026-11-21T20:18:00.000Z");
    assert.deepEqual([...exchanges[0]?.body ?? []], [99, 97, 102, 0xe9, 32]);
    assert.equal((await imported(home, whole({}))).header.created, "2026-06-08T18:45:36.000Z");
    await refused(home, whole({}).replace(/recorded_with.*\n/, ""), /it is no whole VCR cassette/);
  },
);
