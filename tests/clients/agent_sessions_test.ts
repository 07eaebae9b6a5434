/** Sessions of Codex CLI, Claude Code and pi, unmodified: imported, continued under the API's rules, exported, resumed. */
import assert from "node:assert/strict";
import { dirname } from "node:path";
import { type Json, textsBelow } from "../support/files.ts";
import { says, startMessagesServer, text } from "../support/scripted_api/messages.ts";
import { needing } from "../support/needs.ts";
import { Sandbox } from "../support/reprise.ts";
import { answer, message, startResponsesServer } from "../support/scripted_api/responses.ts";
import { CLAUDE_CODE_EARLIER, CODEX, LACKS_AGENTS, type Packages, pathWith, PI } from "./npm_packages.ts";
import { claudeCodeApi, codexApi, FIRST_TEXT } from "./scripted_agent_apis.ts";

const FIRST = "Tell me about the files";
/** The text of every answer of {@linkcode AgentProgram.rules}. */
const CONTINUED = "Continued after the import.";
/** A client that takes longer is ended, and its test fails. */
const CLIENT_MS = 90_000;

/** An API of ours that checks requests by the rules of the API. */
interface CheckedApi extends AsyncDisposable {
  readonly baseUrl: string;
  readonly requests: readonly unknown[];
  readonly refusals: readonly unknown[];
}

/** A session that an agent resumes. */
interface Exported {
  readonly id: string;
  readonly path: string;
}

/** An agent, its calls, and the place of its sessions. */
interface AgentProgram {
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
  /** A file below the home, with its content. */
  readonly settings?: (baseUrl: string) => readonly [path: string, content: string];
  readonly args: (baseUrl: string, resumed: Exported | null) => readonly string[];
}

const responsesRules = () => startResponsesServer({ script: () => answer([message(CONTINUED)]) });

const AGENTS: readonly AgentProgram[] = [
  {
    ...{ name: "codex", packages: CODEX, model: "gpt-5.6", provider: "compatible" },
    sessions: ".codex/sessions",
    api: codexApi,
    rules: responsesRules,
    env: () => ({ OPENAI_API_KEY: "sk-test" }),
    args: (baseUrl, resumed) => [
      ...["codex", "exec", "-c", "model_provider=mine", "-c", "model_providers.mine.name=mine"],
      ...["-c", `model_providers.mine.base_url=${baseUrl}`],
      ...[
        "-c",
        "model_providers.mine.env_key=OPENAI_API_KEY",
        "-c",
        "model_providers.mine.wire_api=responses",
      ],
      ...["-m", "gpt-5.6", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
      ...(resumed === null ? [] : ["resume", resumed.id]),
    ],
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
    args: (_, resumed) => [
      ...["claude", "--dangerously-skip-permissions"],
      ...(resumed === null ? [] : ["--resume", resumed.id]),
      "-p",
    ],
  },
  {
    ...{ name: "pi", packages: PI, model: "gpt-5.6", provider: "compatible" },
    sessions: ".pi/agent/sessions",
    api: codexApi,
    rules: responsesRules,
    env: () => ({ PI_TELEMETRY: "0" }),
    settings: (baseUrl) => {
      const models = [{ id: "gpt-5.6", reasoning: true }];
      const mine = { baseUrl, api: "openai-responses", apiKey: "sk-test", models };
      return [".pi/agent/models.json", JSON.stringify({ providers: { mine } })];
    },
    args: (_, resumed) => [
      ...["pi", "--offline", "--provider", "mine", "--model", "gpt-5.6", "--thinking", "medium"],
      ...(resumed === null ? [] : ["--session", resumed.path]),
      "-p",
    ],
  },
];

/** A working directory of agents, and calls of the program in it. */
class Place extends Sandbox {
  readonly shop = `${this.directory}/shop`;

  constructor() {
    super();
    Deno.mkdirSync(this.shop);
    Deno.writeTextFileSync(`${this.shop}/greeting.txt`, "hello\n");
    // The agents' own instructions are no message of the user.
    for (const name of ["AGENTS.md", "CLAUDE.md"]) Deno.writeTextFileSync(`${this.shop}/${name}`, "Rhyme\n");
  }

  /** Calls an agent with a prompt, to its end. */
  async prompt(
    agent: AgentProgram,
    { baseUrl }: CheckedApi,
    { home, prompt, resumed = null }: {
      readonly home: string;
      readonly prompt: string;
      readonly resumed?: Exported | null;
    },
  ): Promise<void> {
    const settings = agent.settings?.(baseUrl);
    Deno.mkdirSync(dirname(`${home}/${settings?.[0] ?? ""}`), { recursive: true });
    if (settings !== undefined) Deno.writeTextFileSync(`${home}/${settings[0]}`, settings[1]);
    const [command = "", ...args] = agent.args(baseUrl, resumed);
    const { code, stdout, stderr } = await new Deno.Command(command, {
      args: [...args, prompt],
      cwd: this.shop,
      signal: AbortSignal.timeout(CLIENT_MS),
      clearEnv: true,
      env: { PATH: await pathWith(agent.packages), HOME: home, ...agent.env(baseUrl) },
      stdin: "null",
    }).output();
    const output = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes)).join("");
    assert.equal(code, 0, `${agent.name}: ${output}`);
  }

  /** Continues the newest session, and checks that it is `session` and that the API takes it. */
  async continued(agent: AgentProgram, session: string, rules: CheckedApi): Promise<void> {
    assert.match(await this.ok("fsck", session), /ok/);
    const { provider, model } = agent;
    const api = ["--base-url", rules.baseUrl, "--provider", provider, "--model", model];
    const text = await this.ok("run", "-c", ...api, "And now?");
    assert.match(text, new RegExp(CONTINUED));
    assert.deepEqual(rules.refusals, []);
    assert.match(await this.ok("fsck", session, "--requests"), /: imported/);
    assert.match(await this.ok("fsck", session), /ok/);
  }

  async json(...args: readonly string[]): Promise<Json> {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  async ok(...args: readonly string[]): Promise<string> {
    const env = { OPENAI_API_KEY: "sk-test", ANTHROPIC_API_KEY: "sk-test" };
    const called = await this.call(args, { env, cwd: this.shop });
    assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
    return called.stdout;
  }
}

