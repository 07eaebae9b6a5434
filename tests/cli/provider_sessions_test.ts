/** Sessions with every provider: how they continue, and played fixtures. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import { endpointHashes, type ProviderKind } from "../../src/domain/fingerprint.ts";
import { writeFixture } from "../doors/recordings/recording_files.ts";
import { events, Sandbox } from "../support/reprise.ts";
import { AZURE_VERSION, KEYS, shortAnswer, startAnyApi } from "./any_api.ts";

test("a session keeps its provider as it keeps its model: until -p or -m names another", async () => {
  await using api = startAnyApi();
  await using sandbox = new Sandbox();
  const env = {
    ...KEYS,
    REPRISE_BASE_URL: api.origin,
    REPRISE_PROVIDER: "openai",
    REPRISE_MODEL: "gpt-5.6",
  };
  const run = async (...args: readonly string[]) => {
    const called = await sandbox.call(["run", "--json", ...args, "Hi"], { env });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const started = events(called).find((event) => event.type === "run.started");
    return [started?.provider, started?.model, api.arrived.at(-1)?.target];
  };
  assert.deepEqual(await run("-p", "anthropic", "-m", "claude-opus-5"), [
    "anthropic",
    "claude-opus-5",
    "/v1/messages",
  ]);
  assert.deepEqual(await run("-c"), ["anthropic", "claude-opus-5", "/v1/messages"]);
  assert.deepEqual(await run("-c", "-m", "gpt-5.6"), ["openai", "gpt-5.6", "/responses"]);
  assert.deepEqual(await run("-c"), ["openai", "gpt-5.6", "/responses"]);
  assert.deepEqual(await run("-c", "-p", "azure"), ["azure", "gpt-5.6", "/openai/v1/responses"]);
  assert.deepEqual(await run("-c"), ["azure", "gpt-5.6", "/openai/v1/responses"]);
  // A new session follows the environment.
  assert.deepEqual(await run(), ["openai", "gpt-5.6", "/responses"]);
});

test("a fixture of any provider plays in that provider's api, whatever the environment says", async () => {
  await using sandbox = new Sandbox();
  const record = (name: string, provider: ProviderKind, path: string) =>
    writeFixture(`${sandbox.directory}/${name}`, [{ body: shortAnswer(path) }], {
      provider,
      base_url: "https://recorded.example",
      models: [`${provider}-model`],
    });
  const env = { REPRISE_PROVIDER: "openai", AZURE_OPENAI_API_VERSION: AZURE_VERSION, ...KEYS };
  const rows: Record<ProviderKind, string> = {
    openai: "/responses",
    azure: "/responses",
    anthropic: "/messages",
    compatible: "/responses",
  };
  for (const [provider, api] of Object.entries(rows) as [ProviderKind, string][]) {
    const fixture = record(provider, provider, api);
    const args = [
      "run",
      "--json",
      "--new",
      "-s",
      provider,
      "--match",
      "sequence",
      "--fixture",
      fixture,
      "Hi",
    ];
    const called = await sandbox.call(args, { env });
    assert.equal(called.code, 0, called.stdout + called.stderr);
    const [user, model] = sandbox.turns(provider);
    const path = provider === "azure" ? "/openai/v1" : "";
    const { endpoint } = endpointHashes(new URL(`https://recorded.example${path}`));
    assert.deepEqual(user.pins.fingerprint, { provider, endpoint, account: null });
    assert.deepEqual([model.fingerprint.provider, model.model.asked], [provider, `${provider}-model`]);
  }
  // The session's provider decides over the fixture's, as its model does.
  const played = ["--match", "sequence", "--fixture", `${sandbox.directory}/openai`];
  const again = ["run", "--json", "-s", "anthropic", ...played, "Hi"];
  const mixed = await sandbox.call(again, { env });
  const started = events(mixed).find((event) => event.type === "run.started");
  assert.deepEqual([started?.provider, started?.model], ["anthropic", "anthropic-model"]);
  const named = await sandbox.call([...again, "-m", "other"], { env });
  const other = events(named).find((event) => event.type === "run.started");
  assert.deepEqual([named.code, other?.provider, other?.model], [0, "openai", "other"]);
});
