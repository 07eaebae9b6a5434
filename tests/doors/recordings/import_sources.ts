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

/** Entries that no server can play, and the reason. */
export const CUT_ENTRIES: readonly (readonly [Change, RegExp])[] = [
  [{ content: { size: 500 } }, /its body is cut: 91 of 500 bytes$/],
  [noText({ comment: "Response bodies are not included." }), /its body is cut: 0 of 91 bytes$/],
  [{ ...noText({ size: 0 }), response: length("7") }, /its body is cut: 0 of 7 bytes$/],
  [noText({ _file: "a.json" }), /its body is in another file, "a\.json"$/],
  [{ request: { bodySize: 500 } }, /the body of its request is cut: \d+ of 500 bytes$/],
  [{ request: { postData: undefined, ...length("7") } }, /the body of its request is cut: 0 of 7 bytes$/],
  [{ response: { status: 0 } }, /it has no answer$/],
  [{ response: { status: -1 } }, /it has no answer$/],
  [{ content: { encoding: "base64", text: "no base64!" } }, /is not base64$/],
];
