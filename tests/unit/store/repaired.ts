/**
 * Support for the tests of repair: repairs a session in memory, and checks all properties of a repaired session.
 *
 * @module
 */
import assert from "node:assert/strict";
import { foldNeedsOf } from "../../../src/apis/apis.ts";
import type { Turn } from "../../../src/domain/turn.ts";
import { foldHistory } from "../../../src/fold/fold.ts";
import { responsesApi } from "../../../src/apis/responses/api.ts";
import { type FsckFinding, fsckSession } from "../../../src/store/check/fsck.ts";
import { turnPath } from "../../../src/store/layout.ts";
import { readSession } from "../../../src/store/read/session.ts";
import { applyRepair, planRepair, type RepairPlan } from "../../../src/store/repair/repair.ts";
import { Dice } from "../fold/dice.ts";
import type { MemoryDisk, MemoryDiskOptions } from "./memory_disk.ts";
import { DAMAGES } from "./random_damage.ts";
import { type MadeSession, randomSession, SESSIONS } from "./random_session.ts";
import { ID, portsOn } from "./support.ts";
import { checkResponsesRequest } from "../../support/rule_checks.ts";

/** The home of every session in memory. */
export const HOME = { path: "/store", sessions: SESSIONS };

/** Plans and does a repair. */
export function repair({ disk, paths }: MadeSession, options: MemoryDiskOptions = {}): RepairPlan {
  const ports = portsOn(disk.files(options));
  const plan = planRepair(ports, paths);
  applyRepair(ports, paths, plan);
  return plan;
}

/** Findings of `fsck` that are damage. */
export async function damageOf({ disk }: MadeSession): Promise<FsckFinding[]> {
  const { findings } = await fsckSession(portsOn(disk.files()), HOME, ID);
  return findings.filter(({ code }) => !HARMLESS.has(code));
}

/** The body of the next request. */
export function nextBody(turns: readonly Turn[]): string {
  const { entries } = foldHistory(turns, {
    fingerprint: { provider: "openai", endpoint: "1f3a9c02", account: null },
    needs: foldNeedsOf("openai"),
    model: "gpt-5.6",
    replay: "exact",
  });
  return responsesApi.buildRequest({
    model: "gpt-5.6",
    instructions: "",
    tools: [],
    entries,
    cacheKey: "s",
  })
    .body;
}

/** Everything that a repaired session has to be; `before` is the disk as it was damaged. Returns its turns. */
export async function assertRepaired(session: MadeSession, before: MemoryDisk): Promise<readonly Turn[]> {
  const { disk, paths } = session;
  const ports = portsOn(disk.files());
  assert.deepEqual(await damageOf(session), [], "fsck still finds something");
  const { turns } = readSession(ports, HOME, ID);
  const { refusals } = checkResponsesRequest(JSON.parse(nextBody(turns)), { mode: "azure" });
  assert.deepEqual(refusals, [], "the next request would be refused");
  // Every file is still there: in its place, or in quarantine.
  const kept = new Set(
    disk.paths().filter((path) => path.startsWith(paths.root)).map((path) => latin1(disk.read(path))),
  );
  for (const path of before.paths()) {
    // A manifest that only lags is rebuilt: the turns say what it said.
    if (path === paths.manifest && lags(session, before)) continue;
    assert.ok(kept.has(latin1(before.read(path))), `the bytes of ${path} are gone`);
  }
  const listing = disk.listing();
  const again = repair(session);
  assert.deepEqual([again.actions, again.lostBlobs], [[], []], "a second repair finds something to do");
  assert.equal(disk.listing(), listing, "a second repair changed something");
  return turns;
}

/** Findings that may stay: facts, and not damage. */
export const HARMLESS: ReadonlySet<string> = new Set([
  ...["turn_replaced", "open_run", "orphan_call", "run_not_ended", "unreferenced_blob", "waiting_turn"],
]);

/** True when the manifest before the repair is that of a turn that is in its place. */
function lags({ disk, paths }: MadeSession, before: MemoryDisk): boolean {
  const [, turn, sum] =
    /"head":\{"turn":(\d+),"seq":\d+,"sum":"(\w+)"/.exec(latin1(before.read(paths.manifest))) ??
      [];
  return latin1(disk.read(turnPath(paths, Number(turn)))).endsWith(`"sum":"${sum}"}\n`);
}

function latin1(bytes: Uint8Array | undefined): string {
  return new TextDecoder("latin1").decode(bytes);
}

/** True when both are there with the same bytes, or neither is. */
export function same(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return latin1(a) === latin1(b);
}

/**
 * Kills repairs of randomly damaged sessions before each of their changes, with hard links and without; the next
 * repair must finish. Returns how many were killed.
 */
export async function killEverywhere(seeds: number): Promise<number> {
  let kills = 0;
  for (let seed = 0; seed < seeds; seed++) {
    for (const noLinks of [false, true]) {
      const session = randomSession(new Dice(seed), 2);
      const dice = new Dice(seed + 5000);
      const names = Object.keys(DAMAGES).filter((name) => !name.includes("sealed again"));
      for (let count = 3; count > 0; count--) DAMAGES[dice.pick(names)]?.(session, dice);
      const damaged = session.disk.copy();
      if (!damaged.paths().some((path) => !path.includes("/blobs/"))) continue;
      for (let left = 0, done = false; !done; left++) {
        const made = { ...session, disk: damaged.copy() };
        let changes = 0;
        const before = () => {
          if (changes++ >= left) throw new Error("killed");
        };
        try {
          repair(made, { before, noLinks });
          done = true;
        } catch (error) {
          if (!(error instanceof Error) || !error.message.includes("killed")) throw error;
          kills++;
          repair(made, { noLinks });
        }
        await assertRepaired(made, damaged).catch((cause) => {
          throw new Error(`Seed ${seed}, killed before change ${left}: ${cause.message}`, { cause });
        });
      }
    }
  }
  return kills;
}
