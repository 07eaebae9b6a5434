/** Certificate authorities: which servers are trusted with which variables, on each way to a server. */
import assert from "node:assert/strict";
import type { Json } from "../../support/files.ts";
import { lacksBinary, needing } from "../../support/needs.ts";
import { type Called, events, said, Sandbox } from "../../support/reprise.ts";
import { CERTIFICATE, CERTIFICATE_KEY, OTHER_CERTIFICATE } from "../../support/tls.ts";
import { shortAnswer } from "../any_api.ts";
import { KEY, MODEL } from "../harness.ts";
import { running } from "./wrapping.ts";

const ANSWER = shortAnswer("/responses");

/** An API, and a store, with a certificate that no client trusts by itself. */
class Own extends Sandbox {
  /** Requests that came, as method and path; `ws` for a message on a WebSocket. */
  readonly asked: string[] = [];
  readonly #sockets: WebSocket[] = [];
  readonly #server = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: CERTIFICATE,
    key: CERTIFICATE_KEY,
    onListen: () => {},
  }, async (request) => {
    if (request.headers.get("upgrade") === "websocket") return this.#upgrade(request);
    this.asked.push(`${request.method} ${new URL(request.url).pathname}`);
    await request.arrayBuffer();
    if (new URL(request.url).pathname.startsWith("/bucket")) {
      return new Response("<ListBucketResult></ListBucketResult>");
    }
    return new Response(ANSWER, { headers: { "content-type": "text/event-stream" } });
  });

  constructor() {
    super();
    Deno.mkdirSync(`${this.directory}/certs/folder`, { recursive: true });
    Deno.symlinkSync("nowhere", `${this.directory}/certs/link`);
    for (
      const [name, text] of Object.entries({
        "own.pem": `A comment\n${CERTIFICATE.replaceAll("\n", "\r\n")}`,
        "other.pem": OTHER_CERTIFICATE,
        "both.pem": OTHER_CERTIFICATE + CERTIFICATE,
        "damaged.pem": CERTIFICATE.replace("MIIB", "MIIA"),
        "empty.pem": "",
        "certs/own.0": CERTIFICATE,
        "certs/damaged.0": CERTIFICATE.replace("MIIB", "MIIA"),
        "certs/README": "No certificate",
      })
    ) Deno.writeTextFileSync(`${this.directory}/${name}`, text);
  }

  get origin(): string {
    return `https://127.0.0.1:${this.#server.addr.port}`;
  }

  #upgrade(request: Request): Response {
    const { socket, response } = Deno.upgradeWebSocket(request);
    this.#sockets.push(socket);
    socket.onmessage = () => {
      this.asked.push("ws");
      for (const [, data = ""] of ANSWER.matchAll(/^data: (.*)$/gm)) socket.send(data);
    };
    return response;
  }

  /** Replaces names of files in values by their paths. */
  env(given: Readonly<Record<string, string>>): Record<string, string> {
    const own = Object.entries(given).map(([name, value]) =>
      [name, value.replace(/(^|:)(?=[a-z]+\.pem|certs)/g, `$1${this.directory}/`)] as const
    );
    return {
      ...{ OPENAI_API_KEY: KEY, OPENAI_BASE_URL: `${this.origin}/v1`, REPRISE_MODEL: MODEL },
      ...{ AWS_ENDPOINT_URL_S3: this.origin, AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "key" },
      ...Object.fromEntries(own),
    };
  }

  run(env: Readonly<Record<string, string>>, ...flags: readonly string[]): Promise<Called> {
    return this.call(["run", "--json", "--new", ...flags, "hi"], { env: this.env(env) });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.close();
    await this.#server.shutdown();
    await super[Symbol.asyncDispose]();
  }
}

/** Variables, and whether they make the API trusted. */
const VARIABLES: Readonly<
  Record<string, readonly [env: Readonly<Record<string, string>>, trusted: boolean]>
