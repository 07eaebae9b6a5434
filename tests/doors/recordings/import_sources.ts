/** One exchange in the formats of many tools. */
import type { Json } from "../../support/files.ts";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { stringify } from "yaml";
import { BASE } from "./importing.ts";

/** The URL of the exchange. */
export const URI = `${BASE}/chat/completions`;
const ASKED =
  '{"model":"gpt-5.6", "messages":[{"role":"user","content":"Où?"}], "seed":12345678901234567890}';
const ANSWER = '{"id":"chatcmpl-1","object":"chat.completion","model":"gpt-5.6","choices":[], "id":"twice"}';
const TYPE = { "Content-Type": ["application/json"] };

/** An interaction of vcrpy. */
export function interaction(request: Json = {}, response: Json = {}) {
  return {
    request: { method: "POST", uri: URI, headers: TYPE, body: ASKED, ...request },
    response: { status: { code: 200, message: "OK" }, headers: TYPE, body: { string: ANSWER }, ...response },
  };
}

function ofRuby(response: object = {}) {
  const { request, response: answer } = interaction();
  return {
    http_interactions: [{
      request: { ...request, method: "post", body: { encoding: "UTF-8", string: ASKED } },
      response: { ...answer, body: { encoding: "UTF-8", string: ANSWER }, ...response },
      recorded_at: "2026-11-21T20:18:00",
    }],
    recorded_with: "betamax/0.9.0",
  };
}

/** The interaction as go-vcr writes it. */
export function ofGo(version: number) {
  const { uri: url, ...request } = interaction().request;
  const more = version === 2 ? { proto: "HTTP/2.0", content_length: -1, uncompressed: true } : {};
  return {
    version,
    interactions: [{
      ...(version === 2 ? { id: 0 } : {}),
      request: { ...request, form: {}, url },
      response: { ...more, body: ANSWER, headers: TYPE, status: "200 OK", code: 200, duration: "" },
    }],
  };
}

const LIST = [{ name: "content-type", value: "application/json" }];

/** Changes of an entry. */
export interface Change {
  readonly request?: Json;
  readonly response?: Json;
  readonly content?: Json;
}

/** An entry of a HAR file. */
export function entry({ request = {}, response = {}, content = {} }: Change = {}) {
  const size = new TextEncoder().encode(ANSWER).length;
  return {
    startedDateTime: "2026-11-21T20:18:00.000Z",
    request: {
      ...{ method: "POST", url: URI, headers: [{ name: ":method", value: "POST" }, ...LIST], bodySize: -1 },
      postData: { mimeType: "application/json", text: ASKED },
      ...request,
    },
    response: {
      ...{ status: 200, headers: LIST, bodySize: -1 },
      content: { size, mimeType: "application/json", text: ANSWER, ...content },
      ...response,
    },
  };
}

/** A HAR file of these entries. */
export function har(creator: string, ...entries: readonly object[]): string {
  return JSON.stringify({ log: { version: "1.2", creator: { name: creator, version: "1" }, entries } });
}

const PACKED = { headers: [...LIST, { name: "content-encoding", value: "br" }] };
const packed = (content: Json) => entry({ content, response: PACKED });
const brotli = brotliCompressSync(ANSWER);
const vcrpy = (...changes: readonly Json[]) => ({ interactions: [interaction(...changes)], version: 1 });

/** The exchange as dd-apm-test-agent keeps it: one in a file, with the answer decoded and its headers unchanged. */
function ofAgent(body: string) {
  const headers = { "Content-Type": "application/json" };
  return {
    request: { method: "POST", url: URI, headers, body: ASKED },
    response: {
      status: { code: 200, message: "OK" },
      headers: { ...headers, "Content-Encoding": "gzip" },
      body,
    },
  };
}

/** The exchange as nock records it. */
function nocked(more: Json) {
  return {
    ...{ scope: "https://api.openai.com:443", method: "POST", path: "/v1/chat/completions", body: ASKED },
    ...{ status: 200, response: ANSWER, rawHeaders: ["Content-Type", "application/json"] },
    ...{ reqheaders: { "content-type": "application/json" }, ...more },
  };
}

