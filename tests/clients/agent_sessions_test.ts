/** Sessions of real agents: imported, also after a kill, continued under the API's rules, exported and resumed. */
import assert from "node:assert/strict";
import type { JsonObject } from "../../src/domain/json.ts";
import { Sandbox } from "../support/reprise.ts";
import { AGENTS, callAgent, CONTINUED, HoldingServer, sessionFiles, startAgent } from "./agent_sessions.ts";
import { NOT_HERE, RUNS_AGENTS } from "./npm_packages.ts";
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
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sandbox[Symbol.asyncDispose]();
  }

  async json(...args: readonly string[]): Promise<JsonObject> {
    return JSON.parse(await this.ok(...args, "--json"));
  }

  async ok(...args: readonly string[]): Promise<string> {
    const env = { OPENAI_API_KEY: "sk-test", ANTHROPIC_API_KEY: "sk-test" };
    const called = await this.#sandbox.call(args, { env, cwd: this.shop });
    assert.equal(called.code, 0, `${args.join(" ")}: ${called.stdout}${called.stderr}`);
    return called.stdout;
  }
}

for (const agent of AGENTS) {
  Deno.test({
    name:
      `${agent.name}: its session is imported, continued under the API's rules, exported and resumed${NOT_HERE}`,
    ignore: !RUNS_AGENTS,
    fn: async () => {
      await using place = new Place();
      await using api = await agent.api();
      const home = `${place.directory}/${agent.name}`;
      const call = { baseUrl: api.baseUrl, home, directory: place.shop };
      await callAgent(agent, { ...call, prompt: FIRST });
      const [path = ""] = sessionFiles(agent, home);
      const before = Deno.readTextFileSync(path);

      const { session, from } = await place.json("import", path) as { session: string; from: JsonObject };
      assert.equal(Deno.readTextFileSync(path), before);
      assert.equal(from.agent, agent.name);
      const kept = from.kept as JsonObject;
      assert.equal(kept.messages, 1);
      for (const kind of ["responses", "reasoning", "calls", "results"]) {
        assert.ok(Number(kept[kind]) >= 3, `${kind}: ${JSON.stringify(kept)}`);
      }
      assert.match(await place.ok("fsck", session), /ok/);

      await using rules = agent.rules();
      const to = ["--base-url", rules.baseUrl, "--provider", agent.provider, "--model", agent.model];
      assert.match(await place.ok("run", "-s", session, ...to, "And now?"), new RegExp(CONTINUED));
      assert.deepEqual(rules.refusals, []);
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
    },
  });
}

Deno.test({
  name: `pi: a session that was killed in the middle of a line is imported and continued${NOT_HERE}`,
  ignore: !RUNS_AGENTS,
  fn: async () => {
    const [agent] = AGENTS.filter(({ name }) => name === "pi");
    assert.ok(agent !== undefined);
    await using place = new Place();
    await using api = await agent.api();
    await using holding = new HoldingServer(api.baseUrl, { held: 3 });
    const home = `${place.directory}/killed`;
    const call = { baseUrl: `${holding.origin}/v1`, home, directory: place.shop, prompt: FIRST };
    const process = await startAgent(agent, call);
    await holding.held;
    process.kill("SIGKILL");
    await process.output();

    const [path = ""] = sessionFiles(agent, home);
    const whole = Deno.readTextFileSync(path);
    // The end of the file is lost in the middle of the result of the second call, as after a crash of the machine.
    Deno.writeTextFileSync(path, whole.slice(0, whole.length - 40));
    const { session, from, path: directory } = await place.json("import", path) as Record<string, JsonObject>;
    assert.equal(from?.torn_line, whole.trimEnd().split("\n").length);
    assert.equal([...Deno.readDirSync(`${directory}/quarantine`)].length, 1);
    assert.match(await place.ok("fsck", String(session)), /ok/);
    await using rules = agent.rules();
    const to = ["--base-url", rules.baseUrl, "--provider", agent.provider, "--model", agent.model];
    assert.match(await place.ok("run", "-s", String(session), ...to, "And now?"), new RegExp(CONTINUED));
    assert.deepEqual(rules.refusals, []);
    assert.ok(JSON.stringify(rules.requests.at(-1)).includes("may or may not have run"));
  },
});
