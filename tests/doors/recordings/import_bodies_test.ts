/** `fixture import` of bodies in all forms: kept, written again, named as missing, or refused. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { framed } from "./answers.ts";
import { withHome } from "./home.ts";
import {
  ANSWER,
  answered,
  cassette,
  chunked,
  gzip,
  imported,
  listOf,
  refused,
  STREAM,
  url,
} from "./importing.ts";
import { URI } from "./import_sources.ts";

const lines = ['{"type":"response.created",  "response":{"id":"resp_1"}}', '{"type":"response.completed"}'];
const ofLines = ["created", "completed"]
  .map((type, index) => `event: response.${type}\ndata: ${lines[index]}\n\n`).join("");
const parsed =
  `interactions:\n- request:\n    method: POST\n    uri: ${URI}\n  response:\n    status: {code: 200}\n    parsed_body: {n: 12345678901234567890}\nversion: 1\n`;
const odd = ': OPENROUTER PROCESSING\r\n\r\ndata: {"type":"response.created"}\r\rdata: [DONE]';

const RESPONSE = { ...ANSWER, model: "gpt-5.6", created_at: 1_790_000_000 };
const CHUNK = { id: "c", object: "chat.completion.chunk", choices: [{ index: 0, delta: { content: "Hi" } }] };
const parsedStream = (parsed_body: Json) =>
  cassette({ response: { headers: { "content-type": ["text/event-stream"] }, body: { parsed_body } } });

const BODIES: Readonly<Record<string, readonly [source: string, ...bodies: string[]]>> = {
  "bytes that were unpacked already": [
    cassette({ response: { ...gzip, body: { string: new TextEncoder().encode("{}") } } }),
    "{}",
  ],
  "base64, a body without a name and an absent one": [
    cassette({ response: { body: { base64: btoa("one") } } }, { response: { body: "two" } }, {
      response: { body: { encoding: "base64", string: btoa("three") } },
    }, {
      response: { status: { code: 204 }, body: { string: null } },
    }),
    ...["one", "two", "three", ""],
  ],
  "a body that is said to be empty, and one that HTTP does not allow": [
    cassette(
      { response: { body: { string: "" } } },
      { response: { body: null, headers: { "content-length": ["0"] } } },
      {
        ...{ response: { status: { code: 304 }, body: undefined } },
      },
      { request: { method: "HEAD", body: undefined }, response: { body: undefined } },
      {
        response: { body: undefined, headers: { "content-length": ["0"] } },
      },
    ),
    ...["", "", "", "", ""],
  ],
  "a parsed body in the place of the body": [
    cassette(
      { response: { body: { parsed_body: { a: 1.5 } } } },
      {
        response: { body: { type: "json", content: null } },
      },
      { response: { body: { type: "text", content: "{}" } } },
      { response: { body: RESPONSE } },
    ),
    ...['{"a":1.5}', "null", "{}", JSON.stringify(RESPONSE)],
  ],
  "a parsed body beside an empty one": [
    cassette({ response: { body: "", parsed_body: { a: 1 } } }),
    '{"a":1}',
  ],
  "the parsed events of Responses": [
    parsedStream(
      ["created", "completed"].map((type) => ({ type: `response.${type}` })),
    ),
    framed(["created", "completed"].map((type) => ({ type: `response.${type}` }))),
  ],
  "the parsed events of Chat Completions": [
    parsedStream([CHUNK, { ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }, "[DONE]"]),
    `data: ${JSON.stringify(CHUNK)}\n\ndata: ${
      JSON.stringify({ ...CHUNK, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })
    }\n\ndata: [DONE]\n\n`,
  ],
  "a parsed body in YAML with the digits of its numbers": [parsed, '{"n":12345678901234567890}'],
  "a parsed body in JSON with the digits of its numbers": [
    listOf({ request: url, response: answered({ n: 0 }) }).replace('"n":0', '"n":1e400'),
    '{"n":1e400}',
  ],
  "network chunks": [chunked(["", STREAM.slice(0, 10), "", STREAM.slice(10)]), STREAM],
  "a list of events": [lines.join("\n"), ofLines],
  "a list that ends in [DONE]": [
    '{"type":"response.created"}\n[DONE]\n',
    'event: response.created\ndata: {"type":"response.created"}\n\ndata: [DONE]\n\n',
  ],
  "an event stream": [STREAM, STREAM],
  "an event stream that is framed as no encoder of ours would": [odd, odd],
};

for (const [name, [source, ...bodies]] of Object.entries(BODIES)) {
  withHome(`an import keeps the body: ${name}`, async (home) => {
    assert.deepEqual((await imported(home, source)).exchanges.map(({ text }) => text), bodies);
  });
}

/** Requests whose body the source does not have, and those that have none. */
const MISSING: readonly (readonly [request: Json, isMissing: boolean])[] = [
  [{ body: undefined }, true],
  [{ body: {} }, true],
  [{ body: null, headers: { "content-length": ["7"] } }, true],
  [{
    body: { parsed_body: { a: ["b"] } },
    headers: { "content-type": ["application/x-www-form-urlencoded"] },
  }, true],
  [{ body: null }, true],
  [{ body: { string: null } }, true],
  [{ body: null, method: "GET" }, false],
  [{ body: null, headers: { "content-length": ["0"] } }, false],
  [{ body: "", headers: { "content-length": ["0"] } }, false],
  [{ body: undefined, headers: { "content-length": ["0"] } }, false],
  [{ body: undefined, method: "GET" }, false],
];

