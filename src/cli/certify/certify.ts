/** The verb `certify`: breaks each kind of answer in each way, and judges how a command ends. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import { makeOutput } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { duration, Progress } from "../progress.ts";
import { findServed, type ServedFixture } from "../serve/served_fixtures.ts";
import { endEarly } from "../signals.ts";
import { inOrder } from "../test/runner.ts";
import { absolute } from "../settings.ts";
import { type AcceptedCells, acceptedFile } from "./accepted.ts";
import { commonAnswer } from "./answer.ts";
import { answerParts, historyOf } from "./calls.ts";
import { type CertifySetup, type Run, runOnce } from "./cell_run.ts";
import { type Cell, chosenFaults, planCells } from "./cells.ts";
import { type CertifyFlags, MAX_RETRIES, MAX_WAIT } from "./command.ts";
import { isShared } from "./place.ts";
import { type CellResult, isBad, reportCells } from "./reporters.ts";
import { BAD, type Baseline, fixedVerdict, judge, type Judged, longestSilence } from "./verdict.ts";

/** Cells that only wait cost nothing but memory. */
const MAX_WAITING = 16;
/** Longest time before the first request, in seconds. */
const SLOWEST_START = 330;
/** Typical time of the retries of a cell, in milliseconds. */
const RETRIES_MS = 1000;

export async function certifyVerb(
  ports: ProgramPorts,
  directory: string,
  command: readonly string[],
  flags: CertifyFlags,
): Promise<ExitCode> {
  const output = makeOutput(ports, flags);
  if (command.length === 0) {
    throw new RepriseError("usage", "Cannot certify: no command after --", {
      hint: "Write it at the end: reprise certify fixtures/agent -- node agent.mjs",
    });
  }
  chosenFaults(flags);
  const fixture = fixtureAt(ports, directory);
  const accepted = acceptedFile(ports.files, absolute(ports, directory));
  const copy = flags.copy === undefined ? {} : { copy: absolute(ports, flags.copy) };
  using early = endEarly(ports, output);
  const { signal } = early.stop;
  const setup: CertifySetup = { ports, fixture, command, flags: { ...flags, ...copy }, signal };
  try {
    const runs = [await baselineRun(setup), await baselineRun(setup)] as const;
    const recorded = fixture.fixture?.exchanges ?? [];
    const played = runs[0].requests.flatMap(({ exchange }) =>
      recorded.find(({ number }) => number === exchange) ?? []
    );
    const baseline = baselineOf(runs, played.map((exchange) => answerParts(exchange).text));
    const cells = planCells(played, flags);
    const results = await playCells(cells, { setup, baseline, accepted, output, exchanges: played.length });
    reportCells(results, { flags, output, cells });
    if (early.exitCode !== null) return early.exitCode;
    if (flags.accept === true) return acceptBad(results, accepted, output);
    return reportBad(results, { output, strict: flags.strict === true }, ({ name }) => {
      const call = ["reprise", "certify", directory, "--cell", name, ...flagsAgain(flags), "--", ...command];
      return commandLine(call);
    });
  } catch (error) {
    if (early.exitCode === null) throw error;
    return early.exitCode;
  }
}

function fixtureAt(ports: ProgramPorts, directory: string): ServedFixture {
  const [fixture, second] = findServed(ports, [directory]).fixtures;
  if (fixture?.fixture && second === undefined) return fixture;
  throw new RepriseError("usage", `Cannot certify ${JSON.stringify(directory)}: it is no fixture`, {
    hint: "Name one fixture: the folder with its fixture.json",
  });
}

