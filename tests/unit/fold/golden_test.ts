import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { checkSeal } from "../../../src/domain/seal.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { rebuiltBody, verifySession } from "../../../src/run/verify.ts";
import { openEnvelope } from "../../../src/store/read/turn_file.ts";
import { checkResponsesRequest } from "../../support/rule_checks.ts";

const GOLDEN = new URL("../../../fixtures/golden/turn-1/", import.meta.url);

interface Golden {
  readonly turns: readonly Turn[];
  readonly readBlob: (sha256: string) => Uint8Array;
  readonly request: string;
}

function golden(name: string): Golden {
  const folder = new URL(`${name}/`, GOLDEN);
  const files = [...Deno.readDirSync(new URL("turns/", folder))].map((file) => file.name).sort();
  const turns = files.map((file) => {
    const bytes = Deno.readFileSync(new URL(`turns/${file}`, folder));
    assert.notEqual(checkSeal(bytes), null, `${file} does not fit its seal`);
    const opened = openEnvelope(bytes);
    assert.ok(opened.status === "ok" && !opened.newer, file);
    return opened.value as unknown as Turn;
  });
  const readBlob = (sha256: string) => {
    const bytes = Deno.readFileSync(new URL(`blobs/${sha256}`, folder));
    assert.equal(sha256Hex(bytes), sha256);
    return bytes;
  };
  return { turns, readBlob, request: Deno.readTextFileSync(new URL("request.json", folder)) };
}

/** The body of the next request, with the fields of the last one. */
function nextBody({ turns, readBlob }: Golden): string {
  const last = turns.findLast((turn) => turn.kind === "model");
  const opening = turns.findLast((turn) => turn.kind === "user");
  assert.ok(last?.kind === "model" && opening?.kind === "user");
  const body = rebuiltBody({ ...last, turn: turns.length + 1, run: opening.run }, { turns, readBlob });
  assert.ok(body !== null);
  return body;
}

for (const name of ["plain", "reasoning"]) {
  Deno.test(`the golden session "${name}" of turn format 1 folds to the bytes it always folded to`, () => {
    const session = golden(name);
    assert.equal(nextBody(session), session.request);
    const { refusals } = checkResponsesRequest(JSON.parse(session.request), { mode: "azure" });
    assert.deepEqual(refusals, []);
  });

  Deno.test(`each recorded request of the golden session "${name}" is made again with the same bytes`, () => {
    const { turns, readBlob } = golden(name);
    const verdicts = verifySession({ turns, readBlob }).map(({ verdict }) => verdict);
    assert.ok(verdicts.length >= 4);
    assert.deepEqual([...new Set(verdicts)], ["same"]);
  });
}

Deno.test("a log without reasoning folds the same whatever is said about replay", () => {
  const { turns, request } = golden("plain");
  const opening = turns[0];
  assert.ok(opening?.kind === "user");
  const { fingerprint, model } = opening.pins;
  const inputs = (["exact", "family", "none"] as const).map((replay) => {
    const { entries, dropped } = foldHistory(turns, {
      fingerprint,
      needs: foldNeedsOf(fingerprint.provider),
      model,
      replay,
      window: 0,
      run: 3,
    });
    assert.deepEqual(dropped, []);
    return responsesApi.bodyOf({ model }, entries);
  });
  for (const body of inputs) {
    assert.equal(body.slice(body.indexOf('"input"')), request.slice(request.indexOf('"input"')));
  }
});
