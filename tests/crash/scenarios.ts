/**
 * Operations on a session that is killed, or whose disk fails: one list for both, and for the check of
 * the order of system calls.
 */
import assert from "node:assert/strict";
import { deterministicText } from "../../src/compaction/deterministic.ts";
import { latestCheckpoint, planOf, scopeOf } from "../../src/compaction/plan.ts";
import { foldNeedsOf } from "../../src/apis/apis.ts";
import { type ErrorCode, RepriseError } from "../../src/domain/errors.ts";
import { NO_USAGE } from "../../src/domain/usage.ts";
import { parseSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { Pins, Turn } from "../../src/domain/turn.ts";
import { compactionDraft } from "../../src/run/auto_compact.ts";
import { chunksOf } from "../../src/store/read/safe_open.ts";
import { exportSession } from "../../src/store/transfer/export.ts";
import { forkSession, planFork } from "../../src/store/lifecycle/fork.ts";
import { fsckSession } from "../../src/store/check/fsck.ts";
import { collectGarbage, removeSession } from "../../src/store/lifecycle/remove.ts";
import { importSession } from "../../src/store/transfer/import.ts";
import { turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { repairSession } from "../../src/store/repair/repair.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { call, type GivenTurn, model, PINS, results, user } from "../doors/sessions/session_files.ts";
import {
  append,
  appendNext,
  assertEnd,
  create,
  goOn,
  homeOf,
  ID,
  open,
  pathsOf,
  type Place,
  wholeRun,
  withWriter,
  writeRuns,
} from "./sessions.ts";

const FORK: SessionId = parseSessionId("crash-fork");

/** One operation. When `act` returns, it is done and durable. */
export interface Scenario {
  readonly name: string;
  /** Makes what is there before it. */
  readonly prepare: (place: Place) => Promise<void>;
  readonly act: (place: Place) => Promise<void>;
  /** Checks the state after the operation; throws if it is wrong. */
  readonly after: (place: Place) => Promise<void>;
  /** Tries again after it was cut short at any point, however far it had come. */
  readonly again: (place: Place) => Promise<void>;
  /** True where the session is damaged before, so that nothing can be asked of it until it is repaired. */
  readonly isDamaged?: true;
}

/** A closed session of two runs: ten turns, four blobs. */
function twoRuns({ home }: Place, ...more: readonly GivenTurn[]): Promise<void> {
  return Promise.resolve(writeRuns(home, 2, more));
}

/** Does it again; one of these errors says that it had been done. */
async function orDone(codes: readonly ErrorCode[], again: () => Promise<unknown>): Promise<void> {
  try {
    await again();
  } catch (error) {
    if (!(error instanceof RepriseError && codes.includes(error.code))) throw error;
  }
}

const TARGET = {
  fingerprint: PINS.fingerprint as Pins["fingerprint"],
  needs: foldNeedsOf("openai"),
  model: PINS.model,
  replay: "exact",
} as const;

function writeCheckpoint(writer: SessionWriter): Turn {
  const turns = writer.allTurns();
  const scope = scopeOf(turns, { tailEvents: 4, target: TARGET });
  const text = deterministicText(turns, scope);
  const made = { scope, text, plan: planOf(turns, scope, { text, target: TARGET }) };
  return writer.append(
    compactionDraft(turns, { checkpoint: made, elided: [] }, { run: writer.end.run, pins: PINS as Pins }),
  );
}

async function compact(place: Place): Promise<void> {
  await withWriter(open(place), (writer) => {
    place.acknowledge(writeCheckpoint(writer));
    for (let turns = 0; turns < 2; turns++) place.acknowledge(appendNext(writer));
  });
}

async function withdrawal(place: Place): Promise<void> {
  await withWriter(open(place), (writer) => {
    const latest = latestCheckpoint(writer.allTurns());
    if (latest === null) throw new RepriseError("nothing_to_withdraw", "There is no checkpoint");
    const { checkpoint, restored } = latest;
    const event = { type: "compaction_withdrawn", checkpoint: checkpoint.seq, restored } as const;
    place.acknowledge(writer.append({ kind: "harness", run: writer.end.run, events: [event] }));
    for (let turns = 0; turns < 2; turns++) place.acknowledge(appendNext(writer));
  });
}

async function fork(place: Place): Promise<void> {
  const { ports } = place;
  const home = homeOf(place);
  const plan = planFork(ports, home, { parent: ID });
  await forkSession(ports, home, plan, { id: FORK, summary: null, usage: NO_USAGE });
}

async function assertFork({ ports, ...place }: Place): Promise<void> {
  const { turns } = readSession(ports, homeOf({ ports, ...place }), FORK);
  assert.equal(turns.length, 11);
  assert.equal(turns.at(-1)?.kind, "fork");
  await Promise.resolve();
}

async function repairAll(place: Place): Promise<void> {
  await repairSession(place.ports, homeOf(place), { id: ID, waitMs: 0 });
}

/** Nothing is left to repair, and the file that replaced turn 4 is kept. */
async function assertRepaired(place: Place, kept: string | null): Promise<void> {
  const home = homeOf(place);
  const { findings } = await fsckSession(place.ports, home, ID);
  assert.deepEqual(findings.filter(({ severity }) => severity === "error"), []);
  assert.equal(readSession(place.ports, home, ID).turns.length, 10);
  if (kept === null) return;
  const { quarantine } = pathsOf(place);
  const texts = place.ports.files.list(quarantine).map((name) =>
    Deno.readTextFileSync(`${quarantine}/${name}`)
  );
  assert.ok(texts.includes(kept), "the damaged bytes are gone");
}

const TORN = '{"format":"reprise.turn/1","session":"crash","turn":4,';

function exportPath({ home }: Place): string {
  return `${home}-export.jsonl`;
}

async function importAgain(place: Place): Promise<void> {
  const source = chunksOf(place.ports, exportPath(place));
  await importSession(place.ports, homeOf(place), { source, name: "export", dryRun: false });
}

/** Removes unused files; throws the error that kept it from looking everywhere. */
export async function collect(place: Place): Promise<void> {
  const { skipped } = await collectGarbage(place.ports, homeOf(place), { dryRun: false });
  const [first] = skipped;
  if (first !== undefined) throw new RepriseError(first.code, first.why);
}

/** Leaves the remains of kills: of a new session, and of a half created or half removed session. */
function leaveRubbish(place: Place): void {
  const paths = pathsOf(place);
  Deno.writeFileSync(`${paths.blobs}/${"a".repeat(64)}`, new TextEncoder().encode("unused"), {
    mode: 0o600,
  });
  Deno.writeFileSync(`${paths.root}/.tmp-1-abc`, new TextEncoder().encode("half"), { mode: 0o600 });
  for (const name of ["begun", ".new-1-abc", ".removed-1-abc"]) {
    const root = `${place.home}/sessions/${name}`;
    for (const path of [root, `${root}/turns`, `${root}/blobs`]) Deno.mkdirSync(path, { mode: 0o700 });
    Deno.writeFileSync(`${root}/lock`, new Uint8Array(), { mode: 0o600 });
    if (name === "begun") continue;
    Deno.copyFileSync(turnPath(paths, 1), `${root}/turns/000001.json`);
  }
}

/** All operations. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: "first turn",
    prepare: () => Promise.resolve(),
    act: async (place) => {
      await withWriter(create(place), (writer) => {
        for (const turn of wholeRun(1)) place.acknowledge(append(writer, turn));
      });
    },
    after: (place) => Promise.resolve(assertEnd(place, "user", "model", "tools", "model", "harness")),
    again: goOn,
  },
  {
    name: "append",
    prepare: (place) => twoRuns(place),
    act: async (place) =>
      await withWriter(open(place), (writer) => {
        for (const turn of wholeRun(3)) place.acknowledge(append(writer, turn));
      }),
    after: (place) => Promise.resolve(assertEnd(place, "user", "model", "tools", "model", "harness")),
    again: goOn,
  },
  {
    name: "tools turn",
    prepare: (place) => twoRuns(place, user("go on", 3), model([call("call_3")], 3)),
    act: async (place) =>
      await withWriter(open(place), (writer) => {
        const seq = writer.openCalls()[0]?.seq ?? 0;
        const allowed = { decision: "allowed", reason: "allowed_by_rule" };
        const event = {
          type: "permission_decision",
          call_id: "call_3",
          call_seq: seq,
          tool: "shell",
          ...allowed,
        };
        place.acknowledge(append(writer, { kind: "harness", run: 3, events: [event] }));
        place.acknowledge(append(writer, results({ call_3: seq }, 3)));
      }),
    after: (place) => Promise.resolve(assertEnd(place, "model", "harness", "tools")),
    again: goOn,
  },
  {
    name: "compaction",
    prepare: (place) => twoRuns(place),
    act: compact,
    after: (place) => Promise.resolve(assertEnd(place, "compaction", "user", "harness")),
    again: (place) => orDone(["nothing_to_compact"], () => compact(place)),
  },
  {
    name: "withdrawal",
    prepare: async (place) => {
      await twoRuns(place);
      await withWriter(open(place), writeCheckpoint);
    },
    act: withdrawal,
    after: (place) => Promise.resolve(assertEnd(place, "compaction", "harness", "user", "harness")),
    again: (place) => orDone(["nothing_to_withdraw"], () => withdrawal(place)),
  },
  {
    name: "fork",
    prepare: (place) => twoRuns(place),
    act: fork,
    after: assertFork,
    again: async (place) => {
      await orDone(["session_exists"], () => fork(place));
      await assertFork(place);
    },
  },
  {
    name: "repair of a damaged turn",
    isDamaged: true,
    prepare: async (place) => {
      await twoRuns(place);
      Deno.writeTextFileSync(turnPath(pathsOf(place), 4), TORN);
    },
    act: repairAll,
    after: (place) => assertRepaired(place, TORN),
    again: async (place) => {
      await repairAll(place);
      await assertRepaired(place, TORN);
    },
  },
  {
    name: "repair of a gap",
    isDamaged: true,
    prepare: async (place) => {
      await twoRuns(place);
      const paths = pathsOf(place);
      Deno.removeSync(turnPath(paths, 4));
      Deno.removeSync(turnPath(paths, 5));
      Deno.writeTextFileSync(paths.manifest, "{");
    },
    act: repairAll,
    after: (place) => assertRepaired(place, null),
    again: async (place) => {
      await repairAll(place);
      await assertRepaired(place, null);
    },
  },
  {
    name: "repair of many damages",
    isDamaged: true,
    prepare: async (place) => {
      await twoRuns(place);
      const paths = pathsOf(place);
      const [fourth, fifth] = [4, 5].map((turn) => Deno.readFileSync(turnPath(paths, turn)));
      Deno.writeFileSync(turnPath(paths, 4), fifth as Uint8Array);
      Deno.writeFileSync(turnPath(paths, 5), fourth as Uint8Array);
      Deno.renameSync(turnPath(paths, 7), turnPath(paths, 12));
      Deno.writeTextFileSync(turnPath(paths, 9), TORN);
      Deno.writeTextFileSync(`${paths.blobs}/${"a".repeat(64)}`, "unused", { mode: 0o600 });
      Deno.chmodSync(paths.turns, 0o755);
      Deno.removeSync(paths.manifest);
    },
    act: repairAll,
    after: (place) => assertRepaired(place, TORN),
    again: async (place) => {
      await repairAll(place);
      await assertRepaired(place, TORN);
    },
  },
  {
    name: "import",
    prepare: async (place) => {
      await twoRuns(place);
      const { chunks } = exportSession(place.ports, homeOf(place), { id: ID, redact: false });
      using file = Deno.openSync(exportPath(place), { write: true, create: true });
      for (const chunk of chunks) file.writeSync(chunk);
      Deno.removeSync(pathsOf(place).root, { recursive: true });
    },
    act: importAgain,
    after: (place) => Promise.resolve(assertEnd(place, "user", "model", "tools", "model", "harness")),
    again: (place) => orDone(["session_exists"], () => importAgain(place)),
  },
  {
    name: "manifest replacement",
    prepare: async (place) => {
      await twoRuns(place);
      Deno.writeTextFileSync(pathsOf(place).manifest, "{");
    },
    act: async (place) =>
      await withWriter(open(place), (writer) => {
        for (let turns = 0; turns < 6; turns++) place.acknowledge(appendNext(writer));
      }),
    after: (place) => Promise.resolve(assertEnd(place, "user", "harness")),
    again: goOn,
  },
  {
    name: "rm",
    prepare: (place) => twoRuns(place),
    act: async (place) => await removeSession(place.ports, homeOf(place), ID),
    after: (place) => Promise.resolve(assert.equal(place.ports.files.facts(pathsOf(place).root), null)),
    again: (place) => orDone(["no_such_session"], () => removeSession(place.ports, homeOf(place), ID)),
  },
  {
    name: "gc",
    prepare: async (place) => {
      await twoRuns(place);
      leaveRubbish(place);
    },
    act: collect,
    after: async (place) => {
      const { removed } = await collectGarbage(place.ports, homeOf(place), { dryRun: true });
      assert.deepEqual(removed, []);
    },
    again: collect,
  },
];

/** The scenario of that name. */
export function scenarioOf(name: string): Scenario {
  const found = SCENARIOS.find((scenario) => scenario.name === name);
  if (found === undefined) throw new Error(`Unknown scenario ${name}`);
  return found;
}
