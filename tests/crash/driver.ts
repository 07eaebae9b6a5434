/**
 * A small program around the store for the crash tests: it says `saved <turn> <sum>` on stdout after each turn
 * that was acknowledged, and can be made wrong in one way, so that the tests are seen to notice.
 *
 * Usage: driver.ts MODE HOME [MUTANT | COUNT]
 *
 * @module
 */
import { parseSessionId } from "../../src/domain/ids.ts";
import type { Files, Ports } from "../../src/domain/ports.ts";
import { encodeTurn, type Turn, type TurnDraft, turnFileName } from "../../src/domain/turn.ts";
import { ReprError } from "../../src/domain/errors.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { openHome } from "../../src/store/home.ts";
import { readSession } from "../../src/store/read.ts";
import { SessionWriter } from "../../src/store/writer.ts";
import {
  appendRun,
  call,
  endDraft,
  modelDraft,
  pinsFor,
  putPinned,
  result,
  testPorts,
  userDraft,
} from "../store/support.ts";

const ID = parseSessionId("crash");
const encoder = new TextEncoder();
const [mode, homePath, option] = Deno.args as [string, string, string | undefined];

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(`${line}\n`));
}

function acknowledge(turn: Turn): void {
  if (option !== "early-acknowledgement") say(`saved ${turn.turn} ${turn.sum}`);
}

/** The real files without one of the fsyncs: `turn`, `blob`, or the last part of a directory's path. */
function withoutSync(which: string): Files {
  return {
    ...denoFiles,
    createExclusive(path, mode) {
      const file = denoFiles.createExclusive(path, mode);
      let kind = "";
      return {
        ...file,
        write(bytes) {
          if (kind === "") {
            kind = new TextDecoder().decode(bytes.subarray(0, 25)).includes("reprise.turn") ? "turn" : "blob";
          }
          return file.write(bytes);
        },
        sync() {
          if (kind !== which) file.sync();
        },
      };
    },
    syncDirectory(path) {
      if (`/${path}`.endsWith(`/${which}`)) return;
      denoFiles.syncDirectory(path);
    },
  };
}

/** The real files, with each turn acknowledged as soon as it has its number: before the fsync of `turns/`. */
function withEarlyAcknowledgement(): Files {
  return {
    ...denoFiles,
    link(from, to) {
      denoFiles.link(from, to);
      const turn = /turns\/(\d+)\.json$/.exec(to)?.[1];
      if (turn !== undefined) say(`saved ${Number(turn)} ${JSON.parse(Deno.readTextFileSync(to)).sum}`);
    },
  };
}

function portsFor(mutant: string | undefined): Ports {
  if (mutant === undefined || mutant === "") return testPorts();
  return testPorts({
    files: mutant === "early-acknowledgement" ? withEarlyAcknowledgement() : withoutSync(mutant),
  });
}

/** A first run, cut off after its tool results: four directories, three blobs, three turns. */
async function first(ports: Ports): Promise<void> {
  const home = openHome(ports, homePath, { create: true });
  const writer = await SessionWriter.create(ports, home, { id: ID });
  putPinned(writer);
  acknowledge(writer.append(userDraft("hello")));
  appendCallAndResult(writer, 1);
  writer.close();
}

/** The next run of a session that `prepare` made, cut off after its tool results. */
async function next(ports: Ports): Promise<void> {
  const writer = await SessionWriter.open(ports, openHome(ports, homePath), { id: ID });
  acknowledge(writer.append(userDraft("go on", 2)));
  appendCallAndResult(writer, 2);
  writer.close();
}

function appendCallAndResult(writer: SessionWriter, run: number): void {
  const model = writer.append(modelDraft([call("call_a")], run));
  acknowledge(model);
  const blob = writer.putBlob(encoder.encode(`a large output of run ${run}`));
  const event = { ...result("call_a", model.seq[0]), blob };
  acknowledge(writer.append({ kind: "tools", run, events: [event] }));
}

/** A closed session of five turns. */
async function prepare(ports: Ports): Promise<void> {
  const writer = await SessionWriter.create(ports, openHome(ports, homePath, { create: true }), { id: ID });
  putPinned(writer);
  appendRun(writer);
  writer.close();
}

/** What a writer without a protocol does: the final file, in place. */
function naive(ports: Ports): void {
  const { path, turns } = readSession(ports, openHome(ports, homePath), ID);
  const last = turns.at(-1) as Turn;
  const encoded = encodeTurn(userDraft("go on", 2), {
    session: ID,
    turn: last.turn + 1,
    firstSeq: last.seq[1] + 1,
    prev: last.sum,
    at: last.at,
  });
  Deno.writeFileSync(`${path}/turns/${turnFileName(last.turn + 1)}`, encoded.bytes, { mode: 0o600 });
  acknowledge(encoded.turn);
}

/** Opens the session, appends one turn, closes it; `count` times, starting over when another writer was first. */
async function loop(ports: Ports, count: number): Promise<void> {
  const home = openHome(ports, homePath);
  for (let appended = 0; appended < count;) {
    let writer: SessionWriter | null = null;
    try {
      writer = await SessionWriter.open(ports, home, { id: ID, waitMs: 60_000 });
      const { run, runEnded } = writer.end;
      const draft: TurnDraft = runEnded
        ? { ...userDraft("go on", run + 1), pins: pinsFor() } as TurnDraft
        : endDraft(run);
      const turn = writer.append(draft);
      say(`saved ${turn.turn} ${turn.sum}`);
      appended++;
    } catch (error) {
      if (!(error instanceof ReprError)) throw error;
      say(`refused ${error.code}`);
    } finally {
      writer?.close();
    }
  }
}

/** Makes every lock free for everybody, as on a file system that does not honour them. */
function forgetLocks(): void {
  Object.assign(Deno.FsFile.prototype, { tryLockSync: () => true, lock: () => Promise.resolve() });
}

/** A call that fails and that a trace shows: what comes before it is the runtime's own start. */
function mark(): void {
  try {
    Deno.renameSync("/crash-driver-begins", "/crash-driver-began");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

mark();
switch (mode) {
  case "first":
    await first(portsFor(option));
    break;
  case "next":
    await next(portsFor(option));
    break;
  case "prepare":
    await prepare(testPorts());
    break;
  case "naive":
    naive(testPorts());
    break;
  case "loop":
    await loop(testPorts(), Number(option));
    break;
  case "loop-without-lock":
    forgetLocks();
    await loop(testPorts(), Number(option));
    break;
  default:
    throw new Error(`Unknown mode ${mode}`);
}
