/**
 * Creates a session test: each step runs against the tests' servers, which check its requests by the API's rules, and
 * is recorded; then it is played, with its faults and kills, and the next step begins from there.
 *
 * @module
 */
import { livePorts } from "../../src/cli/live_ports.ts";
import { copyBelow } from "../../src/cli/test/files.ts";
import { failureLines, isPassed } from "../../src/cli/test/reporters.ts";
import { playTest } from "../../src/cli/test/runner.ts";
import { createScratch, type TestScratch } from "../../src/cli/test/scratch.ts";
import { playStep } from "../../src/cli/test/step.ts";
import { readable, type RequestFile, type ResponseFile } from "../../src/fixture/format.ts";
import { readFixture, readHeader } from "../../src/fixture/read.ts";
import { sealAs, sealFixture } from "../../src/fixture/seal.ts";
import { SESSION_FORMAT, type SessionStep } from "../../src/fixture/session/session_file.ts";
import type { ToolsFile } from "../../src/fixture/session/tools_file.ts";
import { denoFiles } from "../../src/store/deno_files.ts";
import { startMessagesServer } from "../../tests/support/messages_server.ts";
import type { ScriptedAnswer } from "../../tests/support/messages_server/script.ts";
import { startResponsesServer } from "../../tests/support/responses_server.ts";
import { run } from "../process.ts";
import type { GivenAnswer, Story, StoryStep } from "./story.ts";

const root = new URL("../../", import.meta.url).pathname;
const KEY = "sk-none";
const FIRST = Date.parse("2026-11-21T20:18:00.000Z");
const HOUR = 3_600_000;
const BASE_URLS: Readonly<Record<string, string>> = {
  openai: "https://api.openai.com/v1",
  azure: "https://example.openai.azure.com/openai/v1",
  anthropic: "https://api.anthropic.com",
  compatible: "http://127.0.0.1:8000/v1",
};
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  openai: "OPENAI_API_KEY",
  azure: "AZURE_OPENAI_API_KEY",
  anthropic: "ANTHROPIC_API_KEY",
  compatible: "REPRISE_API_KEY",
};
const NOTE = "Synthetic: written by scripts/make_session_fixtures.ts, not recorded from any provider";

/** The servers of a story: one for each API and organization, so that blobs of one step are known in the next. */
class Servers implements AsyncDisposable {
  readonly #running = new Map<string, { baseUrl: string; stop(): Promise<void> }>();
  #responses: GivenAnswer[] = [];
  #messages: ScriptedAnswer[] = [];

