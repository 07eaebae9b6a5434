/** The session that the operations of scenarios.ts change: creates and continues it. */
import assert from "node:assert/strict";
import type { EventDraft } from "../../src/domain/event.ts";
import { parseSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { Ports } from "../../src/domain/ports.ts";
import type { Turn, TurnDraft } from "../../src/domain/turn.ts";
import { type Home, openHome } from "../../src/store/home.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import {
  answer,
  call,
  endDraft,
  modelDraft,
  putPinned,
  reasoning,
  result,
  testPorts,
  userDraft,
} from "./drafts.ts";

/** The session that everything is done to. */
export const ID: SessionId = parseSessionId("crash");

/** Place of an operation, with a callback for the parts of it that are durable. */
export interface Place {
  readonly ports: Ports;
  /** The path of the home. Other input of an operation is beside it. */
  readonly home: string;
  /** Called for each turn once it is durable. */
  readonly acknowledge: (turn: Turn) => void;
}

/** A place for an operation in this process, on the real disk, without reports. */
export function quietPlace(home: string): Place {
  return { ports: testPorts(), home, acknowledge: () => {} };
}

const encoder = new TextEncoder();

/** The home, made where it is missing. */
export function homeOf({ ports, home }: Place): Home {
  return openHome(ports, home, { create: true });
}

/** Opens the session for writing. */
export function open(place: Place): Promise<SessionWriter> {
  return SessionWriter.open(place.ports, homeOf(place), { id: ID });
}

/** Runs `body` with a writer, and closes it. */
export async function withWriter(opened: Promise<SessionWriter>, body: (writer: SessionWriter) => void) {
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

/** The result of the call with that seq, and its blob. */
export function resultWithBlob(
  writer: SessionWriter,
  { run, seq }: { readonly run: number; readonly seq: number },
  acknowledge: (turn: Turn) => void,
): void {
  const blob = writer.putBlob(encoder.encode(`a large output of run ${run}`));
  const event = { ...result(`call_${run}`, seq), blob } as EventDraft;
  acknowledge(writer.append({ kind: "tools", run, events: [event] }));
}

/** The permission of the call of run 3. */
export function decisionDraft(seq: number): TurnDraft {
  const decision = {
    call_id: "call_3",
    call_seq: seq,
    tool: "shell",
    decision: "allowed",
    reason: "allowed_by_rule",
  };
  return { kind: "harness", run: 3, events: [{ type: "permission_decision", ...decision } as EventDraft] };
}

/** A whole run: five turns and a blob. */
export function wholeRun(
  writer: SessionWriter,
  run: number,
  acknowledge: (turn: Turn) => void = () => {},
): void {
  acknowledge(writer.append(userDraft(`prompt ${run} ${"with some words ".repeat(40)}`, run)));
  callWithBlob(writer, run, acknowledge);
  acknowledge(writer.append(modelDraft([reasoning(`rs_end_${run}`), answer("Done.")], run)));
  acknowledge(writer.append(endDraft(run)));
}

/** A closed session of two runs: ten turns, four blobs. */
export async function twoRuns(place: Place, more: (writer: SessionWriter) => void = () => {}): Promise<void> {
  await withWriter(SessionWriter.create(place.ports, homeOf(place), { id: ID }), (writer) => {
    putPinned(writer);
    wholeRun(writer, 1);
    wholeRun(writer, 2);
    more(writer);
  });
}

/** A closed session of one run: five turns. */
export async function prepare(home: string): Promise<void> {
  const place = quietPlace(home);
  await withWriter(SessionWriter.create(place.ports, homeOf(place), { id: ID }), (writer) => {
    putPinned(writer);
    wholeRun(writer, 1);
  });
}

/** Opens the session, or starts it again if it has no turn, and adds a turn; ends the run that was cut short. */
export async function goOn(place: Place): Promise<void> {
  const begun = place.ports.files.facts(turnPath(pathsOf(place), 1)) !== null;
  const opened = begun ? open(place) : SessionWriter.create(place.ports, homeOf(place), { id: ID });
  await withWriter(opened, (writer) => {
    putPinned(writer);
    if (!writer.end.runEnded) writer.append(endDraft(writer.end.run));
    writer.append(userDraft("after the crash", writer.end.run + 1));
    writer.append(endDraft(writer.end.run));
  });
}

/** The paths of the session that everything is done to. */
export function pathsOf(place: Place): SessionPaths {
  return sessionPaths(`${place.home}/sessions`, ID);
}

/** The turns have these kinds at their end. */
export function assertEnd(place: Place, ...kinds: readonly Turn["kind"][]): void {
  const { turns } = readSession(place.ports, homeOf(place), ID);
  assert.deepEqual(turns.slice(-kinds.length).map(({ kind }) => kind), kinds);
}
