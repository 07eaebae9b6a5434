/** Sessions of real agents: imported, continued under the API's rules, exported and resumed. */
import assert from "node:assert/strict";
import { needing } from "../support/needs.ts";
import type { Json } from "../support/files.ts";
import { Sandbox } from "../support/reprise.ts";
import {
  type AgentProgram,
  AGENTS,
  callAgent,
  type CheckedApi,
  CONTINUED,
  sessionFiles,
} from "./agent_sessions.ts";
import { LACKS_AGENTS } from "./npm_packages.ts";
import { FIRST_TEXT } from "./scripted_agent_apis.ts";

const FIRST = "Tell me about the files";

class Place implements AsyncDisposable {
  readonly #sandbox = new Sandbox();
  readonly directory = this.#sandbox.directory;
  /** The agents' working directory. */
  readonly shop = `${this.directory}/shop`;

  constructor() {
    Deno.mkdirSync(this.shop);
    Deno.writeTextFileSync(`${this.shop}/greeting.txt`, "hello\n");
    // The agents' own instructions are no message of the user.
    for (const name of ["AGENTS.md", "CLAUDE.md"]) Deno.writeTextFileSync(`${this.shop}/${name}`, "Rhyme\n");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox[Symbol.asyncDispose]();
  }

  /** Continues the newest session, and checks that it is `session` and that the API takes it. */
  async continued(
    agent: AgentProgram,
    { session, rules }: { readonly session: string; readonly rules: CheckedApi },
  ): Promise<void> {
    assert.match(await this.ok("fsck", session), /ok/);
    const text = await this.ok("run", "-c", ...toApi(agent, rules.baseUrl), "And now?");
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
    const called = await this.#sandbox.call(args, { env, cwd: this.shop });
    assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
    return called.stdout;
  }
}

/** Flags of a run against an API. */
function toApi({ provider, model }: AgentProgram, baseUrl: string): string[] {
  return ["--base-url", baseUrl, "--provider", provider, "--model", model];
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
      const call = { baseUrl: api.baseUrl, home, directory: place.shop };
      await callAgent(agent, { ...call, prompt: FIRST });
      const [path = ""] = sessionFiles(agent, home);
      const before = Deno.readTextFileSync(path);

      const { session, from } = await place.json("import", path) as { session: string; from: Json };
      assert.equal(Deno.readTextFileSync(path), before);
      assert.equal(from.agent, agent.name);
      const kept = from.kept as Json;
      assert.equal(kept.messages, 1);
      for (const kind of ["responses", "reasoning", "calls", "results"]) {
        assert.ok(Number(kept[kind]) >= 3, `${kind}: ${JSON.stringify(kept)}`);
      }
      await using rules = agent.rules();
      await place.continued(agent, { session, rules });
      assert.ok(JSON.stringify(rules.requests.at(-1)).includes(FIRST_TEXT));

      const file = `${place.directory}/exported.jsonl`;
      const exported = await place.json("export", session, "--to", agent.name, "-o", file);
      const other = `${place.directory}/other`;
      const at = String(exported.place).replace(/^~/, other);
      Deno.mkdirSync(at.slice(0, at.lastIndexOf("/")), { recursive: true });
      Deno.renameSync(file, at);
      const [id = ""] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(String(exported.place)) ?? [];
      await callAgent(agent, { ...call, home: other, prompt: "After the export", resume: { id, path: at } });
      // The last requests answer the calls that the script makes again.
      const sent = api.requests.map((request) => JSON.stringify(request))
        .find((request) => request.includes("After the export")) ?? "";
      const places = [FIRST, FIRST_TEXT, "And now?", CONTINUED, "After the export"].map((each) =>
        sent.indexOf(each)
      );
      assert.ok(places.every((position, index) => position > (places[index - 1] ?? 0)), `${places}: ${sent}`);
      assert.match(sent, /greeting\.txt/);

      // The agent's own continuation of the exported file is imported again.
      const again = await place.json("import", at) as { session: string; from: Json };
      assert.deepEqual((again.from.kept as Json).messages, 3);
      await place.continued(agent, { session: again.session, rules });
      const last = JSON.stringify(rules.requests.at(-1));
      for (const each of [FIRST, CONTINUED, "After the export"]) assert.ok(last.includes(each), last);
    },
  });
}
