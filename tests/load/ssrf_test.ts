/** Ways to make a recording proxy connect to another host: none does. */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../support/needs.ts";
import { Sandbox } from "../support/reprise.ts";
import { withServer } from "./listening.ts";

const encoder = new TextEncoder();
const GOOD = "from the right server";

/** A request by its first line and its headers; `host` is the recorder's unless it says otherwise. */
interface Form {
  readonly target: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Returns requests by name. `evil` is the port that must not be connected to, `own` the recorder's. */
function requestForms(evil: number, own: number): Readonly<Record<string, Form>> {
  const target = "/v1/models";
  const host = `127.0.0.1:${own}`;
  return {
    "an absolute target": { target: `http://127.0.0.1:${evil}/v1/models` },
    "an absolute target with its own Host": {
      target: `http://127.0.0.1:${evil}/v1/models`,
      headers: { host: `127.0.0.1:${evil}` },
    },
    "an absolute target by name": { target: `http://localhost:${evil}/v1/models` },
    "an absolute target in decimal": { target: `http://2130706433:${evil}/v1/models` },
    "an absolute target in octal": { target: `http://0177.0.0.1:${evil}/v1/models` },
    "an absolute target in hex": { target: `http://0x7f000001:${evil}/v1/models` },
    "an absolute target mapped to IPv6": { target: `http://[::ffff:127.0.0.1]:${evil}/v1/models` },
    "an absolute target with the recorder as its user": {
      target: `http://${host}@127.0.0.1:${evil}/v1/models`,
    },
    "another Host": { target, headers: { host: `127.0.0.1:${evil}` } },
    "a Host with a user": { target, headers: { host: `${host}@127.0.0.1:${evil}` } },
    "a Host of a name that resolves here": { target, headers: { host: `localtest.example:${evil}` } },
    "X-Forwarded-Host": { target, headers: { "x-forwarded-host": `127.0.0.1:${evil}` } },
    "Forwarded": { target, headers: { forwarded: `host="127.0.0.1:${evil}";proto=http` } },
    "X-Target and its like": {
      target,
      headers: {
        "x-target": `http://127.0.0.1:${evil}`,
        "x-target-url": `http://127.0.0.1:${evil}`,
        "x-upstream": `http://127.0.0.1:${evil}`,
        "x-original-url": `http://127.0.0.1:${evil}/`,
        "x-rewrite-url": `http://127.0.0.1:${evil}/`,
      },
    },
    "two slashes": { target: `//127.0.0.1:${evil}/v1/models` },
    "three slashes": { target: `///127.0.0.1:${evil}/v1/models` },
    "a slash and a backslash": { target: `/\\127.0.0.1:${evil}/v1/models` },
    "slashes in percents": { target: `/%2f%2f127.0.0.1:${evil}/v1/models` },
    "a path that is a URL": { target: `/http://127.0.0.1:${evil}/v1/models` },
    "a path that would make the upstream a user": { target: `@127.0.0.1:${evil}/v1/models` },
    "a path with a user in it": { target: `/@127.0.0.1:${evil}/v1/models` },
    "a path that would be the end of a port": { target: `0@127.0.0.1:${evil}/v1/models` },
    "a path that climbs": { target: `/v1/../../@127.0.0.1:${evil}/../v1/models` },
    "a query that names a target": {
      target: `/v1/models?url=http://127.0.0.1:${evil}/&host=127.0.0.1:${evil}`,
    },
    "a tunnel": { method: "CONNECT", target: `127.0.0.1:${evil}` },
    "an upgrade": {
      target,
      headers: { connection: "upgrade", upgrade: "websocket", "sec-websocket-key": "x" },
    },
  };
}

/** Targets to which a server may redirect its clients, by name. */
function redirects(evil: number): Readonly<Record<string, string>> {
  return {
    "an absolute address": `http://127.0.0.1:${evil}/v1/models`,
    "the same scheme": `//127.0.0.1:${evil}/v1/models`,
    "decimal": `http://2130706433:${evil}/v1/models`,
    "IPv6": `http://[::ffff:127.0.0.1]:${evil}/v1/models`,
    "a name": `http://localhost:${evil}/v1/models`,
  };
}

/** Upstreams that no flag may name: another scheme, keys in the address, and cleartext to machines that are not this one. */
const BAD_UPSTREAMS = [
  "file:///etc/passwd",
  "gopher://127.0.0.1:70/",
  "http://user:secret@127.0.0.1:9/",
  "http://127.0.0.1:9/?key=secret",
  "http://169.254.169.254/latest/meta-data",
  "http://2852039166/latest/meta-data",
  "http://0xa9fea9fe/",
  "http://[fe80::1]/",
  "http://metadata.google.internal/",
  "ftp://127.0.0.1/",
  "127.0.0.1:9",
];

/** Accepts connections and counts them. */
function countingServer() {
  const listener = Deno.listen({ hostname: "0.0.0.0", port: 0 });
  const counted = { connections: 0 };
  const accepting = (async () => {
    for await (const connection of listener) {
      counted.connections++;
      connection.close();
    }
  })();
  const stop = async () => {
    listener.close();
    await accepting;
  };
  return { port: listener.addr.port, counted, stop };
}

/** Returns the answer to a raw request, as far as it came before the connection closed. */
async function sendRaw(port: number, { method = "POST", target, headers = {} }: Form): Promise<string> {
  const all = {
    host: `127.0.0.1:${port}`,
    authorization: "Bearer x",
    "content-length": "2",
    connection: "close",
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const connection = await Deno.connect({ hostname: "127.0.0.1", port });
  const late = setTimeout(() => connection.closeWrite().catch(() => {}), 2000);
  try {
    await connection.write(encoder.encode(`${method} ${target} HTTP/1.1\r\n${lines}\r\n{}`));
    return await readAnswer(connection);
  } finally {
    clearTimeout(late);
    connection.close();
  }
}

async function readAnswer(connection: Deno.TcpConn): Promise<string> {
  const buffer = new Uint8Array(64 * 1024);
  let text = "";
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      text += new TextDecoder().decode(buffer.subarray(0, count));
    }
  } catch {
    // Reset by a server that does not talk to such clients.
  }
  return text;
}

