/** Every cut and every changed byte of a turn is found, refused and repaired, in that turn alone. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import { ID, withHome } from "./home.ts";
import { ended, FIVE_TURNS, user, write } from "./session_files.ts";

/** Changes of a turn's bytes. */
const CHANGES: Record<string, (bytes: Uint8Array<ArrayBuffer>, dice: Dice) => Uint8Array<ArrayBuffer>> = {
  "cut": (bytes, dice) => bytes.subarray(0, dice.count(0, bytes.length - 1)),
  "cut within its seal": (bytes, dice) => bytes.subarray(0, bytes.length - dice.count(1, 76)),
  "flipped in one bit": (bytes, dice) => {
    const bit = dice.count(0, bytes.length * 8 - 1);
    bytes[bit >> 3] = (bytes[bit >> 3] as number) ^ (1 << (bit & 7));
    return bytes;
  },
  "flipped in a bit of its seal": (bytes, dice) => {
    const at = bytes.length - dice.count(1, 75);
    bytes[at] = (bytes[at] as number) ^ (1 << dice.count(0, 6));
    return bytes;
  },
  "zeroed in a part": (bytes, dice) => {
    const at = dice.count(0, bytes.length - 1);
    return bytes.fill(0, at, at + 16);
  },
  "longer at its end": (bytes, dice) => Uint8Array.of(...bytes, dice.count(0, 255)),
  "longer at its beginning": (bytes, dice) => Uint8Array.of(dice.count(0, 255), ...bytes),
};
const MANY = samples(300);

for (const [what, change] of Object.entries(CHANGES)) {
  withHome(`a turn that is ${what} is found and refused, ${MANY} times, and repaired alone`, async (home) => {
    const dice = new Dice(20261122);
    const turns = Array.from({ length: MANY }, (_, index) => {
      const session = home.session(FIVE_TURNS, `s-${index}`);
      const turn = dice.count(1, 5);
      const whole = Deno.readFileSync(session.turn(turn));
      const bytes = change(whole.slice(), dice);
      Deno.writeFileSync(session.turn(turn), bytes);
      return { session, turn, bytes, isSame: String(bytes) === String(whole) };
    }).filter(({ isSame }) => !isSame);
    const one = turns[0]?.session.id as string;
    assert.equal(await home.refuses(one), true);

    const { sessions } = await home.json(["fsck", "--all"], 12);
    const found = new Map(sessions.map(({ id, findings }: Json) => [id, findings]));
    const { sessions: repaired } = await home.json(["repair", "--all"]);
    const actions = new Map(repaired.map(({ session, actions }: Json) => [session, actions]));
    for (const { session, turn, bytes } of turns) {
      const path = `turns/00000${turn}.json`;
      const where = `${session.id}, ${path} of ${bytes.length} bytes`;
      const errors = (found.get(session.id) as Json).filter(({ severity }: Json) => severity === "error");
      assert.deepEqual(errors.map(({ code, path }: Json) => [code, path]), [["bad_sum", path]], where);
      const others = (actions.get(session.id) as Json)
        .filter((action: Json) => ![path, "manifest.json"].includes(action.path));
      assert.deepEqual(others, [], where);
      const kept = Deno.readFileSync(`${session.path}/quarantine/00000${turn}.json.repair-1`);
      assert.deepEqual(kept, bytes, where);
    }
    assert.equal((await home.call(["fsck", "--all"])).code, 0);
  }, test.long);
}

withHome("show names empty and missing turns, and prints the others", async (home) => {
  const session = home.session([1, 2, 3].flatMap((run) => [user("Hi", run), ended(run)]));
  write(session.turn(6), "");
  for (const turn of [1, 3, 4]) Deno.removeSync(session.turn(turn));
  const { turns } = await home.json(["show", ID], 12);
  assert.deepEqual(turns.map(({ turn }: Json) => turn), [2, 5]);
  const { stderr } = await home.call(["show", ID]);
  assert.match(
    stderr,
    /000002\.json turn 1 is missing before it[^]*000005\.json turns 3 to 4 are missing before/,
  );
  assert.match(stderr, /turns\/000006\.json is empty/);
});