> = {
  "no variable": [{}, false],
  "NODE_TLS_REJECT_UNAUTHORIZED": [{ NODE_TLS_REJECT_UNAUTHORIZED: "0" }, false],
  "DENO_CERT": [{ DENO_CERT: "own.pem" }, true],
  "SSL_CERT_FILE alone": [{ SSL_CERT_FILE: "own.pem" }, true],
  "SSL_CERT_FILE with two certificates": [{ SSL_CERT_FILE: "both.pem" }, true],
  "SSL_CERT_FILE of another": [{ SSL_CERT_FILE: "other.pem" }, false],
  "SSL_CERT_FILE with the system's store": [{ DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: "own.pem" }, true],
  "NODE_EXTRA_CA_CERTS alone": [{ NODE_EXTRA_CA_CERTS: "own.pem" }, true],
  "NODE_EXTRA_CA_CERTS, and SSL_CERT_FILE of another": [
    { NODE_EXTRA_CA_CERTS: "own.pem", SSL_CERT_FILE: "other.pem" },
    true,
  ],
  "DENO_CERT, and SSL_CERT_FILE of another": [{ DENO_CERT: "own.pem", SSL_CERT_FILE: "other.pem" }, true],
  "SSL_CERT_DIR": [{ SSL_CERT_DIR: "certs" }, true],
  "SSL_CERT_DIR, the second of two": [{ SSL_CERT_DIR: "/usr/share/doc:certs" }, true],
  "an empty SSL_CERT_FILE": [{ SSL_CERT_FILE: "" }, false],
};

for (const [name, [env, trusted]] of Object.entries(VARIABLES)) {
  for (const transport of ["sse", "ws"]) {
    const outcome = trusted ? "gets requests" : "gets no key";
    const title = `a server with a certificate of its own ${outcome} over ${transport} with ${name}`;
    // A process reads the runtime's own variables once.
    Deno.test(needing(title, "DENO_CERT" in env ? lacksBinary() : null), async () => {
      await using place = new Own();
      const called = await place.run(env, "--transport", transport);
      const way = transport === "ws" ? "ws" : "POST /v1/responses";
      assert.deepEqual([called.code, place.asked], trusted ? [0, [way]] : [10, []], said(called));
      if (trusted) return;
      const error: Json = events(called).find(({ type }) => type === "error");
      assert.equal(error.code, "untrusted_certificate");
      assert.match(error.message, /: its TLS certificate is not trusted$/);
      const set = "SSL_CERT_FILE" in env && env.SSL_CERT_FILE !== ""
        ? "; SSL_CERT_FILE does not make it trusted"
        : "";
      assert.match(error.hint, new RegExp(`in SSL_CERT_FILE${set}\\. "reprise doctor" shows`));
      assert.equal(events(called).filter(({ kind }) => kind === "retry").length, 0, "it stays as it is");
    });
  }
}

/** A client that prints the status and the error of one request. */
const CLIENT = running(`
  const answer = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
    method: "POST",
    headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
    body: JSON.stringify({ model: "${MODEL}", input: "hi", stream: true }),
  });
  console.log(answer.status, answer.headers.get("x-should-retry"), await answer.text());`);

for (const variable of ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]) {
  Deno.test(`record and a remote trust ${variable}, and without it say which variable to set, at once`, async () => {
    await using place = new Own();
    const record = (out: string, env: Readonly<Record<string, string>>) =>
      place.call(["record", "--out", `${place.directory}/${out}`, "--", ...CLIENT], { env: place.env(env) });
    const ls = (env: Readonly<Record<string, string>>) =>
      place.call(["ls", "--json", "--remote", "s3://bucket"], { env: place.env(env) });
    const [kept, listed] = [
      await record("a", { [variable]: "own.pem" }),
      await ls({ [variable]: "own.pem" }),
    ];
    assert.match(kept.stdout, /^200 null /, said(kept));
    assert.deepEqual([kept.code, listed.code, place.asked], [0, 0, ["POST /v1/responses", "GET /bucket/"]]);
    const began = performance.now();
    const [refused, unlisted] = [await record("b", {}), await ls({})];
    assert.match(
      refused.stdout,
      /^502 false .*its TLS certificate is not trusted.*SSL_CERT_FILE/,
      said(refused),
    );
    assert.deepEqual([unlisted.code, JSON.parse(unlisted.stdout).code], [10, "untrusted_certificate"]);
    assert.match(JSON.parse(unlisted.stdout).hint, /SSL_CERT_FILE/);
    assert.ok(performance.now() - began < 10_000, "nothing waited for another certificate");
  });
}

Deno.test("a socket of a recorded client trusts NODE_EXTRA_CA_CERTS too", async () => {
  await using place = new Own();
  const client = running(`
    const url = Deno.env.get("OPENAI_BASE_URL").replace("http", "ws") + "/responses";
    const socket = new WebSocket(url);
    socket.onopen = () => socket.send(JSON.stringify({ type: "response.create", model: "${MODEL}", input: "hi" }));
    socket.onmessage = ({ data }) => JSON.parse(data).type === "response.completed" && (console.log("ok"), socket.close());
    socket.onerror = ({ message }) => console.log(message);`);
  const env = place.env({ NODE_EXTRA_CA_CERTS: "own.pem" });
  const called = await place.call(["record", "--out", `${place.directory}/a`, "--", ...client], { env });
  assert.deepEqual([called.stdout, place.asked], ["ok\n", ["ws"]], said(called));
});

