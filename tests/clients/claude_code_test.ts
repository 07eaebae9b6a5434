/** Claude Code, unmodified: recorded at one place, replayed at others. */
import { type Agent } from "./agent_run.ts";
import { agentTests } from "./agent_tests.ts";
import { CLAUDE_CODE, CLAUDE_CODE_EARLIER, type Packages } from "./npm_packages.ts";
import { claudeCodeApi } from "./scripted_agent_apis.ts";

const CLAUDE = "claude --dangerously-skip-permissions -p";

const agentOf = (packages: Packages): Agent => ({
  packages,
  variable: "ANTHROPIC",
  script: `${CLAUDE} "$1 in $PWD"\n${CLAUDE} -c "$2"`,
  env: {
    DISABLE_AUTOUPDATER: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    // As root it skips permissions only in a sandbox.
    IS_SANDBOX: "1",
  },
  api: claudeCodeApi,
});

const EXPECTED = { rules: ["cwd", "date", "os", "git"], brokenRule: "signature" };

agentTests({
  ...EXPECTED,
  name: "Claude Code",
  agent: agentOf(CLAUDE_CODE),
  prompt: "messages[0].content[2].text",
  // Each of its processes begins with `output_config` in a message.
  retries: 2,
});

agentTests({
  ...EXPECTED,
  name: "Claude Code 2.1.197",
  agent: agentOf(CLAUDE_CODE_EARLIER),
  prompt: "messages[0].content[1].text",
});
