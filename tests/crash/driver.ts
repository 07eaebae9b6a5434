/**
 * A small program around the store for the crash tests: it says `saved <turn> <sum>` on stdout after each turn
 * that was acknowledged, and can be made wrong in one way, so that the tests are seen to notice.
 *
 * Usage: driver.ts act HOME SCENARIO [MUTANT], or driver.ts MODE HOME [COUNT]
 *
 * @module
 */
import type { Files, Ports } from "../../src/domain/ports.ts";
import type { Turn } from "../../src/domain/turn.ts";
import { RepriseError } from "../../src/domain/errors.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { openHome } from "../../src/store/home.ts";
import { SessionWriter } from "../../src/store/write/writer.ts";
import { NAIVE } from "./naive.ts";
import { scenarioOf } from "./scenarios.ts";
import { appendNext, ID, testPorts } from "./sessions.ts";

const encoder = new TextEncoder();
const [mode, homePath, option = "", mutant = ""] = Deno.args as [string, string, string?, string?];

function say(line: string): void {
  Deno.stdout.writeSync(encoder.encode(`${line}\n`));
}

function acknowledge(turn: Turn): void {
  if (mutant !== "early-acknowledgement") say(`saved ${turn.turn} ${turn.sum}`);
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
    syncFiles: (paths) => denoFiles.syncFiles(paths.filter((path) => !path.includes(`/${which}s/`))),
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

function portsFor(mutant: string): Ports {
  if (mutant === "") return testPorts();
  return testPorts(mutant === "early-acknowledgement" ? withEarlyAcknowledgement() : withoutSync(mutant));
}

/** One of the operations of scenarios.ts. */
async function act(ports: Ports, name: string): Promise<void> {
  await scenarioOf(name).act({ ports, home: homePath, acknowledge });
  if (mutant !== "early-acknowledgement") say("done");
}

/** Opens the session, appends one turn, closes it; `count` times, starting over when another writer was first. */
async function loop(ports: Ports, count: number): Promise<void> {
  const home = openHome(ports, homePath);
  for (let appended = 0; appended < count;) {
    let writer: SessionWriter | null = null;
    try {
      writer = await SessionWriter.open(ports, home, { id: ID, waitMs: 60_000 });
      const turn = appendNext(writer);
      say(`saved ${turn.turn} ${turn.sum}`);
      appended++;
    } catch (error) {
      if (!(error instanceof RepriseError)) throw error;
      say(`refused ${error.code}`);
    } finally {
      writer?.close();
    }
  }
}

/** Makes every lock free for everybody, as on a file system that does not honour them. */
function forgetLocks(): void {
  Deno.FsFile.prototype.tryLockSync = () => true;
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
  case "act":
    await act(portsFor(mutant), option);
    break;
  case "naive":
    await NAIVE[option]?.({ ports: testPorts(), home: homePath, acknowledge });
    say("done");
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