Deno.test("a request over TLS goes once through the tunnel of a proxy, with the authorities", async () => {
  await using place = new Own();
  const asked: string[] = [];
  using proxy = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const tunnels = (async () => {
    for await (const client of proxy) {
      const head = new Uint8Array(4096);
      const count = await client.read(head) ?? 0;
      asked.push(new TextDecoder().decode(head.subarray(0, count)).split("\r\n")[0] ?? "");
      const server = await Deno.connect({ hostname: "127.0.0.1", port: Number(new URL(place.origin).port) });
      await client.write(new TextEncoder().encode("HTTP/1.1 200 OK\r\n\r\n"));
      void Promise.all([client.readable.pipeTo(server.writable), server.readable.pipeTo(client.writable)])
        .catch(() => {/* one side ended */});
    }
  })();
  const { port } = new URL(place.origin);
  // Requests to this machine itself go around every proxy.
  const env = { SSL_CERT_FILE: "own.pem", HTTPS_PROXY: `http://127.0.0.1:${proxy.addr.port}` };
  const called = await place.run({ ...env, OPENAI_BASE_URL: `https://api.test:${port}/v1` });
  assert.match(said(called), /its TLS certificate is for another name/);
  assert.deepEqual([called.code, asked, place.asked], [10, [`CONNECT api.test:${port} HTTP/1.1`], []]);
  proxy.close();
  await tunnels.catch(() => {/* it was closed */});
});

/** Variables that cannot be used, and what is said. */
const UNUSABLE: Readonly<Record<string, readonly [env: Readonly<Record<string, string>>, says: RegExp]>> = {
  "a file that is not there": [
    { SSL_CERT_FILE: "gone.pem" },
    /gone\.pem\\?", which SSL_CERT_FILE names: it does not exist/,
  ],
  "a directory as a file": [{ NODE_EXTRA_CA_CERTS: "certs" }, /certs\\?", which NODE_EXTRA_CA_CERTS names: /],
  "a file without a certificate": [
    { SSL_CERT_FILE: "empty.pem" },
    /empty\.pem\\?", which SSL_CERT_FILE names: it holds no certificate in PEM/,
  ],
  "a damaged certificate": [
    { NODE_EXTRA_CA_CERTS: "damaged.pem" },
    /damaged\.pem\\?", which NODE_EXTRA_CA_CERTS names: /,
  ],
  "a directory that is not there": [
    { SSL_CERT_DIR: "certs/none" },
    /certs\/none\\?", which SSL_CERT_DIR names: it does not exist/,
  ],
};

for (const [name, [env, says]] of Object.entries(UNUSABLE)) {
  Deno.test(`${name} in a variable for authorities is named, by run and by doctor`, async () => {
    await using place = new Own();
    const called = await place.run(env);
    assert.deepEqual([called.code, place.asked], [2, []], said(called));
    assert.match(called.stdout, says);
    const looked = await place.call(["doctor"], { env: place.env(env) });
    assert.equal(looked.code, 2);
    assert.match(looked.stdout, new RegExp(`\nfailed +authorities: .*${says.source}`));
  });
}

Deno.test("doctor shows the authorities in force", async () => {
  await using place = new Own();
  const shown = async (env: Readonly<Record<string, string>>) => {
    const { stdout } = await place.call(["doctor"], { env: place.env(env) });
    return /authorities: (.*)/.exec(stdout.replaceAll(place.directory, ""))?.[1];
  };
  assert.equal(await shown({}), "Mozilla's list");
  assert.equal(await shown({ DENO_TLS_CA_STORE: "system, mozilla" }), "the system's list, Mozilla's list");
  const all = {
    SSL_CERT_FILE: "both.pem",
    SSL_CERT_DIR: "certs",
    NODE_EXTRA_CA_CERTS: "other.pem",
    DENO_CERT: "own.pem",
  };
  assert.equal(
    await shown(all),
    "Mozilla's list, DENO_CERT (/own.pem: 1 certificate), SSL_CERT_FILE (/both.pem: 2 certificates), " +
      "NODE_EXTRA_CA_CERTS (/other.pem: 1 certificate), SSL_CERT_DIR (/certs: 1 certificate)",
  );
});
