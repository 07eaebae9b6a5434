/** Refusals in words of access or models, which may be about the reasoning in a request. */
import assert from "node:assert/strict";
import { answer, message, reasoning, type Script } from "../../support/responses_server.ts";
import { httpError } from "../../support/responses_server/faults.ts";
import type { ScriptedResponse } from "../../support/responses_server/script.ts";
import { reasoningIds, reasoningOf } from "../../support/responses_server/refusing.ts";
import { type Ran, type RefusedSession, refusedSession } from "./refusing.ts";

const TWO = answer([reasoning("one"), reasoning("two"), message("Done.")]);

/** Number of reasoning items in each request of a run. */
function counts({ server }: RefusedSession, { requests }: Ran): number[] {
  return server.requests.slice(...requests).map((request) => reasoningOf(request).length);
}

/** Refuses what holds the first reasoning item that there ever was. */
function refusesFirstItem(refusal: (id: string) => ScriptedResponse): Script {
  let bad: string | undefined;
  return (request) => {
    bad ??= reasoningIds(request)[0];
    return bad !== undefined && reasoningIds(request).includes(bad) ? refusal(bad) : TWO;
  };
}

Deno.test("words of access beside a sent item or its reasoning do not end the session", async () => {
  const refusals: readonly ((id: string) => ScriptedResponse)[] = [
    (id) => httpError(400, { message: `You do not have permission to use reasoning item ${id}` }),
    () => httpError(400, { message: "encrypted content unauthorized for this account", param: "input" }),
    () => httpError(400, { message: "Reasoning of model a is not supported by model b", param: "input" }),
  ];
  for (const refusal of refusals) {
    await refusedSession({ script: refusesFirstItem(refusal), rules: "none" }, async (session) => {
      await session.run("One");
      const second = await session.run("Two");
      assert.deepEqual([second.ended.state, counts(session, second)], ["completed", [2, 0]]);
      assert.deepEqual(new Set(session.verdicts()), new Set(["same"]));
      assert.deepEqual(await session.findings(), []);
    });
  }
});

Deno.test("a refusal in words of access that may be about reasoning names the way around it", async () => {
  const rows: readonly (readonly [ScriptedResponse, boolean])[] = [
    [httpError(400, { message: "You have no permission for that" }), true],
    [httpError(400, { message: "No such model", code: "model_not_found" }), false],
    [httpError(400, { message: "Invalid value", param: "temperature" }), false],
  ];
  for (const [refusal, isNamed] of rows) {
    let run = 1;
    await refusedSession({ script: () => run === 1 ? TWO : refusal, rules: "none" }, async (session) => {
      await session.run("One");
      run = 2;
      const second = await session.run("Two");
      assert.deepEqual([second.ended.exit_code, counts(session, second)], [13, [2]]);
      const error = second.events.find(({ type }) => type === "error");
      assert.ok(error?.type === "error");
      assert.equal(/--replay none/.test(String(error.hint)), isNamed, String(error.message));
    });
  }
});