const { version: _version, ...pollyLog } = JSON.parse(har("Polly.JS", entry({ content: { size: 4 } }))).log;

/** The exchange in each format. */
export const FORMATS: Readonly<Record<string, string>> = {
  "vcrpy, YAML": stringify(vcrpy()),
  "vcrpy, JSON": JSON.stringify(vcrpy()),
  "vcrpy of older httpx": stringify(vcrpy({}, {
    ...{ body: undefined, status: undefined, content: ANSWER, status_code: 200 },
    headers: { ...TYPE, "content-encoding": ["br"] },
  })),
  "vcrpy, headers in bytes": stringify(
    vcrpy({ headers: { "Content-Type": [new TextEncoder().encode("application/json")] } }),
    { customTags: ["binary"] },
  ),
  "VCR of Ruby, YAML": stringify(ofRuby()),
  "Betamax, JSON": JSON.stringify(ofRuby()),
  "Betamax, base64": JSON.stringify(ofRuby({
    body: { encoding: null, base64_string: gzipSync(ANSWER).toString("base64") },
    headers: { ...TYPE, "Content-Encoding": ["gzip"] },
  })),
  "go-vcr 2": stringify(ofGo(1)),
  "go-vcr 3": stringify(ofGo(2)),
  "vcrpy without its version": stringify({ interactions: [interaction()] }),
  "vcrpy with its version first": stringify({ version: 1, interactions: [interaction()] }),
  "LangChain": stringify({
    requests: [interaction().request],
    responses: [interaction().response],
    version: 1,
  }),
  "JSON with a number as status": JSON.stringify({
    interactions: [{
      request: { ...interaction().request, uri: undefined, url: URI },
      response: { ...interaction().response, status: 200, body: ANSWER },
    }],
  }),
  "ReqCassette, base64": JSON.stringify({
    version: "1.0",
    interactions: [interaction({ body_type: "text" }, {
      ...{ status: 200, body: undefined, body_type: "blob" },
      body_blob: btoa(ANSWER),
    })],
  }),
  "dd-apm-test-agent": JSON.stringify(ofAgent(ANSWER)),
  "dd-apm-test-agent, base64": JSON.stringify(ofAgent(`base64:${btoa(ANSWER)}`)),
  "nock.recorder": JSON.stringify([nocked({})]),
  "nock.recorder, compressed": JSON.stringify([nocked({
    rawHeaders: ["Content-Type", "application/json", "Content-Encoding", "gzip"],
    response: [gzipSync(ANSWER).subarray(0, 9), gzipSync(ANSWER).subarray(9)].map((part) =>
      part.toString("hex")
    ),
  })]),
  "nock.recorder, binary": JSON.stringify([nocked({
    response: new Uint8Array(new TextEncoder().encode(ANSWER)).toHex(),
    responseIsBinary: true,
    rawHeaders: { "Content-Type": ["application/json"] },
  })]),
  "HAR of Polly.js, YAML": stringify({ log: { ...pollyLog, version: "1.2" } }),
  "HAR of Playwright": har("Playwright", entry()),
  "HAR of a browser, base64": har(
    "WebInspector",
    entry({ content: { text: btoa(ANSWER), encoding: "base64" } }),
  ),
  "HAR of mitmproxy, which counts compressed bytes": har(
    "mitmproxy",
    entry({ content: { size: ANSWER.length + 12, compression: -12 } }),
  ),
  "HAR of Polly.js": har("Polly.JS", entry({ content: { size: 4 } })),
  "HAR of Polly.js, compressed": har(
    "Polly.JS",
    packed({ encoding: "base64", text: JSON.stringify([brotli.toString("base64")]) }),
  ),
  "HAR of older Polly.js, compressed": har(
    "Polly.JS",
    packed({
      _isBinary: true,
      text: JSON.stringify([brotli.subarray(0, 9), brotli.subarray(9)].map((part) => part.toString("hex"))),
    }),
  ),
};

