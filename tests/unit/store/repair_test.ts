import assert from "node:assert/strict";
import { turnPath } from "../../../src/store/layout.ts";
import { Dice } from "../fold/dice.ts";
import { assertRepaired, damageOf, killEverywhere, repair, same } from "./repaired.ts";
import { DAMAGES } from "./random_damage.ts";
import { type MadeSession, randomSession } from "./random_session.ts";
import { test } from "../../support/test.ts";

test.long("random sessions are sound, and repair does not change them", async () => {
  for (let seed = 0; seed < 100; seed++) {
    const session = randomSession(new Dice(seed), 4);
    const before = session.disk.listing();
    const wrong = await damageOf(session);
    assert.deepEqual(wrong, [], `seed ${seed}`);
    assert.deepEqual(repair(session).actions, [], `seed ${seed}`);
    assert.equal(session.disk.listing(), before);
  }
});

/** Damages copies of random sessions, repairs them, and checks all that is promised. */
async function repairAll(seeds: number, damage: (session: MadeSession, dice: Dice) => void): Promise<void> {
  for (let seed = 0; seed < seeds; seed++) {
    const session = randomSession(new Dice(seed), 3);
    const sound = session.disk.copy();
    damage(session, new Dice(seed + 1000));
    const damaged = session.disk.copy();
    // With every turn and the manifest gone, it looks like a creation that was cut short.
    const { turns: turnsAt, manifest } = session.paths;
    if (!damaged.paths().some((path) => path.startsWith(turnsAt) || path === manifest)) continue;
    try {
      const touched = sound.listing() !== damaged.listing();
      const found = await damageOf(session);
      assert.equal(found.length > 0, touched, "fsck overlooks it");
      repair(session);
      const turns = await assertRepaired(session, damaged);
      const manifestLeft = same(sound.read(session.paths.manifest), damaged.read(session.paths.manifest));
      assert.ok(!manifestLeft || turns.length >= session.turns.length, "a later append would fill a hole");
      for (const { turn } of session.turns) {
        const path = turnPath(session.paths, turn);
        if (!same(sound.read(path), damaged.read(path))) continue;
        assert.ok(same(sound.read(path), session.disk.read(path)), `turn ${turn} is another now`);
      }
    } catch (error) {
      throw new Error(`Seed ${seed}: ${error instanceof Error ? error.message : error}`, { cause: error });
    }
  }
}

for (const [name, damage] of Object.entries(DAMAGES)) {
  test.long(`repair fixes one damage: ${name}; every other turn is unchanged`, () => repairAll(30, damage));
}

test.long("repair fixes several damages at once; every other turn is unchanged", () =>
  repairAll(250, (session, dice) => {
    let forged = false;
    for (let count = dice.count(2, 5); count > 0; count--) {
      const name = dice.pick(Object.keys(DAMAGES));
      // One forged file does not fit the others; two forged files that fit together cannot be found.
      if (forged && name.includes("sealed again")) continue;
      forged ||= name.includes("sealed again");
      DAMAGES[name]?.(session, dice);
    }
  }));

test.long("a repair that is killed before any one of its changes is finished by the next one", async () => {
  const kills = await killEverywhere(3);
  assert.ok(kills > 50, `${kills} kills`);
});
