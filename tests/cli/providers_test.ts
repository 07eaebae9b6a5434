/** The choice of provider, base URL and key: where requests go, what is refused, and what sessions and fixtures keep. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { type Json, sha256 } from "../support/files.ts";
import { type Called, events, said, Sandbox } from "../support/reprise.ts";
import { type AnyApi, AZURE_VERSION, KEYS, shortAnswer, startAnyApi } from "./any_api.ts";
import { assertError, configure, KEY } from "./harness.ts";

type Env = Readonly<Record<string, string>>;

const V1 = "/openai/v1/responses";
const DATED_V1 = `/openai/responses?api-version=${AZURE_VERSION}`;
const VERSION = `AZURE_OPENAI_API_VERSION=${AZURE_VERSION}`;

/** A provider, variables (`API` is the server), the path that is requested, and the header with the key. */
const ASKED: readonly (readonly [provider: string, variables: string, target: string, key: string])[] = [
  ["openai", "OPENAI_BASE_URL=API/v1", "/v1/responses", "authorization: Bearer KEY-openai"],
  ["azure", "AZURE_OPENAI_ENDPOINT=API", V1, "api-key: KEY-azure"],
  // The whole URL counts before that of the resource, and needs no version.
  [
    "azure",
    `AZURE_OPENAI_BASE_URL=API/openai/v1/ AZURE_OPENAI_ENDPOINT=http://x.invalid ${VERSION}`,
    V1,
    "api-key: KEY-azure",
  ],
  // Names of versions that are no date are v1 itself.
  [
    "azure",
    `AZURE_OPENAI_ENDPOINT=API AZURE_OPENAI_API_VERSION=preview OPENAI_API_VERSION=${AZURE_VERSION}`,
    V1,
    "api-key: KEY-azure",
  ],
  ["azure", `AZURE_OPENAI_BASE_URL=API/openai?api-version=${AZURE_VERSION}`, DATED_V1, "api-key: KEY-azure"],
  ["azure", `AZURE_OPENAI_ENDPOINT=API ${VERSION}`, DATED_V1, "api-key: KEY-azure"],
  [
    "azure",
    "AZURE_OPENAI_API_KEY= AZURE_OPENAI_AD_TOKEN=KEY-token AZURE_OPENAI_ENDPOINT=API",
    V1,
    "authorization: Bearer KEY-token",
  ],
  ["anthropic", "ANTHROPIC_BASE_URL=API", "/v1/messages", "authorization: Bearer KEY-anthropic"],
  [
    "anthropic",
    "ANTHROPIC_API_KEY= ANTHROPIC_AUTH_TOKEN=KEY-token ANTHROPIC_BASE_URL=API/proxy",
    "/proxy/v1/messages",
    "authorization: Bearer KEY-token",
  ],
  ["compatible", "REPRISE_BASE_URL=API/api/v1", "/api/v1/responses", "authorization: Bearer KEY-openai"],
];

test("each provider is requested at its own path, with its own key in its own header, and with no other key", async () => {
  await using api = startAnyApi();
  for (const [provider, variables, target, key] of ASKED) {
    await using sandbox = new Sandbox();
    const pairs = variables.replaceAll("API/", `${api.origin}/`).replaceAll(/=API\b/g, `=${api.origin}`)
      .replaceAll("KEY-", `${KEY}-`).split(" ").map((pair) =>
        /^(.*?)=(.*)$/.exec(pair)?.slice(1) as [string, string]
      );
    const env = { ...KEYS, REPRISE_PROVIDER: provider, ...Object.fromEntries(pairs) };
    const called = await sandbox.call(["run", "--json", "-m", "m", "Hi"], { env });
    const shown = `${provider} ${variables}: ${called.stdout}${called.stderr}`;
    assert.equal(called.code, 0, shown);
    assert.ok(!`${called.stdout}${called.stderr}`.includes(KEY), "no key is printed");
    const request = api.arrived.at(-1) as AnyApi["arrived"][number];
    const keys = [...request.headers].filter(([, value]) => value.includes(KEY));
    const found = keys.map((pair) => pair.join(": ").replace(KEY, "KEY")).join();
    assert.deepEqual([request.target, found], [target, key], shown);
    assert.ok(!request.body.includes(KEY), shown);
    assert.equal(request.headers.has("anthropic-version"), provider === "anthropic");
  }
  assert.equal(api.arrived.length, ASKED.length);
});

