/** Where `record` passes requests on to, whatever the clients of a wrapped command and the user's URL say. */
import assert from "node:assert/strict";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import { recordRoutes } from "../../src/cli/serve/record_routes.ts";

const WITHOUT_ENV = { env: () => undefined };
const HOST = "http://127.0.0.1:8080";

/** The base URL that the clients of each API have upstream; in the path, also here. */
async function baseUrls(
  upstream: string | undefined,
  env: Readonly<Record<string, string>> = {},
  provider?: ProviderKind,
) {
  const ports = { env: (name: string) => env[name] };
  const { routes } = await recordRoutes(ports, upstream, { wraps: true, provider });
  for (const { upstream, route } of routes) {
    assert.equal(`${upstream.origin}${route?.path}`, route?.baseUrl, "paths go through unchanged");
    assert.equal(upstream.prefix, "");
  }
  return Object.fromEntries(routes.map(({ route }) => [route?.variable, route?.baseUrl]));
}

Deno.test("a wrapped command's clients come out right, whether --upstream has the version or not", async () => {
  const rows = [
    ["", ""],
    ["/v1", ""],
    ["/v1/", ""],
    ["/gateway/v1", "/gateway"],
    ["/openai/v1", "/openai"],
    // Only the version itself.
    ["/v1beta", "/v1beta"],
    ["/v1/own", "/v1/own"],
    ["/my-v1", "/my-v1"],
  ] as const;
  for (const [given, kept] of rows) {
    assert.deepEqual(await baseUrls(`${HOST}${given}`), { OPENAI_BASE_URL: `${HOST}${kept}/v1` });
    assert.deepEqual(await baseUrls(`${HOST}${given}`, {}, "anthropic"), {
      ANTHROPIC_BASE_URL: `${HOST}${kept}`,
    });
  }
});

Deno.test("--upstream with a command leads one API: that of -p, else of Anthropic's own host, else OpenAI's", async () => {
  const rows = [
    ["https://api.anthropic.com/v1", undefined, "ANTHROPIC_BASE_URL"],
    ["https://api.openai.com", undefined, "OPENAI_BASE_URL"],
    ["https://me.openai.azure.com/openai/v1", undefined, "OPENAI_BASE_URL"],
    [HOST, undefined, "OPENAI_BASE_URL"],
    [HOST, "anthropic", "ANTHROPIC_BASE_URL"],
    [HOST, "compatible", "OPENAI_BASE_URL"],
    [HOST, "azure", "OPENAI_BASE_URL"],
  ] as const;
  for (const [upstream, provider, variable] of rows) {
    assert.deepEqual(Object.keys(await baseUrls(upstream, {}, provider)), [variable], upstream);
  }
});

Deno.test("a wrapped command gets the paths of its own base URLs, with and without a version", async () => {
  assert.deepEqual(await baseUrls(undefined), {
    OPENAI_BASE_URL: "https://api.openai.com/v1",
    ANTHROPIC_BASE_URL: "https://api.anthropic.com",
  });
  const set = { OPENAI_BASE_URL: `${HOST}/api/v3/`, ANTHROPIC_BASE_URL: `${HOST}/claude/v1` };
  assert.deepEqual(await baseUrls(undefined, set), {
    OPENAI_BASE_URL: `${HOST}/api/v3`,
    ANTHROPIC_BASE_URL: `${HOST}/claude`,
  });
  assert.equal((await baseUrls(undefined, { OPENAI_BASE_URL: HOST })).OPENAI_BASE_URL, HOST);
});

Deno.test("REPRISE_BASE_URL may be set where a route goes to the same endpoint, with and without a version", async () => {
  const urls = [HOST, `${HOST}/claude`, `${HOST}/claude/v1/`, "https://api.openai.com/v1"];
  for (const url of urls) {
    const set = { REPRISE_BASE_URL: url, ANTHROPIC_BASE_URL: `${HOST}/claude` };
    const known = url === HOST ? { ...set, OPENAI_BASE_URL: `${HOST}/v1` } : set;
    assert.equal(Object.keys(await baseUrls(undefined, known)).length, 2, url);
  }
  for (const url of [`${HOST}/other`, "http://127.0.0.1:8081", "no url"]) {
    await assert.rejects(baseUrls(undefined, { REPRISE_BASE_URL: url }), { code: "usage" }, url);
    assert.ok(await baseUrls(HOST, { REPRISE_BASE_URL: url }), "the flag is meant");
  }
});

Deno.test("without a command there is one upstream for any client, whose path stays in front of each request's", async () => {
  const { routes, upstreams } = await recordRoutes(WITHOUT_ENV, `${HOST}/v1`, { wraps: false });
  assert.deepEqual(routes, [{ upstream: { origin: HOST, prefix: "/v1" }, route: null }]);
  assert.deepEqual(upstreams, [`${HOST}/v1`]);
});
