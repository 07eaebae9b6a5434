/** Clients from npm, each recorded in a loop of two calls and an answer, and then certified. */
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { type Called, PROGRAM, said, Sandbox } from "../support/reprise.ts";
import { startChatServer } from "../support/scripted_api/chat.ts";
import { says, startMessagesServer, text, thinking, toolUse } from "../support/scripted_api/messages.ts";
import {
  answer,
  functionCall,
  message,
  reasoning,
  type RecordedRequest,
} from "../support/scripted_api/responses.ts";
import { startResponsesSocket } from "../support/scripted_api/socket.ts";
import { CLAUDE_CODE_EARLIER, CODEX, installed, type Packages, pathWith, SDKS } from "./npm_packages.ts";
import type { Api } from "./support.ts";

/** The key of every client: longer than what a recorder takes for a word. */
const KEY = "sk-test-4f1d0c7ea9-never-recorded";
const TEXT = "In Paris it is sunny with 21 degrees, and in Rome it rains.";

/** A tool, and the arguments of its two calls. */
type Calls = readonly [name: string, first: Json, second: Json];

const WEATHER: Calls = ["get_weather", { city: "Paris", unit: "C" }, { city: "Rome", unit: "C" }];

/** The APIs, each with two calls and an answer. */
const APIS: Readonly<Record<"responses" | "messages" | "chat", (calls: Calls) => Api>> = {
  responses: ([name, ...args]) => () =>
    startResponsesSocket({
      script({ input }: RecordedRequest) {
        const next = args[input.filter(({ type }) => type === "function_call_output").length];
        return answer([reasoning("**Step**"), next === undefined ? message(TEXT) : functionCall(name, next)]);
      },
    }),
  messages: ([name, ...args]) => () =>
    startMessagesServer({
      script({ blocks }) {
        const next = args[blocks.filter(({ type }) => type === "tool_result").length];
        return says([thinking("A step."), next === undefined ? text(TEXT) : toolUse(name, next)]);
      },
    }),
  chat: ([name, ...args]) => () =>
    startChatServer((messages) => {
      const next = args[messages.filter(({ role }) => role === "tool").length];
      return next === undefined ? { text: TEXT } : { calls: [{ name, args: next }] };
    }),
};

/** A client, and how it is a command. */
export interface Certified {
  /** Heading of its column in docs/certify.md. */
  readonly name: string;
  readonly packages: Packages;
  readonly api: keyof typeof APIS;
  readonly calls: Calls;
  /** Line of a shell. */
  readonly command: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Faults with which it takes minutes, beside those that no client ends soon. */
  readonly slow?: readonly string[];
}

const sdk = (client: string, api: keyof typeof APIS, name: string): Certified => ({
  ...{ name, packages: SDKS, api, calls: WEATHER, command: `node certified.mjs ${client}` },
});

const LIST = { path: "." };
const own = (api: keyof typeof APIS, name: string, flags: string): Certified => ({
  ...{ name, packages: [], api, calls: ["list_files", LIST, LIST] },
  command: `${PROGRAM.map((word) => `'${word}'`).join(" ")} run --new ${flags} "Which files are there?"`,
});

const codex = (name: string, settings: string): Certified => ({
  ...{ name, packages: CODEX, api: "responses" },
  calls: ["exec_command", { cmd: "ls -a greeting.txt" }, { cmd: "cat greeting.txt" }],
  command: `CODEX_API_KEY="$OPENAI_API_KEY" codex exec ${settings} -m gpt-5.6 --skip-git-repo-check ` +
    '--dangerously-bypass-approvals-and-sandbox "Tell me about the files"',
});

/** A provider of the user's own: then Codex uses HTTP. */
const CODEX_PROVIDER = [
  "-c model_provider=mine -c model_providers.mine.name=mine -c model_providers.mine.wire_api=responses",
  '-c model_providers.mine.base_url="$OPENAI_BASE_URL" -c model_providers.mine.env_key=OPENAI_API_KEY',
].join(" ");

/** All clients, in the order of the columns. */
export const CERTIFIED: readonly Certified[] = [
  sdk("openai", "responses", "openai"),
  sdk("anthropic", "messages", "@anthropic-ai/sdk"),
  sdk("ai-sdk", "responses", "AI SDK"),
  { ...sdk("langchain", "chat", "LangChain.js"), slow: ["outage"] },
  codex("Codex CLI", CODEX_PROVIDER),
  {
    name: "Claude Code",
    packages: CLAUDE_CODE_EARLIER,
    api: "messages",
    calls: [
      "Bash",
      { command: "wc -l greeting.txt", description: "Counts the lines" },
      { command: "cat greeting.txt", description: "Prints the file" },
    ],
    command: 'claude --dangerously-skip-permissions -p "Tell me about the files"',
    slow: ["outage"],
    env: {
      ...{ DISABLE_AUTOUPDATER: "1", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1" },
      // As root it skips permissions only in a sandbox.
      IS_SANDBOX: "1",
    },
  },
  own("responses", "`reprise run`", "-p openai -m gpt-5.6"),
];

/** Our own client over a WebSocket; tests/cli/binary/certify_run_test.ts has its other APIs. */
export const OVER_SOCKET = own(
  "responses",
  "`reprise run` over a WebSocket",
  "-p openai -m gpt-5.6 --transport ws",
);

/** A sandbox with a recorded client. */
export class CertifiedSandbox extends Sandbox {
  readonly #client: Certified;
  readonly fixture = `${this.directory}/fixture`;

  private constructor(client: Certified) {
    super();
    this.#client = client;
    Deno.writeTextFileSync(`${this.workspace}/greeting.txt`, "hello\n");
  }

  static async recorded(client: Certified): Promise<CertifiedSandbox> {
    const sandbox = new CertifiedSandbox(client);
    if (client.packages === SDKS) {
      Deno.copyFileSync(new URL("./certified.mjs", import.meta.url), `${sandbox.workspace}/certified.mjs`);
      Deno.symlinkSync(await installed(SDKS), `${sandbox.workspace}/node_modules`);
    }
    await using api = await APIS[client.api](client.calls)();
    const { origin } = new URL(api.baseUrl);
    const provider = client.api === "messages" ? "anthropic" : "openai";
    const out = ["--upstream", origin, "-p", provider, "--out", sandbox.fixture];
    const called = await sandbox.#call(["record", ...out, "--", ...sandbox.#command], origin);
    assert.equal(called.code, 0, said(called));
    return sandbox;
  }

  /** Certifies the client. */
  async certify(flags: readonly string[]): Promise<Called> {
    const place = ["--copy", this.workspace, "--home", "--json", "--jobs", "2"];
    return await this.#call(["certify", this.fixture, ...place, ...flags, "--", ...this.#command], "");
  }

  get #command(): readonly string[] {
    return ["sh", "-c", this.#client.command];
  }

  async #call(args: readonly string[], origin: string): Promise<Called> {
    return await this.call(args, {
      env: {
        PATH: await pathWith(this.#client.packages),
        ...(origin === "" ? {} : { OPENAI_BASE_URL: `${origin}/v1`, ANTHROPIC_BASE_URL: origin }),
        OPENAI_API_KEY: KEY,
        ANTHROPIC_API_KEY: KEY,
        ...this.#client.env,
      },
    });
  }
}
