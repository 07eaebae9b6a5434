/** Claude Code, unmodified: recorded at one place, replayed at others. */
import { type Agent } from "./agent_run.ts";
import { agentTests } from "./agent_tests.ts";
import { CLAUDE_CODE, CLAUDE_CODE_EARLIER, CLAUDE_CODE_LATER, type Packages } from "./npm_packages.ts";
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
  resends: true,
});

/** A tool of earlier versions names the month. */
const cure = ["--replace", "The current month is .+? \u2014=The current month is X \u2014"] as const;

agentTests({
  ...EXPECTED,
  ...{ cure },
  name: "Claude Code 2.1.197",
  agent: agentOf(CLAUDE_CODE_EARLIER),
  prompt: "messages[0].content[1].text",
});

agentTests({
  ...EXPECTED,
  ...{ cure, resends: true },
  name: "Claude Code 2.1.269",
  agent: agentOf(CLAUDE_CODE_LATER),
  prompt: "messages[0].content[2].text",
});
