import assert from "node:assert/strict";
import { parseSessionId, type SessionId } from "../../../src/domain/ids.ts";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { sha256Hex } from "../../../src/domain/hash.ts";
import { turnFileName } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { forkPoints, forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import { type Home, listSessions } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { TARGET } from "../../support/history.ts";
import { spyFiles } from "./spy_files.ts";
import {
  answer,
  appendRun,
  call,
  ID,
  INSTRUCTIONS,
  modelDraft,
  newSession,
  newWriter,
  portsOn,
  reasoning,
  result,
  testPorts,
  userDraft,
  withHome,
} from "./support.ts";
import { textsBelow } from "../../support/files.ts";
import { test } from "../../support/test.ts";

const CHILD = parseSessionId("fix-ci-7k2m-fork");

/** A fork of `parent` as `id`. */
async function fork(
  home: Home,
  options: { readonly id?: SessionId; readonly parent?: SessionId; readonly toSeq?: number } = {},
  ports = testPorts(),
) {
  const plan = planFork(ports, home, { parent: options.parent ?? ID, toSeq: options.toSeq });
  return await forkSession(ports, home, plan, { id: options.id ?? CHILD, summary: null, usage: NO_USAGE });
}

async function assertSound(home: Home, id: SessionId): Promise<void> {
  const { findings } = await fsckSession(testPorts(), home, id);
  assert.deepEqual(findings.filter(({ severity }) => severity !== "info"), []);
}

function path(home: Home, id: string, inside: string): string {
  return `${home.sessions}/${id}/${inside}`;
}

Deno.test("a fork shares the files of its prefix, byte for byte and by link, and continues by itself", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const before = textsBelow(`${home.sessions}/${ID}`, "lock");
    const { turn } = await fork(home);
    for (const number of [1, 2, 3, 4, 5]) {
      const name = `turns/${turnFileName(number)}`;
      const [mine, theirs] = [ID, CHILD].map((id) => Deno.lstatSync(path(home, id, name)));
      assert.equal(mine?.ino, theirs?.ino, name);
    }
    const blob = `blobs/${sha256Hex(INSTRUCTIONS)}`;
    assert.equal(Deno.lstatSync(path(home, CHILD, blob)).ino, Deno.lstatSync(path(home, ID, blob)).ino);
    assert.deepEqual([turn.turn, turn.seq, turn.kind, turn.run], [6, [11, 11], "fork", 1]);
    const writer = await SessionWriter.open(testPorts(), home, { id: CHILD });
    appendRun(writer, 2);
    writer.close();
    await assertSound(home, CHILD);
    assert.deepEqual(textsBelow(`${home.sessions}/${ID}`, "lock"), before, "the parent is unchanged");
    assert.equal(writer.manifest?.family, ID, "the prompt cache key stays the family's");
    assert.equal(writer.manifest?.parent, ID);
  }));

Deno.test("the fork turn names parent, place, sum and the whole lineage, also of a fork of a fork", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await fork(home);
    const grandchild = parseSessionId("grandchild");
    const { turn } = await fork(home, { id: grandchild, parent: CHILD });
    const { turns } = readSession(testPorts(), home, grandchild);
    assert.deepEqual(turns.map(({ session }) => session), [ID, ID, ID, ID, ID, CHILD, grandchild]);
    const { seq: _seq, ...event } = turn.events[0] as typeof turn.events[0];
    assert.deepEqual(event, {
      type: "session_fork",
      parent: CHILD,
      to_seq: 11,
      to_turn: 6,
      sum: turns[5]?.sum,
      lineage: [ID, CHILD],
    });
    await assertSound(home, grandchild);
  }));

Deno.test("a fork folds to what its parent folds to up to the cut", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await fork(home, { toSeq: 7 });
    const [parent, child] = [ID, CHILD].map((id) => readSession(testPorts(), home, id).turns);
    assert.deepEqual(
      foldHistory(child ?? [], TARGET).entries,
      foldHistory((parent ?? []).slice(0, 3), TARGET).entries,
    );
  }));

Deno.test("a cut inside a run closes that run in the fork, so that the next one can open", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const { turn, manifest } = await fork(home, { toSeq: 1 });
    assert.equal(turn.events.at(-1)?.type, "run_ended");
    assert.equal(manifest.state, "interrupted");
    const writer = await SessionWriter.open(testPorts(), home, { id: CHILD });
    appendRun(writer, 2);
    writer.close();
    await assertSound(home, CHILD);
  }));

