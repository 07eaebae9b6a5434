/** `fork`: what a fork shares with its parent, what it names, and what it sends. */
import assert from "node:assert/strict";
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { Dice } from "../../support/dice.ts";
import { ID, SessionHome, withHome } from "./home.ts";
import { KINDS } from "./kinds.ts";
import { randomTurns } from "./random_turns.ts";
import {
  call,
  checkpoint,
  ended,
  FIVE_TURNS,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  user,
  withdrawal,
} from "./session_files.ts";

/** Forks a session; returns the report. */
async function fork(home: SessionHome, parent = ID, toSeq?: number): Promise<Json> {
  return await home.json(["fork", parent, ...toSeq === undefined ? [] : ["--to-seq", String(toSeq)]]);
}

const pathOf = (home: SessionHome, id: string, inside = "") => `${home.home}/sessions/${id}${inside}`;
withHome("a fork shares the files of its prefix by link, and continues by itself", async (home) => {
  const parent = home.session();
  const before = bytesBelow(parent.path, "lock");
  const { session, turn } = await fork(home);
  for (const name of before.keys()) {
    if (name === "manifest.json") continue;
    const [mine, theirs] = [ID, session].map((id) => Deno.lstatSync(pathOf(home, id, `/${name}`)));
    assert.equal(mine?.ino, theirs?.ino, name);
  }
  assert.equal(turn, 6);
  await home.json(["rename", session, "Another way"]);
  assert.deepEqual(await home.findings(session), []);
  assert.deepEqual(bytesBelow(parent.path, "lock"), before, "the parent is unchanged");
  const { family, parent: named } = JSON.parse(
    Deno.readTextFileSync(pathOf(home, session, "/manifest.json")),
  );
  assert.deepEqual([family, named], [ID, ID]);
  assert.equal((await home.nextBody(session)).prompt_cache_key, (await home.nextBody()).prompt_cache_key);
});

withHome("a fork names parent, place, sum and the whole lineage, also a fork of a fork", async (home) => {
  home.session();
  const child = (await fork(home)).session;
  const grandchild = (await fork(home, child)).session;
  const turns = home.turns(grandchild);
  assert.deepEqual(turns.map(({ session }) => session), [ID, ID, ID, ID, ID, child, grandchild]);
  assert.deepEqual(turns[6].events[0], {
    ...{ seq: 12, type: "session_fork", parent: child, to_seq: 11, to_turn: 6, sum: turns[5].sum },
    lineage: [ID, child],
  });
  assert.deepEqual(await home.findings(grandchild), []);
});

/** Places to fork at, the number of items that are sent then, and the state of the last run. */
const CUTS: Record<string, { toSeq: number; sent: number; state: string }> = {
  "after the prompt": { toSeq: 1, sent: 1, state: "interrupted" },
  "after the results": { toSeq: 7, sent: 6, state: "interrupted" },
  "at the end": { toSeq: 10, sent: 7, state: "completed" },
};

for (const [name, { toSeq, sent, state }] of Object.entries(CUTS)) {
  withHome(`a fork ${name} sends what its parent would send up to there`, async (home) => {
    home.session();
    const whole = (await home.nextBody()).input;
    const { session } = await fork(home, ID, toSeq);
    assert.deepEqual((await home.nextBody(session)).input.slice(0, -1), whole.slice(0, sent));
    assert.equal((await home.listed(session)).state, state);
    assert.deepEqual(await home.findings(session), []);
  });
}

/** Places where no fork can begin: the nearest that can, and the reason. */
const REFUSED: readonly (readonly [toSeq: number, nearest: number, says: RegExp])[] = [
  // Inside the model turn (2 to 5), then its end, which parts two calls from their results.
  [2, 1, /inside turn 2, whose last seq is 5/],
  [5, 7, /part the call with seq 3 from its result/],
  [6, 7, /inside turn 3/],
  [99, 10, /the newest event is 10/],
];

for (const [toSeq, nearest, says] of REFUSED) {
  withHome(`a fork at seq ${toSeq} is refused, and ${nearest} is named`, async (home) => {
    home.session();
    const { code, message, hint } = await home.json(["fork", ID, "--to-seq", String(toSeq)], 2);
    assert.equal(code, "usage");
    assert.match(message, says);
    assert.equal(hint, `Fork at the nearest place: reprise fork ${ID} --to-seq ${nearest}`);
    assert.deepEqual(home.names(), [ID]);
  });
}

