/**
 * Whole processes of agents: `reprise run`, Codex CLI and pi, each in a new session, answer the same prompt from the same
 * server on this machine.
 *
 * @module
 */
import { join } from "node:path";
import { type Bench, sized } from "./bench.ts";
import { bareServer, makeBinaries } from "./binaries.ts";
import { type NpmPackage, npmPackage } from "./npm.ts";
import { type Meter, peakMeter, roundsOf, type Taken } from "./peak.ts";
import { outputOfProgram, type Start } from "./programs.ts";
import { memoryRow, type Report, type Row, type SkippedRow, type Target, timeRow } from "./report.ts";
import { startBare } from "./servers.ts";
import { MODEL } from "./session.ts";
import { syntheticStream } from "./stream.ts";
import { orderOf } from "./timing.ts";

const EVENTS = 300;
const PROMPT = "What is wrong with order 17?";
const OWN = "reprise";
const KEY = "sk-bench-0000000000000000";
/** Words of the answer, without which a process was not asked what is meant. */
const ANSWER = "discounted, total";

/** A program to compare with. */
interface Peer {
  readonly title: string;
  /** Its exact npm package. */
  readonly spec: string;
  readonly target: Target | null;
  /** Prepares `home` and returns the command that sends the prompt to `origin`. */
  readonly command: (modules: string, home: string, origin: string) => Start;
}

const PEERS: readonly Peer[] = [
  {
    title: "Codex CLI",
    spec: "@openai/codex@0.169.0",
    target: { bound: "at_most", value: 0.25 },
    command: codexCommand,
  },
  { title: "pi", spec: "@mariozechner/pi-coding-agent@0.73.1", target: null, command: piCommand },
];

/** Measures the time and the peak memory of each process. */
export const peersBench: Bench = async (context) => {
  const rounds = sized(context, { full: 15, quick: 1 });
  const meter = peakMeter(context);
  if (meter === null) return { rows: [{ name: "whole processes", skipped: "no C compiler" }], notes: [] };
  const { reprise } = await makeBinaries(context);
  const directory = join(context.workDirectory, "peers");
  const stream = join(directory, "stream");
  Deno.mkdirSync(directory);
  Deno.writeFileSync(stream, syntheticStream(EVENTS));
  const bare = await bareServer(context);
  const installed = new Map<Peer, NpmPackage | string>();
  for (const peer of PEERS) installed.set(peer, await npmPackage(context, peer.spec));
  const server = await startBare(bare, stream, "whole");
  try {
    const commands = new Map<string, (round: number) => Start>([
      [OWN, (round) => repriseCommand(reprise, join(directory, "home"), server.origin, round)],
    ]);
    for (const [peer, found] of installed) {
      if (typeof found === "string") continue;
      const home = join(directory, peer.title.replaceAll(" ", "-"));
      Deno.mkdirSync(home);
      const command = peer.command(found.modules, home, server.origin);
      commands.set(peer.title, () => command);
    }
    const taken = takenBy(meter, commands, rounds);
    return {
      rows: PEERS.flatMap((peer) => rowsAgainst(peer, installed.get(peer), taken)),
      notes: [
        `${rounds} rounds, each in a new session; an answer of ${EVENTS} events in one piece.`,
        "Codex CLI is its executable, without the script that npm puts in front of it.",
      ],
    } satisfies Report;
  } finally {
    await server.stop();
  }
};

/**
 * Runs each command once to see that it prints the answer, then once in each round, in another order each time.
 *
 * @throws {Error} when a command prints something else.
 */
function takenBy(
  meter: Meter,
  commands: ReadonlyMap<string, (round: number) => Start>,
  rounds: number,
): Map<string, Taken[]> {
  const taken = new Map<string, Taken[]>([...commands.keys()].map((name) => [name, []]));
  for (const [name, command] of commands) {
    const printed = outputOfProgram(command(-1));
    if (!printed.includes(ANSWER)) throw new Error(`${name} answered ${JSON.stringify(printed)}`);
  }
  for (let round = 0; round < rounds; round++) {
    for (const [name, command] of orderOf([...commands], round)) taken.get(name)?.push(meter(command(round)));
  }
  return taken;
}

function rowsAgainst(
  peer: Peer,
  found: NpmPackage | string | undefined,
  taken: ReadonlyMap<string, readonly Taken[]>,
): (Row | SkippedRow)[] {
  const name = "reprise run, one prompt";
  const memory = `memory of ${name}`;
  if (found === undefined || typeof found === "string") {
    const skipped = `${peer.title}: ${found}`;
    return [{ name, skipped }, { name: memory, skipped }];
  }
  const [own, other] = [roundsOf(taken.get(OWN) ?? []), roundsOf(taken.get(peer.title) ?? [])];
  const against = `${peer.title} ${found.name.split(" ")[1]}`;
  return [
    timeRow({ name, against, times: own.ms, againstTimes: other.ms, target: peer.target }),
    memoryRow({ name: memory, against, megabytes: own.megabytes, againstMegabytes: other.megabytes }),
  ];
}

function repriseCommand(program: string, home: string, origin: string, round: number): Start {
  const session = ["run", "--new", "-s", `peer-${round}`, "--home", home, "--model", MODEL];
  return {
    program,
    args: [...session, "--base-url", `${origin}/v1`, PROMPT],
    env: { HOME: home, OPENAI_API_KEY: KEY },
  };
}

/** Codex with a provider of its own, as tests/clients has it. */
function codexCommand(modules: string, home: string, origin: string): Start {
  const settings = {
    model_provider: "mine",
    "model_providers.mine.name": "mine",
    "model_providers.mine.base_url": `${origin}/v1`,
    "model_providers.mine.env_key": "OPENAI_API_KEY",
    "model_providers.mine.wire_api": "responses",
  };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const rest = ["-m", MODEL, "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT];
  return {
    program: nativeCodex(modules),
    args: ["exec", ...flags, ...rest],
    cwd: home,
    env: { HOME: home, PATH: "/usr/bin:/bin", OPENAI_API_KEY: KEY },
  };
}

/** The executable for this platform; the script that npm starts it with where it is not found. */
function nativeCodex(modules: string): string {
  const [os, arch] = [Deno.build.os, Deno.build.arch === "aarch64" ? "arm64" : "x64"];
  const vendor = join(modules, "@openai", `codex-${os}-${arch}`, "vendor");
  try {
    for (const { name } of Deno.readDirSync(vendor)) return join(vendor, name, "bin", "codex");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return join(modules, ".bin", "codex");
}

function piCommand(modules: string, home: string, origin: string): Start {
  const models = {
    providers: {
      mine: { baseUrl: `${origin}/v1`, api: "openai-responses", apiKey: KEY, models: [{ id: MODEL }] },
    },
  };
  Deno.writeTextFileSync(join(home, "models.json"), JSON.stringify(models));
  return {
    program: "node",
    args: [
      join(modules, "@mariozechner", "pi-coding-agent", "dist", "cli.js"),
      ...["--offline", "--provider", "mine", "--model", MODEL, "-p", PROMPT],
    ],
    cwd: home,
    env: { HOME: home, PATH: Deno.env.get("PATH") ?? "", PI_CODING_AGENT_DIR: home, PI_TELEMETRY: "0" },
  };
}
