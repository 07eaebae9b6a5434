/**
 * Replay against a real API, with a key of your own: two sessions over two processes each, one with replay of
 * reasoning and one without, every run with a tool. Prints what was sent, what came from the prompt cache, and a
 * verdict. It sends eight small requests or so, which cost what such requests cost.
 *
 * Usage: `OPENAI_API_KEY=… deno task live-check MODEL` (`OPENAI_BASE_URL` for another server)
 *
 * @module
 */
import { RepriseError } from "../src/domain/errors.ts";
import { cacheLines, type CheckedRun, faults, table } from "./live_check/figures.ts";
import { run } from "./process.ts";
import { runScript, say } from "./terminal.ts";

const root = new URL("../", import.meta.url).pathname;
const PROGRAM = [Deno.execPath(), "run", "-A", "--quiet", `${root}main.ts`] as const;
/** What the model is asked, in the first process and in the second. */
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
    ...(replay === "off" ? ["--no-reasoning-replay"] : []),
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
  throw new RepriseError("no_model", "Cannot tell which model to ask: none is named", {
    hint: "deno task live-check MODEL, with a reasoning model",
  });
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
        // A session that did not begin well cannot go on.
        if (runs.some((run) => run.exitCode !== 0)) continue;
        runs.push(await checkedRun(scratch, model, { replay, process }));
      }
    }
    const failed = runs.find((run) => run.exitCode !== 0);
    const verified = failed !== undefined || (await reprise(scratch, ["verify", "--all"])).code === 0;
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