test("the base URL of the configuration is for the configuration's provider alone", async () => {
  await using openai = startAnyApi();
  await using anthropic = startAnyApi();
  await using sandbox = new Sandbox();
  const run = (args: readonly string[], env: Env = {}) =>
    sandbox.call(["run", "--json", "-m", "m", "Hi", ...args], { env: { ...KEYS, ...env } });
  // It names no provider: openai's then.
  configure(sandbox, { base_url: `${openai.origin}/v1` });
  assert.equal((await run([])).code, 0);
  assert.equal((await run(["-p", "anthropic"], { ANTHROPIC_BASE_URL: anthropic.origin })).code, 0);
  for (const provider of ["compatible", "azure"]) {
    assertError(await run(["-p", provider]), { code: "no_base_url", exit: 2 });
  }
  configure(sandbox, { provider: "anthropic", base_url: anthropic.origin });
  assert.equal((await run([])).code, 0);
  assert.equal((await run(["-p", "openai"], { OPENAI_BASE_URL: `${openai.origin}/v1` })).code, 0);
  assert.deepEqual([openai.arrived.length, anthropic.arrived.length], [2, 2]);
});

const ELSEWHERE = ["--base-url", "https://api.example/v1"];
const DATED = `https://r.openai.azure.com/openai?api-version=${AZURE_VERSION}`;

/** Arguments and variables, the code of the error, its message and hint. */
const REFUSED:
  readonly (readonly [args: readonly string[], env: Env, code: string, says: RegExp, hint: RegExp])[] = [
    // A user alone may be a key.
    ...[
      "https://sk-user@api.example/v1",
      "https://:sk-pass@api.example/v1",
      "https://u:sk-pass@api.example/v1",
    ].map((url) => [["--base-url", url], {}, "bad_url", /carries a user name or password$/, /./] as const),
    // A key of another provider does not count.
    ...([
      ["openai", "OPENAI_API_KEY", /Set OPENAI_API_KEY/],
      ["anthropic", "ANTHROPIC_API_KEY", /Set ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN/],
      ["azure", "AZURE_OPENAI_API_KEY", /Set AZURE_OPENAI_API_KEY or AZURE_OPENAI_AD_TOKEN/],
      ["compatible", "OPENAI_API_KEY", /Set OPENAI_API_KEY/],
    ] as const).map(([provider, name, hint]) =>
      [
        ["-p", provider, ...ELSEWHERE],
        { [name]: " " },
        "missing_key",
        /https:\/\/api\.example/,
        hint,
      ] as const
    ),
    [
      ["-p", "azure"],
      { OPENAI_BASE_URL: "https://api.example/v1" },
      "no_base_url",
      /azure/,
      /openai\/v1.*openai\?api-version=.*AZURE_OPENAI_BASE_URL/,
    ],
    [["-p", "compatible"], {}, "no_base_url", /compatible/, /--base-url or OPENAI_BASE_URL/],
    // A base URL has no query, except for Azure's version.
    ...([
      ["openai", `https://api.example/v1?api-version=${AZURE_VERSION}`],
      ["anthropic", "https://api.example?beta=true"],
      ["azure", "https://r.openai.azure.com/openai?api-version="],
      ...["&x=1", "#x", "?x"].map((more) => ["azure", `${DATED}${more}`] as const),
    ] as const).map(([provider, url]) =>
      [["-p", provider, "--base-url", url], {}, "bad_url", /query/, /--base-url/] as const
    ),
    [
      [],
      { REPRISE_PROVIDER: "OpenAI" },
      "usage",
      /\(environment\).*openai, azure, anthropic, compatible/,
      /-p compatible/,
    ],
  ];