/** Runs the command without a fault; a command that fails then cannot be judged. */
async function baselineRun(setup: CertifySetup): Promise<Run> {
  const { maxWait } = setup.flags;
  const run = await runOnce(
    setup,
    null,
    ({ requests }, nowMs) =>
      requests.length === 0
        ? nowMs > Math.max(maxWait, SLOWEST_START) * 1000
        : longestSilence({ since: requests, nowMs }) > maxWait * 1000,
  );
  const missed = run.requests.find(({ problem }) => problem !== null);
  const why = missed !== undefined
    ? missed.problem
    : run.code === null
    ? `it is silent for ${maxWait} s`
    : run.code !== 0
    ? `exit ${run.code}: ${run.stderr.trim().split("\n").at(-1) ?? ""}`
    : run.requests.length === 0
    ? "it sends no request"
    : null;
  if (why === null) return run;
  throw new RepriseError("usage", `Cannot certify: the command fails without a fault: ${why}`, {
    hint: "Make it succeed with the recording first: reprise serve DIR -- CMD",
  });
}

function baselineOf(runs: readonly [Run, Run], texts: readonly string[]): Baseline {
  const calls = runs.flatMap(({ requests }) => requests.flatMap(({ json }) => historyOf(json).calls));
  return {
    requests: Math.max(...runs.map(({ requests }) => requests.length)),
    answer: commonAnswer(runs, texts),
    errors: runs.map(({ stderr }) => stderr).join("\n"),
    args: new Map(calls.map(({ id, args }) => [id, args])),
    effects: Math.max(...runs.map(({ effects }) => effects)),
    silenceMs: Math.max(...runs.map((run) => longestSilence({ since: run.requests, nowMs: run.ms }))),
    ms: runs[0].ms,
  };
}

interface Playing {
  readonly setup: CertifySetup;
  readonly baseline: Baseline;
  readonly accepted: AcceptedCells;
  readonly output: Output;
  /** Number of exchanges that the command plays. */
  readonly exchanges: number;
}

/** Plays the cells; after an early end, returns the results until then. */
async function playCells(cells: readonly Cell[], playing: Playing): Promise<CellResult[]> {
  const { setup: { ports, flags, signal }, baseline, output, exchanges } = playing;
  const results = new Map<Cell, CellResult>();
  const slow = cells.filter(({ isSlow }) => isSlow);
  const quick = cells.filter(({ isSlow }) => !isSlow);
  const jobs = flags.jobs ?? Math.max(1, Math.floor(navigator.hardwareConcurrency / 2));
  const needsMs = quick.length * (baseline.ms + RETRIES_MS) / jobs;
  const kinds = new Set(cells.map(({ kind }) => kind)).size;
  const waiting = slow.length === 0
    ? ""
    : `, and at most ${flags.maxWait} s for ${counted(slow.length, "cell")} that wait beside them`;
  output.note(
    `${counted(exchanges, "exchange")}, ${counted(kinds, "kind")}; ${counted(cells.length, "cell")}; ` +
      `about ${duration(needsMs)}${waiting}`,
  );
  if (baseline.answer === null) {
    output.note("The command prints no answer that can be compared: --answer names a file with it");
  }
  const began = ports.clock.monotonic();
  using _progress = new Progress(output, ports).repeat(() => {
    const past = ports.clock.monotonic() - began;
    const left = quick.filter((cell) => !results.has(cell)).length;
    const done = quick.length - left;
    const leftMs = left === 0 ? flags.maxWait * 1000 - past : done === 0 ? needsMs : left * past / done;
    const bad = [...results.values()].filter(isBad).length;
    return `${results.size} of ${counted(cells.length, "cell")}, ${bad} bad, ` +
      `about ${duration(Math.max(0, leftMs))} left`;
  });
  const play = async (cell: Cell) => {
    const result = signal.aborted ? null : await playCell(cell, playing);
    if (result !== null) results.set(cell, result);
  };
  const playAll = async (cells: readonly Cell[], jobs: number) => {
    for await (const _ of inOrder(cells, jobs, { play, abandon: () => {} })) if (signal.aborted) break;
  };
  if (isShared(flags)) await playAll(cells, 1);
  else await Promise.all([playAll(quick, jobs), playAll(slow, MAX_WAITING)]);
  return cells.flatMap((cell) => results.get(cell) ?? []);
}