const length = (value: string) => ({ headers: [{ name: "Content-Length", value }] });
const noText = (content: Json) => ({ content: { text: undefined, ...content } });
const elsewhere = /its body is in another file, "a\.json"$/;
const missing = /the body of the response of entry 2 \(.*\) is not in the file$/;

/** Entries that no server can play, and the reason. */
export const CUT_ENTRIES: readonly (readonly [Change, RegExp])[] = [
  [{ content: { size: 500 } }, /its body is cut: 91 of 500 bytes$/],
  [noText({ comment: "Response bodies are not included." }), /its body is cut: 0 of 91 bytes$/],
  [{ ...noText({ size: 0 }), response: length("7") }, /its body is cut: 0 of 7 bytes$/],
  [{ ...noText({ size: 0 }), response: { bodySize: 9 } }, /its body is cut: 0 of 9 bytes$/],
  [noText({ _file: "a.json" }), elsewhere],
  [noText({ size: -1, _sha1: "a.json" }), elsewhere],
  [noText({ size: -1 }), missing],
  [noText({ size: undefined }), missing],
  [{ content: { encoding: "gzip" } }, /the response of entry 2 \(.*\) has an unknown form: text, encoding$/],
  [
    { request: { postData: { params: [{ name: "a", value: "b" }] } } },
    /the request of entry 2 \(.*\) has an unknown form: params$/,
  ],
  [{ request: { bodySize: 500 } }, /the body of its request is cut: \d+ of 500 bytes$/],
  [{ request: { postData: undefined, ...length("7") } }, /the body of its request is cut: 0 of 7 bytes$/],
  [{ response: { status: 199 } }, /it has the status 199$/],
  [{ response: { status: 600 } }, /it has the status 600$/],
  [{ content: { encoding: "base64", text: "no base64!" } }, /is not base64$/],
];

/** Entries whose answer is empty: the source says so, or HTTP allows no body. */
export const EMPTY_ENTRIES: readonly Change[] = [
  { content: { text: "", size: -1 } },
  noText({ size: 0 }),
  { ...noText({ size: -1 }), response: { status: 204 } },
  { ...noText({ size: -1 }), response: { status: 304 } },
  { ...noText({ size: -1 }), response: length("0") },
  { ...noText({ size: -1 }), request: { method: "HEAD", postData: undefined } },
];

/** Entries of a known API that are no exchanges, and the reason. */
export const LEFT_OUT: readonly (readonly [Change, string])[] = [
  [{ request: { method: "OPTIONS" } }, "it is a preflight of a browser"],
  [{ response: { status: 0 } }, "it has no answer"],
  [{ response: { status: -1 }, ...noText({ size: -1 }) }, "it has no answer"],
  [{ response: { status: 101 } }, "it opens a WebSocket"],
  [{ request: { url: "wss://api.openai.com/v1/responses" } }, "it opens a WebSocket"],
];

const plain = { method: "GET", postData: undefined };

/** Entries of no known API. */
export const OTHER_ENTRIES: readonly Change[] = [
  { request: { ...plain, url: "https://cdn.example/app.js" } },
  { request: { url: "https://intake.example/v1/chat/completions", postData: { text: '{"model":1}' } } },
  { request: { url: "data:text/plain,hello" } },
  { request: { url: "wss://www.example.com/socket" }, response: { status: 101 } },
  { request: { url: "https://www.example.com/page?key=hidden" }, response: { status: 0 } },
  { request: { url: "https://www.example.com/page", bodySize: 500 } },
];

/** Entries of a known API: by host, or by path and body. */
export const API_ENTRIES: readonly Change[] = [
  { request: { ...plain, url: "https://api.openai.com/v1/models" } },
  { request: { url: "https://generativelanguage.googleapis.com/v1beta/models/m:generateContent" } },
  { request: { url: "https://intake.example/v1/chat/completions" } },
];
