/** Replacements by `repair` of what is lost, and the next request after them. */
import assert from "node:assert/strict";
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import { again } from "./kinds.ts";
import {
  call,
  ended,
  FIVE_TURNS,
  type GivenTurn,
  model,
  PINS,
  reasoning,
  sealed,
  type SessionFiles,
  TOOLS,
  user,
  write,
} from "./session_files.ts";

/** Repairs a session; returns its actions, each as `action path from`. */
async function repair(home: SessionHome): Promise<string[]> {
  const { actions } = await home.json(["repair", ID]);
  return actions.map(({ action, path, from }: Json) =>
    [action, path, ...from === undefined ? [] : [from]].join(" ")
  );
}

const kept = (session: SessionFiles, name: string) => `${session.path}/quarantine/${name}`;
const turnsOf = (home: SessionHome) => home.turns(ID);

withHome(
  "a replacement keeps number, events and run, and the next turn still names the lost one",
  async (home) => {
    const session = home.session();
    const before = turnsOf(home);
    Deno.truncateSync(session.turn(3), 100);
    await repair(home);
    const after = turnsOf(home);
    const { at: _at, sum: _sum, ...third } = after[2];
    assert.deepEqual(third, {
      format: "reprise.turn/1",
      session: ID,
      turn: 3,
      kind: "harness",
      run: 1,
      seq: [6, 7],
      prev: before[1].sum,
      replaces: { sum: before[2].sum, seq: [6, 7], reason: "bad_sum" },
      events: [{ seq: 6, type: "turn_replaced" }],
    });
    assert.deepEqual(after.toSpliced(2, 1).slice(0, 4), before.toSpliced(2, 1));
    assert.equal(Deno.statSync(kept(session, "000003.json.repair-1")).size, 100);
    // The replacement is damaged in turn.
    write(session.turn(3), "damage 2");
    await repair(home);
    assert.equal(turnsOf(home)[2].replaces.sum, before[2].sum);
    assert.equal(Deno.readTextFileSync(kept(session, "000003.json.repair-2")), "damage 2");
  },
);

/** Items that the next request sends, with the beginning of each output. */
const CALLS = ["reasoning", "call_a", "call_b"];
const OUTPUTS = ["call_a: output of call_a", "call_b: output of call_b"];

/** Lost turns, and the items of the next request. */
const LOST: Record<string, { lost: readonly number[]; input: readonly string[] }> = {
  "results: the calls are answered at their place": {
    lost: [3],
    input: ["user", ...CALLS, "call_a: No result", "call_b: No result", "assistant"],
  },
  "calls: their results stay on disk": { lost: [2], input: ["user", "assistant"] },
  "the prompt": { lost: [1], input: [...CALLS, ...OUTPUTS, "assistant"] },
};

for (const [name, { lost, input }] of Object.entries(LOST)) {
  withHome(`the next request after the loss of ${name}`, async (home) => {
    const session = home.session();
    for (const turn of lost) Deno.removeSync(session.turn(turn));
    await repair(home);
    const body = await home.nextBody();
    const sent = body.input.slice(0, -1)
      .map(({ role, type, call_id, output }: Json) =>
        role ?? (output === undefined ? call_id ?? type : `${call_id}: ${output}`)
      );
    assert.deepEqual(sent.map((item: string, index: number) => item.slice(0, input[index]?.length)), input);
  });
}

withHome(
  "if the turn that opened a run is lost, its replacement opens it, with the pins of a neighbour",
  async (home) => {
    const session = home.session([...FIVE_TURNS, ...again(2, 11)]);
    for (const turn of [1, 6]) write(session.turn(turn), "");
    await repair(home);
    const opened = [1, 6].map((number) => turnsOf(home)[number - 1]);
    assert.deepEqual(opened.map(({ run, pins, events }) => [run, pins, events]), [
      [1, PINS, [{ seq: 1, type: "run_continued", run: 1 }]],
      [2, PINS, [{ seq: 11, type: "run_continued", run: 2 }]],
    ]);
    const { runs, state } = await home.listed();
    assert.deepEqual([runs, state], [2, "completed"]);
  },
);

withHome("if only damage is left, repair still leaves a session that opens", async (home) => {
  const session = home.session();
  for (const turn of [1, 2, 3, 4, 5]) write(session.turn(turn), "");
  Deno.removeSync(session.manifest);
  for (const { name } of Deno.readDirSync(`${session.path}/blobs`)) {
    Deno.removeSync(`${session.path}/blobs/${name}`);
  }
  await repair(home);
  assert.equal(turnsOf(home).length, 6, "and the end of its run");
  assert.deepEqual((await home.findings()).filter((line) => !line.startsWith("info")), []);
  assert.equal((await home.call(["export", ID, "--json", "file"])).code, 0);
});

