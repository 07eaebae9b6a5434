/** Tests for the choice of provider, base URL and key, and for the errors if one of them is missing. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { type Called, Sandbox } from "../support/reprise.ts";
import { type AnyApi, AZURE_VERSION, KEYS, startAnyApi } from "./any_api.ts";
import { assertError, configure, KEY } from "./harness.ts";

/** A call that must have asked `api` once; what it asked with. */
async function asked(
  api: AnyApi,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ target: string; bearer: string | null; apiKey: string | null; headers: Headers }> {
  await using sandbox = new Sandbox();
  const before = api.arrived.length;
  const called = await sandbox.call(["run", "--json", "-m", "m", "Hi", ...args], { env });
  assert.equal(called.code, 0, `${called.stdout}${called.stderr}`);
  assert.ok(!`${called.stdout}${called.stderr}`.includes(KEY), "no key is printed");
  assert.equal(api.arrived.length, before + 1);
  const { target, headers } = api.arrived[before] as AnyApi["arrived"][number];
  return { target, bearer: headers.get("authorization"), apiKey: headers.get("api-key"), headers };
}

/** A call's error, with nothing sent and no session made. */
async function refused(args: readonly string[], env: Readonly<Record<string, string>>): Promise<Called> {
  await using sandbox = new Sandbox();
  const called = await sandbox.call(["run", "--json", "-m", "m", "Hi", ...args], { env });
  assert.throws(() => Deno.statSync(sandbox.home), Deno.errors.NotFound);
  return called;
}

test("each provider is asked at its own path, with its own key in its own header: openai", async () => {
  await using api = startAnyApi();
  const env = { ...KEYS, OPENAI_BASE_URL: `${api.origin}/v1` };
  for (const args of [[], ["-p", "openai"]]) {
    const { target, bearer, apiKey } = await asked(api, args, env);
    assert.deepEqual([target, bearer, apiKey], ["/v1/responses", `Bearer ${KEY}-openai`, null]);
  }
});

test("each provider is asked at its own path, with its own key in its own header: azure v1, from the resource's URL and from the whole one", async () => {
  await using api = startAnyApi();
  const sources: readonly (readonly [readonly string[], Record<string, string>])[] = [
    [[], { AZURE_OPENAI_ENDPOINT: api.origin }],
    [[], { AZURE_OPENAI_ENDPOINT: `${api.origin}/openai/` }],
    [[], {
      AZURE_OPENAI_BASE_URL: `${api.origin}/openai/v1/`,
      AZURE_OPENAI_ENDPOINT: "http://unused.invalid",
    }],
    [["--base-url", `${api.origin}/openai/v1`], {}],
    // Names of versions that are no date are v1 itself.
    [[], { AZURE_OPENAI_ENDPOINT: api.origin, OPENAI_API_VERSION: "v1" }],
    [[], {
      AZURE_OPENAI_ENDPOINT: api.origin,
      AZURE_OPENAI_API_VERSION: "preview",
      OPENAI_API_VERSION: AZURE_VERSION,
    }],
    // The whole URL needs no version.
    [[], { AZURE_OPENAI_BASE_URL: `${api.origin}/openai/v1`, AZURE_OPENAI_API_VERSION: AZURE_VERSION }],
  ];
  for (const [args, env] of sources) {
    const { target, bearer, apiKey } = await asked(api, ["-p", "azure", ...args], { ...KEYS, ...env });
    assert.deepEqual([target, bearer, apiKey], ["/openai/v1/responses", null, `${KEY}-azure`]);
  }
});

test("each provider is asked at its own path, with its own key in its own header: azure with a dated version", async () => {
  await using api = startAnyApi();
  const sources: readonly Record<string, string>[] = [
    { AZURE_OPENAI_BASE_URL: `${api.origin}/openai?api-version=${AZURE_VERSION}` },
    {
      REPRISE_BASE_URL: `${api.origin}?api-version=${AZURE_VERSION}`,
      AZURE_OPENAI_API_VERSION: "2024-01-01",
    },
    { AZURE_OPENAI_ENDPOINT: api.origin, AZURE_OPENAI_API_VERSION: AZURE_VERSION },
    { AZURE_OPENAI_ENDPOINT: `${api.origin}/`, OPENAI_API_VERSION: AZURE_VERSION },
  ];
  for (const env of sources) {
    const { target } = await asked(api, ["-p", "azure"], { ...KEYS, ...env });
    assert.equal(target, `/openai/responses?api-version=${AZURE_VERSION}`);
  }
});

test("each provider is asked at its own path, with its own key in its own header: azure with a token instead of a key", async () => {
  await using api = startAnyApi();
  const env = {
    ...KEYS,
    AZURE_OPENAI_API_KEY: " ",
    AZURE_OPENAI_AD_TOKEN: "token-1",
    REPRISE_PROVIDER: "azure",
  };
  const { bearer, apiKey } = await asked(api, [], { ...env, AZURE_OPENAI_ENDPOINT: api.origin });
  assert.deepEqual([bearer, apiKey], ["Bearer token-1", null]);
});

