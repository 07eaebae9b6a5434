/** Verifying a long session folds each stretch of it once, and says of every request what folding it alone says. */
import assert from "node:assert/strict";
import { encodeUtf8 } from "../../../src/domain/bytes.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import type { ModelTurn, Turn, UserTurn } from "../../../src/domain/turn.ts";
import { FOLD_VERSION } from "../../../src/fold/fold.ts";
import { apiOf } from "../../../src/apis/apis.ts";
import { rebuiltBody, seriesOf, verifySession } from "../../../src/run/verify.ts";
import { mixedCase } from "../fold/mixed_history.ts";
import { randomCase } from "../fold/random_history.ts";
import { call, History, message, reasoning } from "../../support/history.ts";
import { seriesHistory } from "./series_history.ts";
import { test } from "../../support/test.ts";
import { samples } from "../../support/scale.ts";

const readBlob = () => encodeUtf8("[]");

function requestsOf(turns: readonly Turn[]): ModelTurn[] {
  return turns.filter((turn) => turn.kind === "model");
}

/** The sum of each request's body, folded alone. */
function sumsAlone(turns: readonly Turn[]): string[] {
  return requestsOf(turns).map((turn) => sha256Hex(rebuiltBody(turn, { turns, readBlob }) ?? ""));
}

/** The same turns, with these sums as those of the requests that were sent. */
function recorded(turns: readonly Turn[], sums: readonly string[]): Turn[] {
  let next = 0;
  return turns.map((turn) =>
    turn.kind === "model"
      ? { ...turn, request: { ...turn.request, body_sha256: sums[next++] as string } }
      : turn
  );
}

/** The same turns, all of whose requests were made by the rules of this version. */
function foldedBy(version: number, turns: readonly Turn[]): Turn[] {
  return turns.map((turn) =>
    turn.kind === "model" ? { ...turn, request: { ...turn.request, fold: version } } : turn
  );
}

/** Runs of two requests each, one with a call and one with an answer. */
function ordinary(runs: number): History {
  const history = new History();
  for (let run = 1; run <= runs; run++) {
    history.run = run;
    history.user(`Question ${run}`)
      .model([reasoning(`rs_${run}a`), call(`call_${run}`)]).results()
      .model([reasoning(`rs_${run}b`), message(`msg_${run}`, "Done.")]).ended();
  }
  return history;
}

/** Number of times that a turn's events are looked at while a session is verified. */
function visitsOf(turns: readonly Turn[]): number {
  let visits = 0;
  const watched = turns.map((turn) => {
    const { events, ...rest } = turn;
    return Object.defineProperty(rest, "events", {
      enumerable: true,
      get() {
        visits++;
        return events;
      },
    }) as Turn;
  });
  verifySession({ turns: watched, readBlob });
  return visits;
}

test.long("the work of verifying a session grows with its length, sound or edited at its start", () => {
  for (const isSound of [true, false]) {
    const visits = [50, 100, 200].map((runs) => {
      const { turns } = ordinary(runs);
      return visitsOf(isSound ? recorded(turns, sumsAlone(turns)) : turns);
    }) as [number, number, number];
    const [first, second, third] = visits;
    assert.ok(second <= 2.1 * first && third <= 2.1 * second, visits.join(", "));
  }
});

test.long("so it does where checkpoints part the session, and where the account becomes known in each run", () => {
  const visits = [50, 100, 200].map((runs) => {
    const history = new History();
    for (let run = 1; run <= runs; run++) {
      history.run = run;
      const facts = { fingerprint: { account: "org-1" } };
      history.user(`Question ${run}`)
        .model([reasoning(`rs_${run}a`), call(`call_${run}`)], facts).results()
        .model([reasoning(`rs_${run}b`), message(`msg_${run}`, "Done.")], facts).ended();
      if (run % 10 === 0) checkpoint(history);
    }
    const known = history.turns.map((turn) =>
      turn.kind === "model" ? { ...turn, request: { ...turn.request, replay: replayOf(turn) } } as Turn : turn
    );
    assert.ok(seriesOf(known).length <= runs / 10 + 1);
    return visitsOf(recorded(known, sumsAlone(known)));
  }) as [number, number, number];
  assert.ok(visits[1] <= 2.1 * visits[0] && visits[2] <= 2.1 * visits[1], visits.join(", "));
});

/** The first request of a run does not know the account, the second one does. */
function replayOf(turn: Turn): object {
  const isFirst = turn.events.some(({ type }) => type === "tool_call");
  return { mode: "exact", account: isFirst ? null : "org-1", window: null };
}

function checkpoint(history: History): void {
  history.add({
    kind: "compaction",
    run: history.run,
    pins: (history.turns[0] as UserTurn).pins,
    events: [{
      type: "history_compaction",
      to_seq: history.seq,
      to_turn: history.turns.length,
      previous_checkpoint: null,
      opening_turn: null,
      strategy: "deterministic",
      summary: `Up to ${history.seq}`,
      limitations: [],
    }],
  });
}

Deno.test("a session of many requests is one series, and its sums are those of each request alone", () => {
  const { turns } = ordinary(30);
  assert.deepEqual(seriesOf(turns).map(({ requests }) => requests.length), [60]);
  const sums = sumsAlone(turns);
  const verdicts = verifySession({ turns: recorded(turns, sums), readBlob });
  assert.deepEqual(new Set(verdicts.map(({ verdict }) => verdict)), new Set(["same"]));
  const edited = recorded(turns, sums.map((sum, index) => index === 40 ? "0".repeat(64) : sum));
  assert.deepEqual(
    verifySession({ turns: edited, readBlob }).filter(({ verdict }) => verdict !== "same").map(({ turn }) =>
      turn
    ),
    [requestsOf(turns)[40]?.turn],
  );
});

const CASES = samples(4_000);

test.long(`of ${CASES} random sessions every request has the sum that folding it alone gives`, () => {
  let together = 0;
  let requests = 0;
  for (let seed = 0; seed < CASES; seed++) {
    for (
      const turns of [
        seriesHistory(seed),
        seriesHistory(seed + CASES),
        randomCase(seed).turns,
        mixedCase(seed).turns,
      ]
    ) {
      const sums = sumsAlone(turns);
      const found = [FOLD_VERSION, 1].map((version) =>
        verifySession({ turns: foldedBy(version, turns), readBlob }).map(({ refolded }) => refolded)
      );
      assert.deepEqual(found[0], sums, `seed ${seed}`);
      const older = (found[1] ?? []).map((sum, index) => sum ?? sums[index]);
      assert.deepEqual(older, sums, `seed ${seed}, by the oldest rules`);
      const series = seriesOf(turns);
      requests += sums.length;
      together += sums.length - series.length;
    }
  }
  assert.ok(together > requests / 10, `${together} of ${requests} requests extend the one before`);
});

Deno.test("a body is the same in pieces, up to any entry, in both APIs", () => {
  const { turns } = ordinary(3);
  const entries = turns.flatMap(({ events }) => events).flatMap((event) =>
    event.type === "user_message" ? [{ kind: event.type, content: event.content }] : []
  );
  for (const provider of ["openai", "anthropic"] as const) {
    const api = apiOf(provider);
    const fields = { model: "m", instructions: "Be brief." };
    const body = api.bodyPieces(entries) ?? assert.fail();
    for (let count = 0; count <= entries.length; count++) {
      const whole = body.opening(fields) + body.pieces.slice(0, count).join("") +
        (body.closings[count - 1] ?? "]}");
      assert.equal(whole, api.bodyOf(fields, entries.slice(0, count)));
    }
  }
});
