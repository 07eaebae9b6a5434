/** Variables of the runtime: what of them reaches the program, as docs/guarantees.md lists it. */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../../support/needs.ts";
import { type Called, Sandbox } from "../../support/reprise.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/tls.ts";
import { shortAnswer } from "../any_api.ts";
import { KEY, MODEL } from "../harness.ts";

/** An API with a certificate that no client trusts, and a collector of traces. */
class Place extends Sandbox {
  readonly certificate = `${this.directory}/certificate.pem`;
  /** Number of requests that the API got. */
  asked = 0;
  /** Paths of the requests that the collector got. */
  readonly collected: string[] = [];
  readonly #api = Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    cert: CERTIFICATE,
    key: CERTIFICATE_KEY,
    onListen: () => {},
  }, async (request) => {
    this.asked += 1;
    await request.text();
    return new Response(shortAnswer("/responses"), { headers: { "content-type": "text/event-stream" } });
  });
  readonly #collector = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      this.collected.push(new URL(request.url).pathname);
      await request.arrayBuffer();
      return Response.json({});
    },
  );

  constructor() {
    super();
    Deno.writeTextFileSync(this.certificate, CERTIFICATE);
  }

  get collector(): string {
    return `http://127.0.0.1:${this.#collector.addr.port}`;
  }

  /** One run with these variables. */
  run(env: Readonly<Record<string, string>>): Promise<Called> {
    return this.call(["run", "--json", "--new", "-m", MODEL, "hi"], {
      env: {
        OPENAI_API_KEY: KEY,
        OPENAI_BASE_URL: `https://127.0.0.1:${this.#api.addr.port}/v1`,
        ...env,
      },
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.shutdown();
    await this.#collector.shutdown();
    await super[Symbol.asyncDispose]();
  }
}

const IGNORED: Readonly<Record<string, (place: Place) => Record<string, string>>> = {
  "no variable": () => ({}),
  "NODE_TLS_REJECT_UNAUTHORIZED": () => ({ NODE_TLS_REJECT_UNAUTHORIZED: "0" }),
  "SSL_CERT_FILE without the system's store": ({ certificate }) => ({ SSL_CERT_FILE: certificate }),
  "NODE_USE_SYSTEM_CA": ({ certificate }) => ({ NODE_USE_SYSTEM_CA: "1", SSL_CERT_FILE: certificate }),
  "DENO_NODE_USE_OPENSSL_CA": ({ certificate }) => ({
    DENO_NODE_USE_OPENSSL_CA: "1",
    SSL_CERT_FILE: certificate,
  }),
};

for (const [name, env] of Object.entries(IGNORED)) {
  Deno.test(`a server with an untrusted certificate gets no key, whatever these variables say: ${name}`, async () => {
    await using place = new Place();
    const called = await place.run(env(place));
    assert.deepEqual([called.code, place.asked], [10, 0], called.stdout);
    assert.match(called.stdout, /its TLS certificate is not trusted/);
  });
}

Deno.test("a server with an untrusted certificate gets no key, whatever these variables say: DENO_CERT makes it trusted: then, and only then, it gets requests", async () => {
  await using place = new Place();
  const called = await place.run({ DENO_CERT: place.certificate });
  assert.deepEqual([called.code, place.asked], [0, 1], called.stdout);
});

Deno.test("a server with an untrusted certificate gets no key, whatever these variables say: SSL_CERT_FILE with the system's store too", async () => {
  await using place = new Place();
  const called = await place.run({ DENO_TLS_CA_STORE: "system", SSL_CERT_FILE: place.certificate });
  assert.deepEqual([called.code, place.asked], [0, 1], called.stdout);
});

// From the sources these are the runtime's, before any of ours runs.
Deno.test(
  needing(
    "the binary takes no orders from the runtime's variables: no code is run by NODE_OPTIONS or DENO_AUTO_SERVE",
    lacksBinary(),
  ),
  async () => {
    await using place = new Place();
    const planted = `${place.directory}/planted.cjs`;
    const ran = `${place.directory}/ran`;
    Deno.writeTextFileSync(planted, `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`);
    const options = `--require ${planted} --import ${planted}`;
    await place.run({ NODE_OPTIONS: options, DENO_AUTO_SERVE: "1", DENO_CERT: place.certificate });
    assert.equal(place.asked, 1);
    assert.throws(() => Deno.statSync(ran), Deno.errors.NotFound);
  },
);

Deno.test(
  needing(
    "the binary takes no orders from the runtime's variables: no trace, log or coverage leaves by OTEL_*, DENO_COVERAGE_DIR, NODE_V8_COVERAGE or DENO_AUDIT_PERMISSIONS",
    lacksBinary(),
  ),
  async () => {
    await using place = new Place();
    const files = ["coverage", "coverage2", "audit"].map((name) => `${place.directory}/${name}`);
    const [DENO_COVERAGE_DIR = "", NODE_V8_COVERAGE = "", DENO_AUDIT_PERMISSIONS = ""] = files;
    await place.run({
      DENO_CERT: place.certificate,
      OTEL_DENO: "true",
      OTEL_EXPORTER_OTLP_ENDPOINT: place.collector,
      ...{ DENO_COVERAGE_DIR, NODE_V8_COVERAGE, DENO_AUDIT_PERMISSIONS },
    });
    assert.deepEqual([place.asked, place.collected], [1, []]);
    for (const file of files) assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
  },
);

Deno.test(
  needing(
    "the binary takes no orders from the runtime's variables: the runtime's own log, as loud as it gets, holds no key",
    lacksBinary(),
  ),
  async () => {
    await using place = new Place();
    const called = await place.run({ DENO_LOG: "trace", RUST_LOG: "trace", DENO_CERT: place.certificate });
    assert.deepEqual([called.code, place.asked], [0, 1], called.stdout);
    assert.equal(`${called.stdout}${called.stderr}`.includes(KEY), false);
  },
);