/** Plays a cell, and again if its verdict is bad; `null` after an early end. */
async function playCell(cell: Cell, { setup, baseline, accepted }: Playing): Promise<CellResult | null> {
  const { ports: { clock }, signal } = setup;
  const began = clock.monotonic();
  try {
    const first = await playOnce(cell, setup, baseline);
    const again = BAD.has(first.verdict) ? await playOnce(cell, setup, baseline) : first;
    const judged: Judged = again.verdict === first.verdict ? again : {
      verdict: "unstable",
      detail: `${first.verdict}: ${first.detail}; then ${again.verdict}: ${again.detail}`,
    };
    const seconds = (clock.monotonic() - began) / 1000;
    return { cell, ...judged, accepted: accepted.of(cell.name), seconds };
  } catch (error) {
    if (signal.aborted) return null;
    return { cell, verdict: "error", detail: asRepriseError(error).message, accepted: null, seconds: 0 };
  }
}

async function playOnce({ broken, line }: Cell, setup: CertifySetup, baseline: Baseline): Promise<Judged> {
  const { maxWait, maxRetries } = setup.flags;
  const facts = { baseline, broken, maxWaitMs: maxWait * 1000, maxRetries };
  let fixed: Judged | null = null;
  const run = await runOnce(setup, line, (run, nowMs) => {
    fixed ??= fixedVerdict({ ...facts, run, nowMs });
    // Without the fault, the command may take longer than any silence to come to it.
    const isLost = !run.requests.some(({ fault }) => fault !== null) &&
      nowMs > facts.maxWaitMs + 3 * baseline.ms;
    return fixed !== null || isLost;
  });
  return fixed ?? judge({ ...facts, run, nowMs: run.ms });
}

function acceptBad(results: readonly CellResult[], accepted: AcceptedCells, output: Output): ExitCode {
  accepted.write(results);
  const { length } = results.filter(({ verdict }) => BAD.has(verdict));
  output.note(`${counted(length, "bad cell")} accepted in ${JSON.stringify(accepted.path)}`);
  return hasError(results) ? 1 : 0;
}

/** Names the cells that became better, and a bad one by the command that `again` returns for it. */
function reportBad(
  results: readonly CellResult[],
  { output, strict }: { readonly output: Output; readonly strict: boolean },
  again: (cell: Cell) => string,
): ExitCode {
  const bad = results.filter(isBad);
  const better = results.filter((each) => each.accepted !== null && !BAD.has(each.verdict));
  for (const { cell, verdict, accepted } of better) {
    output.note(`${cell.name} became better: ${verdict}, accepted as ${accepted}`);
  }
  const [first] = bad;
  if (first !== undefined) {
    output.note(`${counted(bad.length, "bad cell")}. One of them again: ${again(first.cell)}`);
  }
  if (bad.length > 0 || strict && better.length > 0) return 7;
  return hasError(results) ? 1 : 0;
}

function hasError(results: readonly CellResult[]): boolean {
  return results.some(({ verdict }) => verdict === "error");
}

/** Returns the flags on which the verdict of a cell depends, as they were given. */
function flagsAgain(flags: CertifyFlags): readonly string[] {
  const { maxWait, maxRetries, copy, home, answer, effects, match } = flags;
  const given = {
    "--max-wait": maxWait === MAX_WAIT ? [] : maxWait,
    "--max-retries": maxRetries === MAX_RETRIES ? [] : maxRetries,
    "--copy": copy,
    "--home": home,
    "--answer": answer,
    "--effects": effects,
    "--match": match,
    "--normalize": flags.normalize,
    "--ignore": flags.ignore,
    "--replace": flags.replace,
    "--context": flags.context,
  };
  return Object.entries(given).flatMap(([name, value = []]) =>
    [value].flat().flatMap((each) => each === true ? [name] : [name, String(each)])
  );
}
