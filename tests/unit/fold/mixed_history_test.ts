import assert from "node:assert/strict";
import { PROVIDER_KINDS } from "../../../src/domain/fingerprint.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { apiOf } from "../../../src/apis/apis.ts";
import { requireAcceptedAnywhere } from "./accepted.ts";
import { markOf, type MixedCase, mixedCase } from "./mixed_history.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";

const SESSIONS = samples(10_000);
const MARK = /OPAQUE\.[\w.-]*?\.[\w.-]*?\.[\w-]+?\./g;

test.long(`in ${SESSIONS} random sessions that change providers, no opaque byte goes where it was not made, and every request passes its API's rules`, () => {
  const met = new Map<string, number>();
  const count = (name: string) => met.set(name, (met.get(name) ?? 0) + 1);
  for (let seed = 0; seed < SESSIONS; seed++) {
    const made = mixedCase(seed);
    try {
      const body = requestOf(made);
      requireOwn(body, made, count);
      requireAcceptedAnywhere(body, made);
      assert.equal(requestOf({ ...made, turns: fromDisk(made.turns) }), body, "memory and disk fold alike");
      count(made.target.fingerprint.provider);
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
  // Sessions in which some of this never happens would prove little.
  for (const kind of PROVIDER_KINDS) {
    assert.ok((met.get(kind) ?? 0) > SESSIONS / 10, kind);
    assert.ok((met.get(`own ${kind}`) ?? 0) > SESSIONS / 50, `own ${kind}: ${met.get(`own ${kind}`)}`);
    assert.ok((met.get(`foreign kept from ${kind}`) ?? 0) > SESSIONS / 10, `foreign ${kind}`);
  }
});

function requestOf({ turns, target }: MixedCase): string {
  const { entries } = foldHistory(turns, target);
  return apiOf(target.fingerprint.provider).buildRequest({
    model: target.model,
    instructions: "Be careful.",
    tools: [],
    entries,
    cacheKey: "s",
  }).body;
}

/** Every opaque payload in the request is one of the target's own. */
function requireOwn(body: string, { turns, target }: MixedCase, count: (name: string) => void): void {
  const { provider, endpoint, account } = target.fingerprint;
  for (const [mark] of body.matchAll(MARK)) {
    const [, kind, madeAt, madeFor] = mark.split(".");
    const accounts = [madeFor, account ?? "none"];
    assert.equal(kind, provider);
    assert.equal(madeAt, endpoint);
    assert.ok(accounts[0] === accounts[1] || accounts.includes("none"), mark);
  }
  if (body.includes(markOf(target))) count(`own ${provider}`);
  const issued = JSON.stringify(turns);
  for (const kind of PROVIDER_KINDS) {
    if (kind !== provider && issued.includes(`OPAQUE.${kind}.`)) count(`foreign kept from ${kind}`);
  }
}

function fromDisk(turns: readonly Turn[]): Turn[] {
  return turns.map((turn) => JSON.parse(JSON.stringify(turn)));
}
