import assert from "node:assert/strict";
import { decodeAnswer } from "../../../src/transport/content_coding.ts";
import { readText } from "../../../src/transport/http.ts";

async function gzip(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function bodyOf(bytes: Uint8Array, size = bytes.length) {
  let released = false;
  async function* chunks() {
    try {
      for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
    } finally {
      released = true;
    }
  }
  return { body: chunks(), released: () => released };
}

Deno.test("a body without an encoding is passed on untouched", () => {
  const { body } = bodyOf(new Uint8Array(3));
  assert.equal(decodeAnswer(body, new Headers()), body);
  assert.equal(decodeAnswer(body, new Headers({ "content-encoding": "identity" })), body);
});

Deno.test("gzip is undone in any chunks, and not twice when the runtime has undone it", async () => {
  const headers = new Headers({ "content-encoding": "GZIP" });
  for (const size of [1, 7, 1000]) {
    const { body, released } = bodyOf(await gzip("data: ü\n\n"), size);
    assert.equal(await readText(decodeAnswer(body, headers), 1000), "data: ü\n\n");
    assert.ok(released());
  }
  const { body } = bodyOf(new TextEncoder().encode("data: plain\n\n"));
  assert.equal(await readText(decodeAnswer(body, headers), 1000), "data: plain\n\n");
  assert.equal(await readText(decodeAnswer(bodyOf(new Uint8Array(0)).body, headers), 1000), "");
});

Deno.test("damaged gzip and encodings that cannot be undone are a bad stream", async () => {
  const { body, released } = bodyOf((await gzip("data: packed\n\n".repeat(50))).subarray(0, -12), 10);
  const cut = decodeAnswer(body, new Headers({ "content-encoding": "gzip" }));
  await assert.rejects(readText(cut, 1000), { code: "bad_stream" });
  assert.ok(released());
  const other = decodeAnswer(bodyOf(new Uint8Array(9)).body, new Headers({ "content-encoding": "br" }));
  await assert.rejects(readText(other, 1000), { code: "bad_stream", message: /in the encoding "br"$/ });
});
