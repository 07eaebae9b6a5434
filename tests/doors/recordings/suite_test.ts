/** Suites by test name, secrets in requests, and the folders of a served suite. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { withHome } from "./home.ts";
import { write } from "./recording_files.ts";
import { type Answer, exchangeOf, outcomeOf, type Row, rows, sent, Served } from "./served.ts";
import { ask } from "./shapes.ts";
import { askRaw } from "./raw_http.ts";

const numbered = (n: number) => ask(`Question ${n}`);
const TWO = [1, 2].map((n) => exchangeOf(numbered(n)));

withHome(
  "a test plays its own folder; a request without one plays all folders in order, apart from those plays",
  async (home) => {
    for (const name of ["suite/b", "suite/c", "a"]) home.fixture(name, TWO);
    await using server = await Served.start(home, ["a", "suite"], { cwd: home.directory });
    const asked = async (before: string, n: number) => {
      const { events: [event] } = await server.ask(numbered(n), before);
      return event.type === "played"
        ? `${event.test ?? ""} ${event.fixture} ${event.number}`
        : `${event.test ?? ""} ${event.type}`;
    };
    assert.equal(await asked("/t/b", 1), "b suite/b 1");
    for (const outcome of [" a 1", " suite/b 1", " suite/c 1", " miss"]) {
      assert.equal(await asked("", 1), outcome);
    }
    assert.equal(await asked("/t/b", 1), "b miss");
    assert.equal(await asked("/t/unknown", 1), "unknown miss");
    for (const path of ["/t/b", "/t/b/v1"]) {
      const { status, events } = await server.ask(sent("", { method: "HEAD", path }));
      assert.deepEqual([status, events[0].type, events[0].test], [200, "skipped", "b"]);
    }
    const { served, missed, unopened, unused } = await server.end();
    assert.deepEqual({ served, missed, unopened }, { served: 4, missed: 3, unopened: [] });
    assert.deepEqual(unused, ["a", "suite/b", "suite/c"].map((fixture) => ({ fixture, number: 2 })));
  },
);

withHome(
  "a name that breaks the rule is refused; a damaged fixture is read again by the next request",
  async (home) => {
    const path = home.fixture("suite/a", TWO);
    await using server = await Served.start(home, ["suite"], { cwd: home.directory });
    for (const name of ["/t/A", "/t/exchanges", "/t/", "/t//a"]) {
      const head = `POST ${name}/v1/responses HTTP/1.1\nHost: 127.0.0.1:PORT\nContent-Length: 2`;
      await askRaw(server.port, `${head}\n\n{}`);
      assert.equal(server.news()[0]?.code, "test_refused", name);
    }
    const body = Deno.readTextFileSync(`${path}/exchanges/0001/body`);
    write(`${path}/exchanges/0001/body`, "changed");
    assert.equal(outcomeOf(await server.ask(numbered(1), "/t/a")), "turned_away bad_fixture");
    write(`${path}/exchanges/0001/body`, body);
    assert.equal(outcomeOf(await server.ask(numbered(1), "/t/a")), "1 exact");
  },
);

withHome(
  "a folder may be a link; the recording of a test may not, and links below a folder are not followed",
  async (home) => {
    home.fixture("suite/a", TWO);
    home.fixture("elsewhere/b", TWO);
    Deno.symlinkSync("suite", `${home.directory}/linked`);
    for (const name of ["a", "b"]) Deno.symlinkSync("../elsewhere/b", `${home.directory}/suite/link-${name}`);
    for (const folder of ["suite", "linked"]) {
      await using server = await Served.start(home, [folder], { cwd: home.directory });
      assert.equal(outcomeOf(await server.ask(numbered(1), "/t/a")), "1 exact");
      for (const name of ["link-a", "link-b"]) {
        const { status, text } = await server.ask(numbered(1), `/t/${name}`);
        assert.equal(status, 400);
        assert.match(text, new RegExp(`${folder}/${name}.*is a link`));
      }
      assert.equal(outcomeOf(await server.ask(numbered(1))), "1 exact");
      assert.match(outcomeOf(await server.ask(numbered(1))), /^miss/, "exchanges behind a link");
      assert.deepEqual((await server.end()).fixtures.map(({ path }: Json) => path), [`${folder}/a`]);
    }
  },
);

withHome("one folder that is named twice, once by a link, is refused", async (home) => {
  home.fixture("suite/a", TWO);
  Deno.symlinkSync("suite", `${home.directory}/linked`);
  Deno.symlinkSync("suite/a", `${home.directory}/linked-a`);
  for (const folders of [["suite", "linked"], ["suite/a", "linked-a"], ["suite", "linked-a"]]) {
    const { exit, code, message } = await Served.refusal(home, folders);
    assert.deepEqual([exit, code], [2, "usage"], folders.join());
    assert.match(message, /is the same folder/);
  }
});

withHome(
  "faults count the requests of each test separately",
  async (home) => {
    home.fixture("suite/a", TWO);
    home.fixture("suite/b", TWO);
    const flags = ["--fault", "2: 429"];
    await using server = await Served.start(home, ["suite"], { cwd: home.directory, flags });
    const found: string[] = [];
    for (const [test, n] of [["a", 1], ["b", 1], ["b", 2], ["a", 2], ["a", 2]] as const) {
      found.push(`${test} ${outcomeOf(await server.ask(numbered(n), `/t/${test}`))}`);
    }
    assert.deepEqual(found, ["a 1 exact", "b 1 exact", "b faulted 429", "a faulted 429", "a 2 exact"]);
  },
);

withHome(
  "a fixture that is damaged below a folder is named, an old one refused, and a fixture hides those in it",
  async (home) => {
    const created = new Date(Date.now() - 2.5 * 24 * 3600 * 1000).toISOString();
    home.fixture("suite/a", TWO, { created });
    home.fixture("suite/a/inner", TWO, { created });
    home.fixture("suite/b", TWO, { created });
    write(`${home.directory}/suite/b/fixture.json`, "{}");
    const flags = ["--max-age", "3"];
    await using server = await Served.start(home, ["suite"], { cwd: home.directory, flags });
    assert.equal(outcomeOf(await server.ask(numbered(1), "/t/b")), "turned_away bad_fixture");
    const { notes, fixtures } = await server.end();
    assert.match(notes, /b\/fixture\.json": format/);
    assert.equal(fixtures.some(({ path }: Json) => path.includes("inner")), false);
    for (const given of ["suite", "suite/a"]) {
      assert.equal((await Served.refusal(home, [given], ["--max-age", "2"])).code, "fixture_too_old", given);
    }
  },
);

const SECRET = "hunter2xyz77";
const TOKEN = `ghp_${"aB3".repeat(12)}`;
const env = { DB_PASSWORD: SECRET, POSTGRES_PASSWORD: "postgres" };
const key = { "x-api-key": "headersecret987654" };
const tools = (agent_key: string, password: string) => ask("Hi", { tools: [{ agent_key, password }] });
const SECRETS = [SECRET, TOKEN, "kkkk", "headersecret"];
const said = ({ events, text, status }: Answer) =>
  SECRETS.some((secret) => `${JSON.stringify(events)}${text}`.includes(secret)) ? "leaked" : status;

rows("a request plays for what its recording replaced, and no report holds a secret", {
  "what only looks like a secret plays by its bytes": {
    env,
    recorded: [ask(`token ${TOKEN}`)],
    asked: [[ask(`token ${TOKEN}`), 200]],
  },
  "a miss names no secret": {
    env,
    recorded: [ask("Hi")],
    asked: [
      [ask(`${SECRET} and ${TOKEN}`), 400],
      [sent(ask("Hi"), { path: `/v1/responses?key=${"k".repeat(20)}&user=${SECRET}&page=2` }), 400],
      [sent(ask(`your ${key["x-api-key"]}`), { headers: key }), 400],
    ],
  },
  "an ordinary word that is a password, as it was recorded now": {
    env,
    recorded: [ask("Use postgres", { tools: [{ password: "REDACTED" }] })],
    asked: [[ask("Use postgres", { user: "x", tools: [{ password: "postgres" }] }), 200]],
  },
  "members named like keys": {
    recorded: [tools("0f1e2d3c", "REDAC")],
    asked: [[{ ...tools("0f1e2d3c", "horse"), user: "x" }, 200]],
  },
  "a key header changes nothing in what was recorded with the same text": {
    recorded: [sent(ask("the test-key-1"), { path: "/test-key-1/v1/responses" })],
    asked: [[
      sent(ask("the test-key-1", { user: "x" }), {
        path: "/test-key-1/v1/responses",
        headers: { authorization: "Bearer test-key-1" },
      }),
      200,
    ]],
  },
} as Readonly<Record<string, Row>>, { flags: ["--rules", "none"], outcome: said });

withHome(
  "a request in which the recorder replaced secrets plays again, and needs the same key header",
  async (home) => {
    home.fixture("upstream", [exchangeOf(sent(ask("Hi"), { answer: { ok: true } }))]);
    const flags = ["--match", "sequence", "--repeat"];
    await using upstream = await Served.start(home, ["upstream"], { cwd: home.directory, flags });
    const asks = [ask(`the password is ${SECRET}`), ask(`token ${TOKEN} ok`), ask(`say ${key["x-api-key"]}`)];
    {
      await using recorder = await home.record(upstream.origin, { env });
      for (const body of asks) await recorder.ask("/v1/responses", body, { headers: key });
      await recorder.end(0);
    }
    for (const match of ["exact", "semantic"]) {
      const flags = ["--match", match];
      await using server = await Served.start(home, ["recorded"], { cwd: home.directory, env, flags });
      const found = [];
      for (const body of asks) found.push(outcomeOf(await server.ask(sent(body, { headers: key }))));
      assert.deepEqual(found.map((outcome) => outcome.slice(0, 2)), ["1 ", "2 ", "3 "], match);
      assert.equal((await server.end()).warned, 0);
    }
    await using server = await Served.start(home, ["recorded"], { cwd: home.directory, env });
    assert.match(outcomeOf(await server.ask(asks[2])), /^miss/);
  },
);
