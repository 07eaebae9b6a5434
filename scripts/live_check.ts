/**
 * Replay against a real API, with a key of your own: two sessions over two processes each, one with replay of
 * reasoning and one without, every run with a tool. Prints the requests, their tokens from the prompt cache, and a
 * verdict. It sends about eight small requests, which cost what such requests cost.
 *
 * Usage: `OPENAI_API_KEY=… deno task live-check MODEL` (`OPENAI_BASE_URL` for another server)
 *
 * @module
 */
import { RepriseError } from "../src/domain/errors.ts";
import type { RunEvent } from "../src/run/events.ts";
import { run } from "./process.ts";
import { runScript, say } from "./terminal.ts";

const root = new URL("../", import.meta.url).pathname;
const PROGRAM = [Deno.execPath(), "run", "-A", "--quiet", `${root}main.ts`] as const;
/** The prompts of the first process and the second. */
const PROMPTS = [
  "Read figures.txt with read_file. Which line holds the largest number? Answer with the line number.",
  "Read figures.txt once more with read_file. Which line holds the smallest number, and was your first answer right?",
] as const;
/** Enough lines that a request passes the 1,024 tokens below which nothing is cached (protocol §7.2). */
const LINES = 300;
/** Milliseconds until a run is stopped. */
const RUN_TIMEOUT = 600_000;

interface Scratch {
  readonly home: string;
  readonly workspace: string;
}

async function reprise({ home, workspace }: Scratch, args: readonly string[]) {
  const [command, ...before] = PROGRAM;
  return await run(command, [...before, ...args], {
    cwd: workspace,
    // Only the flags of each run decide about replay.
    env: {
      REPRISE_HOME: home,
      REPRISE_REASONING_REPLAY: undefined,
      LLM_REASONING_REPLAY: undefined,
      REPRISE_STRICT_DRIFT: undefined,
    },
    timeout: RUN_TIMEOUT,
  });
}

async function checkedRun(scratch: Scratch, model: string, which: Pick<CheckedRun, "replay" | "process">) {
  const { replay, process } = which;
  const args = [
    ...["run", "--json", "-s", `replay-${replay}`, "-m", model],
    ...(process === 1 ? ["--new"] : []),
    ...(replay === "off" ? ["--replay", "none"] : []),
    PROMPTS[process - 1] ?? "",
  ];
  const { code, stdout, stderr } = await reprise(scratch, args);
  const lines = stdout.split("\n").filter((line) => line !== "");
  if (lines.length === 0) {
    throw new RepriseError("unexpected", `The run said nothing on stdout: ${stderr.trim()}`);
  }
  return { ...which, events: lines.map((line) => JSON.parse(line)), exitCode: code } satisfies CheckedRun;
}

function writeWorkspace(workspace: string): void {
  Deno.mkdirSync(workspace);
  const line = (index: number) => `${index + 1}: ${(index * 7919 + 104_729) % 99_991}\n`;
  Deno.writeTextFileSync(
    `${workspace}/figures.txt`,
    Array.from({ length: LINES }, (_, index) => line(index)).join(""),
  );
}

function requireModel(): string {
  const model = Deno.args[0] ?? Deno.env.get("REPRISE_MODEL") ?? "";
  if (model !== "") return model;
  throw new RepriseError("no_model", "Cannot send a request: no model is named", {
    hint: "deno task live-check MODEL, with a reasoning model",
  });
}

/** One run in a process of its own. */
interface CheckedRun {
  /** `on` if reasoning was to go back. */
  readonly replay: "on" | "off";
  /** 1 for the run that starts the session, 2 for the one that resumes it in another process. */
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
function table(runs: readonly CheckedRun[]): string[] {
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

/** Finds facts against replay, in sentences; none if it works. */
function faults(runs: readonly CheckedRun[], verified: boolean): string[] {
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
  const issued = first?.events.filter((event) => event.type === "item" && event.item.type === "reasoning")
    .length;
  if (issued === 0) {
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
    found.push('a recorded request does not fold to the bytes that were sent ("reprise fsck --requests")');
  }
  return found;
}

/** The share of the input that came from the prompt cache, with and without replay. */
function cacheLines(runs: readonly CheckedRun[]): string[] {
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

await runScript(async () => {
  const model = requireModel();
  const directory = await Deno.makeTempDir({ prefix: "reprise-live-" });
  const scratch: Scratch = { home: `${directory}/home`, workspace: `${directory}/workspace` };
  try {
    writeWorkspace(scratch.workspace);
    const runs: CheckedRun[] = [];
    for (const replay of ["on", "off"] as const) {
      for (const process of [1, 2] as const) {
        // A session whose first run failed cannot be resumed here.
        if (runs.some((run) => run.exitCode !== 0)) continue;
        runs.push(await checkedRun(scratch, model, { replay, process }));
      }
    }
    const failed = runs.find((run) => run.exitCode !== 0);
    const verified = failed !== undefined ||
      (await reprise(scratch, ["fsck", "--all", "--requests"])).code === 0;
    for (const line of [...table(runs), "", ...cacheLines(runs), ""]) say(line);
    const found = faults(runs, verified);
    for (const fault of found) say(`- ${fault}`);
    say(
      found.length === 0
        ? `${model}: replay works here: the API took every reasoning item back, in another process too`
        : `${model}: replay could not be shown here`,
    );
    return failed?.exitCode ?? (found.length === 0 ? 0 : 7);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
