/** docs/clients.md does what it says: its recipes record in one place, and replay in another one. */
import assert from "node:assert/strict";
import { type Lack, lacksPython, needing } from "../support/needs.ts";
import { startMessagesServer, text } from "../support/messages_server.ts";
import { says } from "../support/messages_server/script.ts";
import { blocksOf, sectionOf } from "../support/page.ts";
import { answer, message, startResponsesServer } from "../support/responses_server.ts";
import { listen } from "../support/serving.ts";
import { ELSEWHERE } from "./agent_run.ts";
import {
  CLAUDE_AGENT_SDK,
  CLAUDE_CODE,
  CLINE,
  CODEX,
  CONTINUE,
  COPILOT,
  installed,
  LACKS_AGENTS,
  OPENCODE,
  type Packages,
  pathWith,
} from "./npm_packages.ts";
import { Project } from "./project.ts";
import { startResponsesSocket } from "../support/responses_socket.ts";
import type { AgentApi } from "./agent_run.ts";
import { chatAgentApi, claudeCodeApi, codexApi, FIRST_TEXT, SECOND_TEXT } from "./scripted_agent_apis.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/clients.md", import.meta.url));
const RIVER = "The Seine runs through Paris.";
const KEY = "sk-test-4f1d0c7ea9-never-recorded";

/** APIs of ours, and the variables that lead to them. */
type RecipeApis = AsyncDisposable & { readonly env: Readonly<Record<string, string>> };

/** A recipe, and what it needs here. */
interface Recipe {
  /** The heading of its section. */
  readonly section: string;
  readonly packages: Packages;
  /** The APIs that it is recorded from, by the variables with their base URLs. */
  readonly apis: () => RecipeApis | Promise<RecipeApis>;
  readonly exchanges: number;
  /** Output of its commands, in any order. */
  readonly prints: readonly string[];
  /** Missing part of the machine. */
  readonly lacks?: Lack;
}

const RECIPES: readonly Recipe[] = [
  {
    section: "httpx in pytest",
    packages: [],
    apis: riverApis,
    exchanges: 1,
    prints: ["1 passed"],
    lacks: await lacksPython("httpx", "pytest"),
  },
  {
    section: "SDKs in vitest",
    packages: [
      "vitest@4.1.12",
      "openai@6.49.0",
      "@anthropic-ai/sdk@1.12.0",
      "ai@6.0.326",
      "@ai-sdk/openai@3.0.141",
      "@langchain/openai@1.5.8",
      "@langchain/core@1.4.0",
    ],
    apis: riverApis,
    exchanges: 4,
    prints: ["4 passed"],
  },
  {
    section: "openai over a WebSocket",
    packages: ["openai@7.57.0", "ws@8.23.0"],
    apis: () => agentApi("OPENAI_BASE_URL", startResponsesSocket({ script: () => answer([message(RIVER)]) })),
    exchanges: 2,
    prints: [`${RIVER}\n${RIVER}`],
  },
  {
    section: "Codex CLI",
    packages: CODEX,
    apis: () => agentApi("OPENAI_BASE_URL", codexApi()),
    // Five requests, and a warm-up of each process.
    exchanges: 7,
    prints: [FIRST_TEXT, SECOND_TEXT],
  },
  {
    section: "Claude Code",
    packages: CLAUDE_CODE,
    apis: () => agentApi("ANTHROPIC_BASE_URL", claudeCodeApi()),
    // Five requests, and a retry of each process.
    exchanges: 7,
    prints: [FIRST_TEXT, SECOND_TEXT],
  },
  {
    section: "Claude Agent SDK",
    packages: CLAUDE_AGENT_SDK,
    apis: () => agentApi("ANTHROPIC_BASE_URL", claudeCodeApi()),
    // Four requests, and retries.
    exchanges: 7,
    prints: [FIRST_TEXT],
  },
  ...([
    ["Cline", CLINE, "run_commands", { commands: ["pwd"] }],
    ["GitHub Copilot CLI", COPILOT, "bash", { command: "pwd", description: "Prints the directory" }],
    ["Continue CLI", CONTINUE, "Bash", { command: "pwd" }],
  ] as const).map(([section, packages, tool, args]): Recipe => ({
    ...{ section, packages, exchanges: 2, prints: [FIRST_TEXT] },
    apis: () => agentApi("OPENAI_BASE_URL", chatAgentApi(tool, args)),
  })),
  {
    section: "opencode",
    packages: OPENCODE,
    apis: () =>
      agentApi(
        "OPENAI_BASE_URL",
        chatAgentApi("bash", { command: "pwd", description: "Prints the directory" }),
      ),
    // Two requests, and one for a title.
    exchanges: 3,
    prints: [FIRST_TEXT],
  },
];

