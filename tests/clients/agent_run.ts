/**
 * An agent's two prompts, recorded at one place and replayed at others with a client that knows the port of `record` and
 * `serve`; recipes_test.ts runs agents as their commands.
 */
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type Called, Sandbox } from "../support/reprise.ts";
import { daysAhead } from "./moved_clock.ts";
import { type Packages, pathWith } from "./npm_packages.ts";
import { type Rewrite, startRewritingProxy } from "./rewriting_proxy.ts";
import { SECOND_PROMPT } from "./scripted_agent_apis.ts";
import type { Api } from "./support.ts";

/** The key of every client: longer than what a recorder takes for a word. */
const KEY = "sk-test-4f1d0c7ea9-never-recorded";
/** Far longer than any of them takes; after that the client is ended, and its test fails. */
const CLIENT_SECONDS = "60";
/** A proxy that does not exist: a client that asks another server than ours gets no answer from it. */
const NOWHERE = "http://127.0.0.1:9";

/** An agent, and how its two prompts are a command. */
export interface Agent {
  readonly packages: Packages;
  readonly variable: "OPENAI" | "ANTHROPIC";
  /**
   * Shell commands, with `$1` and `$2` as the prompts, and the base URL and key in variables. The first prompt ends with
   * the directory.
   */
  readonly script: string;
  /** Variables that the client needs beside its base URL and its key. */
  readonly env: Readonly<Record<string, string>>;
  /** The API that it is recorded from; new each time. */
  readonly api: Api;
}

/** The prompts of two runs; the second run continues the first. */
export type Prompts = readonly [first: string, second: string];

/** The prompts of a recorded agent. */
export const PROMPTS: Prompts = ["Tell me about the files", SECOND_PROMPT];

/** A place that an agent works at. */
export interface Place {
  /** Below the sandbox's directory. */
  readonly home: string;
  /** The working directory, below the sandbox's directory. */
  readonly directory: string;
  readonly timezone: string;
  readonly user: string;
  /** Number of days between the recording and the replay, by the clocks of both sides. */
  readonly days: number;
  /** No repository, one without changes, or one with changes on a branch. */
  readonly git: "none" | "clean" | "changed";
  /** The program that is slow here: results of calls at once come in another order. */
  readonly slow: "wc" | "head";
}

/** The place at which agents are recorded. */
export const HERE: Place = {
  home: "home/ada",
  directory: "home/ada/shop",
  timezone: "Etc/GMT+12",
  user: "ada",
  days: 0,
  git: "clean",
  slow: "wc",
};

/** A place with nothing in common with {@linkcode HERE}: 26 hours to the east, and 40 days later. */
export const ELSEWHERE: Place = {
  home: "Users/grace.h",
  directory: "srv/builds/4711/the shop (copy)",
  timezone: "Pacific/Kiritimati",
  user: "grace.h",
  days: 40,
  git: "none",
  slow: "head",
};

/** A place like {@linkcode HERE} a day later, of another user, with changes in its repository. */
export const CHANGED: Place = {
  ...HERE,
  home: "root",
  directory: "root/s",
  user: "root",
  days: 1,
  git: "changed",
};

/** The results of a client and of `serve`. */
export interface Replayed {
  readonly client: Called;
  readonly server: Called;
  /** The events of `serve` about each request, without those about the end of its answer. */
  readonly events: readonly Json[];
  /** `serve.ended`. */
  readonly ended: Json;
}

/** Differences from an ordinary recording or replay. */
export interface AgentOptions {
  readonly prompts?: Prompts;
  /** Rewrites what the client sends. */
  readonly rewrite?: Rewrite;
  /** Flags of `serve`. @default {none} */
  readonly flags?: readonly string[];
}

/** A scratch directory with an agent's places and recordings. */
export class AgentSandbox extends Sandbox {
  readonly #agent: Agent;
  /** The recording. */
  readonly fixture = `${this.directory}/fixture`;

  constructor(agent: Agent) {
    super();
    this.#agent = agent;
  }

  /** Makes a place with the same files as every other, and with its own repository. */
  async make(place: Place): Promise<void> {
    const directory = this.#directoryOf(place);
    for (const path of [`${this.directory}/${place.home}`, `${directory}/docs`]) {
      Deno.mkdirSync(path, { recursive: true });
    }
    Deno.writeTextFileSync(`${directory}/greeting.txt`, "hello\n");
    Deno.writeTextFileSync(`${directory}/docs/notes.md`, "# Notes\n");
    // Agents put the content of their file into a request, with its path.
    for (const name of ["AGENTS.md", "CLAUDE.md"]) {
      Deno.writeTextFileSync(`${directory}/${name}`, "Answer in one sentence.\n");
    }
    Deno.mkdirSync(`${this.directory}/${place.home}/bin`);
    const slow = `#!/bin/sh\nsleep 0.3\nexec /usr/bin/${place.slow} "$@"\n`;
    Deno.writeTextFileSync(`${this.directory}/${place.home}/bin/${place.slow}`, slow, { mode: 0o755 });
    if (place.git === "none") return;
    await this.#shell(place, "git init -q && git add . && git commit -q -m 'Greet'");
    if (place.git === "changed") {
      await this.#shell(place, "git checkout -q -b next && echo more >> docs/notes.md && touch docs/new.md");
    }
  }

