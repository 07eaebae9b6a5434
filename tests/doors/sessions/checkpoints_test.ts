/** Opening costs the tail: reading begins at the checkpoint in force, whatever lies before it. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { type SessionHome, withHome } from "./home.ts";
import { again, KINDS } from "./kinds.ts";
import {
  checkpoint,
  ended,
  FINGERPRINT,
  FIVE_TURNS,
  type GivenTurn,
  sealed,
  user,
  withdrawal,
  write,
} from "./session_files.ts";

/** Four runs of five turns and ten events each. */
const RUNS = [...FIVE_TURNS, ...again(2, 11), ...again(3, 21), ...again(4, 31)];
const FIRST = checkpoint({ turn: 10, seq: 20 }, null, { run: 4 });
const SECOND = checkpoint({ turn: 15, seq: 30 }, null, { run: 4, previous_checkpoint: 41 });
const TO_FIRST = { turn: 21, seq: 41, to_turn: 10, to_seq: 20, opening_turn: null };

/** Sessions with checkpoints, and the turns that the next request needs. */
const OPENED: Record<string, { turns: readonly GivenTurn[]; needed: readonly number[] }> = {
  "a checkpoint at the end of a run": {
    turns: [...RUNS, checkpoint({ turn: 15, seq: 30 }, null, { run: 4 }), ...again(5, 42)],
    needed: numbers(16, 26),
  },
  "a checkpoint inside a run": { turns: KINDS["cut-inside"] ?? [], needed: [6, 8, 9] },
  "two checkpoints": { turns: [...RUNS, FIRST, SECOND], needed: numbers(16, 22) },
  "two checkpoints, and the later one withdrawn": {
    turns: [...RUNS, FIRST, SECOND, withdrawal(42, TO_FIRST, 4)],
    needed: numbers(11, 23),
  },
  "two checkpoints, and both withdrawn": {
    turns: [...RUNS, FIRST, SECOND, withdrawal(42, TO_FIRST, 4), withdrawal(41, null, 4)],
    needed: numbers(1, 24),
  },
};

function numbers(first: number, last: number): number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

for (const [name, { turns, needed }] of Object.entries(OPENED)) {
  withHome(
    `with ${name}, a request needs no turn before it, and is refused without any other`,
    async (home) => {
      const session = home.session(turns);
      assert.deepEqual((await home.findings()).filter((line) => !line.includes("open_run")), []);
      const body = await home.nextBody();
      for (const turn of needed) {
        Deno.renameSync(session.turn(turn), `${session.path}/away`);
        assert.equal(await home.refuses(), true, `turn ${turn}`);
        Deno.renameSync(`${session.path}/away`, session.turn(turn));
      }
      for (const turn of numbers(1, turns.length)) {
        if (needed.includes(turn)) continue;
        if (turn % 2 === 0) Deno.removeSync(session.turn(turn));
        else Deno.truncateSync(session.turn(turn), 40);
      }
      assert.deepEqual(await home.nextBody(), body);
      await home.json(["rename", session.id, "Another"]);
      assert.deepEqual(await home.nextBody(), body);
      const found = await home.findings();
      for (const code of ["missing_turn", "bad_sum"]) {
        assert.equal(found.some((line) => line.includes(code)), needed[0] !== 1, found.join("\n"));
      }
    },
  );
}

/** The next request of a session of these turns. */
async function bodyOf(home: SessionHome, turns: readonly GivenTurn[]): Promise<Json> {
  home.session(turns);
  const body = await home.nextBody();
  Deno.removeSync(home.home, { recursive: true });
  return body;
}

withHome("a manifest older than a checkpoint or a withdrawal hides no turn", async (home) => {
  const session = home.session(RUNS);
  const manifests = [Deno.readTextFileSync(session.manifest)];
  for (const turn of [FIRST, SECOND, withdrawal(42, TO_FIRST, 4), withdrawal(41, null, 4), FIRST]) {
    session.add(turn).writeManifest();
    manifests.push(Deno.readTextFileSync(session.manifest));
  }
  const body = await home.nextBody();
  for (const manifest of manifests) {
    write(session.manifest, manifest);
    assert.deepEqual(await home.nextBody(), body);
  }
});

withHome("a manifest that speaks of a checkpoint which is not there is not believed", async (home) => {
  const session = home.session([...RUNS, checkpoint({ turn: 15, seq: 30 }, null, { run: 4 })]);
  const body = await home.nextBody();
  const { sum: _, ...manifest } = JSON.parse(Deno.readTextFileSync(session.manifest));
  for (const change of [{ to_turn: 16, to_seq: 31 }, { seq: 42 }, { turn: 20 }, { to_seq: 29 }]) {
    const changed = { ...manifest, checkpoint: { ...manifest.checkpoint, ...change } };
    write(session.manifest, sealed(`${JSON.stringify(changed).slice(0, -1)},\n `));
    assert.deepEqual(await home.nextBody(), body, JSON.stringify(change));
  }
});

withHome(
  "the first turn after a checkpoint is believed by its seal, so the next one must follow it",
  async (home) => {
    const session = home.session([...RUNS, SECOND]);
    session.edit(session.turn(16), (text) => text.replace("go on", "stop"));
    assert.equal(await home.refuses(), true);
  },
);

withHome(
  "what an endpoint does not take is in the checkpoint, though the turn that says so is not read",
  async (home) => {
    const notice = { endpoint: FINGERPRINT.endpoint, model: "gpt-5.6", without: "include" };
    const refused = { kind: "harness", run: 2, events: [{ type: "endpoint_notice", ...notice }] };
    const turns = [...FIVE_TURNS, user("again", 2), refused, ended(2)];
    assert.ok("include" in await bodyOf(home, FIVE_TURNS));
    assert.ok(!("include" in await bodyOf(home, turns)));
    const compacted = [...turns, checkpoint({ turn: 8, seq: 13 }, null, { endpoint_notices: [notice] })];
    assert.ok(!("include" in await bodyOf(home, compacted)));
  },
);

withHome(
  "a run that is closed after a checkpoint inside it counts the tokens from before it",
  async (home) => {
    const before = { input_tokens: 100, cached_tokens: 40, output_tokens: 20, reasoning_tokens: 10 };
    const turns = (KINDS["cut-inside"] ?? []).map((turn) =>
      turn.kind === "compaction" ? { ...turn, events: [{ ...turn.events[0], run_usage: before }] } : turn
    );
    const session = home.session(turns);
    Deno.removeSync(session.turn(7));
    await home.json(["interrupt", session.id]);
    const [{ state, usage }] = home.turns(session.id).at(-1).events;
    assert.deepEqual([state, usage], ["interrupted", { ...before, input_tokens: 101, output_tokens: 21 }]);
  },
);
