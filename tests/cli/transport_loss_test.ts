/** A run over a WebSocket that is lost or killed at any message: nothing that was reported as saved is lost. */
import { test } from "../support/test.ts";
import { deepStrictEqual, ok, strictEqual } from "node:assert/strict";
import { type Called, ending, events } from "../support/reprise.ts";
import type { Break } from "../support/responses_socket.ts";
import { loop, requireWhole, SESSION, TransportPlace } from "../support/transport_place.ts";
import { scaled } from "../support/scale.ts";

/** Requires that all turns that `called` reported as saved are there, unchanged. */
function requireSaved(place: TransportPlace, { stdout }: Pick<Called, "stdout">): void {
  const lines = stdout.split("\n").filter((line) => line.includes('"type":"turn.saved"'));
  const turns = place.sandbox.turns(SESSION);
  for (const line of lines) {
    // The last line of a killed process may be incomplete.
    if (!line.endsWith("}")) continue;
    const { turn, sum } = JSON.parse(line);
    strictEqual(turns[turn - 1]?.sum, sum, `turn ${turn}`);
  }
}

/** Continues the run, which must complete with requests that break no rule. */
async function requireContinued(place: TransportPlace): Promise<void> {
  const called = await place.run(["-c", "--transport", "ws"]);
  strictEqual(called.code, 0, called.stdout + called.stderr);
  strictEqual(ending(called).text, "Three files.");
  deepStrictEqual(place.server.refusals, []);
  await requireWhole(place);
}

/** Messages, and lines of output, from one loss to the next: a few losses in each part of an answer, or all. */
const STRIDE = scaled(5, 1);
const WAYS: readonly Break["how"][] = ["cut", "frame", { code: 1011, reason: "Internal error" }];

for (const step of [1, 2, 3]) {
  test.long(`a connection lost at any message of answer ${step} loses no turn, and the run continues`, async () => {
    let completed = 0;
    for (let [afterMessages, losses] = [0, 0]; completed < 2; afterMessages += STRIDE, losses++) {
      const how = WAYS[losses % WAYS.length] ?? "cut";
      const label = `after message ${afterMessages}: ${JSON.stringify(how)}`;
      let answers = 0;
      await using place = await TransportPlace.open({
        script: loop,
        breakAt: () => ++answers === step ? { afterMessages, how } : undefined,
      });
      const called = await place.first("--transport", "ws");
      ok(answers >= step, label);
      requireSaved(place, called);
      if (called.code === 0) {
        // A loss before the first message is tried again; one after the last message was not missed.
        completed++;
        await requireWhole(place);
        continue;
      }
      strictEqual(completed, 1, label);
      strictEqual(called.code, 10, label);
      const error = events(called).find((event) => event.type === "error");
      strictEqual(error?.type === "error" && error.code, "stream_cut", label);
      await requireContinued(place);
    }
  });
}
