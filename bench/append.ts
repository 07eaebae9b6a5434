/** Durable turns, against a C program that makes the same system calls with the same bytes. */
import { turnFileName } from "../src/domain/turn.ts";
import type { SessionWriter } from "../src/store/write/writer.ts";
import { compileC, outputOf } from "./programs.ts";
import { bench, interleave, sized, timed } from "./report.ts";
import { nextAnswers, nextBatch, openWriter } from "./session.ts";

/** Turns of one measurement: a single fsync is too short to measure. */
const BATCH = 10;
const against = "open, write, fsync, link, unlink, fsync(dir) in C";

export const append = bench({
  short: { what: "append after 10 turns", against, target: 1.6 },
  long: { what: "append after 10,000 turns", against, target: 1.6 },
  growth: { what: "append after 10,000 turns", against: "after 10", target: 1.1 },
  batch: { what: "keep ten results of commands, each before the next starts", against: "in one turn" },
}, async (context) => {
  const { work } = context;
  const short = await openWriter(`${work}/short`, 10);
  const long = await openWriter(`${work}/long`, sized(context, 10_000, 100));
  try {
    const program = compileC(context, "publish");
    Deno.mkdirSync(`${work}/c/turns`, { recursive: true });
    const turn = `${short.path}/turns/${turnFileName(short.append(nextAnswers(short, 1)[0]!).turn)}`;
    let next = 1 - BATCH;
    const inC = () => {
      const args = [`${work}/c`, String(BATCH), String(next += BATCH), turn];
      return Number(outputOf({ program, args })) / 1e6 / BATCH;
    };
    const appends = (writer: SessionWriter) => async () => {
      const drafts = nextAnswers(writer, BATCH);
      return await timed(() => drafts.forEach((draft) => writer.append(draft))) / BATCH;
    };
    const keeps = (perTurn: number) => () => {
      const { calls, results } = nextBatch(short, BATCH);
      short.append(calls);
      const turns = Array.from({ length: BATCH / perTurn }, () => results.splice(0, perTurn));
      return timed(() => turns.forEach((events) => short.append({ kind: "tools", run: calls.run, events })));
    };
    outputOf({ program: "sync", args: [] });
    const rounds = { rounds: sized(context, 51, 2), warmups: 2 };
    const times = await interleave({
      short: appends(short),
      long: appends(long),
      inC,
      each: keeps(1),
      together: keeps(BATCH),
    }, rounds);
    return {
      short: { own: times.short, other: times.inC },
      long: { own: times.long, other: times.inC },
      growth: { own: times.long, other: times.short },
      batch: { own: times.each, other: times.together },
    };
  } finally {
    short.close();
    long.close();
  }
});
