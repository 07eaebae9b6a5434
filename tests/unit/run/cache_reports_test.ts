import assert from "node:assert/strict";
import { apiOf } from "../../../src/apis/apis.ts";
import type { ModelTurn, Turn } from "../../../src/domain/turn.ts";
import { cacheReports } from "../../../src/run/cache_reports.ts";
import { type PrefixReport, prefixReport, rebuiltBody } from "../../../src/run/verify.ts";
import { call, History, message, reasoning } from "../../support/history.ts";
import { mixedCase } from "../fold/mixed_history.ts";
import { seriesHistory } from "./series_history.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const readBlob = () => new TextEncoder().encode("[]");

/** The turns without limits of output tokens, which are no part of a prompt, and with a field, as every request has. */
function withoutLimits(turns: readonly Turn[]): readonly Turn[] {
  return turns.map((turn) => {
    if (turn.kind !== "model") return turn;
    const { [apiOf(turn.fingerprint.provider).outputLimit]: _, ...fields } = turn.request.fields;
    return { ...turn, request: { ...turn.request, fields: { model: "m", ...fields } } };
  });
}

/** Each request compared with the one before, body by body. */
function comparedAlone(turns: readonly Turn[]): Map<number, PrefixReport> {
  const requests = turns.filter((turn): turn is ModelTurn => turn.kind === "model");
  const body = (turn: ModelTurn) => rebuiltBody(turn, { turns, readBlob }) ?? "";
  return new Map(
    requests.slice(1).map((
      turn,
      index,
    ) => [turn.turn, prefixReport(body(requests[index] as ModelTurn), body(turn))]),
  );
}

test.long("each request is compared with the one before as if both bodies were built for it", () => {
  const histories = [
    ...Array.from({ length: samples(400) }, (_, seed) => seriesHistory(seed)),
    ...Array.from({ length: samples(400) }, (_, seed) => mixedCase(seed).turns),
  ];
  let misses = 0;
  for (const [index, history] of histories.entries()) {
    const turns = withoutLimits(history);
    const reports = cacheReports({ turns, readBlob });
    assert.deepEqual(reports, comparedAlone(turns), `history ${index}`);
    misses += [...reports.values()].filter((report) => !report.extends).length;
  }
  assert.ok(misses > 10, `${misses} misses`);
});

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
