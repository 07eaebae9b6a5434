/** A key goes to its own origin only, over https or to this machine: the last check before each request. */
import assert from "node:assert/strict";
import { checkTarget } from "../../../src/transport/live.ts";

const OPENAI = "https://api.openai.com";
/** Origin of the key, URL of a request, and the words of the refusal. */
const REFUSED: readonly (readonly [origin: string, url: string, says: RegExp])[] = [
  [OPENAI, "https://api.openai.com.evil.example/v1", /the key belongs to https:\/\/api\.openai\.com$/],
  [OPENAI, "https://api.openai.com:8443/v1", /the key belongs/],
  [OPENAI, "http://api.openai.com/v1", /the key belongs/],
  ["http://127.0.0.1:80", "http://127.0.0.1:81/", /the key belongs/],
  ["http://10.0.0.7:8080", "http://10.0.0.7:8080/v1", /unencrypted/],
  ["http://127.0.0.1.evil.example", "http://127.0.0.1.evil.example/v1", /unencrypted/],
];

Deno.test("a request to another origin than that of its key, or unencrypted to another machine, is refused", () => {
  for (const [origin, url, says] of REFUSED) {
    assert.throws(() => checkTarget(new URL(url), origin), { code: "insecure_url", message: says }, url);
  }
  for (const url of [`${OPENAI}/v1`, "http://127.0.0.1:80/v1"]) {
    checkTarget(new URL(url), new URL(url).origin);
  }
});
