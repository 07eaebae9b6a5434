/** `fixture import` of one exchange in the formats and encodings of many tools. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { brotliCompressSync, deflateRawSync, gzipSync, zstdCompressSync } from "node:zlib";
import { stringify } from "yaml";
import { withHome } from "./home.ts";
import { ANSWER, ASKED, BASE, cassette, HEADERS, imported, refused } from "./importing.ts";
import { FORMATS, interaction } from "./import_sources.ts";

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
