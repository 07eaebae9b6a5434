/** The verb `certify`: breaks each kind of answer in each way, and judges how a command ends. */
import { asRepriseError, type ExitCode, RepriseError } from "../../domain/errors.ts";
import { counted } from "../../domain/text.ts";
import { commandLine } from "../../tools/permission/shell_words.ts";
import { makeOutput } from "../context.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { duration, Progress } from "../progress.ts";
import { findServed } from "../serve/served_fixtures.ts";
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

/** Performs `certify`. */
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
  const setup = setupFor(ports, directory, { command, flags });
  const accepted = acceptedFile(ports.files, absolute(ports, directory));
  using early = endEarly(ports, output);
  const grid = new Grid(setup, { flags, output, accepted, signal: early.stop.signal });
  try {
    await grid.run();
  } catch (error) {
    if (early.exitCode === null) throw error;
  }
  return early.exitCode ?? grid.finish(directory, command);
}

function setupFor(
  ports: ProgramPorts,
  directory: string,
  { command, flags }: { readonly command: readonly string[]; readonly flags: CertifyFlags },
): CertifySetup {
  const [fixture, second] = findServed(ports, [directory]).fixtures;
  if (fixture?.fixture && second === undefined) {
    const copy = flags.copy === undefined ? {} : { copy: absolute(ports, flags.copy) };
    return { ports, fixture, command, flags: { ...flags, ...copy } };
  }
  throw new RepriseError("usage", `Cannot certify ${JSON.stringify(directory)}: it is no fixture`, {
    hint: "Name one fixture: the folder with its fixture.json",
  });
}

interface GridOptions {
  readonly flags: CertifyFlags;
  readonly output: Output;
  readonly accepted: AcceptedCells;
  readonly signal: AbortSignal;
}

/** All cells of a call, from the baselines to the report. */
class Grid {
  readonly #setup: CertifySetup;
  readonly #options: GridOptions;
  readonly #results = new Map<Cell, CellResult>();
  #cells: readonly Cell[] = [];

  constructor(setup: CertifySetup, options: GridOptions) {
    this.#setup = setup;
    this.#options = options;
  }

  async run(): Promise<void> {
    const { flags, output, signal } = this.#options;
    const first = await this.#baselineRun();
    const second = await this.#baselineRun();
    const recorded = this.#setup.fixture.fixture?.exchanges ?? [];
    const played = first.requests.flatMap(({ exchange }) =>
      recorded.find(({ number }) => number === exchange) ?? []
    );
    const baseline = baselineOf([first, second], played.map((exchange) => answerParts(exchange).text));
    this.#cells = planCells(played, flags);
    const slow = this.#cells.filter(({ isSlow }) => isSlow);
    const quick = this.#cells.filter(({ isSlow }) => !isSlow);
    const jobs = flags.jobs ?? Math.max(1, Math.floor(navigator.hardwareConcurrency / 2));
    const needsMs = quick.length * (first.ms + RETRIES_MS) / jobs;
    const kinds = new Set(this.#cells.map(({ kind }) => kind)).size;
    output.note(
      `${counted(played.length, "exchange")}, ${counted(kinds, "kind")}; ${
        counted(this.#cells.length, "cell")
      }; ` +
        `about ${duration(needsMs)}${
          slow.length === 0
            ? ""
            : `, and at most ${flags.maxWait} s for ${counted(slow.length, "cell")} that wait beside them`
        }`,
    );
    if (baseline.answer === null) {
      output.note("The command prints no answer that can be compared: --answer names a file with it");
    }
    const progress = new Progress(output, this.#setup.ports);
    const began = this.#setup.ports.clock.monotonic();
    const tick = () => {
      const past = this.#setup.ports.clock.monotonic() - began;
      const left = quick.filter((cell) => !this.#results.has(cell)).length;
      const done = quick.length - left;
      const leftMs = left === 0 ? flags.maxWait * 1000 - past : done === 0 ? needsMs : left * past / done;
      const bad = [...this.#results.values()].filter(isBad).length;
      progress.step(() =>
        `${this.#results.size} of ${counted(this.#cells.length, "cell")}, ${bad} bad, ` +
        `about ${duration(Math.max(0, leftMs))} left`
      );
    };
    const timer = progress.isShown ? setInterval(tick, 200) : undefined;
    const play = async (cells: readonly Cell[], jobs: number) => {
      const results = inOrder(cells, jobs, { play: (cell) => this.#play(cell, baseline), abandon: () => {} });
      for await (const _ of results) if (signal.aborted) break;
    };
    try {
      if (isShared(flags)) await play(this.#cells, 1);
      else await Promise.all([play(quick, jobs), play(slow, MAX_WAITING)]);
    } finally {
      clearInterval(timer);
      progress.end();
      this.#report();
    }
  }

  /** Runs the command without a fault; a command that fails then cannot be judged. */
  async #baselineRun(): Promise<Run> {
    const { flags: { maxWait }, signal } = this.#options;
    const run = await runOnce(this.#setup, {
      fault: null,
      signal,
      isOver: ({ requests }, nowMs) =>
        requests.length === 0
          ? nowMs > Math.max(maxWait, SLOWEST_START) * 1000
          : longestSilence({ since: requests, nowMs }) > maxWait * 1000,
    });
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

  async #play(cell: Cell, baseline: Baseline): Promise<void> {
    const { ports: { clock } } = this.#setup;
    const { accepted, signal } = this.#options;
    if (signal.aborted) return;
    const began = clock.monotonic();
    try {
      const first = await this.#judged(cell, baseline);
      const again = BAD.has(first.verdict) ? await this.#judged(cell, baseline) : first;
      const judged: Judged = again.verdict === first.verdict ? again : {
        verdict: "unstable",
        detail: `${first.verdict}: ${first.detail}; then ${again.verdict}: ${again.detail}`,
      };
      this.#add(cell, {
        ...judged,
        accepted: accepted.of(cell.name),
        seconds: (clock.monotonic() - began) / 1000,
      });
    } catch (error) {
      if (signal.aborted) return;
      const { message } = asRepriseError(error);
      this.#add(cell, { verdict: "error", detail: message, accepted: null, seconds: 0 });
    }
  }

  #add(cell: Cell, rest: Omit<CellResult, "cell">): void {
    this.#results.set(cell, { cell, ...rest });
  }

  async #judged(cell: Cell, baseline: Baseline): Promise<Judged> {
    const { flags: { maxWait, maxRetries }, signal } = this.#options;
    const facts = { baseline, broken: cell.broken, maxWaitMs: maxWait * 1000, maxRetries };
    let fixed: Judged | null = null;
    const run = await runOnce(this.#setup, {
      fault: cell.line,
      signal,
      isOver(run, nowMs) {
        fixed ??= fixedVerdict({ ...facts, run, nowMs });
        // Without the fault, the command may take longer than any silence to come to it.
        const isLost = !run.requests.some(({ fault }) => fault !== null) &&
          nowMs > facts.maxWaitMs + 3 * baseline.ms;
        return fixed !== null || isLost;
      },
    });
    return fixed ?? judge({ ...facts, run, nowMs: run.ms });
  }

