/**
 * What the runs of a live check come to: rows of a table, and what speaks against replay.
 *
 * @module
 */
import type { RunEvent } from "../../src/run/events.ts";

/** One run in a process of its own. */
export interface CheckedRun {
  /** Whether reasoning was to go back. */
  readonly replay: "on" | "off";
  /** 1 for the run that starts the session, 2 for the one that goes on in another process. */
  readonly process: 1 | 2;
  readonly events: readonly RunEvent[];
  readonly exitCode: number;
}

/** Tokens and items of some requests. */
interface Sums {
  readonly sent: number;
  readonly input: number;
  readonly cached: number;
}

const HEAD = [
  "replay",
  "process",
  "request",
  "items",
  "reasoning",
  "left out",
  "input",
  "cached",
  "output",
  "reasoning tokens",
] as const;

/** One line for each request, under a head, in columns. */
export function table(runs: readonly CheckedRun[]): string[] {
  const rows = runs.flatMap(({ replay, process, events }) =>
    events.flatMap((event): string[][] => {
      if (event.type !== "request") return [];
      const usage = events.find((other) => other.type === "usage" && other.step === event.step);
      const tokens = usage?.type === "usage"
        ? [usage.input_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens]
        : ["-", "-", "-", "-"];
      const counts = [event.items, event.reasoning_sent, event.reasoning_dropped];
      const request = event.again ? `${event.step} again` : event.step;
      return [[replay, process, request, ...counts, ...tokens].map(String)];
    })
  );
  const widths = HEAD.map((name, column) =>
    Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0))
  );
  return [[...HEAD], ...rows].map((row) =>
    row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join("  ").trimEnd()
  );
}

/** What was found against replay, in sentences; empty when it works. */
export function faults(runs: readonly CheckedRun[], verified: boolean): string[] {
  const found: string[] = [];
  for (const { replay, process, events, exitCode } of runs) {
    const name = `the run with replay ${replay} in process ${process}`;
    const error = events.find((event) => event.type === "error");
    if (exitCode !== 0) {
      found.push(`${name} ended with exit code ${exitCode}: ${error?.message ?? "no reason given"}`);
    }
    for (const event of events) {
      if (event.type !== "notice" || event.kind !== "replay_stripped") continue;
      found.push(`${name} was refused (${event.reason}): ${event.message}`);
    }
  }
  if (sumsOf(runs, "off").sent > 0) found.push("reasoning was sent although replay was off");
  const [first, second] = [1, 2].map((process) =>
    runs.find((run) => run.replay === "on" && run.process === process)
  );
  const minted = first?.events.filter((event) => event.type === "item" && event.item.type === "reasoning")
    .length;
  if (minted === 0) {
    found.push("the model returned no reasoning item: nothing could go back (ask a reasoning model)");
  } else if (
    second?.exitCode === 0 && requestsOf(second).every(({ reasoning_sent }) => reasoning_sent === 0)
  ) {
    found.push("no reasoning went back in the second process");
  }
  if (runs.some((run) => run.exitCode === 0 && !run.events.some(({ type }) => type === "tool.finished"))) {
    found.push("a run called no tool, so that it shows little: try again, or another model");
  }
  if (!verified) {
    found.push('a recorded request does not fold to the bytes that were sent ("reprise verify")');
  }
  return found;
}

/** How much of the input came from the prompt cache, with and without replay. */
export function cacheLines(runs: readonly CheckedRun[]): string[] {
  return (["on", "off"] as const).map((replay) => {
    const { sent, input, cached } = sumsOf(runs, replay);
    const share = input === 0 ? 0 : Math.round((100 * cached) / input);
    return `replay ${replay}: ${sent} reasoning items sent, ${input} input tokens, ${cached} of them cached (${share} %)`;
  });
}

function requestsOf({ events }: CheckedRun) {
  return events.filter((event) => event.type === "request");
}

function sumsOf(runs: readonly CheckedRun[], replay: CheckedRun["replay"]): Sums {
  const chosen = runs.filter((run) => run.replay === replay);
  const usages = chosen.flatMap(({ events }) => events.filter((event) => event.type === "usage"));
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
  return {
    sent: sum(chosen.flatMap(requestsOf).map(({ reasoning_sent }) => reasoning_sent)),
    input: sum(usages.map(({ input_tokens }) => input_tokens)),
    cached: sum(usages.map(({ cached_tokens }) => cached_tokens)),
  };
}
