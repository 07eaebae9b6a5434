/** Addresses in the spellings of URLs, options and name servers. */
import assert from "node:assert/strict";
import { addressOf, isLoopbackHost, reachedAddress } from "../../../src/domain/address.ts";
import { isLoopback } from "../../../src/domain/fingerprint.ts";

Deno.test("only localhost and the loopback addresses name this machine, however a URL spells them", () => {
  const own = [
    "localhost",
    "127.0.0.1",
    "127.255.1.2",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "127.1",
    "[::1]",
  ];
  const others = [
    "127.0.0.1.example.com",
    "localhost.example.com",
    "128.0.0.1",
    "126.255.255.255",
    "0.0.0.0",
    "[::]",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "[64:ff9b::7f00:1]",
  ];
  for (const host of own) assert.ok(isLoopback(new URL(`http://${host}:1/`)), host);
  for (const host of others) assert.ok(!isLoopback(new URL(`http://${host}:1/`)), host);
  for (const host of [...own, ...others]) {
    const url = new URL(`http://${host}:1/`);
    assert.equal(isLoopbackHost(url.hostname), isLoopback(url), `the library agrees: ${host}`);
  }
});

Deno.test("a host by itself is loopback in its full spelling, and with a zone", () => {
  for (const host of ["localhost", "127.0.0.1", "::1", "::1%lo", "0:0:0:0:0:0:0:1"]) {
    assert.ok(isLoopbackHost(host), host);
  }
  for (const host of ["", "127", "127.1", "127.0.0.256", "::1%", "fe80::1%lo"]) {
    assert.ok(!isLoopbackHost(host), host);
  }
});

Deno.test("an IPv6 address that leads to an IPv4 address is read as that one", () => {
  for (const host of ["::ffff:169.254.1.2", "[::ffff:a9fe:102]", "::a9fe:102", "64:ff9b::169.254.1.2"]) {
    const address = addressOf(host);
    assert.ok(address !== null, host);
    assert.equal(reachedAddress(address).toString(), "169.254.1.2", host);
  }
  for (const host of ["fe80::a9fe:102", "64:ff9b:1::a9fe:102", "169.254.1.3"]) {
    const address = addressOf(host);
    assert.ok(address !== null, host);
    assert.equal(reachedAddress(address), address, host);
  }
});

Deno.test("a name is no address", () => {
  for (const host of ["example.com", "1.2.3", "1.2.3.4.5", "0x7f.1", "a:b", "[example]", ""]) {
    assert.equal(addressOf(host), null, host);
  }
});
