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
const OPENAI = { OPENAI_BASE_URL: "/v1", ANTHROPIC_BASE_URL: "" };

/** Fixtures, the path of each variable's URL, and the fixtures that no variable leads to. */
const ROWS: readonly (readonly [readonly Place[], Readonly<Record<string, string>>, ...string[]])[] = [
  [[["openai", "https://api.openai.com/v1"]], OPENAI],
  [[["azure", "https://res.openai.azure.com/openai/v1/"]], {
    OPENAI_BASE_URL: "/openai/v1",
    ANTHROPIC_BASE_URL: "",
  }],
  [[["compatible", "https://api.deepseek.com", ["/chat/completions"]]], {
    OPENAI_BASE_URL: "",
    ANTHROPIC_BASE_URL: "",
  }],
  [[["anthropic", "https://api.anthropic.com", ["/v1/messages"]]], OPENAI],
  [[["anthropic", "https://gw.example/anthropic", ["/anthropic/v1/messages"]]], {
    OPENAI_BASE_URL: "/v1",
    ANTHROPIC_BASE_URL: "/anthropic",
  }],
  [[["openai", "https://api.openai.com/v1", ["/v1/responses", "/claude/v1/messages?beta=true"]]], {
    OPENAI_BASE_URL: "/v1",
    ANTHROPIC_BASE_URL: "/claude",
  }],
  [[["openai", ""]], OPENAI],
  [
    [
      ["openai", "https://api.openai.com/v1"],
      ["azure", "https://res.openai.azure.com/openai/v1", ["/openai/v1/responses"]],
      ["openai", "https://eu.api.openai.com/v1"],
    ],
    OPENAI,
    "1",
  ],
  [[["openai", "https://api.openai.com/v1", ["/v1/responses"], UPSTREAMS]], {
    ...OPENAI,
    GROQ_BASE_URL: "",
    ACME_URL: "/api",
  }],
  // The base URLs of an older fixture.
  [[["anthropic", "https://gw.example/claude", ["/claude/v1/messages"], {
    ANTHROPIC_BASE_URL: "https://gw.example/claude",
  }]], {
    OPENAI_BASE_URL: "/v1",
    ANTHROPIC_BASE_URL: "/claude",
  }],
];

/** Calls `serve` around a command that writes its environment down. */
async function served(home: RecordingHome, names: readonly string[]) {
  const args = [
    "serve",
    ...names,
    "--allow-unused",
    "--",
    "/bin/sh",
    "-c",
    'env > "$0"',
    `${home.directory}/env`,
  ];
  const { stderr } = await new HereRun({
    args,
    cwd: home.directory,
    env: home.environment(),
    stdin: new Uint8Array(0),
  }).ended;
  const variables = Deno.readTextFileSync(`${home.directory}/env`).split("\n")
    .flatMap((line) =>
      /^(\w+)=http:\/\/127\.0\.0\.1:\d+(.*)$/.exec(line)?.slice(1, 3) as [string, string] | undefined ?? []
    );
  const pairs = variables.flatMap((_, index) => index % 2 === 0 ? [variables.slice(index, index + 2)] : []);
  return { paths: Object.fromEntries(pairs), stderr };
}

for (const [index, [places, paths, ...elsewhere]] of ROWS.entries()) {
  withHome(
    `clients find the APIs of ${
      places.map(([provider, url]) => `${provider} at ${url}`).join(", ")
    }: ${index}`,
    async (home) => {
      const names = places.map(([provider, base_url, paths = ["/v1/responses"], upstreams = {}], index) => {
        const isOld = Object.values(upstreams).some((value) => typeof value === "string");
        const exchanges = paths.map((path) => ({
          request: { path, body: { model: "m", input: "", messages: [] } },
          body: "",
        }));
        home.fixture(`f${index}`, exchanges, {
          provider,
          base_url,
          [isOld ? "base_urls" : "upstreams"]: upstreams,
        });
        return `f${index}`;
      });
      const found = await served(home, names);
      assert.deepEqual(found.paths, paths, found.stderr);
      const missed = names.filter((name) => found.stderr.includes(`"${name}" `));
      assert.deepEqual(missed, elsewhere.map((number) => `f${number}`), found.stderr);
    },
    test.long,
  );
}
