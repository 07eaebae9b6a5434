/** Codex CLI, unmodified: recorded at one place, replayed at others. */
import { CODEX } from "./npm_packages.ts";
import { type Agent } from "./agent_run.ts";
import { agentTests } from "./agent_tests.ts";
import { codexApi } from "./scripted_agent_apis.ts";

/** Settings of a provider of the user's own, which reads the same variables as the SDKs. */
const CUSTOM = [
  "-c model_provider=mine",
  "-c model_providers.mine.name=mine",
  '-c model_providers.mine.base_url="$OPENAI_BASE_URL"',
  "-c model_providers.mine.env_key=OPENAI_API_KEY",
  "-c model_providers.mine.wire_api=responses",
].join(" ");

/** A conversation of two prompts, with the settings that point Codex to the server. */
function withSettings(settings: string, before = ""): Agent {
  const flags = `${settings} -m gpt-5.6 --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox`;
  return {
    packages: CODEX,
    variable: "OPENAI",
    script: `${before}codex exec ${flags} "$1 in $PWD"\ncodex exec ${flags} resume --last "$2"`,
    env: {},
    api: codexApi,
  };
}

const EXPECTED = {
  rules: ["cwd", "date"],
  brokenRule: "encrypted_content",
  prompt: "input[3].content[0].text",
};

agentTests({
  name: "Codex CLI with its own provider",
  // It ignores OPENAI_BASE_URL, and takes its key from another variable.
  agent: withSettings('-c openai_base_url="$OPENAI_BASE_URL"', 'export CODEX_API_KEY="$OPENAI_API_KEY"\n'),
  ...EXPECTED,
  // It uses a WebSocket, and each of its processes begins with a warm-up.
  warmUps: 2,
});

agentTests({
  name: "Codex CLI with a provider of the user's",
  agent: withSettings(CUSTOM),
  ...EXPECTED,
});