/** Sessions without a named place, and the last turn that a fork keeps. */
const NEWEST: Record<string, { turns: readonly GivenTurn[]; kept: number }> = {
  "a call that no response completed holds nothing": {
    turns: [user("Hi"), model([call("call_c")], 1, { response: { id: "resp_1", status: "incomplete" } })],
    kept: 2,
  },
  "a batch with one of two results is left out": { turns: KINDS.killed ?? [], kept: 6 },
};

for (const [name, { turns, kept }] of Object.entries(NEWEST)) {
  withHome(`where no place is named, ${name}`, async (home) => {
    home.session(turns);
    const { session, to_turn } = await fork(home);
    assert.equal(to_turn, kept);
    assert.deepEqual(await home.findings(session), []);
  });
}

withHome(
  "a fork repeats what was refused of its items; what one run left out is sent again",
  async (home) => {
    home.session([
      user("Hi"),
      model([reasoning("rs_1"), message("msg_1", "Hi.")]),
      {
        kind: "harness",
        events: [{
          type: "replay_notice",
          reason: "reasoning_refused",
          items: [
            { seq: 2, action: "quarantined" },
            { seq: 3, action: "left_out" },
            { seq: 7, action: "quarantined" },
          ],
        }],
      },
      model([reasoning("rs_2"), message("msg_2", "Again.")]),
      ended(),
    ]);
    const { session, notices } = await fork(home, ID, 4);
    assert.equal(notices, 1);
    const notice = home.turns(session).at(-1).events.find(({ type }: Json) => type === "replay_notice");
    assert.deepEqual(notice.items, [{ seq: 2, action: "quarantined" }]);
    const { input } = await home.nextBody(session);
    assert.deepEqual(input.map(({ role, type }: Json) => role ?? type), ["user", "assistant", "user"]);
  },
);

const omits = (...seqs: readonly number[]): GivenTurn => ({
  kind: "harness",
  run: 2,
  events: [{ type: "items_omitted", seqs, reason: "user_request" }],
});
/** Two runs: a prompt (1), an answer (2), usage and end (4), and the same again (5 to 8). */
const TWO_RUNS: readonly GivenTurn[] = [1, 2].flatMap((run) => [
  user("Hi", run),
  model([message(`msg_${run}`, "Hi.")], run),
  ended(run),
]);
/** Turns of the parent after its runs, the place of the fork, and the items that the fork omits. */
const OMITTED: Record<string, readonly [more: readonly GivenTurn[], toSeq: number, seqs: readonly Json[]]> = {
  "of its own items, without later ones": [[omits(2, 6)], 4, [[2]]],
  "of an item just before the cut": [[omits(5)], 5, [[5]]],
  "of later items alone: none": [[omits(6)], 5, []],
  "of one part": [
    [{
      kind: "harness",
      run: 2,
      events: [{ type: "items_omitted", seqs: [1], part: 1, reason: "user_request" }],
    }],
    4,
    [[1]],
  ],
  "that are in force: none that was withdrawn": [
    [omits(1), omits(2), { kind: "harness", run: 2, events: [{ type: "omission_withdrawn", omission: 9 }] }],
    4,
    [[2]],
  ],
  "without those that its checkpoint replaces": [
    [checkpoint({ turn: 3, seq: 4 }, null), withdrawal(9, null), omits(2, 6)],
    9,
    [[6]],
  ],
};

for (const [name, [more, toSeq, seqs]] of Object.entries(OMITTED)) {
  withHome(`a fork repeats the omissions ${name}`, async (home) => {
    home.session([...TWO_RUNS, ...more]);
    const { session } = await fork(home, ID, toSeq);
    const events: Json[] = home.turns(session).flatMap(({ turn, events }) =>
      turn > (toSeq === 9 ? 7 : 3) ? events : []
    );
    assert.deepEqual(events.filter(({ type }) => type === "items_omitted").map((event) => event.seqs), seqs);
    assert.deepEqual(await home.damage(session), []);
  });
}

/** Turns of strangers, and the finding. */
const FOREIGN: Record<string, (home: SessionHome, fork: string) => string> = {
  "of a session outside its lineage": (home, fork) => {
    const stranger = home.session(FIVE_TURNS, "stranger");
    // Another file under that name: the parent's does not change.
    Deno.removeSync(pathOf(home, fork, "/turns/000001.json"));
    Deno.copyFileSync(stranger.turn(1), pathOf(home, fork, "/turns/000001.json"));
    return "turns/000001.json";
  },
  "of its parent, after its fork turn": (home, fork) => {
    home.session([...FIVE_TURNS, user("Go on", 2)]);
    Deno.copyFileSync(pathOf(home, ID, "/turns/000006.json"), pathOf(home, fork, "/turns/000007.json"));
    return "turns/000007.json";
  },
};