withHome("the blobs that a replacement pins exist, also if another content had their names", async (home) => {
  const path = `${home.session().path}/blobs/${sha256(TOOLS)}`;
  for (const content of ["{}", "longer than no tools"]) {
    const session = home.session();
    write(session.turn(1), "");
    Deno.removeSync(session.manifest);
    write(path, content);
    await repair(home);
    assert.equal(Deno.readTextFileSync(path), TOOLS);
    assert.equal((await home.findings()).some((line) => line.startsWith("error")), false);
    Deno.removeSync(session.path, { recursive: true });
  }
});

withHome("numbers that the manifest names are not used again", async (home) => {
  const session = home.session();
  const before = turnsOf(home);
  for (const turn of [4, 5]) Deno.removeSync(session.turn(turn));
  assert.equal((await home.json(["rename", ID, "New"], 12)).code, "session_damaged");
  await repair(home);
  const after = turnsOf(home);
  assert.deepEqual(after.slice(3).map(({ seq }) => seq), [[8, 8], [9, 10], [11, 11]]);
  assert.equal(after[4].replaces.sum, before[4].sum);
  assert.equal(after[5].events[0].type, "run_ended");
});

withHome("turns under each other's numbers go back, byte for byte", async (home) => {
  const session = home.session();
  const [third, fourth] = [3, 4].map((turn) => Deno.readTextFileSync(session.turn(turn)));
  write(session.turn(3), fourth as string);
  write(session.turn(4), third as string);
  assert.deepEqual(await repair(home), [
    "restore turns/000003.json turns/000004.json",
    "restore turns/000004.json turns/000003.json",
  ]);
  assert.deepEqual([3, 4].map((turn) => Deno.readTextFileSync(session.turn(turn))), [third, fourth]);
});

withHome(
  "a turn that a killed repair had put aside comes back, because the next one names it; another is kept once",
  async (home) => {
    const session = home.session();
    const before = turnsOf(home);
    Deno.mkdirSync(`${session.path}/quarantine`, { mode: 0o700 });
    Deno.renameSync(session.turn(3), kept(session, "000003.json.repair-1"));
    // No turn names this one of another writer.
    Deno.copyFileSync(session.turn(4), kept(session, "000006.json.diverged-0000000000000000"));
    assert.deepEqual(await repair(home), ["restore turns/000003.json quarantine/000003.json.repair-1"]);
    assert.deepEqual(turnsOf(home), before);
    write(session.turn(3), "");
    Deno.linkSync(session.turn(3), kept(session, "000003.json.repair-2"));
    await repair(home);
    assert.equal([...Deno.readDirSync(`${session.path}/quarantine`)].length, 3);
  },
);

withHome(
  "of two turns that do not fit, the one that the manifest names is kept, or else the one before",
  async (home) => {
    const session = home.session();
    const before = turnsOf(home);
    session.edit(session.turn(5), (text) => text.replace(/"prev":"\w+"/, `"prev":"${"0".repeat(64)}"`));
    assert.ok((await repair(home)).includes("replace turns/000005.json"));
    assert.deepEqual(turnsOf(home).slice(0, 4), before.slice(0, 4));
    Deno.removeSync(session.path, { recursive: true });
    const other = home.session();
    other.edit(other.turn(4), (text) => text.replace("Done.", "Dome."));
    assert.deepEqual(await repair(home), ["replace turns/000004.json"]);
    assert.deepEqual(turnsOf(home)[4], before[4]);
  },
);

/** Turns that come from another history, and those that a repair replaces to keep the most of both. */
const MIXED: readonly (readonly [theirs: readonly number[], replaced: readonly number[]])[] = [
  [[2, 3], [3]],
  [[3, 4], [2, 4]],
  [[4, 5], [3]],
];

withHome(
  "of two histories that were mixed, the longest chain is kept, and each other file put aside",
  async (home) => {
    const written = (turns: readonly GivenTurn[]) => {
      const session = home.session(turns);
      return { session, texts: turns.map((_, index) => Deno.readTextFileSync(session.turn(index + 1))) };
    };
    const answer = model([reasoning("rs_9"), call("call_a"), call("call_b")]);
    const { texts: others } = written(FIVE_TURNS.with(1, answer));
    for (const [theirs, replaced] of MIXED) {
      const { session, texts } = written(FIVE_TURNS);
      const mixed = texts.map((text, index) => (theirs.includes(index + 1) ? others[index] : text) as string);
      mixed.forEach((text, index) => write(session.turn(index + 1), text));
      const actions = await repair(home);
      const paths = replaced.map((turn) => `turns/00000${turn}.json`);
      assert.deepEqual(
        actions.filter((action) => action.startsWith("replace")),
        paths.map((path) => `replace ${path}`),
      );
      for (const [index, text] of mixed.entries()) {
        const isKept = !replaced.includes(index + 1);
        const path = isKept ? session.turn(index + 1) : kept(session, `00000${index + 1}.json.repair-1`);
        assert.equal(Deno.readTextFileSync(path), text, `${theirs}: turn ${index + 1}`);
      }
      assert.deepEqual(await home.damage(), []);
      assert.deepEqual(await repair(home), []);
      Deno.removeSync(session.path, { recursive: true });
    }
  },
);

