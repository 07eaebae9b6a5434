/** The session that the operations of scenarios.ts change: creates and continues it. */
import assert from "node:assert/strict";
import { parseSessionId, type SessionId } from "../../src/domain/ids.ts";
import type { Files, Ports } from "../../src/domain/ports.ts";
import type { Turn, TurnDraft } from "../../src/domain/turn.ts";
import { denoFiles, hasOpenFile, processIdentity } from "../../src/store/deno_files.ts";
import { type Home, openHome } from "../../src/store/home.ts";
import { type SessionPaths, sessionPaths, turnPath } from "../../src/store/layout.ts";
import { readSession } from "../../src/store/read/session.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import * as given from "../doors/sessions/session_files.ts";

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

/** Ports on the real disk, or on these files. */
export function testPorts(files: Files = denoFiles): Ports {
  return {
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
    },
    random: () => Math.random(),
    env: () => undefined,
    process: {
      ...{ pid: Deno.pid, host: "test-host", user: Deno.uid() },
      ...{ identityOf: processIdentity, hasOpen: hasOpenFile },
    },
    files,
    fetch: globalThis.fetch,
    workingDirectory: () => Deno.cwd(),
    workspacePin: (directory) => directory,
  };
}

/** A place for an operation in this process, on the real disk, without reports. */
export function quietPlace(home: string): Place {
  return { ports: testPorts(), home, acknowledge: () => {} };
}

/** The home, made where it is missing. */
export function homeOf({ ports, home }: Place): Home {
  return openHome(ports, home, { create: true });
}

/** Opens the session for writing. */
export function open(place: Place): Promise<SessionWriter> {
  return SessionWriter.open(place.ports, homeOf(place), { id: ID });
}

/** Creates the session. */
export function create(place: Place): Promise<SessionWriter> {
  return SessionWriter.create(place.ports, homeOf(place), { id: ID });
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

/** The five turns of a run in a session of such runs. */
export function wholeRun(run: number): given.GivenTurn[] {
  return [
    given.user(`prompt ${run} ${"with some words ".repeat(40)}`, run),
    given.model([given.reasoning(`rs_${run}`), given.call(`call_${run}`)], run),
    // A run has nine events.
    given.results({ [`call_${run}`]: 9 * run - 6 }, run),
    given.model([given.reasoning(`rs_end_${run}`), given.message("msg_1", "Done.")], run),
    given.ended(run),
  ];
}

const outputOf = (run = 1) => `a large output of run ${run}`;

/** Appends a turn; before the first one, the blobs of its pins. The result of a call gets a blob. */
export function append(writer: SessionWriter, turn: given.GivenTurn): Turn {
  const put = (text: string) => writer.putBlob(new TextEncoder().encode(text));
  if (writer.end.turn === 0) { for (const text of [given.INSTRUCTIONS, given.TOOLS]) put(text); }
  const blob = turn.kind === "tools" ? { blob: put(outputOf(turn.run)) } : {};
  const events = turn.events.map((event) => ({ ...event, ...blob }));
  return writer.append({ ...turn, events } as unknown as TurnDraft);
}

/** Ends the open run, or opens the next one. */
export function appendNext(writer: SessionWriter): Turn {
  const { run, runEnded } = writer.end;
  return append(writer, runEnded ? given.user("go on", run + 1) : given.ended(run));
}

/** Writes a session of closed runs of five turns, each with a blob if there is content for it, and the turns after them. */
export function writeRuns(
  home: string,
  runs: number,
  more: readonly given.GivenTurn[] = [],
  contentOf: (run: number) => string | null = outputOf,
): void {
  const [first, ...others] = Array.from({ length: runs }, (_, index) => index + 1).flatMap((run) =>
    wholeRun(run)
  );
  const session = new given.SessionFiles(home, ID, [first as given.GivenTurn]);
  for (const { run = 1, events, ...turn } of [...others, ...more]) {
    const content = turn.kind === "tools" ? contentOf(run) : null;
    const blob = content === null ? {} : { blob: { sha256: session.blob(content), bytes: content.length } };
    session.add({ ...turn, run, events: events.map((event) => ({ ...event, ...blob })) });
  }
  session.writeManifest();
}

/** Opens the session, or starts it again if it has no turn, and adds a turn; ends the run that was cut short. */
export async function goOn(place: Place): Promise<void> {
  const begun = place.ports.files.facts(turnPath(pathsOf(place), 1)) !== null;
  await withWriter(begun ? open(place) : create(place), (writer) => {
    if (!writer.end.runEnded) appendNext(writer);
    for (let turns = 0; turns < 2; turns++) appendNext(writer);
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