withHome("a request body that the source lacks is named, and matches no request", async (home) => {
  for (const [request, isMissing] of MISSING) {
    const { report, exchanges: [exchange] } = await imported(home, cassette({ request }));
    const lost = report.lost.map(({ what }: Json) => what);
    assert.equal(lost.includes("request_bodies"), isMissing, JSON.stringify(request));
    assert.equal(exchange?.request.body_sha256 === undefined, isMissing, JSON.stringify(request));
  }
});

/** Bodies of an unknown form, or that the file does not have. */
const UNKNOWN: readonly (readonly [Json, RegExp])[] = [
  [{ response: { body: null } }, /the body of the response of interaction 1 is not in the file/],
  [{ response: { body: { string: null } } }, /the body of the response of interaction 1 is not in the file/],
  [
    { response: { body: { encoding: "base64", string: "no base64!" } } },
    /the response of interaction 1 is not base64/,
  ],
  [{ response: { body: { a: 1, b: { c: 2 } } } }, /the response of interaction 1 has an unknown form: a, b$/],
  [{ response: { body: { string: 5 } } }, /the response of interaction 1 has an unknown form: string$/],
  [{ response: { body: { type: "json", text: "{}" } } }, /has an unknown form: type, text$/],
  [{ response: { body: { type: "xml", content: "{}" } } }, /has an unknown form: type, content$/],
  [{ response: { body: { string: "{}", parsed_body: {} } } }, /has an unknown form: string, parsed_body$/],
  [{ response: { body: [1] } }, /the response of interaction 1 has an unknown form: no mapping$/],
  [{ response: { body: false } }, /has an unknown form: no mapping$/],
  [
    { request: { body: { messages: "none" } } },
    /the request of interaction 1 has an unknown form: messages$/,
  ],
  [{ response: { body: undefined } }, /the body of the response of interaction 1 is not in the file$/],
  [{ response: { body: {} } }, /is not in the file$/],
  [{ response: { body: { encoding: "UTF-8" } } }, /is not in the file$/],
  [{ response: { body: { string: "" }, headers: { "content-length": ["7"] } } }, /is not in the file$/],
  [
    { response: { body: { parsed_body: [{ a: 1 }] }, headers: { "content-type": ["text/event-stream"] } } },
    /holds a parsed body, whose bytes cannot be restored for "text\/event-stream"$/,
  ],
  [
    { response: { parsed_body: {}, body: undefined, headers: { "content-type": ["text/html"] } } },
    /cannot be restored for "text\/html"$/,
  ],
];

withHome(
  "a body of an unknown form, or that the file does not have, is refused by its name",
  async (home) => {
    for (const [change, says] of UNKNOWN) await refused(home, cassette(change), says);
    const listed = (body: Json) =>
      listOf({ request: { ...url, body: { type: "text", value: "a" } }, response: body });
    await refused(home, listed({ status: 200 }), /the response of exchange 1 is not in the file$/);
    await refused(home, listed({ status: 200, body: { type: "json" } }), /is not in the file$/);
    await refused(
      home,
      listed({ status: 200, body: { type: "text", value: 5 } }),
      /unknown form: type, value$/,
    );
    const kept = { request: { ...url, body: { b64: btoa("{}") } }, response: { status: 200, body: null } };
    await refused(
      home,
      JSON.stringify({ ...kept, chunks: [], response: { status: 200 } }),
      /is not in the file$/,
    );
    await refused(
      home,
      JSON.stringify({ ...kept, request: { ...url, body: { b63: "" } }, chunks: [{ b64: btoa("{}") }] }),
      /the request of the exchange has an unknown form: b63$/,
    );
  },
);
