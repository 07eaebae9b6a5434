/** Claude Code, unmodified: recorded at one place, replayed at others. */
import { type Agent } from "./agent_run.ts";
import { agentTests } from "./agent_tests.ts";
import { CLAUDE_CODE } from "./npm_packages.ts";
import { claudeCodeApi } from "./scripted_agent_apis.ts";

const CLAUDE = "claude --dangerously-skip-permissions -p";

const AGENT: Agent = {
  packages: CLAUDE_CODE,
  variable: "ANTHROPIC",
  script: `${CLAUDE} "$1 in $PWD"\n${CLAUDE} -c "$2"`,
  env: {
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // As root it skips permissions only in a sandbox.
    IS_SANDBOX: "1",
  },
  api: claudeCodeApi,
};

agentTests({
  name: "Claude Code",
  agent: AGENT,
  rules: ["cwd", "date", "os", "git"],
  brokenRule: "signature",
  prompt: "messages[0].content[2].text",
});
