/** Faults of networks and servers that only a connection shows; tests/doors/wire has the answers. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { events } from "../support/reprise.ts";
import { assertError, type ExpectedError, HELLO, Place } from "./harness.ts";

const RUN = ["run", "--json", "--new", "-s", "s", "Hi"];
/** One more than the cap of a line. */
const OVER_THE_CAP = 64 * 1024 * 1024 + 1;

/** Returns a port of this machine on which nothing listens. */
function closedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

/** Base URLs, made of the URL of a server, that lead to no API. */
const NOWHERE: Readonly<Record<string, readonly [url: (server: string) => string, expected: ExpectedError]>> =
  {
    // The unspecified address reaches this machine's server, but is not loopback.
    "that would carry the key unencrypted to another machine": [
      (server) => server.replace("127.0.0.1", "0.0.0.0"),
      { code: "insecure_url", exit: 2, says: /unencrypted/, hint: /https/ },
    ],
    "whose port is closed": [
      () => `http://127.0.0.1:${closedPort()}/v1`,
      { code: "network_failed", exit: 10, says: /refused/ },
    ],
    "that speaks no TLS": [
      (server) => server.replace("http:", "https:"),
      { code: "network_failed", exit: 10, says: /TLS/ },
    ],
  };

for (const [what, [url, expected]] of Object.entries(NOWHERE)) {
  test.long(`a base URL ${what} is exit ${expected.exit}, after reported retries if they may help`, async () => {
    await using place = new Place([]);
    const called = await place.call([...RUN, "--base-url", url(place.server.baseUrl)]);
    assertError(called, expected);
    const retries = events(called).filter((event: Json) => event.kind === "retry");
    assert.equal(retries.length, expected.exit === 10 ? 2 : 0);
    assert.equal(place.server.requests.length, 0);
  });
}

test("a base URL that redirects is exit 10, and nothing reaches the target", async () => {
  for (const status of [302, 308]) {
    await using target = new Place([HELLO]);
    const location = `${target.server.baseUrl}/responses?token=hidden`;
    await using place = new Place([{ kind: "http", status, headers: { location }, body: "" }]);
    const error = assertError(await place.call(RUN), { code: "redirected", exit: 10, hint: /base URL/ });
    assert.ok(!error.message.includes("hidden"));
    assert.equal(target.server.requests.length, 0);
  }
});

test.long("a line of a stream over the cap is exit 10", async () => {
  const block = new Uint8Array(64 * 1024).fill(0x78);
  const chunks = [new TextEncoder().encode("data: "), ...Array(OVER_THE_CAP >> 16).fill(block), block];
  await using place = new Place([{ kind: "bytes", chunks }]);
  assertError(await place.call(RUN), { code: "bad_stream", exit: 10, says: /67108864|64 MiB/ });
});
