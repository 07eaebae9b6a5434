/** Claude Code, unmodified: recorded at one place, replayed at others. */
import { CLAUDE_CODE } from "./agent_program.ts";
import { agentTests } from "./agent_tests.ts";
import { claudeCodeApi } from "./scripted_agent_apis.ts";

const CLAUDE = "claude --dangerously-skip-permissions -p";

agentTests({
  name: "Claude Code",
  agent: {
    package: CLAUDE_CODE,
    variable: "ANTHROPIC",
    script: `${CLAUDE} "$1"\n${CLAUDE} -c "$2"`,
    env: {
      DISABLE_AUTOUPDATER: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      // As root it takes no permission to skip permissions elsewhere.
      IS_SANDBOX: "1",
    },
    api: claudeCodeApi,
  },
  rules: ["cwd", "date", "os", "git"],
  brokenRule: "invalid_signature",
});