  get #ordered(): readonly CellResult[] {
    return this.#cells.flatMap((cell) => this.#results.get(cell) ?? []);
  }

  #report(): void {
    const { flags, output } = this.#options;
    reportCells(this.#ordered, { flags, output, cells: this.#cells });
  }

  /** Writes what is accepted, and returns the exit code. */
  finish(directory: string, command: readonly string[]): ExitCode {
    const { flags, output, accepted } = this.#options;
    const results = this.#ordered;
    if (flags.accept === true) {
      accepted.write(results);
      const { length } = results.filter(({ verdict }) => BAD.has(verdict));
      output.note(`${counted(length, "bad cell")} accepted in ${JSON.stringify(accepted.path)}`);
      return results.some(({ verdict }) => verdict === "error") ? 1 : 0;
    }
    const bad = results.filter(isBad);
    const better = results.filter((each) => each.accepted !== null && !BAD.has(each.verdict));
    for (const { cell, verdict, accepted } of better) {
      output.note(`${cell.name} became better: ${verdict}, accepted as ${accepted}`);
    }
    const [first] = bad;
    if (first !== undefined) {
      output.note(
        `${counted(bad.length, "bad cell")}. One of them again: ` +
          commandLine([
            "reprise",
            "certify",
            directory,
            "--cell",
            first.cell.name,
            ...flagsAgain(flags),
            "--",
            ...command,
          ]),
      );
    }
    if (bad.length > 0 || flags.strict === true && better.length > 0) return 7;
    return results.some(({ verdict }) => verdict === "error") ? 1 : 0;
  }
}

/** Longest time before the first request, in seconds. */
const SLOWEST_START = 330;
/** Typical time of the retries of a cell, in milliseconds. */
const RETRIES_MS = 1000;

function baselineOf(runs: readonly [Run, Run], texts: readonly string[]): Baseline {
  const [first] = runs;
  const calls = runs.flatMap(({ requests }) => requests.flatMap(({ json }) => historyOf(json).calls));
  return {
    requests: Math.max(...runs.map(({ requests }) => requests.length)),
    answer: commonAnswer(runs, texts),
    errors: runs.map(({ stderr }) => stderr).join("\n"),
    args: new Map(calls.map(({ id, args }) => [id, args])),
    effects: Math.max(...runs.map(({ effects }) => effects)),
    silenceMs: Math.max(...runs.map((run) => longestSilence({ since: run.requests, nowMs: run.ms }))),
    ms: first.ms,
  };
}

/** Returns the flags on which the verdict of a cell depends, as they were given. */
function flagsAgain(flags: CertifyFlags): readonly string[] {
  const { maxWait, maxRetries, copy, answer, effects, match, home } = flags;
  const { normalize = [], ignore = [], replace = [], context = [] } = flags;
  const given = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [name, String(value)];
  return [
    ...given("--max-wait", maxWait === MAX_WAIT ? undefined : maxWait),
    ...given("--max-retries", maxRetries === MAX_RETRIES ? undefined : maxRetries),
    ...given("--copy", copy),
    ...home === true ? ["--home"] : [],
    ...given("--answer", answer),
    ...given("--effects", effects),
    ...given("--match", match),
    ...normalize.flatMap((list) => ["--normalize", list]),
    ...ignore.flatMap((path) => ["--ignore", path]),
    ...replace.flatMap((rule) => ["--replace", rule]),
    ...context.flatMap((value) => ["--context", value]),
  ];
}