test("each provider is asked at its own path, with its own key in its own header: anthropic, whether the base URL has its version or not", async () => {
  await using api = startAnyApi();
  for (const url of [api.origin, `${api.origin}/v1`, `${api.origin}/v1/`]) {
    const { target, bearer, headers } = await asked(api, ["-p", "anthropic"], {
      ...KEYS,
      ANTHROPIC_BASE_URL: url,
    });
    assert.deepEqual([target, bearer], ["/v1/messages", `Bearer ${KEY}-anthropic`]);
    assert.match(headers.get("anthropic-version") ?? "", /^\d{4}-\d{2}-\d{2}$/);
    assert.deepEqual([headers.get("x-api-key"), headers.get("api-key")], [null, null]);
  }
  const token = { ANTHROPIC_AUTH_TOKEN: "token-1", ANTHROPIC_BASE_URL: `${api.origin}/proxy` };
  const { target, bearer } = await asked(api, ["-p", "anthropic"], token);
  assert.deepEqual([target, bearer], ["/proxy/v1/messages", "Bearer token-1"]);
  const both = await asked(api, ["-p", "anthropic"], { ...KEYS, ...token });
  assert.equal(both.bearer, `Bearer ${KEY}-anthropic`);
});

test("each provider is asked at its own path, with its own key in its own header: a compatible server of this machine, without a key and with one", async () => {
  await using api = startAnyApi();
  const args = ["-p", "compatible", "--base-url", `${api.origin}/api/v1`];
  const without = await asked(api, args, {});
  assert.deepEqual([without.target, without.bearer, without.apiKey], ["/api/v1/responses", null, null]);
  const { bearer } = await asked(api, args, KEYS);
  assert.equal(bearer, `Bearer ${KEY}-openai`);
});

test("keys of several providers go each to its own server: whichever is asked", async () => {
  await using openai = startAnyApi();
  await using anthropic = startAnyApi();
  await using azure = startAnyApi();
  const env = {
    ...KEYS,
    OPENAI_BASE_URL: `${openai.origin}/v1`,
    ANTHROPIC_BASE_URL: anthropic.origin,
    AZURE_OPENAI_ENDPOINT: azure.origin,
  };
  const servers = { openai, anthropic, azure };
  for (const [provider, api] of Object.entries(servers)) await asked(api, ["-p", provider], env);
  for (const [provider, { arrived }] of Object.entries(servers)) {
    const seen = JSON.stringify(arrived.map(({ headers, body }) => [...headers, body]));
    assert.equal(arrived.length, 1);
    assert.ok(seen.includes(`${KEY}-${provider}`));
    assert.equal(seen.split(KEY).length, 2, `${provider} saw one key`);
  }
});

test("keys of several providers go each to its own server: the base URL of the configuration is for the configuration's provider alone", async () => {
  await using openai = startAnyApi();
  await using anthropic = startAnyApi();
  await using sandbox = new Sandbox();
  const run = async (args: readonly string[], env: Record<string, string>) =>
    await sandbox.call(["run", "--json", "-m", "m", "Hi", ...args], { env: { ...KEYS, ...env } });
  // It names no provider: openai's then.
  configure(sandbox, { base_url: `${openai.origin}/v1` });
  assert.equal((await run([], {})).code, 0);
  assert.equal((await run(["-p", "anthropic"], { ANTHROPIC_BASE_URL: anthropic.origin })).code, 0);
  assertError(await run(["-p", "compatible"], {}), { code: "no_base_url", exit: 2 });
  assertError(await run(["-p", "azure"], {}), { code: "no_base_url", exit: 2 });
  configure(sandbox, { provider: "anthropic", base_url: anthropic.origin });
  assert.equal((await run([], {})).code, 0);
  assert.equal((await run(["-p", "openai"], { OPENAI_BASE_URL: `${openai.origin}/v1` })).code, 0);
  assert.deepEqual(openai.arrived.map(({ target }) => target), ["/v1/responses", "/v1/responses"]);
  assert.deepEqual(anthropic.arrived.map(({ target }) => target), ["/v1/messages", "/v1/messages"]);
});

test("a missing or wrong setting of a provider is exit 2, with a hint, before a session is created: no key: a key of another provider does not count", async () => {
  const rows: readonly (readonly [string, RegExp, Record<string, string>])[] = [
    ["openai", /Set OPENAI_API_KEY/, { ...KEYS, OPENAI_API_KEY: "" }],
    ["anthropic", /Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN/, { ...KEYS, ANTHROPIC_API_KEY: " " }],
    ["azure", /Set AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN/, { ...KEYS, AZURE_OPENAI_API_KEY: "" }],
    ["compatible", /Set OPENAI_API_KEY/, { ...KEYS, OPENAI_API_KEY: "" }],
  ];
  for (const [provider, hint, env] of rows) {
    const called = await refused(["-p", provider, "--base-url", "https://api.example/v1"], env);
    assertError(called, { code: "missing_key", exit: 2, says: /https:\/\/api\.example/, hint });
  }
});

