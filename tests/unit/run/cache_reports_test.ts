import assert from "node:assert/strict";
import type { ModelTurn } from "../../../src/domain/turn.ts";
import { cacheReports } from "../../../src/run/cache_reports.ts";
import { rebuiltBody } from "../../../src/run/verify.ts";
import { call, History, message, reasoning } from "../../support/history.ts";

const readBlob = () => new TextEncoder().encode("[]");

Deno.test("a limit of output tokens that changes is no reason for a cache miss", () => {
  const history = new History();
  history.user("One").model([reasoning("rs_1"), call("c1")]).results().model([message("m1", "Done.")]);
  for (const [index, turn] of history.turns.filter(({ kind }) => kind === "model").entries()) {
    Object.assign(turn, {
      request: {
        ...(turn as ModelTurn).request,
        fields: { max_output_tokens: 900 + index, model: "gpt-5.6" },
      },
    });
  }
  assert.deepEqual(cacheReports({ turns: history.turns, readBlob }), new Map([[4, { extends: true }]]));
});

Deno.test("if an item of the middle is left out, the report names the first byte and item that differ", () => {
  const history = new History();
  history.user("One").model([reasoning("rs_1"), call("c1")]).results().model([reasoning("rs_2"), call("c2")])
    .results();
  history.model([message("m1", "Done.")]);
  const last = history.turns.at(-1) as ModelTurn;
  Object.assign(last, {
    request: { ...last.request, replay: { mode: "none", window: null, account: null } },
  });
  const report = cacheReports({ turns: history.turns, readBlob }).get(6);
  assert.ok(report !== undefined && !report.extends);
  assert.equal(report.item, 1);
  const [before, after] = [history.turns[3] as ModelTurn, last].map((turn) =>
    rebuiltBody(turn, { turns: history.turns, readBlob }) ?? ""
  );
  assert.equal(before?.slice(0, report.byte), after?.slice(0, report.byte));
  assert.notEqual(before?.[report.byte], after?.[report.byte]);
});
