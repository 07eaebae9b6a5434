/**
 * What is done to a session while it is killed, and while its disk fails: one list for both, and for the check of
 * the order of system calls.
 *
 * @module
 */
import assert from "node:assert/strict";
import { deterministicText } from "../../src/compaction/deterministic.ts";
import { planOf, scopeOf } from "../../src/compaction/plan.ts";
import { latestCheckpoint } from "../../src/compaction/withdraw.ts";
import { asReprError, type ErrorCode, ReprError } from "../../src/domain/errors.ts";
import { NO_USAGE } from "../../src/domain/event.ts";
import { parseSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { Ports } from "../../src/domain/ports.ts";
import type { Turn } from "../../src/domain/turn.ts";
import { checkpointDraft } from "../../src/run/checkpoint.ts";
import { chunksOf } from "../../src/store/chunks.ts";
import { exportSession } from "../../src/store/export.ts";
import { forkSession, planFork } from "../../src/store/fork.ts";
import { fsckSession } from "../../src/store/fsck.ts";
import { collectGarbage } from "../../src/store/gc.ts";
import { type Home, openHome } from "../../src/store/home.ts";
import { importSession } from "../../src/store/import.ts";
import { sessionPaths, turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read.ts";
import { removeSession } from "../../src/store/remove.ts";
import { repairSession } from "../../src/store/repair.ts";
import { SessionWriter } from "../../src/store/writer.ts";
import {
  answer,
  call,
  endDraft,
  modelDraft,
  pinsFor,
  putPinned,
  reasoning,
  result,
  userDraft,
} from "../store/support.ts";

/** The session that everything is done to. */
export const ID: SessionId = parseSessionId("crash");
const FORK: SessionId = parseSessionId("crash-fork");

/** Where an operation is done, and who is told what of it is durable. */
export interface Place {
  readonly ports: Ports;
  /** The path of the home. What else an operation reads lies beside it. */
  readonly home: string;
  /** Called for each turn once it is durable. */
  readonly acknowledge: (turn: Turn) => void;
}

/** One operation. When `act` returns, it is done and durable. */
export interface Scenario {
  readonly name: string;
  /** Makes what is there before it. */
  readonly prepare: (place: Place) => Promise<void>;
  readonly act: (place: Place) => Promise<void>;
  /** What has to hold once it is done; throws where it does not. */
  readonly after: (place: Place) => Promise<void>;
  /** Tries again after it was cut short at any point, however far it had come. */
  readonly again: (place: Place) => Promise<void>;
  /** True where the session is damaged before, so that nothing can be asked of it until it is repaired. */
  readonly isDamaged?: true;
}

const encoder = new TextEncoder();

function homeOf({ ports, home }: Place): Home {
  return openHome(ports, home, { create: true });
}

function open(place: Place): Promise<SessionWriter> {
  return SessionWriter.open(place.ports, homeOf(place), { id: ID });
}

/** Runs `body` with a writer, and closes it. */
async function withWriter(opened: Promise<SessionWriter>, body: (writer: SessionWriter) => void) {
  const writer = await opened;
  try {
    body(writer);
  } finally {
    writer.close();
  }
}

/** A response with one call, and its result with a blob. */
function callWithBlob(writer: SessionWriter, run: number, acknowledge: (turn: Turn) => void): void {
  const model = writer.append(modelDraft([reasoning(`rs_${run}`), call(`call_${run}`)], run));
  acknowledge(model);
  resultWithBlob(writer, { run, seq: model.seq[0] + 1 }, acknowledge);
}

function resultWithBlob(
  writer: SessionWriter,
  { run, seq }: { readonly run: number; readonly seq: number },
  acknowledge: (turn: Turn) => void,
): void {
  const blob = writer.putBlob(encoder.encode(`a large output of run ${run}`));
  acknowledge(writer.append({ kind: "tools", run, events: [{ ...result(`call_${run}`, seq), blob }] }));
}

/** A whole run: five turns and a blob. */
function wholeRun(writer: SessionWriter, run: number): void {
  writer.append(userDraft(`prompt ${run} ${"with some words ".repeat(40)}`, run));
  callWithBlob(writer, run, () => {});
  writer.append(modelDraft([reasoning(`rs_end_${run}`), answer("Done.")], run));
  writer.append(endDraft(run));
}

/** A closed session of two runs: ten turns, four blobs. */
async function twoRuns(place: Place, more: (writer: SessionWriter) => void = () => {}): Promise<void> {
  await withWriter(SessionWriter.create(place.ports, homeOf(place), { id: ID }), (writer) => {
    putPinned(writer);
    wholeRun(writer, 1);
    wholeRun(writer, 2);
    more(writer);
  });
}

/** Opens the session, or starts it anew where it has no turn, and adds a turn; ends the run that was cut short. */
async function goOn(place: Place): Promise<void> {
  const begun = place.ports.files.facts(turnPath(pathsOf(place), 1)) !== null;
  const opened = begun ? open(place) : SessionWriter.create(place.ports, homeOf(place), { id: ID });
  await withWriter(opened, (writer) => {
    putPinned(writer);
    if (!writer.end.runEnded) writer.append(endDraft(writer.end.run));
    writer.append(userDraft("after the crash", writer.end.run + 1));
    writer.append(endDraft(writer.end.run));
  });
}

function pathsOf(place: Place) {
  return sessionPaths(`${place.home}/sessions`, ID);
}

/** The turns have these kinds at their end. */
function assertEnd(place: Place, ...kinds: readonly Turn["kind"][]): void {
  const { turns } = readSession(place.ports, homeOf(place), ID);
  assert.deepEqual(turns.slice(-kinds.length).map(({ kind }) => kind), kinds);
}

/** Does it again; one of these errors says that it had been done. */
async function orDone(codes: readonly ErrorCode[], again: () => Promise<unknown>): Promise<void> {
  try {
    await again();
  } catch (error) {
    if (!(error instanceof ReprError && codes.includes(error.code))) throw error;
  }
}

const TARGET = { fingerprint: pinsFor().fingerprint, model: pinsFor().model, replay: "exact" } as const;

function writeCheckpoint(writer: SessionWriter): Turn {
  const turns = writer.allTurns();
  const scope = scopeOf(turns, { tailEvents: 4, target: TARGET });
  const text = deterministicText(turns, scope);
  const made = { scope, text, plan: planOf(turns, scope, { text, target: TARGET }) };
  return writer.append(checkpointDraft(turns, made, { run: writer.end.run, pins: pinsFor() }));
}

async function compact(place: Place): Promise<void> {
  await withWriter(open(place), (writer) => place.acknowledge(writeCheckpoint(writer)));
}

async function uncompact(place: Place): Promise<void> {
  await withWriter(open(place), (writer) => {
    const latest = latestCheckpoint(writer.allTurns());
    if (latest === null) throw new ReprError("nothing_to_withdraw", "There is no checkpoint");
    const { checkpoint, restored } = latest;
    const event = { type: "compaction_withdrawn", checkpoint: checkpoint.seq, restored } as const;
    place.acknowledge(writer.append({ kind: "harness", run: writer.end.run, events: [event] }));
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

/** Nothing is left to repair, and what lay in the place of turn 4 is kept. */
async function assertRepaired(place: Place, kept: string | null): Promise<void> {
  const home = homeOf(place);
  const { findings } = await fsckSession(place.ports, home, ID);
  assert.deepEqual(findings.filter(({ severity }) => severity !== "info"), []);
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

async function collect(place: Place): Promise<void> {
  const { skipped } = await collectGarbage(place.ports, homeOf(place), { dryRun: false });
  const [first] = skipped;
  if (first !== undefined) throw new ReprError(first.code, first.why);
}

/** What a kill leaves of a session that was begun, and of one that was half made or half removed. */
function leaveRubbish(place: Place): void {
  const paths = pathsOf(place);
  Deno.writeFileSync(`${paths.blobs}/${"a".repeat(64)}`, encoder.encode("nobody's"), { mode: 0o600 });
  Deno.writeFileSync(`${paths.root}/.tmp-1-abc`, encoder.encode("half"), { mode: 0o600 });
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
      await withWriter(SessionWriter.create(place.ports, homeOf(place), { id: ID }), (writer) => {
        putPinned(writer);
        place.acknowledge(writer.append(userDraft("hello")));
        callWithBlob(writer, 1, place.acknowledge);
      });
    },
    after: (place) => Promise.resolve(assertEnd(place, "user", "model", "tools")),
    again: goOn,
  },
  {
    name: "append",
    prepare: twoRuns,
    act: (place) =>
      withWriter(open(place), (writer) => {
        place.acknowledge(writer.append(userDraft("go on", 3)));
        place.acknowledge(writer.append(modelDraft([answer("Done.")], 3)));
        place.acknowledge(writer.append(endDraft(3)));
      }),
    after: (place) => Promise.resolve(assertEnd(place, "user", "model", "harness")),
    again: goOn,
  },
  {
    name: "tools turn",
    prepare: (place) =>
      twoRuns(place, (writer) => {
        writer.append(userDraft("go on", 3));
        writer.append(modelDraft([call("call_3")], 3));
      }),
    act: (place) =>
      withWriter(open(place), (writer) => {
        const seq = writer.openCalls()[0]?.seq ?? 0;
        resultWithBlob(writer, { run: 3, seq }, place.acknowledge);
      }),
    after: (place) => Promise.resolve(assertEnd(place, "model", "tools")),
    again: goOn,
  },
  {
    name: "compaction",
    prepare: twoRuns,
    act: compact,
    after: (place) => Promise.resolve(assertEnd(place, "harness", "compaction")),
    again: (place) => orDone(["nothing_to_compact"], () => compact(place)),
  },
  {
    name: "uncompact",
    prepare: (place) => twoRuns(place, (writer) => void writeCheckpoint(writer)),
    act: uncompact,
    after: (place) => Promise.resolve(assertEnd(place, "compaction", "harness")),
    again: (place) => orDone(["nothing_to_withdraw"], () => uncompact(place)),
  },
  {
    name: "fork",
    prepare: twoRuns,
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
    act: (place) =>
      withWriter(open(place), (writer) => {
        for (const run of [3, 4, 5]) {
          place.acknowledge(writer.append(userDraft("go on", run)));
          place.acknowledge(writer.append(endDraft(run)));
        }
      }),
    after: (place) => Promise.resolve(assertEnd(place, "user", "harness")),
    again: goOn,
  },
  {
    name: "rm",
    prepare: twoRuns,
    act: (place) => removeSession(place.ports, homeOf(place), ID),
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
  if (found === undefined) throw asReprError(new Error(`Unknown scenario ${name}`));
  return found;
}

/**
 * What is wrong after an operation was cut short: torn or missing turns, lost acknowledged ones, half a session in
 * view, a second try that fails, anything left behind.
 */
export async function wrongAfter(
  scenario: Scenario,
  place: Place,
  told: { readonly saved: ReadonlyMap<number, string>; readonly done: boolean },
): Promise<string[]> {
  const wrong: string[] = [];
  const look = async (what: string, body: () => Promise<void>) => {
    try {
      await body();
    } catch (error) {
      wrong.push(`${what}: ${error instanceof Error ? error.message : error}`);
    }
  };
  await look("before the second try", async () => {
    if (scenario.isDamaged !== true || told.done) await assertSound(place);
    assertSaved(place, told.saved);
    if (told.done) await scenario.after(place);
  });
  await look("the second try", () => scenario.again(place));
  await look("after the second try", async () => {
    await assertSound(place);
    assertSaved(place, told.saved);
    await collect(place);
    const names = place.ports.files.list(`${place.home}/sessions`);
    assert.deepEqual(names.filter((name) => name.startsWith(".")), [], "hidden directories are left");
    await assertSound(place);
  });
  return wrong;
}

/** Every session in view is whole, or has no turn yet. */
async function assertSound(place: Place): Promise<void> {
  const { ports } = place;
  const home = homeOf(place);
  for (const id of ports.files.list(home.sessions).filter((name) => !name.startsWith("."))) {
    const paths = sessionPaths(home.sessions, id as SessionId);
    const named = [paths.turns, paths.manifest].filter((path) => ports.files.facts(path) !== null);
    if (named.length === 0 || !named.includes(paths.manifest) && ports.files.list(paths.turns).length === 0) {
      continue;
    }
    const { findings } = await fsckSession(ports, home, id as SessionId);
    const errors = findings.filter(({ severity }) => severity === "error");
    assert.deepEqual(errors.map(({ code, path }) => `${code} ${path}`), [], id);
    readSession(ports, home, id as SessionId);
  }
}

function assertSaved(place: Place, saved: ReadonlyMap<number, string>): void {
  for (const [turn, sum] of saved) {
    const path = turnPath(pathsOf(place), turn);
    const there = place.ports.files.facts(path) !== null &&
      Deno.readTextFileSync(path).endsWith(`"${sum}"}\n`);
    assert.ok(there, `acknowledged turn ${turn} is not there`);
  }
}
