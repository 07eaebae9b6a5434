/** Base URLs without encryption, which only name this machine: a key never leaves it in plain text. */
import assert from "node:assert/strict";
import { said, Sandbox } from "../../support/reprise.ts";
import { test } from "../../support/test.ts";

const OWN = [
  ...["localhost", "127.0.0.1", "127.255.1.2", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "[::1]"],
];
const OTHERS = [
  ...["127.0.0.1.example.com", "localhost.example.com", "128.0.0.1", "126.255.255.255", "0.0.0.0"],
  ...["[::]", "[::2]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "169.254.169.254"],
];

test.long("only localhost and the loopback addresses are this machine, however a URL spells them", async () => {
  await using home = new Sandbox();
  for (const host of [...OWN, ...OTHERS]) {
    const args = ["run", "--timeout", "0.05", "-m", "gpt-5.6", "--base-url", `http://${host}:1/v1`, "Hi"];
    const called = await home.call(args, { env: { OPENAI_API_KEY: "sk-1" } });
    assert.equal(called.code !== 2, OWN.includes(host), `${host}: ${said(called)}`);
    if (called.code === 2) assert.match(called.stderr, /unencrypted/, host);
  }
});
