/** Runs against scripted APIs: loops, refusals, and the requests that follow. */
import assert from "node:assert/strict";
import { type ResponsesServer, startResponsesServer } from "../../support/scripted_api/responses.ts";
import {
  answer,
  message as said,
  reasoning,
  reasoningIds,
  refuse,
} from "../../support/scripted_api/responses_script.ts";
import { test } from "../../support/test.ts";
import { CHECKPOINTS } from "./checkpoint_loops.ts";
import { CLAUDE_RUNS } from "./claude_runs.ts";
import { LOOPS } from "./loops.ts";
import { REFUSALS } from "./refusals.ts";
import { CALL_REFUSALS } from "./refused_calls.ts";
import { MEMBER_REFUSALS } from "./refused_members.ts";
import { KEY_REFUSALS } from "./refusals_by_key.ts";
import { runMessagesRow, runRow, Runs } from "./runs.ts";

const ROWS = { ...LOOPS, ...CHECKPOINTS, ...REFUSALS, ...KEY_REFUSALS, ...MEMBER_REFUSALS, ...CALL_REFUSALS };
for (const [name, row] of Object.entries(ROWS)) runRow(name, row);
for (const [name, { script, model = "claude-opus-5-5", ...row }] of Object.entries(CLAUDE_RUNS)) {
  runMessagesRow(name, { ...row, model, server: () => ({ script: script() }) });
}

/** Texts of a refusal, and the notices on disk when the request is sent again: a guess waits for its success. */
const NOTICED = [
  ["known words", "The encrypted content for item ID could not be verified.", 1],
  ["a guess", "reasoning item ID expired", 0],
] as const;

for (const [name, message, noticed] of NOTICED) {
  test.long(`the notice of a refusal by ${name} is on disk ${noticed ? "before" : "after"} the retry`, async () => {
    const seen: number[] = [];
    const server: ResponsesServer = startResponsesServer({
      rules: "none",
      script: (request) => {
        const [id] = reasoningIds(request);
        if (request.number === 3) seen.push(runs.written("replay_notice").length);
        return id === undefined
          ? answer([reasoning("one"), said("Done.")])
          : refuse({ message: message.replace("ID", id) }, "http");
      },
    });
    await using runs = new Runs(server, ["-m", "gpt-5.6"]);
    await runs.run();
    const { events } = await runs.run();
    assert.deepEqual([seen, runs.written("replay_notice").length], [[noticed], 1]);
    const told = events.filter(({ kind }) => kind === "replay_stripped");
    assert.equal(told.length, 1);
    assert.match(told[0].hint, /"reprise explain /);
    const kinds = runs.turns("fix-ci-7k2m").filter(({ run }) => run === 2).map(({ kind }) => kind);
    assert.deepEqual(kinds, ["user", "harness", "model", "harness"], "before the response that it explains");
  });
}
