/** docs/clients.md does what it says: its recipes record in one place, and replay in another one. */
import assert from "node:assert/strict";
import { type Lack, lacksPython, needing } from "../support/needs.ts";
import type { Json } from "../support/files.ts";
import { blocksOf, sectionOf } from "../support/page.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { CHANGED, ELSEWHERE, HERE } from "./agent_run.ts";
import { LACKS_CLOCK } from "./moved_clock.ts";
import {
  CLAUDE_AGENT_SDK,
  CLAUDE_CODE,
  CLINE,
  CODEX,
  CONTINUE,
  COPILOT,
  GEMINI,
  installed,
  KILO,
  LACKS_AGENTS,
  OPENCODE,
  type Packages,
  pathWith,
  PI,
  QWEN,
} from "./npm_packages.ts";
import { Project } from "./project.ts";
import { startResponsesSocket } from "../support/scripted_api/socket.ts";
import { startSuiteApis } from "./suite_apis.ts";
import type { RunningApi } from "./support.ts";
import {
  chatAgentApi,
  claudeCodeApi,
  codexApi,
  FIRST_TEXT,
  geminiAgentApi,
  SECOND_TEXT,
} from "./scripted_agent_apis.ts";

const PAGE = Deno.readTextFileSync(new URL("../../docs/clients.md", import.meta.url));
const RIVER = "The Seine runs through Paris.";
const KEY = "sk-test-4f1d0c7ea9-never-recorded";

/** APIs of ours, and the variables that lead to them. */
type RecipeApis = AsyncDisposable & { readonly env: Readonly<Record<string, string>> };

/** The commands of the page, for any client. */
const [RECORD = "", SERVE = ""] = blocksOf(PAGE)[0]?.text.trimEnd().split("\n") ?? [];
/** Lines that the page shows for Codex CLI. */
const SHOWN = blocksOf(PAGE).find(({ language }) => language === "text")?.text.match(/^[^…\n]+$/gm) ?? [];
/** Tests with SDKs, which need no setup. */
const RIVER_TESTS = new URL("suites/river/", import.meta.url);

/** A recipe, and what it needs here. */
interface Recipe {
  /** Heading of its section, whose blocks are its files; `null` for an SDK. */
  readonly section: string | null;
  /** Tests of an SDK. @default {files of the section} */
  readonly tests?: string;
  /** Command in place of that of the page. */
  readonly command?: string;
  /** Flag that `serve` also needs. */
  readonly flag?: string;
  readonly packages: Packages;
  /** The APIs that it is recorded from, by the variables with their base URLs. */
  readonly apis: () => RecipeApis | Promise<RecipeApis>;
  readonly exchanges: number;
  /** Output of its commands, in any order. */
  readonly prints: readonly string[];
  /** True for a project in a repository, which gets a commit between the recording and each replay. @default {true} */
  readonly inRepository?: boolean;
  /** Time zone of all places. @default {that of each} */
  readonly timezone?: string;
  /** Flags that misses name, one after the other, until the client replays. @default {none} */
  readonly cures?: readonly string[];
  /** Missing part of the machine. */
  readonly lacks?: Lack;
}

/** Of a Chat Completions agent: its section, its packages, its exchanges, a tool with its arguments, and more. */
type ChatRecipe = readonly [string, Packages, number, string, Json, Partial<Recipe>?];

const CHAT_RECIPES: readonly ChatRecipe[] = [
  ["Cline", CLINE, 2, "run_commands", { commands: ["pwd"] }],
  ["GitHub Copilot CLI", COPILOT, 2, "bash", { command: "pwd", description: "Prints the directory" }, {
    cures: [
      "--replace '<current_datetime>[^<\\s]+=<current_datetime>T' " +
      "--replace '\\.copilot/session-state/[\\w.-]+=.copilot/session-state/X'",
    ],
  }],
  ["Continue CLI", CONTINUE, 2, "Bash", { command: "pwd" }, { inRepository: false, timezone: "Etc/UTC" }],
  // One request is for a title.
  ["opencode", OPENCODE, 3, "bash", { command: "pwd", description: "Prints the directory" }],
  ["Kilo", KILO, 2, "bash", { command: "pwd", description: "Prints" }],
  ["Qwen Code", QWEN, 2, "run_shell_command", { command: "pwd", is_background: false }, {
    flag: "--replace '(?m)^git: .*\\n='",
    cures: ["--replace 'Context from: \\S+=Context from: X'"],
  }],
  ["pi", PI, 2, "bash", { command: "pwd" }],
];

const RECIPES: readonly Recipe[] = [
  {
    section: null,
    tests: "test_river.py",
    command: "python3 -m pytest tests",
    flag: "--replace '/pytest-of-[^/]+/pytest-\\d+=/pytest-X'",
    packages: [],
    apis: startSuiteApis,
    exchanges: 1,
    prints: ["1 passed"],
    lacks: await lacksPython("httpx", "pytest"),
  },
  {
    section: null,
    tests: "river.test.ts",
    command: "npx vitest run",
    packages: [
      "vitest@4.1.12",
      "openai@6.49.0",
      "@anthropic-ai/sdk@1.12.0",
      "ai@6.0.326",
      "@ai-sdk/openai@3.0.141",
      "@langchain/openai@1.5.8",
      "@langchain/core@1.4.0",
    ],
    apis: startSuiteApis,
    exchanges: 4,
    prints: ["4 passed"],
  },
  {
    section: "openai over a WebSocket",
    command: "node rivers.mjs",
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
    flag: "--rewrite-context",
    packages: CLAUDE_CODE,
    apis: () => agentApi("ANTHROPIC_BASE_URL", claudeCodeApi()),
    // Five requests, and a retry of each process.
    exchanges: 7,
    prints: [FIRST_TEXT, SECOND_TEXT],
  },
  {
    section: "Claude Agent SDK",
    command: "node agent.mjs",
    flag: "--rewrite-context",
    packages: CLAUDE_AGENT_SDK,
    apis: () => agentApi("ANTHROPIC_BASE_URL", claudeCodeApi()),
    // Four requests, and retries.
    exchanges: 7,
    prints: [FIRST_TEXT],
  },
  ...CHAT_RECIPES.map(([section, packages, exchanges, tool, args, more]): Recipe => ({
    ...{ section, packages, exchanges, prints: [FIRST_TEXT], ...more },
    apis: () => agentApi("OPENAI_BASE_URL", chatAgentApi(tool, args)),
  })),
  {
    section: "Gemini CLI",
    packages: GEMINI,
    apis: () => agentApi("GOOGLE_GEMINI_BASE_URL", geminiAgentApi("run_shell_command", { command: "pwd" })),
    exchanges: 2,
    prints: [FIRST_TEXT],
    cures: ["--replace '\\.gemini/tmp/[\\w.-]+=.gemini/tmp/X'", "--replace 'PGID: \\d+=PGID: N'"],
  },
];