for (const [name, plant] of Object.entries(FOREIGN)) {
  withHome(`a fork with a turn ${name} is damaged`, async (home) => {
    home.session();
    const { session } = await fork(home);
    const path = plant(home, session);
    assert.ok((await home.findings(session)).includes(`error foreign_turn ${path}`));
    assert.equal(await home.refuses(session), true);
  });
}

withHome("where its fork turn is lost, the turns that a fork shares are not foreign", async (home) => {
  home.session();
  const { session } = await fork(home);
  await home.json(["rename", session, "Another"]);
  Deno.removeSync(pathOf(home, session, "/turns/000006.json"));
  const errors = (await home.findings(session)).filter((line) => line.startsWith("error"));
  assert.deepEqual(errors, ["error missing_turn turns/000006.json"]);
  await home.json(["repair", session]);
  assert.deepEqual(await home.damage(session), []);
});

withHome("a fork from before a fallback result, which came after the run, records its own", async (home) => {
  const { events, ...turn } = results({ call_a: 2 }, 2);
  const orphaned = events.map((event) => ({ ...event, status: "orphaned" }));
  home.session([
    user("Look"),
    model([call("call_a")]),
    ended(1, "interrupted", 130),
    user("Go on", 2),
    { ...turn, kind: "harness", events: orphaned },
    ended(2),
  ]);
  assert.deepEqual(await home.damage(), []);
  const { session, to_turn } = await fork(home, ID, 4);
  assert.equal(to_turn, 3);
  assert.deepEqual(await home.damage(session), []);
});

withHome("a fork records the blobs of its turns that its parent found lost later", async (home) => {
  const content = "notes";
  const blob = { sha256: sha256(content), bytes: content.length };
  const notes = { type: "attachment", name: "notes.txt", media_type: "text/plain", blob };
  const prompt = user("Look");
  home.session([
    { ...prompt, events: [notes, ...prompt.events] },
    model([message("msg_1", "Hi.")]),
    ended(),
    { kind: "harness", events: [{ type: "blob_lost", sha256: blob.sha256 }] },
  ]);
  const { session } = await fork(home, ID, 5);
  assert.deepEqual(await home.damage(session), []);
  assert.ok((await home.nextBody(session)).input.length > 0);
});

withHome("a whole session under another name is no fork", async (home) => {
  const session = home.session();
  Deno.renameSync(session.path, pathOf(home, "renamed"));
  const { code, message } = await home.json(["export", "renamed", "file"], 12);
  assert.equal(code, "session_damaged");
  assert.match(message, /was written by session "fix-ci-7k2m"/);
});

test.long(`${samples(50)} forests: forks of forks, cut anywhere, parents removed, send what they were cut from`, async () => {
  for (let seed = 0; seed < samples(50); seed++) {
    await using home = new SessionHome();
    const dice = new Dice(seed);
    const root = `root-${seed}`;
    home.session(randomTurns(dice), root);
    /** Each fork, with the history that it was made with. */
    const forest = new Map<string, Json>([[root, null]]);
    for (let count = 0; count < 8; count++) {
      const parent = dice.pick([...forest.keys()]);
      // A place in the middle, or the nearest one that the refusal names.
      const asked = dice.count(1, home.turns(parent).at(-1).seq[1]);
      const { hint } = await home.json(["fork", parent, "--to-seq", String(asked), "--dry-run"], 0, 2);
      const place = hint === undefined ? asked : Number(/\d+$/.exec(hint)?.[0]);
      const { session } = await fork(home, parent, dice.chance(0.3) ? undefined : place);
      const { input } = await home.nextBody(session);
      forest.set(session, input);
      for (let turns = dice.count(0, 2); turns > 0; turns--) {
        await home.json(["rename", session, `Title ${turns}`]);
      }
      if (dice.chance(0.3)) {
        await home.json(["rm", parent, "--yes"]);
        forest.delete(parent);
      }
    }
    await home.json(["rm", "--unused"]);
    for (const [id, input] of forest) {
      const where = `seed ${seed}, ${id}`;
      assert.deepEqual(await home.damage(id), [], where);
      if (input !== null) assert.deepEqual((await home.nextBody(id)).input, input, where);
      const { family } = JSON.parse(Deno.readTextFileSync(pathOf(home, id, "/manifest.json")));
      assert.equal(family, root, where);
    }
  }
});