  /** The base URL of the server that answers `step`. */
  baseUrlFor(step: StoryStep): string {
    this.#responses = [...step.answers ?? []];
    this.#messages = [...step.says ?? []];
    const provider = providerOf(step);
    const { organization, dialect = provider === "azure" ? "azure" : "openai" } = step;
    const name = `${provider} ${dialect} ${organization ?? ""} ${step.baseUrl ?? ""}`;
    const server = this.#running.get(name) ??
      (provider === "anthropic"
        ? startMessagesServer({ script: () => next(this.#messages) })
        : startResponsesServer({
          script: (request) => {
            const answer = next(this.#responses);
            return typeof answer === "function" ? answer(request) : answer;
          },
          dialect,
          // No two servers issue the same id, as no two real ones do.
          idsFrom: this.#running.size * 0x1000,
          rules: organization === undefined && (provider === "openai" || provider === "azure")
            ? provider
            : "none",
          ...(organization === undefined ? {} : { organization }),
        }));
    this.#running.set(name, server);
    // Reasoning from one port of this machine goes to another port too; at another path it does not.
    return step.baseUrl === undefined ? server.baseUrl : `${server.baseUrl}/elsewhere`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const server of this.#running.values()) await server.stop();
  }
}

function next<Answer>(answers: Answer[]): Answer {
  const answer = answers.shift();
  if (answer === undefined) throw new Error("The step asks more often than it has answers");
  return answer;
}

/** Creates `directory` again. */
export async function makeSession(directory: string, story: Story): Promise<void> {
  await Deno.remove(directory, { recursive: true }).catch(() => {});
  Deno.mkdirSync(directory, { recursive: true });
  if (story.runsTools === true) writeFiles(`${directory}/workspace`, story.workspace ?? {});
  await using servers = new Servers();
  const steps: SessionStep[] = [];
  {
    using scratch = await createScratch(livePorts(), directory);
    for (const [index, step] of story.steps.entries()) {
      const number = index + 1;
      const fixture = step.answers === undefined && step.says === undefined ? null : `${directory}/${number}`;
      const recorded = fixture === null
        ? { args: [...step.args] }
        : await recordStep(story, step, { scratch, fixture, servers });
      if (fixture !== null) normalizeFixture(fixture, step, number);
      const called: SessionStep = {
        ...recorded,
        args: [recorded.args[0] as string, ...step.extra ?? [], ...recorded.args.slice(1)],
        ...(fixture === null
          ? { at: new Date(FIRST + index * HOUR).toISOString() }
          : { fixture: `${number}` }),
        ...(step.kill === undefined ? {} : { kill: step.kill }),
        exit: step.exit,
        ...(step.state === undefined ? {} : { state: step.state }),
      };
      steps.push(called);
      const clock = called.at ?? "";
      const { signal } = new AbortController();
      const end = await playStep(called, { ports: livePorts(), scratch, fixture, clock, signal });
      if (end.exit !== step.exit || (step.state !== undefined && end.state !== step.state)) {
        throw new Error(`${story.name}, step ${number}: ended ${end.state} ${end.exit}: ${end.said}`);
      }
    }
  }
  Deno.writeTextFileSync(
    `${directory}/session.json`,
    readable({ format: SESSION_FORMAT, note: story.note, steps }),
  );
  normalizeHeaders(directory, story);
  const found = { name: story.name, directory };
  for (const update of ["everything", null] as const) {
    const played = await playTest(found, {
      ports: livePorts(),
      update,
      signal: new AbortController().signal,
    });
    if (!isPassed(played)) throw new Error(`${story.name}: ${failureLines(played).join("\n")}`);
  }
}

interface Recording {
  readonly scratch: TestScratch;
  readonly fixture: string;
  readonly servers: Servers;
}

/** Runs a step against its server in a copy of the home of the played session. */
async function recordStep(
  story: Story,
  step: StoryStep,
  { scratch, fixture, servers }: Recording,
): Promise<{ readonly args: string[]; readonly stdin?: string }> {
  const directory = await Deno.makeTempDir();
  try {
    const [home, workspace] = [`${directory}/home`, `${directory}/workspace`];
    copyBelow(scratch.home, home);
    writeFiles(workspace, story.workspace ?? {});
    if (story.runsTools === true) copyBelow(scratch.workspace, workspace);
    const provider = providerOf(step);
    const model = step.model ?? (provider === "anthropic" ? "claude-sonnet-4-5" : "gpt-5.6");
    const [verb = "", ...args] = step.args;
    const { stdout, stderr } = await run(Deno.execPath(), [
      ...[
        "run",
        "-A",
        "--quiet",
        `${root}main.ts`,
        verb,
        "--json",
        "--home",
        home,
        "-p",
        provider,
        "-m",
        model,
      ],
      ...["--base-url", servers.baseUrlFor(step), "-w", workspace, "--record", fixture],
      ...args,
    ], {
      cwd: directory,
      env: { [KEY_VARIABLES[provider] as string]: KEY, HOME: directory, DENO_DIR: denoDirectory() },
      timeout: 60_000,
    });
    if (!stdout.includes('"kind":"recorded"')) throw new Error(`${story.name}: ${stdout}${stderr}`);
    const { steps: [recorded] } = JSON.parse(Deno.readTextFileSync(`${fixture}/session.json`));
    return { args: recorded.args, ...(recorded.stdin === undefined ? {} : { stdin: recorded.stdin }) };
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** Sets times that are the same in each recording and the faults, and removes the recorded session around the fixture. */
function normalizeFixture(fixture: string, step: StoryStep, number: number): void {
  for (const name of ["session.json", "start", "expect"]) {
    try {
      Deno.removeSync(`${fixture}/${name}`, { recursive: true });
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  const answered = (step.answers ?? step.says ?? []).length;
  for (const { name } of [...Deno.readDirSync(`${fixture}/exchanges`)]) {
    const exchange = `${fixture}/exchanges/${name}`;
    // A run that is stopped in the middle was recorded beyond that.
    if (Number(name) > answered) {
      Deno.removeSync(exchange, { recursive: true });
      continue;
    }
    rewrite(`${exchange}/request.json`, ({ at_ms: _at, ...request }: RequestFile) => request);
    const fault = step.faults?.[Number(name)];
    rewrite(`${exchange}/response.json`, ({ chunks: _chunks, ...response }: ResponseFile) => ({
      ...response,
      ...(fault === undefined ? {} : { fault }),
    }));
  }
  sealFixture(denoFiles, fixture);
  const header = readHeader(denoFiles, fixture);
  const created = new Date(FIRST + (number - 1) * HOUR).toISOString();
  sealAs(denoFiles, fixture, { ...header, created, note: NOTE });
  readFixture(denoFiles, fixture);
}

/**
 * Replaces the servers' addresses, whose ports differ each time, by those of the real APIs, and drops `tools.json` from
 * steps without calls and from stories that run their tools.
 */
function normalizeHeaders(directory: string, { steps, runsTools }: Story): void {
  for (const [index, step] of steps.entries()) {
    if (step.answers === undefined && step.says === undefined) continue;
    const fixture = `${directory}/${index + 1}`;
    const { tools: _tools, ...header } = readHeader(denoFiles, fixture);
    const { calls }: ToolsFile = JSON.parse(Deno.readTextFileSync(`${fixture}/tools.json`));
    const playsCalls = calls.length > 0 && runsTools !== true;
    if (!playsCalls) Deno.removeSync(`${fixture}/tools.json`);
    sealAs(denoFiles, fixture, {
      ...header,
      ...playsCalls ? { tools: "recorded" } : {},
      base_url: step.baseUrl ?? BASE_URLS[providerOf(step)] as string,
    });
  }
}

function providerOf(step: StoryStep): string {
  return step.provider ?? (step.says === undefined ? "openai" : "anthropic");
}

function rewrite<File>(path: string, change: (file: File) => unknown): void {
  Deno.writeTextFileSync(path, readable(change(JSON.parse(Deno.readTextFileSync(path)))));
}

function writeFiles(directory: string, files: Readonly<Record<string, string>>): void {
  Deno.mkdirSync(directory, { recursive: true });
  for (const [name, content] of Object.entries(files)) {
    const path = `${directory}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, content);
  }
}

function denoDirectory(): string {
  return Deno.env.get("DENO_DIR") ??
    `${Deno.env.get("XDG_CACHE_HOME") ?? `${Deno.env.get("HOME")}/.cache`}/deno`;
}