/** Prompt of the recipes of agents. */
const PROMPT = "Tell me about the files here";

async function agentApi(variable: string, started: RunningApi | Promise<RunningApi>) {
  const api = await started;
  const url = variable === "OPENAI_BASE_URL" ? api.baseUrl : new URL(api.baseUrl).origin;
  return { env: { [variable]: url }, [Symbol.asyncDispose]: () => api[Symbol.asyncDispose]() };
}

/** Files of a recipe, by their paths. */
function filesOf({ section, tests = "" }: Recipe): readonly (readonly [path: string, text: string])[] {
  if (section === null) return [[`tests/${tests}`, Deno.readTextFileSync(new URL(tests, RIVER_TESTS))]];
  return blocksOf(sectionOf(PAGE, section)).flatMap(({ path, text }) => path === null ? [] : [[path, text]]);
}

for (const recipe of RECIPES) {
  const { section, command = "sh agent.sh", packages, apis, exchanges, prints, lacks = null } = recipe;
  Deno.test({
    ...needing(
      `docs/clients.md, ${
        section ?? recipe.tests
      }: recorded in one place, it replays in others, 40 days and one day later`,
      LACKS_AGENTS,
      ...[LACKS_CLOCK, lacks],
    ),
    fn: async () => {
      const zone = recipe.timezone === undefined ? {} : { timezone: recipe.timezone };
      await using project = new Project({ ...HERE, ...zone });
      const path = await pathWith(packages);
      if (packages.length > 1) project.link(await installed(packages));
      const files = filesOf(recipe);
      assert(files.length > 0);
      for (const [name, text] of files) project.write(name, text);
      if (recipe.inRepository !== false) await project.commit();
      const record = RECORD.replace("sh agent.sh", command);
      let printed: string;
      {
        await using upstream = await apis();
        const keys = { OPENAI_API_KEY: KEY, ANTHROPIC_API_KEY: KEY, GEMINI_API_KEY: KEY };
        printed = await project.shell(record, path, { ...upstream.env, ...keys });
        assert.match(printed, new RegExp(`recorded ${exchanges} exchange`));
        for (const line of prints) assert(printed.includes(line), printed);
        printed = printed.replaceAll(project.root, "/srv/project");
      }
      await project.moveTo({ ...ELSEWHERE, ...zone });
      const serve = await curedServe(recipe, project, path);
      const replayed = await project.shell(`${serve} -- ${command}`, path, {});
      for (const line of prints) assert(replayed.includes(line), replayed);
      if (section === "Codex CLI") {
        for (const line of SHOWN) assert(`${printed}${replayed}`.includes(line), `${printed}${replayed}`);
      }
      await project.moveTo({ ...CHANGED, ...zone });
      const again = await project.shell(`${serve} -- ${command}`, path, {});
      for (const line of prints) assert(again.includes(line), again);
      for (const [name, text] of files.filter(([, text]) => text.includes(PROMPT))) {
        project.write(name, text.replace(PROMPT, "Delete the files here"));
        const { code, output } = await project.attempt(`${serve} -- sh -c "${command} || true"`, path, {});
        assert.equal(code, 7, output);
        assert.match(output, /Delete the files here/);
      }
    },
  });
}

/** Returns the command that replays a recipe: with its flag, and with the flags that misses name, which the page has too. */
async function curedServe(
  { section, command = "sh agent.sh", flag = "", cures = [] }: Recipe,
  project: Project,
  path: string,
): Promise<string> {
  const shown = section === null ? PAGE : sectionOf(PAGE, section);
  for (const each of [flag, ...cures.flatMap((cure) => cure.split(/ (?=--)/))]) {
    assert(shown.includes(each), `${section} names no ${each}`);
  }
  let serve = SERVE.replace("-- sh agent.sh", flag);
  for (const cure of cures) {
    const { code, output } = await project.attempt(`${serve} -- sh -c "${command} || true"`, path, {});
    assert.equal(code, 7, output);
    assert(output.includes(`To match it: ${cure}\n`), output);
    serve += ` ${cure}`;
  }
  return serve;
}

Deno.test("docs/clients.md names each client in the version that is tested", () => {
  for (const { packages, section } of RECIPES.filter(({ section }) => section !== null)) {
    const version = packages[0]?.split("@").at(-1) ?? "";
    const row = PAGE.split("\n").find((line) => line.startsWith(`| [${section}]`)) ?? "";
    assert.match(row, new RegExp(`\\| ${version.replaceAll(".", "\\.")} +\\|$`), `${section} ${version}`);
  }
});