test("a missing or wrong setting of a provider is exit 2, with a hint, before a session is created: no base URL for a provider without a default", async () => {
  assertError(await refused(["-p", "azure"], { ...KEYS, OPENAI_BASE_URL: "https://api.example/v1" }), {
    code: "no_base_url",
    exit: 2,
    says: /azure/,
    hint: /openai\/v1.*openai\?api-version=.*AZURE_OPENAI_BASE_URL/,
  });
  assertError(await refused(["-p", "compatible"], KEYS), {
    code: "no_base_url",
    exit: 2,
    says: /compatible/,
    hint: /--base-url or OPENAI_BASE_URL/,
  });
});

test("a missing or wrong setting of a provider is exit 2, with a hint, before a session is created: a query in a base URL, but for Azure's version", async () => {
  const rows: readonly (readonly [string, string])[] = [
    ["openai", `https://api.example/v1?api-version=${AZURE_VERSION}`],
    ["anthropic", "https://api.example?beta=true"],
    ["compatible", "https://api.example/v1?key=x"],
    ["azure", "https://r.openai.azure.com/openai?api-key=x"],
    ["azure", `https://r.openai.azure.com/openai?api-version=${AZURE_VERSION}&x=1`],
    ["azure", "https://r.openai.azure.com/openai?api-version="],
    ["azure", `https://r.openai.azure.com/openai?api-version=${AZURE_VERSION}#x`],
    ["azure", `https://r.openai.azure.com/openai?api-version=${AZURE_VERSION}?x`],
  ];
  for (const [provider, url] of rows) {
    const called = await refused(["-p", provider, "--base-url", url], KEYS);
    assertError(called, { code: "bad_url", exit: 2, says: /query/, hint: /--base-url/ });
  }
});

test("a missing or wrong setting of a provider is exit 2, with a hint, before a session is created: an unknown provider", async () => {
  for (const env of [{ REPRISE_PROVIDER: "acme" }, { REPRISE_PROVIDER: "OpenAI" }]) {
    assertError(await refused([], { ...KEYS, ...env }), {
      code: "usage",
      exit: 2,
      says: /\(environment\).*openai, azure, anthropic, compatible/,
      hint: /-p compatible/,
    });
  }
});

test("doctor reports on every provider: its keys, and the sources of provider and base URL", async () => {
  await using sandbox = new Sandbox();
  const details = async (provider: string, env: Record<string, string>) => {
    const called = await sandbox.call(["doctor", "--json"], { env: { ...env, REPRISE_PROVIDER: provider } });
    assert.ok(!called.stdout.includes(KEY));
    assert.equal(called.code, 2, `no model is set: ${called.stdout}`);
    const { checks } = JSON.parse(called.stdout) as {
      checks: readonly { name: string; level: string; detail: string }[];
    };
    return Object.fromEntries(checks.map(({ name, level, detail }) => [name, `${level}: ${detail}`]));
  };
  const none = await details("", {});
  assert.match(
    none.endpoint ?? "",
    /^ok: openai \(default\) at https:\/\/api\.openai\.com\/v1 \(default\)/,
  );
  assert.match(none.key ?? "", /^missing: OPENAI_API_KEY is not set/);
  assert.equal(none.keys, "ok: openai none, azure none, anthropic none, compatible none");
  const all = await details("anthropic", { ...KEYS, AZURE_OPENAI_AD_TOKEN: `${KEY}-token` });
  assert.match(
    all.endpoint ?? "",
    /anthropic \(environment\) at https:\/\/api\.anthropic\.com\/v1 \(default\)/,
  );
  assert.equal(all.key, "ok: ANTHROPIC_API_KEY is set");
  assert.equal(
    all.keys,
    "ok: openai OPENAI_API_KEY, azure AZURE_OPENAI_API_KEY, anthropic ANTHROPIC_API_KEY, " +
      "compatible OPENAI_API_KEY",
  );
  const azure = await details("azure", {});
  assert.match(azure.endpoint ?? "", /^missing: .*azure.*AZURE_OPENAI_BASE_URL/);
  assert.match(azure.key ?? "", /^missing: AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN is not set/);
  configure(sandbox, { provider: "compatible", base_url: "http://localhost:1234/v1" });
  const local = await details("", {});
  assert.match(local.endpoint ?? "", /compatible \(config\) at http:\/\/localhost:1234\/v1 \(config\)/);
  assert.match(local.key ?? "", /^ok: .* requests to the local server have no key/);
});
