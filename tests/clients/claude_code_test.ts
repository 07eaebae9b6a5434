/** Claude Code, unmodified: recorded at one place, replayed at others. */
import assert from "node:assert/strict";
import { objectMember } from "../../src/domain/json.ts";
import { type Agent, AgentSandbox, ELSEWHERE, HERE } from "./agent_run.ts";
import { agentTests, assertReplayed } from "./agent_tests.ts";
import { CLAUDE_CODE, NOT_HERE, RUNS_AGENTS } from "./npm_packages.ts";
import { claudeCodeApi } from "./scripted_agent_apis.ts";

const CLAUDE = "claude --dangerously-skip-permissions -p";

const AGENT: Agent = {
  packages: CLAUDE_CODE,
  variable: "ANTHROPIC",
  script: `${CLAUDE} "It is now: $(date +%F). $1 in $PWD"\n${CLAUDE} -c "$2"`,
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
  prompt: "messages[0].content[1].text",
});

Deno.test({
  name:
    "Claude Code: an answer that names a file of the recorder's directory is a miss after that is gone, and " +
    `replays with --rewrite-context${NOT_HERE}`,
  ignore: !RUNS_AGENTS,
  fn: async () => {
    await using sandbox = new AgentSandbox(AGENT);
    for (const place of [HERE, ELSEWHERE]) await sandbox.make(place);
    await sandbox.record(HERE);
    Deno.removeSync(`${sandbox.directory}/${HERE.home}`, { recursive: true });

    const { events } = await sandbox.replay(ELSEWHERE);
    assert.deepEqual(events.map(({ type }) => type), ["played", "played", "miss"]);
    assert.equal(objectMember(events[2] ?? {}, "nearest")?.path, "messages[5].content[0].content");

    assertReplayed(await sandbox.replay(ELSEWHERE, { flags: ["--rewrite-context"] }));
  },
});