/** Prompt of the recipes of agents. */
const PROMPT = "Tell me about the files here";

/** Both vendors' APIs, with one answer to whatever they are asked. */
function riverApis() {
  const responses = startResponsesServer({ script: () => answer([message(RIVER)]) });
  const messages = startMessagesServer({ script: () => says([text(RIVER)]) });
  const openai = listen(async (incoming) => {
    const { pathname } = new URL(incoming.url);
    if (pathname.endsWith("/chat/completions")) return Response.json(chatCompletion(RIVER));
    const { method, headers } = incoming;
    return await fetch(new URL(pathname, responses.baseUrl), {
      method,
      headers,
      body: await incoming.text(),
    });
  });
  return {
    env: { OPENAI_BASE_URL: `${openai.origin}/v1`, ANTHROPIC_BASE_URL: new URL(messages.baseUrl).origin },
    async [Symbol.asyncDispose]() {
      await Promise.all([openai.stop(), responses.stop(), messages.stop()]);
    },
  };
}

function chatCompletion(content: string) {
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1_790_000_000,
    model: "gpt-5.6",
    choices: [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }],
    usage: { prompt_tokens: 20, completion_tokens: 8, total_tokens: 28 },
  };
}

async function agentApi(variable: string, started: AgentApi | Promise<AgentApi>) {
  const api = await started;
  const url = variable === "OPENAI_BASE_URL" ? api.baseUrl : new URL(api.baseUrl).origin;
  return { env: { [variable]: url }, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

for (const { section, packages, apis, exchanges, prints, lacks = null } of RECIPES) {
  Deno.test({
    ...needing(
      `docs/clients.md, ${section}: recorded in one directory, it replays after a move to another one`,
      LACKS_AGENTS,
      lacks,
    ),
    fn: async () => {
      await using project = new Project();
      const path = await pathWith(packages);
      if (packages.length > 1) project.link(await installed(packages));
      const commands: string[] = [];
      for (const block of blocksOf(sectionOf(PAGE, section))) {
        if (block.path === null) commands.push(block.text);
        else project.write(block.path, block.text);
      }
      const [record = "", ...replays] = commands;
      assert.match(record, /^reprise record /);
      {
        await using upstream = await apis();
        const keys = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY };
        const recorded = await project.shell(record, path, { ...upstream.env, ...keys });
        assert.match(recorded, new RegExp(`recorded ${exchanges} exchange`));
        for (const line of prints) assert(recorded.includes(line), recorded);
      }
      project.moveTo(ELSEWHERE);
      assert(replays.length > 0);
      for (const replay of replays) {
        assert.match(replay, /^reprise serve .*--strict-usage/);
        const replayed = await project.shell(replay, path, {});
        for (const line of prints) assert(replayed.includes(line), replayed);
      }
      for (const block of blocksOf(sectionOf(PAGE, section))) {
        if (block.path === null || !block.text.includes(PROMPT)) continue;
        project.write(block.path, block.text.replace(PROMPT, "Delete the files here"));
        const [serve = "", command = ""] = replays[0]?.split(" -- ") ?? [];
        const { code, output } = await project.attempt(
          `${serve} -- sh -c "${command.trim()} || true"`,
          path,
          {},
        );
        assert.equal(code, 7, output);
        assert.match(output, /Delete the files here/);
      }
    },
  });
}