Deno.test({
  ...needing(
    "no request and no redirect leads the recorder to another server than its upstream",
    lacksBinary(),
  ),
  fn: async (t) => {
    await using sandbox = new Sandbox();
    const evil = countingServer();
    let location = "";
    const upstream = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
      await request.arrayBuffer();
      return location === ""
        ? new Response(JSON.stringify({ said: GOOD }), { headers: { "content-type": "application/json" } })
        : new Response(null, { status: 307, headers: { location, refresh: `0;url=${location}` } });
    });
    const args = [
      ...["record", "--upstream", `http://127.0.0.1:${upstream.addr.port}`],
      ...["--out", `${sandbox.directory}/recorded`],
    ];
    try {
      const { called } = await withServer(sandbox, args, async (origin) => {
        const port = Number(new URL(origin).port);
        for (const [name, form] of Object.entries(requestForms(evil.port, port))) {
          await t.step(name, async () => {
            const answer = await sendRaw(port, form);
            assert.equal(evil.counted.connections, 0);
            // Refused, passed on to the upstream as a path of its own, or cut off.
            const harmless = /^HTTP\/1\.1 4\d\d /.test(answer) || answer.includes(GOOD) || answer === "";
            assert.ok(harmless, answer.slice(0, 300));
          });
        }
        for (const [name, to] of Object.entries(redirects(evil.port))) {
          await t.step(`a redirect to ${name}`, async () => {
            location = to;
            const answer = await sendRaw(port, { target: "/v1/models" });
            assert.equal(evil.counted.connections, 0);
            assert.match(answer, /^HTTP\/1\.1 (307|502) /, "the client gets it, and no redirect is followed");
          });
        }
      });
      assert.equal(called.code, 7, called.stderr.slice(-2000));
      assert.match(
        called.stdout,
        /"code":"not_kept".*they were turned away/,
        "refused requests, and no other loss",
      );
      assert.equal(evil.counted.connections, 0);
    } finally {
      await upstream.shutdown();
      await evil.stop();
    }
  },
});

Deno.test({
  ...needing(
    "an upstream with another scheme, with keys in it, or in cleartext on another machine is refused",
    lacksBinary(),
  ),
  fn: async () => {
    await using sandbox = new Sandbox();
    const ends = await Promise.all(BAD_UPSTREAMS.map(async (upstream) => {
      const { code, stderr } = await sandbox.call(["record", "--upstream", upstream, "--out", "recorded"]);
      assert.doesNotMatch(stderr, /secret/, upstream);
      return [upstream, code];
    }));
    assert.deepEqual(ends, BAD_UPSTREAMS.map((upstream) => [upstream, 2]));
  },
});
