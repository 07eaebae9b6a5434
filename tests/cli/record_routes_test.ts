/** Routes of `record` for each API of a command: by flags, by the user's base URLs and keys, and by defaults. */
import assert from "node:assert/strict";
import { type Called, Sandbox } from "../support/reprise.ts";
import { test } from "../support/test.ts";

const HOST = "http://127.0.0.1:8080";
const OPENAI = "https://api.openai.com/v1";
const ANTHROPIC = "https://api.anthropic.com";

async function planned(flags: readonly string[], env: Readonly<Record<string, string>>): Promise<Called> {
  await using sandbox = new Sandbox();
  return await sandbox.call(["record", "--dry-run", "--json", "--out", "new", ...flags, "--", "true"], {
    env,
  });
}

type Route = readonly [flags: readonly string[], env: Record<string, string>, upstreams: readonly string[]];

/** Flags and variables of a recording with a command, and the upstreams that it records. */
const ROUTES: Readonly<Record<string, Route>> = {
  "nothing: OpenAI and Anthropic": [[], {}, [OPENAI, ANTHROPIC]],
  "the user's base URLs, with and without a version": [[], {
    OPENAI_BASE_URL: `${HOST}/api/v3/`,
    ANTHROPIC_BASE_URL: `${HOST}/claude/v1`,
  }, [`${HOST}/api/v3`, `${HOST}/claude`]],
  "an upstream with its version": [["--upstream", `${HOST}/gateway/v1/`], {}, [`${HOST}/gateway`]],
  "the key of a known API": [[], { GROQ_API_KEY: "k" }, [OPENAI, ANTHROPIC, "https://api.groq.com"]],
  "the address of Ollama": [[], { OLLAMA_HOST: "0.0.0.0" }, [OPENAI, ANTHROPIC, "http://127.0.0.1:11434"]],
  "an API that --env adds, and one that it overrides": [
    ["--env", `ACME_URL=${HOST}/acme`, "--env", `OPENAI_BASE_URL=${HOST}/v1`],
    { OPENAI_BASE_URL: "https://other.example/v1" },
    [ANTHROPIC, `${HOST}/acme`, `${HOST}/v1`],
  ],
  "Azure alone, whose clients read OPENAI_BASE_URL first": [[], {
    AZURE_OPENAI_ENDPOINT: "https://me.openai.azure.com/",
    AZURE_OPENAI_API_KEY: "k",
  }, [ANTHROPIC, "https://me.openai.azure.com"]],
  "variables that cannot be recorded, beside the usual two": [
    [],
    { OLLAMA_HOST: "192.168.1.5", GROQ_BASE_URL: "no url" },
    [OPENAI, ANTHROPIC],
  ],
  "REPRISE_BASE_URL at the endpoint of a route": [
    [],
    { REPRISE_BASE_URL: `${HOST}/claude/v1/`, ANTHROPIC_BASE_URL: `${HOST}/claude` },
    [OPENAI, `${HOST}/claude`],
  ],
};

test("record leads the APIs of a command to their upstreams", async () => {
  for (const [name, [flags, env, upstreams]] of Object.entries(ROUTES)) {
    const { code, stdout } = await planned(flags, env);
    assert.equal(code, 0, `${name}: ${stdout}`);
    assert.deepEqual(JSON.parse(stdout).upstreams.toSorted(), upstreams.toSorted(), name);
  }
});

test("record refuses a base URL that no recorder can be in front of, and one that leads around it", async () => {
  for (
    const [env, code] of [
      [{ OPENAI_BASE_URL: "no url" }, "bad_url"],
      [{ REPRISE_BASE_URL: `${HOST}/other` }, "usage"],
      [{ REPRISE_BASE_URL: "no url" }, "usage"],
    ] as const
  ) {
    const called = await planned([], env);
    assert.deepEqual([called.code, JSON.parse(called.stdout).code], [2, code], called.stdout);
  }
  assert.equal((await planned(["--upstream", HOST], { REPRISE_BASE_URL: `${HOST}/other` })).code, 0);
});

test("--env refuses what leads no client to an API, and says why", async () => {
  const rows: readonly (readonly [values: readonly string[], says: RegExp])[] = [
    [["ACME"], /"ACME" is not NAME=URL/],
    [["https://user:secret@api.example.com/?a=b"], /the value is not NAME=URL/],
    [["ACME_URL=http://api.example.com"], /keys would travel unencrypted/],
    [["ACME_URL=https://user:secret@api.example.com"], /carries a user name or password/],
    [["ACME_URL=https://secret@api.example.com"], /carries a user name or password/],
    [["ACME_URL=https://a.example", "ACME_URL=https://b.example"], /ACME_URL is given twice/],
    [["PATH=https://a.example"], /PATH does not lead clients to an API/],
  ];
  for (const [values, says] of rows) {
    const { code, stdout } = await planned(values.flatMap((value) => ["--env", value]), {});
    assert.equal(code, 2, `${values}: ${stdout}`);
    assert.match(JSON.parse(stdout).message, says);
    assert.doesNotMatch(stdout, /secret/);
  }
  const both = await planned(["--upstream", HOST, "--env", `ACME_URL=${HOST}`], {});
  assert.match(both.stdout, /--upstream and --env exclude each other/);
});
