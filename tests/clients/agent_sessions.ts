/** Sessions that Codex CLI, Claude Code and pi write and resume, unmodified, against servers on this machine. */
import assert from "node:assert/strict";
import { says } from "../support/scripted_api/messages_script.ts";
import { startMessagesServer, text } from "../support/scripted_api/messages.ts";
import { answer, message, startResponsesServer } from "../support/scripted_api/responses.ts";
import { CLAUDE_CODE_EARLIER, CODEX, type Packages, pathWith, PI } from "./npm_packages.ts";
import { claudeCodeApi, codexApi } from "./scripted_agent_apis.ts";

/** The text of every answer of {@linkcode AgentProgram.rules}. */
export const CONTINUED = "Continued after the import.";
/** A client that takes longer is ended, and its test fails. */
const CLIENT_MS = 90_000;

/** An API of ours that checks requests by the rules of the API. */
export interface CheckedApi extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly unknown[];
  readonly refusals: readonly unknown[];
}

/** An agent, its calls, and the place of its sessions. */
export interface AgentProgram {
  readonly name: "codex" | "claude" | "pi";
  readonly packages: Packages;
  readonly model: string;
  /** The provider of `run` for its sessions. */
  readonly provider: string;
  /** Makes an API whose answers have reasoning and calls of tools. */
  readonly api: () => CheckedApi | Promise<CheckedApi>;
  /** Makes an API that answers each request with {@linkcode CONTINUED}. */
  readonly rules: () => CheckedApi;
  /** Below the home. */
  readonly sessions: string;
  readonly env: (baseUrl: string) => Readonly<Record<string, string>>;
  /** Files below the home, with their contents. */
  readonly files: (baseUrl: string) => Readonly<Record<string, string>>;
  /** A first prompt; with `resume`, one that continues the exported session. */
  readonly args: (
    baseUrl: string,
    prompt: string,
    resume?: { readonly id: string; readonly path: string },
  ) => readonly string[];
}

/** A call of an agent. */
export interface AgentCall {
  readonly baseUrl: string;
  readonly home: string;
  readonly directory: string;
  readonly prompt: string;
  readonly resume?: { readonly id: string; readonly path: string };
}

const CODEX_FLAGS = "-m gpt-5.6 --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox".split(" ");

/** The agents. */
export const AGENTS: readonly AgentProgram[] = [
  {
    ...{
      name: "codex",
      packages: CODEX,
      model: "gpt-5.6",
      provider: "compatible",
      sessions: ".codex/sessions",
    },
    api: codexApi,
    rules: () => startResponsesServer({ script: () => answer([message(CONTINUED)]) }),
    env: () => ({ OPENAI_API_KEY: "sk-test" }),
    files: () => ({}),
    args: (baseUrl, prompt, resume) => {
      const settings = {
        model_provider: "mine",
        "model_providers.mine.name": "mine",
        "model_providers.mine.base_url": baseUrl,
        "model_providers.mine.env_key": "OPENAI_API_KEY",
        "model_providers.mine.wire_api": "responses",
      };
      const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
      const end = resume === undefined ? [prompt] : ["resume", resume.id, prompt];
      return ["codex", "exec", ...flags, ...CODEX_FLAGS, ...end];
    },
  },
  {
    ...{ name: "claude", packages: CLAUDE_CODE_EARLIER, model: "claude-opus-4-8", provider: "anthropic" },
    sessions: ".claude/projects",
    api: claudeCodeApi,
    rules: () => startMessagesServer({ script: () => says([text(CONTINUED)]) }),
    env: (baseUrl) => ({
      ...{ ANTHROPIC_API_KEY: "sk-test", ANTHROPIC_BASE_URL: baseUrl.replace(/\/v1$/, "") },
      ...{ DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1", IS_SANDBOX: "1" },
    }),
    files: () => ({}),
    args: (_, prompt, resume) => [
      ...["claude", "--dangerously-skip-permissions"],
      ...(resume === undefined ? [] : ["--resume", resume.id]),
      ...["-p", prompt],
    ],
  },
  {
    ...{ name: "pi", packages: PI, model: "gpt-5.6", provider: "compatible", sessions: ".pi/agent/sessions" },
    api: codexApi,
    rules: () => startResponsesServer({ script: () => answer([message(CONTINUED)]) }),
    env: () => ({ PI_TELEMETRY: "0" }),
    files: (baseUrl) => {
      const models = [{ id: "gpt-5.6", reasoning: true }];
      const mine = { baseUrl, api: "openai-responses", apiKey: "sk-test", models };
      return { ".pi/agent/models.json": JSON.stringify({ providers: { mine } }) };
    },
    args: (_, prompt, resume) => [
      ...["pi", "--offline", "--provider", "mine", "--model", "gpt-5.6", "--thinking", "medium"],
      ...(resume === undefined ? [] : ["--session", resume.path]),
      ...["-p", prompt],
    ],
  },
];

/** Calls an agent to its end. */
export async function callAgent(agent: AgentProgram, call: AgentCall): Promise<void> {
  const { baseUrl, home, directory, prompt, resume } = call;
  for (const path of [home, directory]) Deno.mkdirSync(path, { recursive: true });
  for (const [name, content] of Object.entries(agent.files(baseUrl))) {
    const path = `${home}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, content);
  }
  const [command = "", ...args] = agent.args(baseUrl, prompt, resume);
  const { code, stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd: directory,
    signal: AbortSignal.timeout(CLIENT_MS),
    clearEnv: true,
    env: { PATH: await pathWith(agent.packages), HOME: home, ...agent.env(baseUrl) },
    stdin: "null",
  }).output();
  const [out, error] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)) as [string, string];
  assert.equal(code, 0, `${agent.name}: ${out}${error}`);
}

/** The files of sessions in a home; fails if there is none. */
export function sessionFiles({ sessions, name }: AgentProgram, home: string): string[] {
  const found: string[] = [];
  const visit = (directory: string) => {
    for (const entry of Deno.readDirSync(directory)) {
      const path = `${directory}/${entry.name}`;
      if (entry.isDirectory) visit(path);
      else if (/\.jsonl$/.test(entry.name)) found.push(path);
    }
  };
  visit(`${home}/${sessions}`);
  assert.ok(found.length > 0, `${name} wrote no session`);
  return found.sort();
}
