/** Turns on disk and the request that follows from them. */
import { said } from "../../support/reprise.ts";
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { ID, withHome } from "../sessions/home.ts";
import { REFUSED, SHORTER } from "./changed_histories.ts";
import { HISTORIES, type Target } from "./histories.ts";
import { CLAUDE_HISTORIES } from "./histories_of_claude.ts";
import { brokenMessagesRules, brokenResponsesRules } from "../../support/scripted_api/judge.ts";
import { historyOf } from "./history_text.ts";

/** The flags of a call to a target, and the variables that it needs. */
function callTo(
  { provider = "openai", model = provider === "anthropic" ? "claude-opus-5" : "gpt-5.6", flags = [] }: Target,
) {
  return {
    flags: ["-p", provider, "-m", model, ...flags],
    env: { OPENAI_API_KEY: "sk-1", ANTHROPIC_API_KEY: "sk-1" },
  };
}

for (
  const [name, { turns, to = {}, prompt = "Go on", sent, left = "" }] of [
    ...Object.entries({ ...HISTORIES, ...SHORTER, ...REFUSED }),
    ...Object.entries(CLAUDE_HISTORIES),
  ]
) {
  withHome(name, async (home) => {
    home.session(turns);
    const { flags, env } = callTo(to);
    const words = prompt === null ? [] : [prompt];
    const called = await home.call(["run", "--dry-run", "--body", "-s", ID, ...flags, ...words], { env });
    assert.equal(called.code, 0, said(called));
    const body = JSON.parse(called.stdout);
    assert.equal(
      historyOf(body),
      [sent, ...words.map((text) => `user: ${text}`)].filter((part) => part !== "").join(" | "),
    );
    const broken = body.messages === undefined
      ? brokenResponsesRules(body, { isLenient: to.provider === "compatible" })
      : brokenMessagesRules(body, { isPaused: to.isPaused === true });
    assert.deepEqual(broken, []);
    const explained = await home.call(["explain", ID, "--json", ...flags], { env });
    assert.equal(explained.code, 0, said(explained));
    const { reasoning, dropped, repairs } = JSON.parse(explained.stdout);
    const why = [...reasoning, ...dropped].toSorted((a, b) => a.seq - b.seq).map(({ reason }) => reason);
    assert.equal(
      [...why, ...repairs.map(({ kind }: Json) => kind)].filter((reason) => reason !== null).join(", "),
      left,
    );
  });
}
