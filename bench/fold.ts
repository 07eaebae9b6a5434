/**
 * Opening and folding a long session against reading its files, and which part of the work takes how much of it.
 *
 * @module
 */
import { livePorts } from "../src/cli/live_ports.ts";
import { foldNeedsOf } from "../src/apis/apis.ts";
import { checkSeal } from "../src/domain/seal.ts";
import type { Turn } from "../src/domain/turn.ts";
import { foldHistory } from "../src/fold/fold.ts";
import type { Folded } from "../src/fold/history_fold.ts";
import { HistoryValidator } from "../src/store/read/validate.ts";
import { openHome } from "../src/store/home.ts";
import { readSession, readSessionTail } from "../src/store/read/session.ts";
import { BRIEF_BYTES, readSafely } from "../src/store/read/safe_open.ts";
import { isTooDeep } from "../src/domain/json_depth.ts";
import { MAX_TURN_BYTES } from "../src/store/read/turn_file.ts";
import { judgeTurn } from "../src/store/read/turn.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { hasProgram, syncDisk, timeProgram } from "./programs.ts";
import { type Report, type Row, timeRow } from "./report.ts";
import { type BenchSession, FINGERPRINT, ID, makeSession, MODEL } from "./session.ts";
import { type Candidate, interleave, timed } from "./timing.ts";

const TARGET = {
  fingerprint: FINGERPRINT,
  needs: foldNeedsOf(FINGERPRINT.provider),
  model: MODEL,
  replay: "exact",
} as const;

/** Turns after the checkpoint, and those of the session to compare with. */
const TAIL = 50;
/** Times that these are opened in one measurement: a single opening is too short to measure. */
const BATCH = 10;

/** Measures `readSession` with `foldHistory`, and `readSessionTail` where a checkpoint saves most of it. */
export const foldBench: Bench = async (context) => {
  const checkpoint = await checkpointRow(context);
  const turns = sized(context, { full: 10_000, quick: 1000 });
  const rounds = sized(context, { full: 15, quick: 5 });
  const session = await makeSession(`${context.workDirectory}/fold`, turns);
  const times = await interleave({
    whole: { measure: () => timed(() => openAndFold(session.homePath)) },
    loop: { measure: () => timed(() => readAll(session)) },
    cat: hasProgram("cat") ? { measure: () => timeCat(session) } : null,
  }, { rounds, warmups: 2 });
  // By themselves: what the parts hold in memory makes everything beside them slower.
  const parts = partsOf(session);
  const partTimes = await interleave({
    whole: { measure: () => timed(() => openAndFold(session.homePath)) },
    ...parts,
  }, {
    rounds,
  });
  const count = turns.toLocaleString("en");
  const name = `open and fold ${count} turns`;
  const whole = { name, times: times.whole };
  const target = { bound: "at_most", value: 1.5 } as const;
  return {
    rows: [
      times.cat.length > 0
        ? timeRow({ ...whole, against: "the process cat", againstTimes: times.cat, target })
        : { name, skipped: "no cat" },
      timeRow({ ...whole, against: "readFileSync in a loop", againstTimes: times.loop, detail: true }),
      ...(Object.keys(parts) as (keyof typeof parts)[]).map((part) =>
        timeRow({
          name: part,
          detail: true,
          against: "the whole",
          times: partTimes[part],
          againstTimes: partTimes.whole,
        })
      ),
      checkpoint,
    ],
    notes: [
      `${rounds} rounds in one process; ${
        (session.bytes / turns / 1024).toFixed(2)
      } KB a turn, files in the cache.`,
    ],
  } satisfies Report;
};

async function checkpointRow(context: BenchContext): Promise<Row> {
  const turns = sized(context, { full: 100_000, quick: 500 });
  const rounds = sized(context, { full: 41, quick: 3 });
  const long = await makeSession(`${context.workDirectory}/checkpoint`, turns, { tail: TAIL });
  const short = await makeSession(`${context.workDirectory}/no-checkpoint`, TAIL);
  syncDisk();
  const opening = ({ homePath }: BenchSession): Candidate => ({
    measure: () =>
      timed(() => {
        for (let left = BATCH; left > 0; left--) openAndFold(homePath, readSessionTail);
      }) / BATCH,
  });
  const times = await interleave({ long: opening(long), short: opening(short) }, { rounds, warmups: 5 });
  return timeRow({
    name: `open and fold ${turns.toLocaleString("en")} turns with a checkpoint, ${TAIL} after it`,
    against: `a session of ${TAIL} turns`,
    times: times.long,
    againstTimes: times.short,
    target: { bound: "at_most", value: 1.3 },
  });
}

/** Opens the session in a home and folds it; the entries are what the next request sends. */
export function openAndFold(homePath: string, read = readSession): Folded {
  const ports = livePorts();
  const { turns } = read(ports, openHome(ports, homePath), ID);
  return foldHistory(turns, TARGET);
}

function readAll({ turnsPath, files }: BenchSession): void {
  for (const file of files) Deno.readFileSync(`${turnsPath}/${file}`);
}

function timeCat({ turnsPath, files }: BenchSession): number {
  return timeProgram({ program: "cat", args: files, cwd: turnsPath });
}

/** The steps of opening and folding, each over all turns, with what the steps before it made at hand. */
function partsOf({ turnsPath, files }: BenchSession) {
  const ports = livePorts();
  const paths = files.map((file) => `${turnsPath}/${file}`);
  const bytes = paths.map((path) => Deno.readFileSync(path));
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const parse = () => bytes.map((each) => JSON.parse(decoder.decode(each)));
  const texts = bytes.map((each) => decoder.decode(each));
  const values = parse();
  const turns: readonly Turn[] = values;
  const chainOf = () => {
    const chain = new HistoryValidator(ID);
    for (const turn of turns) {
      chain.check(turn);
      chain.advance(turn);
    }
  };
  const step = (body: () => unknown): Candidate => ({ measure: () => timed(body) });
  return {
    "look and read": step(() =>
      paths.forEach((path) => readSafely(ports, path, { maxBytes: MAX_TURN_BYTES, into: BRIEF_BYTES }))
    ),
    "checksum": step(() => bytes.forEach((each) => checkSeal(each))),
    "depth": step(() => texts.forEach(isTooDeep)),
    "decode and JSON.parse": step(parse),
    "validation": step(() => values.forEach(judgeTurn)),
    "chain": step(chainOf),
    "fold": step(() => foldHistory(turns, TARGET)),
  };
}
