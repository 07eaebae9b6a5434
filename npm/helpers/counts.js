/**
 * Numbers of exchanges that the tests of a process played and recorded: for the main process of a runner that lists them,
 * otherwise printed when this process ends, if any was recorded.
 *
 * @module
 */
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { threadId } from "node:worker_threads";

/** Variable with the folder in which each worker lists the recordings and the counts of its tests. */
export const LISTS = "REPRISE_TEST_LISTS";

const total = globalThis[Symbol.for("reprise.counts")] ??= printedAtTheEnd();

/** Counts the exchanges of an ended test. */
export function count({ served, recorded }) {
  total.served += served;
  total.recorded += recorded;
  note({ served, recorded });
}

/** Lists a fact for the main process. */
export function note(fact) {
  const lists = process.env[LISTS];
  if (lists !== undefined) {
    appendFileSync(join(lists, `${process.pid}-${threadId}`), `${JSON.stringify(fact)}\n`);
  }
}

/** Returns the facts that all workers listed in a folder. */
export function notedIn(lists) {
  return readdirSync(lists).flatMap((name) =>
    readFileSync(join(lists, name), "utf8").trim().split("\n").map((line) => JSON.parse(line))
  );
}

/** Returns the counts as a line. */
export function countsLine({ served, recorded }) {
  return `reprise: ${served} played, ${recorded} recorded\n`;
}

/** Prints the counts since the last call, unless the main process prints those of all workers. */
export function printCounts() {
  if (process.env[LISTS] === undefined && total.served + total.recorded > 0) {
    process.stderr.write(countsLine(total));
  }
  Object.assign(total, { served: 0, recorded: 0 });
}

function printedAtTheEnd() {
  process.once("exit", () => {
    if (total.recorded > 0) printCounts();
  });
  return { served: 0, recorded: 0 };
}
