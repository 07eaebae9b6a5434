import assert from "node:assert/strict";
import { NO_USAGE } from "../../../src/domain/usage.ts";
import { parseSessionId, type SessionId } from "../../../src/domain/ids.ts";
import type { FoldedEntry } from "../../../src/domain/folded.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { collectGarbage, removeSession } from "../../../src/store/lifecycle/remove.ts";
import { forkPoints, forkSession, planFork } from "../../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../../src/store/check/fsck.ts";
import type { Home } from "../../../src/store/home.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { SessionWriter } from "../../../src/store/write/writer.ts";
import { TARGET } from "../../support/history.ts";
import { appendRun, endDraft, newWriter, testPorts, userDraft, withHome } from "./support.ts";
import { test } from "../../support/test.ts";

const FORESTS = 6;
const FORKS = 8;

/** Numbers that are the same in every run. */
function dice(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = (state * 48271) % 2147483647) % below;
}

/** Expected fold of a session up to its own fork turn, and its number of turns then. */
interface Grown {
  readonly id: SessionId;
  readonly entries: readonly FoldedEntry[];
  readonly kept: number;
}

async function goOn(home: Home, id: SessionId, roll: (below: number) => number): Promise<void> {
  const writer = await SessionWriter.open(testPorts(), home, { id });
  for (let runs = roll(3); runs > 0; runs--) appendRun(writer, writer.end.run + 1);
  // Some stay open, as after a kill.
  if (roll(4) === 0) writer.append(userDraft("and then", writer.end.run + 1));
  writer.close();
}

async function grow(home: Home, seed: number): Promise<Grown[]> {
  const roll = dice(seed);
  const root = await newWriter(testPorts(), home, parseSessionId(`root-${seed}`));
  appendRun(root);
  root.close();
  const grown: Grown[] = [{ id: root.id, entries: [], kept: 0 }];
  for (let count = 1; count <= FORKS; count++) {
    const parent = (grown[roll(grown.length)] as Grown).id;
    const cuts = forkPoints(readSession(testPorts(), home, parent).turns);
    const toSeq = cuts[roll(cuts.length)]?.seq;
    const plan = planFork(testPorts(), home, { parent, ...(toSeq === undefined ? {} : { toSeq }) });
    const id = parseSessionId(`fork-${seed}-${count}`);
    await forkSession(testPorts(), home, plan, { id, summary: null, usage: NO_USAGE });
    grown.push({ id, entries: foldHistory(plan.kept, TARGET).entries, kept: plan.kept.length });
    await goOn(home, id, roll);
    if (roll(3) === 0 && grown.length > 2) {
      const [gone] = grown.splice(roll(grown.length), 1);
      if (gone !== undefined) await removeSession(testPorts(), home, gone.id);
    }
  }
  return grown;
}

test.long("forks of forks, cut anywhere, with parents removed, open, check and fold to what they were cut from", async () => {
  for (let seed = 1; seed <= FORESTS; seed++) {
    await withHome(async (home) => {
      const grown = await grow(home, seed);
      await collectGarbage(testPorts(), home, { dryRun: false });
      for (const { id, entries, kept } of grown) {
        const { findings } = await fsckSession(testPorts(), home, id);
        assert.deepEqual(findings.filter(({ code }) => code !== "open_run"), [], `seed ${seed}, ${id}`);
        const { turns, manifest } = readSession(testPorts(), home, id);
        assert.deepEqual(foldHistory(turns.slice(0, kept), TARGET).entries, entries, `seed ${seed}, ${id}`);
        assert.equal(manifest.family, `root-${seed}`);
        const writer = await SessionWriter.open(testPorts(), home, { id });
        if (writer.manifest?.state === "open") writer.append(endDraft(writer.end.run));
        appendRun(writer, writer.end.run + 1);
        writer.close();
      }
    });
  }
});
