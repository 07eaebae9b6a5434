/** Ways to make a recording proxy connect to another host: none does. */
import assert from "node:assert/strict";
import { withHome } from "../doors/recordings/home.ts";
import { converse, rawBytes } from "../doors/recordings/raw_http.ts";
import { answering, RawUpstream } from "../support/raw_upstream.ts";

const GOOD = "from the right server";

/** Requests by name, each as its target and its headers; EVIL is the port that must not be connected to. */
const REQUESTS: Readonly<Record<string, readonly [target: string, ...headers: string[]]>> = {
  "an absolute target": ["http://127.0.0.1:EVIL/v1/models"],
  "an absolute target with its own Host": ["http://127.0.0.1:EVIL/v1/models", "Host: 127.0.0.1:EVIL"],
  "an absolute target by name": ["http://localhost:EVIL/v1/models"],
  "an absolute target in decimal": ["http://2130706433:EVIL/v1/models"],
  "an absolute target mapped to IPv6": ["http://[::ffff:127.0.0.1]:EVIL/v1/models"],
  "an absolute target with the recorder as its user": ["http://127.0.0.1:PORT@127.0.0.1:EVIL/v1/models"],
  "another Host": ["/v1/models", "Host: 127.0.0.1:EVIL"],
  "a Host with a user": ["/v1/models", "Host: 127.0.0.1:PORT@127.0.0.1:EVIL"],
  "forwarding headers": [
    "/v1/models",
    "X-Forwarded-Host: 127.0.0.1:EVIL",
    'Forwarded: host="127.0.0.1:EVIL";proto=http',
    "X-Target-URL: http://127.0.0.1:EVIL",
    "X-Upstream: http://127.0.0.1:EVIL",
    "X-Rewrite-URL: http://127.0.0.1:EVIL/",
  ],
  "two slashes": ["//127.0.0.1:EVIL/v1/models"],
  "three slashes": ["///127.0.0.1:EVIL/v1/models"],
  "a slash and a backslash": ["/\\127.0.0.1:EVIL/v1/models"],
  "slashes in percents": ["/%2f%2f127.0.0.1:EVIL/v1/models"],
  "a path that is a URL": ["/http://127.0.0.1:EVIL/v1/models"],
  "a path that would make the upstream a user": ["@127.0.0.1:EVIL/v1/models"],
  "a path that would be the end of a port": ["0@127.0.0.1:EVIL/v1/models"],
  "a path that climbs": ["/v1/../../@127.0.0.1:EVIL/../v1/models"],
  "a query that names a target": ["/v1/models?url=http://127.0.0.1:EVIL/&host=127.0.0.1:EVIL"],
  "a tunnel": ["CONNECT 127.0.0.1:EVIL"],
  "an upgrade": ["/v1/models", "Connection: upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: x"],
};

/** Addresses to which an upstream may redirect its clients. */
const REDIRECTS = [
  "http://127.0.0.1:EVIL/v1/models",
  "//127.0.0.1:EVIL/v1/models",
  "http://2130706433:EVIL/v1/models",
  "http://localhost:EVIL/v1/models",
];

/** Upstreams that no flag may name: another scheme, keys in the address, and cleartext to machines that are not this one. */
const BAD_UPSTREAMS = [
  "file:///etc/passwd",
  "http://user:secret@127.0.0.1:9/",
  "http://127.0.0.1:9/?key=secret",
  "http://169.254.169.254/latest/meta-data",
  "http://2852039166/latest/meta-data",
  "http://metadata.google.internal/",
  "127.0.0.1:9",
];

withHome(
  "no request and no redirect leads the recorder to another server than its upstream",
  async (home) => {
    await using evil = new RawUpstream(answering("200 OK", "from the wrong server"));
    let location = "";
    await using upstream = new RawUpstream((...asked) =>
      location === ""
        ? answering("200 OK\r\ncontent-type: application/json", JSON.stringify({ said: GOOD }))(...asked)
        : answering(`307 Go\r\nlocation: ${location}\r\nrefresh: 0;url=${location}`)(...asked)
    );
    await using recorder = await home.record(upstream.origin);
    const { port: evilPort } = new URL(evil.origin);
    const send = async (target: string, ...headers: readonly string[]) => {
      const has = (name: string) => headers.some((header) => header.startsWith(name));
      const lines = [
        target.startsWith("CONNECT ") ? `${target} HTTP/1.1` : `POST ${target} HTTP/1.1`,
        ...has("Host:") ? [] : ["Host: 127.0.0.1:PORT"],
        ...has("Connection:") ? [] : ["Connection: close"],
        ...["Authorization: Bearer x", "Content-Length: 2", ...headers, "", "{}"],
      ];
      const port = Number(new URL(recorder.origin).port);
      const { text } = await converse(
        port,
        [rawBytes(port, lines.join("\n").replaceAll("EVIL", evilPort))],
        (text) => /\{"said.*\}/.test(text),
      );
      assert.equal(evil.accepted, 0, target);
      return text;
    };
    for (const [name, [target, ...headers]] of Object.entries(REQUESTS)) {
      const text = await send(target, ...headers);
      // Refused, passed on to the upstream as a path of its own, or cut off.
      assert.ok(/^HTTP\/1\.1 4\d\d /.test(text) || text.includes(GOOD) || text === "", `${name}: ${text}`);
    }
    for (const to of REDIRECTS) {
      location = to.replace("EVIL", evilPort);
      // The client gets it, and no redirect is followed.
      assert.match(await send("/v1/models"), /^HTTP\/1\.1 (307|502) /, to);
    }
    await recorder.end(7);
    const lost = recorder.events.filter(({ code }) => code === "not_kept");
    assert.match(JSON.stringify(lost), /they were turned away/, "refused requests, and no other loss");
    assert.equal(evil.accepted, 0);
  },
);

withHome(
  "an upstream with another scheme, with keys in it, or in cleartext on another machine is refused",
  async (home) => {
    for (const upstream of BAD_UPSTREAMS) {
      const { code, stderr } = await home.call([
        "record",
        "--dry-run",
        "--upstream",
        upstream,
        "--out",
        "recorded",
      ]);
      assert.equal(code, 2, upstream);
      assert.doesNotMatch(stderr, /secret/, upstream);
    }
  },
);
