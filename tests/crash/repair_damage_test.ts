import assert from "node:assert/strict";
import { turnPath } from "../../src/store/layout.ts";
import { Dice } from "../unit/fold/dice.ts";
import { assertRepaired, killEverywhere, repair } from "../unit/store/repaired.ts";
import { type MadeSession, randomSession } from "../unit/store/random_session.ts";
import { scaled } from "../support/scale.ts";

/** In the gate, only one length in this number is tried. */
const STRIDE = scaled(13, 1);
const FLIPS = scaled(800, 10_000);

/** A closed session with every kind of turn in it, and few of them: each is read thousands of times. */
function sample(): MadeSession {
  for (let seed = 0;; seed++) {
    const session = randomSession(new Dice(seed), 2);
    const kinds = new Set(session.turns.map(({ kind }) => kind));
    if (kinds.size === 4 && session.turns.length <= 8 && session.manifest.state !== "open") return session;
  }
}

Deno.test(`after a truncation of any turn, and after ${FLIPS} bit flips, repair fixes that turn alone`, async () => {
  const session = sample();
  const dice = new Dice(20261122);
  const repaired = async (turn: number, bytes: Uint8Array, what: string) => {
    const made = { ...session, disk: session.disk.copy() };
    made.disk.write(turnPath(session.paths, turn), bytes);
    const damaged = made.disk.copy();
    const { actions } = repair(made);
    const others = actions.filter((action) => action.turn !== turn).map(({ path }) => path);
    assert.ok(others.every((path) => path === "manifest.json"), `${what}: ${others}`);
    assert.deepEqual(actions.filter((action) => action.turn === turn).map(({ reason }) => reason), [
      "bad_sum",
    ]);
    // The whole account is dear: it is taken of some, and every damage of these kinds is the same to a repair.
    if (dice.chance(0.03)) await assertRepaired(made, damaged);
  };
  for (const { turn } of session.turns) {
    const whole = session.disk.read(turnPath(session.paths, turn)) as Uint8Array;
    for (let length = 0; length < whole.length; length += STRIDE) {
      await repaired(turn, whole.subarray(0, length), `turn ${turn} cut to ${length} bytes`);
    }
  }
  for (let flip = 0; flip < FLIPS; flip++) {
    const turn = dice.count(1, session.turns.length);
    const bytes = (session.disk.read(turnPath(session.paths, turn)) as Uint8Array).slice();
    const bit = dice.count(0, bytes.length * 8 - 1);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    await repaired(turn, bytes, `bit ${bit} of turn ${turn}`);
  }
});

Deno.test("repairs killed before each of their changes are finished by the next one, over many damages", async () => {
  const kills = await killEverywhere(scaled(5, 25));
  assert.ok(kills > scaled(100, 500), `${kills} kills`);
});