withHome("links and directories in place of turns are put aside, and never followed", async (home) => {
  const session = home.session();
  const outside = `${home.directory}/outside.json`;
  Deno.renameSync(session.turn(4), outside);
  Deno.symlinkSync(outside, session.turn(4));
  Deno.removeSync(session.turn(2));
  Deno.mkdirSync(session.turn(2));
  await repair(home);
  assert.deepEqual(turnsOf(home).map(({ kind }) => kind), ["user", "harness", "tools", "harness", "harness"]);
  assert.equal(Deno.lstatSync(kept(session, "000004.json.repair-1")).isSymlink, true);
  assert.equal(Deno.lstatSync(kept(session, "000002.json.repair-1")).isDirectory, true);
  assert.equal(Deno.lstatSync(outside).isFile, true);
});

withHome("a link or a file in place of turns/ is left to the user", async (home) => {
  const session = home.session();
  const turns = `${session.path}/turns`;
  const refused = async (finding: string) => {
    assert.ok((await home.findings()).includes(`error ${finding} turns`));
    assert.equal((await home.json(["repair", ID], 12)).code, "session_damaged");
  };
  Deno.renameSync(turns, `${session.path}/away`);
  write(turns, "mine");
  await refused("not_a_directory");
  assert.equal(Deno.readTextFileSync(turns), "mine");
  Deno.removeSync(turns);
  Deno.symlinkSync("away", turns);
  await refused("symlink");
  assert.equal(Deno.readLinkSync(turns), "away");
});

withHome("--dry-run foresees the same actions, and changes nothing", async (home) => {
  const session = home.session();
  write(session.turn(3), "");
  Deno.chmodSync(session.path, 0o755);
  write(session.manifest, sealed('{"format":"reprise.manifest/1",'));
  const before = bytesBelow(session.path);
  const { changes, actions = changes } = await home.json(["repair", ID, "--dry-run"]);
  assert.deepEqual(bytesBelow(session.path), before);
  assert.deepEqual(actions, (await home.json(["repair", ID])).actions);
});

withHome(
  "a fork is repaired in the turns that it shares, and in the one that names its parent",
  async (home) => {
    const parent = home.session();
    const before = bytesBelow(parent.path, "lock");
    const { session: id } = await home.json(["fork", ID]);
    await home.json(["rename", id, "Another way"]);
    for (const turn of ["000003", "000006"]) {
      const path = `${home.home}/sessions/${id}/turns/${turn}.json`;
      // Another file under that name: the parent's does not change.
      Deno.removeSync(path);
      write(path, "");
    }
    const { actions } = await home.json(["repair", id]);
    const replaced = actions.filter(({ action }: Json) => action === "replace");
    assert.deepEqual(replaced.map(({ turn }: Json) => turn), [3, 6]);
    assert.deepEqual(await home.damage(id), []);
    assert.deepEqual((await home.json(["repair", id])).actions, []);
    assert.deepEqual(bytesBelow(parent.path, "lock"), before);
    // Only its turns name the parent now: a fork of the fork may hold them all the same.
    const { session: grandchild } = await home.json(["fork", id]);
    assert.deepEqual(await home.damage(grandchild), []);
  },
);

withHome("--lift-quarantine closes a killed run before it lifts what was refused in it", async (home) => {
  const items = [{ seq: 2, action: "quarantined" }];
  const error = { code: "invalid_encrypted_content", message: "No such item" };
  const notice = { type: "replay_notice", reason: "reasoning_refused", items, error };
  const refused: GivenTurn = { kind: "harness", run: 2, events: [notice] };
  home.session([user("Go"), model([reasoning("rs_1")]), ended(), user("Go on", 2), refused]);
  assert.deepEqual((await home.json(["repair", ID, "--lift-quarantine"])).lifted, [2]);
  const [[closed], [lifted]] = turnsOf(home).slice(-2).map(({ events }) => events);
  assert.deepEqual([closed.type, closed.run, closed.state], ["run_ended", 2, "interrupted"]);
  assert.deepEqual([lifted.reason, lifted.items], ["quarantine_lifted", [{ seq: 2, action: "lifted" }]]);
  assert.deepEqual(await home.damage(), []);
});