Deno.test("the manifest that a fork is made with is the one that its turns give", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await fork(home, { toSeq: 7 });
    const file = path(home, CHILD, "manifest.json");
    const made = Deno.readTextFileSync(file);
    Deno.removeSync(file);
    assert.deepEqual(readSession(testPorts(), home, CHILD).manifest.parent, ID);
    const writer = await SessionWriter.open(testPorts(), home, { id: CHILD });
    appendRun(writer, 2);
    writer.close();
    const { findings } = await fsckSession(testPorts(), home, CHILD);
    assert.deepEqual(findings, []);
    assert.match(made, /"state":"interrupted"/);
  }));

Deno.test("a cut that lies inside a turn or parts a call from its result is refused, and the nearest is named", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const refused: [number, number, RegExp][] = [
      // Inside the model turn (2 to 5), then its end, which parts two calls from their results.
      [2, 1, /inside turn 2, whose last seq is 5/],
      [5, 7, /part the call with seq 3 from its result/],
      [6, 7, /inside turn 3/],
      [99, 10, /the newest event is 10/],
    ];
    for (const [toSeq, nearest, message] of refused) {
      assert.throws(() => planFork(testPorts(), home, { parent: ID, toSeq }), {
        code: "usage",
        message,
        hint: `Fork at the nearest place: reprise fork ${ID} --to-seq ${nearest}`,
      });
    }
    assert.deepEqual([...Deno.readDirSync(home.sessions)].map(({ name }) => name), [ID]);
  }));

Deno.test("an open batch is left out when no place is named, and a call that no response completed holds nothing", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    writer.append(modelDraft([call("call_a")]));
    writer.append({ kind: "tools", run: 1, events: [result("call_a", 2)] });
    writer.append(modelDraft([reasoning("rs_2"), call("call_b")]));
    assert.deepEqual(forkPoints(writer.turns).map(({ turn }) => turn), [1, 3]);
    writer.close();
    assert.equal(planFork(testPorts(), home, { parent: ID }).kept.length, 3);
    const cut = { ...modelDraft([call("call_c")]), response: { id: "resp_1", status: "incomplete" } };
    const again = await newWriter(testPorts(), home, CHILD);
    again.append(userDraft("hello"));
    again.append(cut as ReturnType<typeof modelDraft>);
    assert.deepEqual(forkPoints(again.turns).map(({ turn }) => turn), [1, 2]);
    again.close();
  }));

Deno.test("quarantine of kept items comes along when it was decided after the cut; what was left out in a run does not", () =>
  withHome(async (home) => {
    const writer = await newWriter(testPorts(), home);
    writer.append(userDraft("hello"));
    writer.append(modelDraft([reasoning("rs_1"), answer("Hi.")]));
    writer.append({
      kind: "harness",
      run: 1,
      events: [{
        type: "replay_notice",
        reason: "reasoning_refused",
        items: [
          { seq: 2, action: "quarantined" },
          { seq: 3, action: "left_out" },
          { seq: 6, action: "quarantined" },
        ],
      }],
    });
    writer.append(modelDraft([reasoning("rs_2"), answer("Again.")]));
    writer.close();
    const { turn } = await fork(home, { toSeq: 4 });
    const notice = turn.events.find((event) => event.type === "replay_notice");
    assert.deepEqual(notice?.items, [{ seq: 2, action: "quarantined" }]);
    const { turns } = readSession(testPorts(), home, CHILD);
    const { reasoning: decided } = foldHistory(turns, TARGET);
    assert.deepEqual(decided.map(({ seq, reason }) => [seq, reason]), [[2, "quarantined"]]);
  }));

Deno.test("without links the files are copied, with our modes", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const files = spyFiles(({ name }) => {
      if (name === "link") throw Object.assign(new Error("no links"), { code: "EPERM" });
    });
    await fork(home, {}, portsOn(files));
    for (const name of ["turns/000001.json", `blobs/${sha256Hex(INSTRUCTIONS)}`]) {
      const [mine, theirs] = [ID, CHILD].map((id) => Deno.lstatSync(path(home, id, name)));
      assert.notEqual(mine?.ino, theirs?.ino);
      assert.equal((theirs?.mode ?? 0) & 0o777, 0o600);
      assert.equal(mine?.size, theirs?.size);
    }
    await assertSound(home, CHILD);
  }));