for (const agent of AGENTS) {
  Deno.test({
    ...needing(
      `${agent.name}: its session is imported, continued under the API's rules, exported and resumed`,
      LACKS_AGENTS,
    ),
    fn: async () => {
      await using place = new Place();
      await using api = await agent.api();
      const home = `${place.directory}/${agent.name}`;
      await place.prompt(agent, api, { home, prompt: FIRST });
      const sessions = `${home}/${agent.sessions}`;
      const [name = ""] = [...textsBelow(sessions).keys()].filter((name) => name.endsWith(".jsonl")).sort();
      const path = `${sessions}/${name}`;
      const before = Deno.readTextFileSync(path);

      const { session, from } = await place.json("import", path);
      assert.equal(Deno.readTextFileSync(path), before);
      assert.equal(from.agent, agent.name);
      const { kept } = from;
      assert.equal(kept.messages, 1);
      for (const kind of ["responses", "reasoning", "calls", "results"]) {
        assert.ok(Number(kept[kind]) >= 3, `${kind}: ${JSON.stringify(kept)}`);
      }
      await using rules = agent.rules();
      await place.continued(agent, session, rules);
      assert.ok(JSON.stringify(rules.requests.at(-1)).includes(FIRST_TEXT));

      const file = `${place.directory}/exported.jsonl`;
      const exported = await place.json("export", session, "--to", agent.name, "-o", file);
      const other = `${place.directory}/other`;
      const at = String(exported.place).replace(/^~/, other);
      Deno.mkdirSync(dirname(at), { recursive: true });
      Deno.renameSync(file, at);
      const [id = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(String(exported.place)) ?? [];
      const resumed = { id, path: at };
      await place.prompt(agent, api, { home: other, prompt: "After the export", resumed });
      // The last requests answer the calls that the script makes again.
      const sent = api.requests.map((request) => JSON.stringify(request))
        .find((request) => request.includes("After the export")) ?? "";
      const places = [FIRST, FIRST_TEXT, "And now?", CONTINUED, "After the export"].map((each) =>
        sent.indexOf(each)
      );
      assert.ok(places.every((position, index) => position > (places[index - 1] ?? 0)), `${places}: ${sent}`);
      assert.match(sent, /greeting\.txt/);

      // The agent's own continuation of the exported file is imported again.
      const again = await place.json("import", at);
      assert.deepEqual(again.from.kept.messages, 3);
      await place.continued(agent, again.session, rules);
      const last = JSON.stringify(rules.requests.at(-1));
      for (const each of [FIRST, CONTINUED, "After the export"]) assert.ok(last.includes(each), last);
    },
  });
}
