/** Variables of the runtime: what of them reaches the program, as docs/guarantees.md lists it. */
import assert from "node:assert/strict";
import { lacksBinary, needing } from "../../support/needs.ts";
import { type Called, said, Sandbox } from "../../support/reprise.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../support/tls.ts";
import { shortAnswer } from "../any_api.ts";
import { HELLO, KEY, MODEL, Place } from "../harness.ts";
import { running } from "./wrapping.ts";

/** An API with a certificate that no client trusts, and a server that notes what it is sent: a collector or a proxy. */
class Untrusted extends Sandbox {
  readonly certificate = `${this.directory}/certificate.pem`;
  /** Number of requests that the API got. */
  asked = 0;
  readonly noted: string[] = [];
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
  readonly #other = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    this.noted.push(`${request.method} ${request.url} ${request.headers.get("authorization")}`);
    await request.arrayBuffer();
    return new Response("{}", { status: 502 });
  });

  constructor() {
    super();
    Deno.writeTextFileSync(this.certificate, CERTIFICATE);
  }

  /** Origin of the server that notes. */
  get other(): string {
    return `http://127.0.0.1:${this.#other.addr.port}`;
  }

  /** Variables that lead to it as a proxy. */
  get proxies(): Record<string, string> {
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
    return Object.fromEntries(names.map((name) => [name, this.other]));
  }

  /** One run with these variables, which trust the API. */
  run(env: Readonly<Record<string, string>>): Promise<Called> {
    const OPENAI_BASE_URL = `https://127.0.0.1:${this.#api.addr.port}/v1`;
    return this.call(["run", "--json", "--new", "-m", MODEL, "hi"], {
      env: { OPENAI_API_KEY: KEY, OPENAI_BASE_URL, ...env },
    });
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#api.shutdown();
    await this.#other.shutdown();
    await super[Symbol.asyncDispose]();
  }
}

// From the sources these are the runtime's, before any of ours runs.
Deno.test(
  needing(
    "the binary runs no code, sends no trace, writes no coverage and logs no key for the runtime's variables",
    lacksBinary(),
  ),
  async () => {
    await using place = new Untrusted();
    const [planted = "", ran, ...files] = ["planted.cjs", "ran", "coverage", "coverage2", "audit"]
      .map((name) => `${place.directory}/${name}`);
    Deno.writeTextFileSync(planted, `require("node:fs").writeFileSync(${JSON.stringify(ran)}, "")`);
    const [DENO_COVERAGE_DIR = "", NODE_V8_COVERAGE = "", DENO_AUDIT_PERMISSIONS = ""] = files;
    const called = await place.run({
      ...{ NODE_OPTIONS: `--require ${planted} --import ${planted}`, DENO_AUTO_SERVE: "1" },
      ...{ OTEL_DENO: "true", OTEL_EXPORTER_OTLP_ENDPOINT: place.other },
      ...{ DENO_COVERAGE_DIR, NODE_V8_COVERAGE, DENO_AUDIT_PERMISSIONS },
      ...{ DENO_LOG: "trace", RUST_LOG: "trace", DENO_CERT: place.certificate },
    });
    assert.deepEqual([called.code, place.asked, place.noted], [0, 1, []], called.stdout);
    for (const file of [ran ?? "", ...files]) assert.throws(() => Deno.statSync(file), Deno.errors.NotFound);
    assert.equal(said(called).includes(KEY), false);
  },
);

Deno.test("an http base URL on this machine never goes through a proxy: of run, of record, nor of its command with the real key", async () => {
  await using place = new Place(() => HELLO);
  await using proxy = new Untrusted();
  const run = await place.call(["run", "--json", "--new", "hi"], { env: proxy.proxies });
  assert.deepEqual([run.code, place.server.requests.length], [0, 1], run.stdout);
  const client = running(`
    const answer = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
      method: "POST",
      headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
      body: JSON.stringify({ model: "${MODEL}", input: "hi", stream: true }),
    });
    await answer.body?.cancel();
    console.log(answer.status + " " + Deno.env.get("NO_PROXY"));`);
  const out = `${place.sandbox.directory}/fixture`;
  const env = { ...proxy.proxies, NO_PROXY: "example.com" };
  const recorded = await place.call(["record", "--out", out, "--", ...client], { env });
  assert.equal(recorded.code, 0, recorded.stderr);
  assert.match(recorded.stdout, /^200 .*127\.0\.0\.1.*,example\.com\n$/);
  const served = await place.call(["serve", out, "--", ...client], { env });
  assert.equal(served.code, 0, served.stderr);
  const abroad = { ...proxy.proxies, OPENAI_BASE_URL: "http://api.example.com/v1" };
  const refused = await place.call(["run", "--json", "--new", "hi"], { env: abroad });
  assert.deepEqual([refused.code, /unencrypted/.test(refused.stdout)], [2, true], refused.stdout);
  assert.deepEqual(proxy.noted, []);
});
