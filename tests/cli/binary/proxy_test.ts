/** No key goes to a proxy in clear: this machine is asked directly, whatever the environment says. */
import assert from "node:assert/strict";
import { HELLO, KEY, MODEL, Place } from "../harness.ts";

/** A proxy that notes the first line of what it is sent, and answers nothing good. */
class Proxy implements AsyncDisposable {
  readonly asked: string[] = [];
  readonly #server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    this.asked.push(`${request.method} ${request.url} ${request.headers.get("authorization")}`);
    return new Response("from the proxy", { status: 502 });
  });

  /** Every variable that leads to it. */
  get env(): Record<string, string> {
    const url = `http://127.0.0.1:${this.#server.addr.port}`;
    return Object.fromEntries(
      ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [[name, url], [name.toLowerCase(), url]]),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.shutdown();
  }
}

/** Asks where OPENAI_BASE_URL says, with the key. */
const CLIENT = `
const answer = await fetch(Deno.env.get("OPENAI_BASE_URL") + "/responses", {
  method: "POST",
  headers: { authorization: "Bearer " + Deno.env.get("OPENAI_API_KEY") },
  body: JSON.stringify({ model: "${MODEL}", input: "hi", stream: true }),
});
await answer.body?.cancel();
console.log(answer.status + " " + Deno.env.get("NO_PROXY"));
`;

Deno.test("an http base URL on this machine never goes through a proxy: of run", async () => {
  await using place = new Place(() => HELLO);
  await using proxy = new Proxy();
  const called = await place.call(["run", "--json", "--new", "hi"], { env: proxy.env });
  assert.deepEqual([called.code, proxy.asked], [0, []], called.stdout);
  assert.equal(place.server.requests.length, 1);
});

Deno.test("an http base URL on this machine never goes through a proxy: of record, nor of the command that it runs with the real key", async () => {
  await using place = new Place(() => HELLO);
  await using proxy = new Proxy();
  const client = [Deno.execPath(), "eval", "--quiet", CLIENT];
  const out = `${place.sandbox.directory}/fixture`;
  const env = { ...proxy.env, NO_PROXY: "example.com" };
  const recorded = await place.call(["record", "--out", out, "--", ...client], { env });
  assert.deepEqual([recorded.code, proxy.asked], [0, []], recorded.stderr);
  assert.match(recorded.stdout, /^200 .*127\.0\.0\.1.*,example\.com\n$/);
  const served = await place.call(["serve", out, "--", ...client], { env });
  assert.deepEqual([served.code, proxy.asked], [0, []], served.stderr);
});

Deno.test("an http base URL on this machine never goes through a proxy: while one on another machine is refused before anything is sent", async () => {
  await using place = new Place(() => HELLO);
  await using proxy = new Proxy();
  const env = { ...proxy.env, OPENAI_BASE_URL: "http://api.example.com/v1" };
  const called = await place.call(["run", "--json", "--new", "hi"], { env });
  assert.equal(called.code, 2, called.stdout);
  assert.match(called.stdout, /unencrypted/);
  assert.deepEqual(proxy.asked, []);
  assert.equal(called.stdout.includes(KEY), false);
});
