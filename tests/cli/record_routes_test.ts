/** Tests for the upstreams of `record`, whatever the clients of a wrapped command and the user's URL say. */
import assert from "node:assert/strict";
import type { ProviderKind } from "../../src/domain/fingerprint.ts";
import type { AddedUpstream } from "../../src/cli/serve/env_flag.ts";
import { recordRoutes, type RouteOptions } from "../../src/cli/serve/record_routes.ts";

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

/** Plans the routes of a wrapped command from an environment. */
async function plannedFor(env: Readonly<Record<string, string>>, added: readonly AddedUpstream[] = []) {
  const ports = { env: (name: string) => env[name] };
  const { routes, notes, unset } = await recordRoutes(ports, undefined, { wraps: true, added });
  return {
    urls: Object.fromEntries(routes.map(({ route }) => [route?.variable, route?.baseUrl])),
    notes,
    unset,
  };
}

const USUAL = {
  OPENAI_BASE_URL: "https://api.openai.com/v1",
  ANTHROPIC_BASE_URL: "https://api.anthropic.com",
};

Deno.test("a known API gets a port if its base URL or its key is set, at the user's URL or its own", async () => {
  const rows: readonly (readonly [Record<string, string>, Record<string, string>])[] = [
    [{}, {}],
    [{ GROQ_API_KEY: "k" }, { GROQ_BASE_URL: "https://api.groq.com" }],
    [{ GROQ_BASE_URL: `${HOST}/groq/` }, { GROQ_BASE_URL: `${HOST}/groq` }],
    [{ GEMINI_API_KEY: "k" }, { GOOGLE_GEMINI_BASE_URL: "https://generativelanguage.googleapis.com" }],
    [{ OLLAMA_HOST: "0.0.0.0" }, { OLLAMA_HOST: "http://127.0.0.1:11434" }],
    [{ OLLAMA_API_KEY: "k" }, {}],
    [{ GROQ_API_BASE: `${HOST}/openai/v1` }, { GROQ_API_BASE: `${HOST}/openai/v1` }],
    [{ AZURE_OPENAI_API_KEY: "k" }, {}],
    [{ GROQ_API_KEY: "" }, {}],
  ];
  for (const [env, more] of rows) {
    const { urls, notes, unset } = await plannedFor({ OPENAI_API_KEY: "k", ...env });
    assert.deepEqual({ urls, notes, unset }, { urls: { ...USUAL, ...more }, notes: [], unset: [] });
  }
});

Deno.test("--env adds an API, or overrides the URL of a known one", async () => {
  const added = [
    { variable: "ACME_URL", upstream: { origin: HOST, prefix: "/acme" } },
    { variable: "OPENAI_BASE_URL", upstream: { origin: HOST, prefix: "/v1" } },
  ];
  const { urls } = await plannedFor({ OPENAI_BASE_URL: "https://other.example/v1" }, added);
  assert.deepEqual(urls, {
    ANTHROPIC_BASE_URL: USUAL.ANTHROPIC_BASE_URL,
    ACME_URL: `${HOST}/acme`,
    OPENAI_BASE_URL: `${HOST}/v1`,
  });
});

Deno.test("a variable that cannot be recorded stops no recording, unless it is one of the usual two", async () => {
  const { urls, notes } = await plannedFor({ OLLAMA_HOST: "192.168.1.5", GROQ_BASE_URL: "no url" });
  assert.deepEqual(urls, USUAL);
  assert.match(
    notes.join("\n"),
    /GROQ_BASE_URL are not recorded: [^\n]*not a URL\n[^\n]*OLLAMA_HOST are not recorded/,
  );
  await assert.rejects(plannedFor({ OPENAI_BASE_URL: "no url" }), { code: "bad_url" });
});

Deno.test("clients of Azure read OPENAI_BASE_URL first, so it is not set for a command that has a key of Azure only", async () => {
  const azure = { AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com/", AZURE_OPENAI_API_KEY: "k" };
  const alone = await plannedFor(azure);
  assert.deepEqual(alone, {
    urls: {
      ANTHROPIC_BASE_URL: USUAL.ANTHROPIC_BASE_URL,
      AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com",
    },
    notes: [],
    unset: ["OPENAI_BASE_URL"],
  });
  const both = await plannedFor({ ...azure, OPENAI_API_KEY: "k" });
  assert.deepEqual(Object.keys(both.urls), [...Object.keys(USUAL), "AZURE_OPENAI_ENDPOINT"]);
  assert.match(
    both.notes.join(),
    /clients that read it before AZURE_OPENAI_ENDPOINT need their base URL in code/,
  );
});

/** The base URLs of a wrapped command without a key, in front of a fixture that names these. */
async function urlsFor(
  recorded: Readonly<Record<string, string>>,
  lookup: RouteOptions["lookup"],
  env: Readonly<Record<string, string>> = {},
) {
  const ports = { env: (name: string) => env[name] };
  const options = { wraps: true, recorded: new Map(Object.entries(recorded)), lookup };
  const { routes } = await recordRoutes(ports, undefined, options);
  return Object.fromEntries(routes.map(({ route }) => [route?.variable, route?.baseUrl]));
}

Deno.test("without a lookup no name is looked up: neither that of a flag nor that of a variable", async () => {
  const asked: string[] = [];
  const counting = (name: string) => {
    asked.push(name);
    return Promise.resolve(["203.0.113.7"]);
  };
  const ports = { env: (name: string) => name === "GROQ_BASE_URL" ? "https://groq.example.com" : undefined };
  const added = [{ variable: "ACME_URL", upstream: { origin: "https://acme.example.com", prefix: "" } }];
  for (const lookup of [counting, null]) {
    await recordRoutes(ports, "https://flag.example.com", { wraps: true, lookup });
    await recordRoutes(ports, undefined, { wraps: true, added, lookup });
  }
  assert.deepEqual(asked, ["flag.example.com", "acme.example.com", "groq.example.com"]);
});

Deno.test("an API of the fixture gets its port without a key, and a recorded URL counts only where nothing is sent", async () => {
  const recorded = {
    OPENAI_BASE_URL: "https://recorded.example.com/openai/v1",
    GROQ_BASE_URL: "https://recorded.example.com/groq",
    AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com",
  };
  const { OPENAI_BASE_URL: _usual, ...others } = USUAL;
  assert.deepEqual(await urlsFor(recorded, null), { ...others, ...recorded });
  const publicly = () => Promise.resolve(["203.0.113.7"]);
  assert.deepEqual(await urlsFor(recorded, publicly), { ...USUAL, GROQ_BASE_URL: "https://api.groq.com" });
  const set = { GROQ_BASE_URL: `${HOST}/mine` };
  assert.deepEqual((await urlsFor(recorded, null, set)).GROQ_BASE_URL, `${HOST}/mine`);
});