  /** Records the agent with `record --upstream`; returns what it printed. */
  async record(place: Place): Promise<string> {
    await using api = await this.#agent.api();
    const upstream = ["--upstream", new URL(api.baseUrl).origin, "--out", this.fixture];
    const { client, server } = await this.#around(["record", ...this.#provider, ...upstream], place);
    assert.deepEqual([client.code, server.code], [0, 0], client.stderr + server.stderr);
    return client.stdout;
  }

  /** Replays the recording with `serve`, for a client that is given its port or that of a proxy before it. */
  async replay(place: Place, options: AgentOptions = {}): Promise<Replayed> {
    const args = ["serve", "--strict-usage", ...options.flags ?? [], this.fixture];
    const { client, server } = await this.#around(args, place, options);
    const events = server.stdout.trimEnd().split("\n").map((line): Json => JSON.parse(line));
    const ended = events.at(-1);
    assert(ended?.type === "serve.ended", server.stdout);
    const verdicts = events.filter(({ type, request }) => request !== undefined && type !== "answered");
    return { client, server, events: verdicts, ended };
  }

  /** The API provider of a server on this machine is unknown. */
  get #provider(): readonly string[] {
    return ["--provider", this.#agent.variable.toLowerCase()];
  }

  async #around(
    args: readonly string[],
    place: Place,
    { prompts = PROMPTS, rewrite }: AgentOptions = {},
  ): Promise<{ readonly client: Called; readonly server: Called }> {
    // They know the values of their own place.
    const through = daysAhead(place.days, []);
    const options = { cwd: this.#directoryOf(place), env: await this.#environment(place, {}), through };
    const server = this.start([...args, "--json"], options);
    await server.printed('"ready"');
    const { port } = JSON.parse(server.stdout.split("\n")[0] as string);
    const origin = `http://127.0.0.1:${port}`;
    await using proxy = rewrite === undefined ? null : startRewritingProxy(origin, rewrite);
    let client: Called;
    try {
      client = await this.#client(place, this.#baseUrl(proxy?.origin ?? origin), prompts);
    } finally {
      server.process.kill("SIGTERM");
    }
    assert(proxy?.rewritten !== 0, "the proxy found nothing to rewrite");
    return { client, server: await server.ended() };
  }

  async #client(
    place: Place,
    env: Readonly<Record<string, string>>,
    prompts: Prompts,
  ): Promise<Called> {
    const [command = "", ...args] = daysAhead(place.days, this.#command(prompts));
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args,
      cwd: this.#directoryOf(place),
      clearEnv: true,
      env: { ...this.environment(), ...await this.#environment(place, env) },
      stdin: "null",
    }).output();
    const decoder = new TextDecoder();
    return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr) };
  }

  #command(prompts: Prompts): string[] {
    return ["timeout", "-k", "5", CLIENT_SECONDS, "sh", "-e", "-c", this.#agent.script, "sh", ...prompts];
  }

  async #environment(
    place: Place,
    env: Readonly<Record<string, string>>,
  ): Promise<Record<string, string>> {
    const home = `${this.directory}/${place.home}`;
    return {
      PATH: `${home}/bin:${await pathWith(this.#agent.packages)}`,
      HOME: home,
      USER: place.user,
      LOGNAME: place.user,
      TZ: place.timezone,
      HTTPS_PROXY: NOWHERE,
      NO_PROXY: "127.0.0.1",
      [`${this.#agent.variable}_API_KEY`]: KEY,
      ...this.#agent.env,
      ...env,
    };
  }

  #baseUrl(origin: string): Record<string, string> {
    const { variable } = this.#agent;
    return { [`${variable}_BASE_URL`]: variable === "OPENAI" ? `${origin}/v1` : origin };
  }

  #directoryOf(place: Place): string {
    return `${this.directory}/${place.directory}`;
  }

  async #shell(place: Place, script: string): Promise<void> {
    const person = 'git() { command git -c user.name=Ada -c user.email=ada@example.com "$@"; }';
    const { success } = await new Deno.Command("sh", {
      args: ["-e", "-c", `${person}; ${script}`],
      cwd: this.#directoryOf(place),
      clearEnv: true,
      env: { ...this.environment(), GIT_CONFIG_NOSYSTEM: "1" },
    }).output();
    assert(success, script);
  }
}
