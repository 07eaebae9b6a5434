/** Whole processes of agents: each answers the same prompt from the same server, in a new session. */
import { join } from "node:path";
import { makeBinaries } from "./binaries.ts";
import { meterOf, NOT_INSTALLED, npmPackage, outputOf, pairOf, type Start, type Taken } from "./programs.ts";
import { bench, type Candidate, interleave, sized } from "./report.ts";
import { startServer } from "./servers.ts";
import { MODEL } from "./session.ts";
import { ANSWERED, EVENTS, syntheticStream } from "./stream.ts";

const PROMPT = "What is wrong with order 17?";
const KEY = "sk-bench-0000000000000000";
const CODEX = "@openai/codex@0.169.0";
const PI = "@mariozechner/pi-coding-agent@0.73.1";

export const peers = bench({
  codex: { what: "run, one prompt", against: CODEX, target: 0.4 },
  codexMemory: { what: "memory of that run", against: CODEX, kind: "memory" },
  pi: { what: "run, one prompt", against: PI, target: 0.1 },
  piMemory: { what: "memory of that run", against: PI, kind: "memory" },
}, async (context) => {
  const { work } = context;
  const { reprise, bare } = await makeBinaries(context);
  Deno.writeFileSync(`${work}/answer`, syntheticStream(EVENTS));
  await using server = await startServer({ program: bare, args: [`${work}/answer`] });
  const baseUrl = `${server.origin}/v1`;
  const [codex, pi] = [await npmPackage(context, CODEX), await npmPackage(context, PI)];
  const meter = meterOf(context);
  const candidates: Record<string, Candidate<Taken>> = {};
  const add = (name: string, command: (round: number) => Start) => {
    const answer = outputOf(command(-1));
    if (!answer.includes(ANSWERED)) throw new Error(`${name} answered ${JSON.stringify(answer)}`);
    candidates[name] = (round) => meter(command(round));
  };
  add("own", (round) => ({
    program: reprise,
    args: ["run", "--new", "-s", `peer-${round}`, "--model", MODEL, "--base-url", baseUrl, PROMPT],
    env: { HOME: work, REPRISE_HOME: `${work}/home`, OPENAI_API_KEY: KEY },
  }));
  if (codex !== null) add("codex", () => codexCommand(codex, work, baseUrl));
  if (pi !== null) add("pi", () => piCommand(pi, work, baseUrl));
  const { own, ...others } = await interleave(candidates, { rounds: sized(context, 15, 1) });
  const pair = (what: keyof Taken, peer: string) =>
    others[peer] === undefined ? NOT_INSTALLED : pairOf(what, own, others[peer]);
  return {
    codex: pair("ms", "codex"),
    codexMemory: pair("mb", "codex"),
    pi: pair("ms", "pi"),
    piMemory: pair("mb", "pi"),
  };
});

/** Codex with a provider of its own: its executable, without the script that npm puts in front of it. */
function codexCommand(modules: string, home: string, baseUrl: string): Start {
  const provider =
    `{ name = "mine", base_url = "${baseUrl}", env_key = "OPENAI_API_KEY", wire_api = "responses" }`;
  const settings = ["-c", "model_provider=mine", "-c", `model_providers.mine=${provider}`, "-m", MODEL];
  const platform = `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
  const vendor = join(modules, "@openai", `codex-${platform}`, "vendor");
  const [{ name } = { name: "" }] = Deno.readDirSync(vendor);
  const flags = ["--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"];
  return {
    program: join(vendor, name, "bin", "codex"),
    args: ["exec", ...settings, ...flags, PROMPT],
    cwd: home,
    env: { HOME: home, PATH: "/usr/bin:/bin", OPENAI_API_KEY: KEY },
  };
}

function piCommand(modules: string, home: string, baseUrl: string): Start {
  const provider = { baseUrl, api: "openai-responses", apiKey: KEY, models: [{ id: MODEL }] };
  Deno.writeTextFileSync(join(home, "models.json"), JSON.stringify({ providers: { mine: provider } }));
  const script = join(modules, "@mariozechner", "pi-coding-agent", "dist", "cli.js");
  return {
    program: "node",
    args: [script, "--offline", "--provider", "mine", "--model", MODEL, "-p", PROMPT],
    cwd: home,
    env: { HOME: home, PATH: Deno.env.get("PATH") ?? "", PI_CODING_AGENT_DIR: home, PI_TELEMETRY: "0" },
  };
}
