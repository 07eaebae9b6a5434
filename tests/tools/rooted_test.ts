import assert from "node:assert/strict";
import { rootedBytes, rootedText } from "../../src/tools/rooted.ts";

const ROOT = "/tmp/é/reprise-session-1";
const utf8 = (text: string) => new TextEncoder().encode(text);

Deno.test("in a played session paths below its scratch directory begin with /, in texts and in what is kept in full", () => {
  const text = `${ROOT}/workspace/a.txt:1\n${ROOT}\nPWD=${ROOT}/workspace\n/tmp/é\n`;
  const rooted = "/workspace/a.txt:1\n/\nPWD=/workspace\n/tmp/é\n";
  const full = { bytes: utf8(text), lossy: false };
  assert.deepEqual(rootedText({ status: "ok", text, full }, { playRoot: ROOT }), {
    status: "ok",
    text: rooted,
    full: { bytes: utf8(rooted), lossy: false },
  });
  const live = { status: "ok", text, full } as const;
  assert.deepEqual(rootedText(live, {}), live);
  assert.deepEqual(rootedBytes(full.bytes, undefined), full.bytes);
});

Deno.test("bytes that are no UTF-8 stay what they are around a path", () => {
  const bytes = new Uint8Array([0xff, ...utf8(`${ROOT}/x`), 0xc3, 0x00]);
  assert.deepEqual(rootedBytes(bytes, ROOT), new Uint8Array([0xff, ...utf8("/x"), 0xc3, 0x00]));
});