Deno.test("a foreign turn is found in a fork as in any session: after its fork turn, and with an id outside its lineage", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    await newSession(testPorts(), home, parseSessionId("stranger"));
    await fork(home);
    // The stranger's turn 1, which has its own seal.
    const first = path(home, CHILD, "turns/000001.json");
    Deno.removeSync(first);
    Deno.copyFileSync(path(home, "stranger", "turns/000001.json"), first);
    Deno.chmodSync(first, 0o600);
    const { findings } = await fsckSession(testPorts(), home, CHILD);
    assert.ok(findings.some(({ code, turn }) => code === "foreign_turn" && turn === 1));
    assert.throws(() => readSession(testPorts(), home, CHILD), { code: "session_damaged" });
    // A whole session under another name is no fork.
    Deno.renameSync(`${home.sessions}/stranger`, `${home.sessions}/renamed`);
    assert.throws(() => readSession(testPorts(), home, parseSessionId("renamed")), {
      code: "session_damaged",
      message: /was written by session "stranger"/,
    });
  }));

Deno.test("a parent whose turn is replaced while it is forked leaves no fork", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const plan = planFork(testPorts(), home, { parent: ID });
    const third = path(home, ID, "turns/000003.json");
    Deno.copyFileSync(path(home, ID, "turns/000002.json"), `${home.path}/other`);
    Deno.renameSync(`${home.path}/other`, third);
    await assert.rejects(
      forkSession(testPorts(), home, plan, { id: CHILD, summary: null, usage: NO_USAGE }),
      { code: "session_diverged", message: /turns\/000003.json was replaced or removed/ },
    );
    assert.deepEqual([...Deno.readDirSync(home.sessions)].map(({ name }) => name), [ID]);
  }));

Deno.test("a fork never takes the place of a session, whole or begun", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    Deno.mkdirSync(`${home.sessions}/${CHILD}`, { mode: 0o700 });
    await assert.rejects(fork(home), { code: "session_exists" });
    await assert.rejects(fork(home, { id: ID }), { code: "session_exists" });
    assert.equal(readSession(testPorts(), home, ID).turns.length, 5);
  }));

Deno.test("a session that takes the name while a fork is made keeps it", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const files = spyFiles(({ name, to }) => {
      if (name !== "rename" || to !== `${home.sessions}/${CHILD}`) return;
      Deno.mkdirSync(`${to}/turns`, { recursive: true });
    });
    await assert.rejects(fork(home, {}, portsOn(files)), { code: "session_exists" });
    assert.deepEqual([...Deno.readDirSync(home.sessions)].map(({ name }) => name).sort(), [ID, CHILD].sort());
    assert.deepEqual([...Deno.readDirSync(`${home.sessions}/${CHILD}`)].map(({ name }) => name), ["turns"]);
  }));

test.long("stopped before any of its file operations, a fork is not there or whole, and its parent untouched", () =>
  withHome(async (home) => {
    await newSession(testPorts(), home);
    const before = textsBelow(`${home.sessions}/${ID}`, "lock");
    let points = 0;
    for (let at = 1;; at++) {
      let count = 0;
      const files = spyFiles(() => {
        // From here on nothing works any more, as for a process that is gone.
        if (++count >= at) throw Object.assign(new Error("stopped"), { code: "EIO" });
      });
      let whole = false;
      try {
        await fork(home, {}, portsOn({ ...files, read: denoFiles.read }));
        whole = true;
      } catch (error) {
        assert.match(String((error as { code?: string }).code), /^storage_/);
      }
      const ids = listSessions(testPorts(), home).map(({ id }) => id);
      if (ids.includes(CHILD)) {
        await assertSound(home, CHILD);
        Deno.removeSync(`${home.sessions}/${CHILD}`, { recursive: true });
      } else assert.ok(!whole);
      assert.deepEqual(textsBelow(`${home.sessions}/${ID}`, "lock"), before);
      for (const { name } of Deno.readDirSync(home.sessions)) {
        if (name !== ID) Deno.removeSync(`${home.sessions}/${name}`, { recursive: true });
      }
      if (whole) break;
      points++;
    }
    assert.ok(points > 50, String(points));
  }));