test("a missing or wrong setting of a provider is exit 2, with a hint, before a session is created", async () => {
  for (const [args, env, code, says, hint] of REFUSED) {
    await using sandbox = new Sandbox();
    const called = await sandbox.call(["run", "--json", "-m", "m", "Hi", ...args], {
      env: { ...KEYS, ...env },
    });
    assertError(called, { code, exit: 2, says, hint });
    assert.doesNotMatch(said(called), /sk-(?:user|pass)/);
    assert.throws(() => Deno.statSync(sandbox.home), Deno.errors.NotFound);
  }
});

/** The provider and the model of a run. */
function started(called: Called): readonly unknown[] {
  const event = events(called).find(({ type }) => type === "run.started") as Json;
  return [event.provider, event.model];
}

test("a session keeps its provider as it keeps its model: until -p or -m names another", async () => {
  await using api = startAnyApi();
  await using sandbox = new Sandbox();
  const env = { ...KEYS, REPRISE_BASE_URL: api.origin, REPRISE_PROVIDER: "openai", REPRISE_MODEL: "gpt-5.6" };
  for (
    const [args, ...expected] of [
      [["-p", "anthropic", "-m", "claude-opus-5"], "anthropic", "claude-opus-5", "/v1/messages"],
      [["-c"], "anthropic", "claude-opus-5", "/v1/messages"],
      [["-c", "-m", "gpt-5.6"], "openai", "gpt-5.6", "/responses"],
      [["-c", "-p", "azure"], "azure", "gpt-5.6", "/openai/v1/responses"],
      [["-c"], "azure", "gpt-5.6", "/openai/v1/responses"],
      // A new session follows the environment.
      [[], "openai", "gpt-5.6", "/responses"],
    ] as const
  ) {
    const called = await sandbox.call(["run", "--json", ...args, "Hi"], { env });
    assert.deepEqual([called.code, ...started(called), api.arrived.at(-1)?.target], [0, ...expected]);
  }
});

test("a fixture of any provider plays in that provider's API, whatever the environment says", async () => {
  await using sandbox = new Sandbox();
  const env = { REPRISE_PROVIDER: "openai", AZURE_OPENAI_API_VERSION: AZURE_VERSION, ...KEYS };
  const play = (session: string, fixture: string, ...more: readonly string[]) =>
    sandbox.call(
      ["run", "--json", "-s", session, "--match", "sequence", "--fixture", fixture, ...more, "Hi"],
      { env },
    );
  for (const provider of ["openai", "azure", "anthropic", "compatible"]) {
    const body = shortAnswer(provider === "anthropic" ? "/messages" : "/responses");
    const fixture = writeFixture(`${sandbox.directory}/${provider}`, [{ body }], {
      provider,
      base_url: "https://recorded.example",
      models: [`${provider}-model`],
    });
    const played = await play(provider, fixture, "--new");
    assert.deepEqual([played.code, ...started(played)], [0, provider, `${provider}-model`]);
    const url = `https://recorded.example${provider === "azure" ? "/openai/v1" : ""}`;
    const fingerprint = { provider, endpoint: sha256(url).slice(0, 8), account: null };
    assert.deepEqual(sandbox.turns(provider)[0].pins.fingerprint, fingerprint);
  }
  // The session's provider decides over the fixture's, as its model does.
  const fixture = `${sandbox.directory}/openai`;
  assert.deepEqual(started(await play("anthropic", fixture)), ["anthropic", "anthropic-model"]);
  assert.deepEqual(started(await play("anthropic", fixture, "-m", "other")), ["openai", "other"]);
});
