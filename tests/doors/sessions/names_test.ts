/** Ids of new sessions: words of their prompts that tell them apart. */
import assert from "node:assert/strict";
import { ending, said } from "../../support/reprise.ts";
import { startResponsesServer } from "../../support/scripted_api/responses.ts";
import { answer, message } from "../../support/scripted_api/responses_script.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";

/** Prompts, each with the name that its session gets after the ones before. */
const NAMES: readonly (readonly [prompt: string, name: RegExp])[] = [
  ["Fix the failing test in the parser", /^fix-the-failing$/],
  ["Fix the failing build", /^fix-the-failing-build$/],
  ["Fix the failing test in the lexer", /^fix-the-failing-test$/],
  ["Fix the failing build", /^fix-the-failing-build-2$/],
  ["Fix the failing build", /^fix-the-failing-build-3$/],
  ["Look at it", /^look-at-it-2$/],
  ["آزمون را درست کن", /^session$/],
  ["修复", /^session-2$/],
  [" \u0000/../ 🎉", /^session-3$/],
  ["pneumonoultramicroscopicsilicovolcanoconiosis ".repeat(9), /^pneumono[a-z-]{0,16}$/],
];

withHome(
  "sessions whose prompts begin alike, or hold no letters of an id, get different names",
  async (home) => {
    home.session(undefined, "look-at-it-x4qa-2");
    await using server = startResponsesServer({ script: () => answer([message("Done.")]) });
    const env = { OPENAI_API_KEY: "sk-1", OPENAI_BASE_URL: server.baseUrl };
    for (const [prompt, name] of NAMES) {
      const called = await home.call(["run", "--json", "-m", "gpt-5.6", prompt], { env });
      assert.equal(called.code, 0, said(called));
      const { session } = ending(called);
      assert.match(session.replace(/-[a-z0-9]{4}$/, ""), name, prompt);
      assert.match(session, /^[a-z0-9][a-z0-9-]{0,63}$/);
    }
  },
  test.long,
);
