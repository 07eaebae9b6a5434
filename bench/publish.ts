/**
 * One durable turn, against a C program that makes the same system calls with the same bytes; and the turns of a
 * long session against those of a short one.
 *
 * @module
 */
import { join } from "node:path";
import { livePorts } from "../src/cli/live_ports.ts";
import { openHome } from "../src/store/home.ts";
import { SessionWriter } from "../src/store/write/writer.ts";
import { type Bench, sized } from "./bench.ts";
import { hasProgram, outputOfProgram, syncDisk } from "./programs.ts";
import { type Report, type Row, type SkippedRow, timeRow } from "./report.ts";
import { answerDraft, ID, makeSession, userDraft } from "./session.ts";
import { type Candidate, interleave, timed } from "./timing.ts";

const SHORT_TURNS = 10;
/** Turns of one measurement: a single fsync is too short to measure. */
const BATCH = 10;
const IN_C = "open, write, fsync, link, unlink, fsync(dir) in C";

/** Measures `SessionWriter.append`. */
export const publishBench: Bench = async (context) => {
  const longTurns = sized(context, { full: 10_000, quick: 500 });
  const rounds = sized(context, { full: 51, quick: 7 });
  const directory = join(context.workDirectory, "publish");
  Deno.mkdirSync(directory);
  const short = await openWriter(join(directory, "short"), SHORT_TURNS);
  const long = await openWriter(join(directory, "long"), longTurns);
  try {
    const inC = compileC(context.root, directory, short);
    syncDisk();
    const times = await interleave({ short: appends(short), long: appends(long), inC }, {
      rounds,
      warmups: 2,
    });
    const againstC = (after: number, own: readonly number[]): Row | SkippedRow =>
      inC === null ? { name: nameOf(after), skipped: "no C compiler" } : timeRow({
        name: nameOf(after),
        against: IN_C,
        times: own,
        againstTimes: times.inC,
        target: { bound: "at_most", value: 1.5 },
      });
    const rows = [
      againstC(SHORT_TURNS, times.short),
      againstC(longTurns, times.long),
      timeRow({
        name: nameOf(longTurns),
        against: `after turn ${SHORT_TURNS}`,
        times: times.long,
        againstTimes: times.short,
        // The target is no growth; a tenth is what a noisy machine may add.
        target: { bound: "at_most", value: 1.1 },
      }),
    ];
    return {
      rows,
      notes: [`${rounds} rounds; each time is one turn of 2 KB, the mean of ${BATCH} in a row.`],
    } satisfies Report;
  } finally {
    short.close();
    long.close();
  }
};

function nameOf(turn: number): string {
  return `append after turn ${turn.toLocaleString("en")}`;
}

/** Creates a session of `turns` turns, and a writer with an open run. */
export async function openWriter(homePath: string, turns: number): Promise<SessionWriter> {
  await makeSession(homePath, turns);
  const ports = livePorts();
  const writer = await SessionWriter.open(ports, openHome(ports, homePath), { id: ID });
  writer.append(userDraft(writer.end.run + 1));
  return writer;
}

/** Milliseconds of one durable turn of 2 KB. */
export function appends(writer: SessionWriter): Candidate {
  return {
    measure() {
      const { run, turn } = writer.end;
      const drafts = Array.from({ length: BATCH }, (_, index) => answerDraft(run, turn + index));
      return timed(() => {
        for (const draft of drafts) writer.append(draft);
      }) / BATCH;
    },
  };
}

/** The C program on the same file system, with the bytes of a turn that the writer made; `null` without compiler. */
export function compileC(root: string, directory: string, writer: SessionWriter): Candidate | null {
  if (!hasProgram("cc")) return null;
  const program = join(directory, "publish");
  outputOfProgram({ program: "cc", args: ["-O2", "-o", program, join(root, "bench", "publish.c")] });
  const { run, turn } = writer.append(answerDraft(writer.end.run, writer.end.turn));
  const bytes = join(writer.path, "turns", `${String(turn).padStart(6, "0")}.json`);
  const target = join(directory, `c-${run}`);
  Deno.mkdirSync(join(target, "turns"), { recursive: true });
  let next = 1;
  return {
    measure() {
      const args = [target, String(BATCH), String(next), bytes];
      next += BATCH;
      return Number(outputOfProgram({ program, args })) / 1e6 / BATCH;
    },
  };
}
