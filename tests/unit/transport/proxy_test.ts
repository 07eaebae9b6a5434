import assert from "node:assert/strict";
import { networkError } from "../../../src/transport/failure.ts";
import { loopbackDirect, proxyFor } from "../../../src/transport/proxy.ts";

/** URL, environment, and the expected variable and host; as the runtime itself chooses. */
const ROWS: readonly [string, Readonly<Record<string, string>>, string | null][] = [
  ["http://127.0.0.1:8080/v1", {}, null],
  ["http://10.0.0.1:8080/v1", { HTTP_PROXY: "http://127.0.0.1:9" }, "HTTP_PROXY 127.0.0.1:9"],
  ["http://10.0.0.1:8080/v1", { http_proxy: "proxy.test:9" }, "http_proxy proxy.test:9"],
  ["http://10.0.0.1:8080/v1", { HTTP_PROXY: "", http_proxy: "http://p.test" }, "http_proxy p.test"],
  ["http://10.0.0.1:8080/v1", { HTTPS_PROXY: "http://p.test" }, null],
  // This machine is asked directly, always.
  ["http://127.0.0.1:8080/v1", { HTTP_PROXY: "http://127.0.0.1:9", ALL_PROXY: "http://127.0.0.1:9" }, null],
  ["http://localhost:8080/v1", { HTTP_PROXY: "http://127.0.0.1:9" }, null],
  ["https://[::1]:8080/v1", { HTTPS_PROXY: "http://127.0.0.1:9" }, null],
  [
    "https://api.test/v1",
    { HTTPS_PROXY: "http://p.test", HTTP_PROXY: "http://q.test" },
    "HTTPS_PROXY p.test",
  ],
  ["https://api.test/v1", { HTTPS_PROXY: "http://p.test", ALL_PROXY: "http://q.test" }, "ALL_PROXY q.test"],
  // A name and a password for the proxy stay untold.
  ["https://api.test/v1", { all_proxy: "socks5://me:hunter2@p.test:1080" }, "all_proxy p.test:1080"],
  ["https://api.test/v1", { ALL_PROXY: "http://p.test", NO_PROXY: "x.test, API.test" }, null],
  ["https://eu.api.test/v1", { ALL_PROXY: "http://p.test", no_proxy: ".api.test" }, null],
  ["https://myapi.test/v1", { ALL_PROXY: "http://p.test", NO_PROXY: "api.test" }, "ALL_PROXY p.test"],
  ["http://[fd00::1]:8080/", { ALL_PROXY: "http://p.test", NO_PROXY: "fd00::1" }, null],
  // Whether the network holds the address is not worked out: better nothing than something false.
  ["http://10.0.0.1:8080/", { ALL_PROXY: "http://p.test", NO_PROXY: "10.0.0.0/8" }, null],
  ["https://api.test/v1", { ALL_PROXY: "http://p.test", NO_PROXY: "10.0.0.0/8" }, "ALL_PROXY p.test"],
  ["https://api.test/v1", { ALL_PROXY: "http://" }, null],
];

Deno.test("the proxy of a request is the one that the runtime goes through", () => {
  for (const [url, env, wanted] of ROWS) {
    const found = proxyFor(new URL(url), (name) => env[name]);
    assert.equal(found && `${found.variable} ${found.host}`, wanted, JSON.stringify([url, env]));
  }
});

Deno.test("a request that fails is reported with its proxy, and without a proxy if none is set", () => {
  const refused = new Error("connection refused");
  const messageWith = (env: Readonly<Record<string, string>>) =>
    networkError(new URL("https://api.test:8080/v1"), refused, { env: (name) => env[name] }).message;
  assert.equal(messageWith({}), "Cannot reach api.test:8080: the connection was refused");
  assert.equal(
    messageWith({ HTTPS_PROXY: "http://me:hunter2@127.0.0.1:9" }),
    "Cannot reach api.test:8080 (through the proxy 127.0.0.1:9 that HTTPS_PROXY names): the connection was refused",
  );
});

Deno.test("if a proxy is set, this machine is added to the hosts that go without it", () => {
  const added = (env: Readonly<Record<string, string>>) => loopbackDirect((name) => env[name]);
  assert.deepEqual(added({}), {});
  assert.deepEqual(added({ NO_PROXY: "x.test", HTTP_PROXY: "" }), {});
  const hosts = "localhost,127.0.0.1,127.0.0.0/8,::1,[::1]";
  assert.deepEqual(added({ https_proxy: "http://p.test" }), { NO_PROXY: hosts, no_proxy: hosts });
  const both = `${hosts},x.test`;
  assert.deepEqual(added({ ALL_PROXY: "http://p.test", no_proxy: "x.test" }), {
    NO_PROXY: both,
    no_proxy: both,
  });
});
