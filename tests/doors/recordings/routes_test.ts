/** The base URLs that `serve` gives to its command: those of the recorded APIs, by the paths that they were recorded at. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { HereRun } from "../../support/in_process.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";

/** A fixture: its base URL, its provider, and the paths of its exchanges. */
type Place = readonly [provider: string, base_url: string, paths?: readonly string[], upstreams?: Json];

const url = (base_url: string, provider: string) => ({ base_url, provider });
const UPSTREAMS = {
  ACME_URL: url("https://acme.example/api", "compatible"),
  GROQ_BASE_URL: url("https://api.groq.com", "compatible"),
  OPENAI_BASE_URL: url("https://api.openai.com/v1", "openai"),
};

const at = (OPENAI_BASE_URL: string, ANTHROPIC_BASE_URL = "", more = {}) => ({
  ...{ OPENAI_BASE_URL, ANTHROPIC_BASE_URL },
  ...more,
});
const OLD = { ANTHROPIC_BASE_URL: "https://gw.example/claude" };
const [OPENAI, EU] = ["https://api.openai.com/v1", "https://eu.api.openai.com/v1"];
const AZURE = "https://res.openai.azure.com/openai/v1";

/** Fixtures, the path of each variable's URL, and the fixtures that no variable leads to. */
const ROWS: readonly (readonly [readonly Place[], Readonly<Record<string, string>>, ...string[]])[] = [
  [[["azure", `${AZURE}/`]], at("/openai/v1")],
  [[["compatible", "https://api.deepseek.com", ["/chat/completions"]]], at("")],
  [[["anthropic", "https://api.anthropic.com", ["/v1/messages"]]], at("/v1")],
  [[["anthropic", "https://gw.example/anthropic", ["/anthropic/v1/messages"]]], at("/v1", "/anthropic")],
  [[["openai", OPENAI, ["/v1/responses", "/claude/v1/messages?beta=true"]]], at("/v1", "/claude")],
  [[["openai", OPENAI], ["azure", AZURE, ["/openai/v1/responses"]], ["openai", EU]], at("/v1"), "1"],
  [
    [["openai", OPENAI, ["/v1/responses"], UPSTREAMS]],
    at("/v1", "", { GROQ_BASE_URL: "", ACME_URL: "/api" }),
  ],
  // The base URLs of an older fixture.
  [[["anthropic", "https://gw.example/claude", ["/claude/v1/messages"], OLD]], at("/v1", "/claude")],
];

/** Calls `serve` around a command that writes its environment down. */
async function served(home: RecordingHome, names: readonly string[]) {
  const command = ["/bin/sh", "-c", 'env > "$0"', `${home.directory}/env`];
  const args = ["serve", ...names, "--allow-unused", "--", ...command];
  const run = { args, cwd: home.directory, env: home.environment(), stdin: new Uint8Array(0) };
  const { stderr } = await new HereRun(run).ended;
  const variables = Deno.readTextFileSync(`${home.directory}/env`).split("\n")
    .flatMap((line) =>
      /^(\w+)=http:\/\/127\.0\.0\.1:\d+(.*)$/.exec(line)?.slice(1, 3) as [string, string] | undefined ?? []
    );
  const pairs = variables.flatMap((_, index) => index % 2 === 0 ? [variables.slice(index, index + 2)] : []);
  return { paths: Object.fromEntries(pairs), stderr };
}

for (const [index, [places, paths, ...elsewhere]] of ROWS.entries()) {
  const apis = places.map(([provider, url]) => `${provider} at ${url}`).join(", ");
  withHome(`clients find the APIs of ${apis}: ${index}`, async (home) => {
    const names = places.map(([provider, base_url, paths = ["/v1/responses"], upstreams = {}], index) => {
      const body = { model: "m", input: "", messages: [] };
      const exchanges = paths.map((path) => ({ request: { path, body }, body: "" }));
      const member = upstreams === OLD ? "base_urls" : "upstreams";
      home.fixture(`f${index}`, exchanges, { provider, base_url, [member]: upstreams });
      return `f${index}`;
    });
    const found = await served(home, names);
    assert.deepEqual(found.paths, paths, found.stderr);
    const missed = names.filter((name) => found.stderr.includes(`"${name}" `));
    assert.deepEqual(missed, elsewhere.map((number) => `f${number}`), found.stderr);
  }, test.long);
}
