/** Findings of `fixture lint`: in fixtures that can be read, in session tests, and in other files. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import {
  agentLoop,
  PROMPT,
  responseEvents,
  SHELL_OUTPUT,
  socketExchange,
} from "../../support/socket_fixture.ts";
import { answerEvents, ASKED, exchange, framed } from "./answers.ts";
import { withHome } from "./home.ts";
import { edit, type GivenExchange, printed, seal, write, writeFixture } from "./recording_files.ts";
import { test } from "../../support/test.ts";

const BLOB = { type: "reasoning", encrypted_content: `gAAAA${"sk-aB3d".repeat(20)}` };
const DAY_MS = 24 * 60 * 60 * 1000;
const WHOLE = exchange(ASKED, answerEvents("one"));
const KEY = "sk-proj-aB3dE5gH7jK9mN1p";

interface Linted {
  /** @default {a whole one} */
  readonly exchanges?: readonly GivenExchange[];
  readonly header?: Json;
  readonly harm?: (path: string) => void;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** `severity code path`, or that with `: message`, in order. */
  readonly found: readonly string[];
}

const daysAgo = (days: number) => ({
  created: new Date(Date.now() - days * DAY_MS + 3_600_000).toISOString(),
});
const asking = (input: Json) => exchange({ ...ASKED, input }, answerEvents("one"));
const answering = (body: string | Uint8Array, response?: Json): GivenExchange => ({ body, response });
const html = { status: 502, headers: { "content-type": "application/json" } };
const cut = framed(answerEvents("one").slice(0, -1));
const orphan = asking([...ASKED.input, { type: "function_call_output", call_id: "call_x", output: "4" }]);
const NO_TOOL = '{"error":{"message":"No tool call found","type":"invalid_request_error"}}';

const CREATE = { type: "response.create", model: "gpt-6-sol", input: [PROMPT] };
const continuing = { ...CREATE, previous_response_id: "resp_9" };
const forgotten = { code: "previous_response_not_found", message: "no", param: null };

/** Exchanges whose answers repeat the marks of their requests. */
const marked = (requests: readonly Json[], marks: readonly string[]) =>
  requests.map((request, index) =>
    exchange(request, answerEvents(`m${index}`, { words: [marks[index] ?? ""] }))
  );
const MASKED = { model: "gpt-5.6", input: "Whose key is REDACTEDREDACTED?" };
const digits = { pattern: "[0-9]+", with: "N" };
const added = marked(["Add 1", "Add 2"].map((input) => ({ ...ASKED, input })), ["Add 1", "Add 2"]);
const unused = (rule: string) => `warning unused_rule fixture.json: ${rule}: no recorded request has it`;
const ambiguous = (rule: string) =>
  `error ambiguous_rules fixture.json: ${rule}: makes the requests of exchanges 1 and 2 equal, and their answers differ`;

const HOMES = "/home";
const person = (user: string) =>
  `<cwd>/home/${user}/app</cwd>\nUsername: ${user}\nHostname: build-box-7\ncat /home/${user}/app/a.txt, ${user} on\nbuild-box-7`;
const HELD = exchange({ ...ASKED, input: person("alice") }, answerEvents("one", { words: ["I read it."] }));
const holds = (what: string) =>
  `info personal exchanges/0002/request.json: it holds ${what}, and so does 1 more request`;

const ROWS: Readonly<Record<string, Linted>> = {
  "nothing in a whole fixture, blobs that look like keys included": {
    exchanges: [
      WHOLE,
      answering(framed([{ type: "response.output_item.done", item: BLOB }, ...answerEvents("two")])),
    ],
    found: [],
  },
  "the provider openai at another server": {
    header: { base_url: "https://api.deepseek.com/v1" },
    found: ["warning other_host fixture.json"],
  },
  "files that are changed, missing or not listed, except what a killed recorder left": {
    exchanges: [WHOLE, WHOLE],
    harm: (path) => {
      edit(`${path}/exchanges/0001/body`, (text) => `${text}: more\n\n`);
      Deno.removeSync(`${path}/exchanges/0002/response.json`);
      write(`${path}/notes.txt`, "seen");
      Deno.mkdirSync(`${path}/.recording`);
      write(`${path}/exchanges/0003/body`, WHOLE.body);
    },
    found: [
      "error changed exchanges/0001/body",
      "error missing exchanges/0002/response.json",
      "error unlisted notes.txt",
      "warning left_behind .recording",
      "error bad_exchange exchanges/0002",
    ],
  },
  "a stream without its terminal event": {
    exchanges: [answering(cut)],
    found: ["error no_terminal exchanges/0001/body"],
  },
  "a stream that was meant to be cut": {
    exchanges: [answering(cut, { terminal: false })],
    found: ["info no_terminal exchanges/0001/body"],
  },
  "a whole stream that is marked as cut": {
    exchanges: [answering(framed(answerEvents("one")), { terminal: false })],
    found: ["warning terminal_marked exchanges/0001/response.json"],
  },
  "a stream that is not UTF-8": {
    exchanges: [
      answering(new Uint8Array([...new TextEncoder().encode(String(WHOLE.body)), 0xff, 0x0a, 0x0a])),
    ],
    found: ["error broken_stream exchanges/0001/body"],
  },
  "a document that is not JSON": {
    exchanges: [answering("<html>", html)],
    found: ["warning bad_json exchanges/0001/body"],
  },
  "a fixture inside another one: nothing": {
    exchanges: [WHOLE],
    harm: (path) => void writeFixture(`${path}/inner`, [WHOLE]),
    found: [],
  },
  "a document of one byte that is not JSON": {
    exchanges: [answering("{", { headers: { "content-type": "application/json" } })],
    found: ["warning bad_json exchanges/0001/body"],
  },
  "an exchange that fixture.json does not list, as any other": {
    exchanges: [WHOLE],
    harm: (path) => {
      const [from, to] = [1, 2].map((number) => `${path}/exchanges/000${number}`);
      Deno.mkdirSync(`${to}`);
      for (const name of ["request.json", "response.json", "body"]) {
        Deno.copyFileSync(`${from}/${name}`, `${to}/${name}`);
      }
      write(`${to}/body`, "not a stream");
    },
    found: [
      ...["body", "request.json", "response.json"].map((name) => `error unlisted exchanges/0002/${name}`),
      "error no_terminal exchanges/0002/body",
    ],
  },
  "secrets, with their kind or variable": {
    exchanges: [asking(`my key is ${KEY}, my words are correct horse battery`)],
    header: { note: `recorded with ${KEY}` },
    env: { PASSPHRASE: "correct horse battery" },
    found: [
      "error secret fixture.json: it holds what looks like a secret (api_key), once",
      "error secret exchanges/0001/request.json: it holds the value of PASSPHRASE, once",
      "error secret exchanges/0001/request.json: it holds what looks like a secret (api_key), once",
    ],
  },
  "an ordinary word where it can be a secret, and nowhere else": {
    exchanges: [exchange(
      { model: "gpt-5.6", input: "Use postgres with demo-token-1234", tools: [{ password: "postgres" }] },
      answerEvents("postgres it is"),
    )],
    env: { POSTGRES_PASSWORD: "postgres", DEMO_TOKEN: "demo-token-1234" },
    found: [
      "error secret exchanges/0001/request.json: it holds the value of POSTGRES_PASSWORD, once",
      "error secret exchanges/0001/request.json: it holds the value of DEMO_TOKEN, once",
    ],
  },
  "requests that may differ in replaced secrets": {
    exchanges: marked([MASKED, MASKED], ["Bob's", "Eve's"]),
    found: [
      "warning masked_requests exchanges/0002/request.json: its request equals that of exchanges/0001 after secrets " +
      "were replaced, and their answers differ: if the secrets differed, a request may get the answer of the other",
    ],
  },
  "one answer to requests with replaced secrets": {
    exchanges: marked([MASKED, MASKED], ["Bob's", "Bob's"]),
    found: [],
  },
  "a rule that an accepted request breaks": {
    exchanges: [orphan],
    found: ["error broken_rule exchanges/0001/request.json"],
  },
  "a rule that a refused request breaks": {
    exchanges: [{ ...orphan, response: { status: 400, headers: html.headers }, body: NO_TOOL }],
    found: [],
  },
  "the age of a recording": { header: daysAgo(31), flags: ["--max-age", "31"], found: [] },
  "a recording that is too old": {
    header: daysAgo(32),
    flags: ["--max-age", "31"],
    found: ["error too_old fixture.json"],
  },
  "a recording without a date": {
    header: { created: "1970-01-01T00:00:00.000Z" },
    flags: ["--max-age", "31"],
    found: ["error too_old fixture.json: its recording has no date, and 31 days may have passed"],
  },
  "the oldest of several recordings": {
    exchanges: [WHOLE, WHOLE],
    header: { recordings: [{ ...daysAgo(20), exchanges: [1, 1] }, { ...daysAgo(1), exchanges: [2, 2] }] },
    flags: ["--max-age", "15"],
    found: [
      "error too_old fixture.json: its oldest recording was recorded 20.0 days ago, and 15 days may have passed",
    ],
  },
  "tools that are not there": { header: { tools: "recorded" }, found: ["error missing_tools tools.json"] },
  "a rule that hides a difference": {
    exchanges: added,
    header: { match: { replace: [digits] } },
    found: [ambiguous("replace [0-9]+")],
  },
  "a rule that hides a difference between two recordings, which their order decides": {
    exchanges: added,
    header: {
      match: { replace: [digits] },
      recordings: [1, 2].map((number) => ({ ...daysAgo(3), exchanges: [number, number] })),
    },
    found: [],
  },
  "rules that no request needs": {
    exchanges: added,
    header: {
      match: { normalize: ["cwd", "codex"], ignore: ["user"], replace: [{ ...digits, pattern: "x" }] },
    },
    found: ["cwd", "codex", "ignore user", "replace x"].map(unused),
  },
  "rules of labels that hold no value of the recorder": {
    exchanges: [asking("Username: alice\nOS: Windows 11\nSession ID: 6f9619ff-8b86-4d01-b42d-00cf4fc964ff")],
    header: { match: { normalize: ["user", "os", "uuid"] }, context: { uuid: "none" } },
    found: ["user", "os", "uuid"].map(unused),
  },
  "each user and host once, with the first request that holds it": {
    exchanges: [exchange(ASKED, answerEvents("two")), HELD, HELD],
    header: { context: { user: "alice", host: "build-box-7" } },
    found: [
      holds('the home directory of the user "alice"'),
      holds('the name of the user "alice"'),
      holds('the name of the host "build-box-7"'),
    ],
  },
  "accounts of containers and masked names": {
    exchanges: [asking(`Username: root\n<cwd>${HOMES}/xxxxx/app</cwd>\nHome Directory: ${HOMES}/runner`)],
    found: [],
  },

  "a sound recording over a WebSocket": { exchanges: agentLoop(), found: [] },
  "a message of the server that is no JSON object, by its number": {
    exchanges: [socketExchange({ message: continuing, events: ["{}", "not JSON"] })],
    found: [
      "error no_terminal exchanges/0001/body",
      "warning unknown_response exchanges/0001/request.json",
      "warning bad_json exchanges/0001/body: message 2 is no JSON object",
    ],
  },
  "a continuation of a response that the fixture does not have, if the API accepted it": {
    exchanges: [
      socketExchange({ message: continuing, events: responseEvents("resp_10", []) }),
      socketExchange({ message: continuing, events: [{ type: "error", status: 400, error: forgotten }] }),
      socketExchange({
        message: { ...continuing, input: [SHELL_OUTPUT] },
        events: responseEvents("resp_11", []),
      }),
    ],
    found: [
      "warning unknown_response exchanges/0001/request.json",
      "warning unknown_response exchanges/0003/request.json",
    ],
  },
};

for (const [name, row] of Object.entries(ROWS)) {
  withHome(`lint finds ${name}`, async (home) => {
    const { exchanges = [WHOLE], header = {}, harm, env = {}, flags = [], found } = row;
    const path = home.fixture("f", exchanges, header);
    harm?.(path);
    const lines = await home.findings("f", { env, flags });
    // The order of variables is that of the environment.
    const shown = lines.map((line) => found.find((wanted) => line.startsWith(`${wanted}:`)) ?? line);
    assert.deepEqual(shown.sort(), found.toSorted());
    for (const value of [KEY.slice(3), ...Object.values(env)]) assert.ok(!lines.join("\n").includes(value));
  });
}

const turn = (open: string) => `${open}"sum":"${sha256(open)}"}\n`;

const edited = (name: string, from: string | RegExp, to: string) => (path: string) =>
  edit(`${path}/${name}`, (text) => text.replace(from, to));
const BAD_STEP = "error bad_session session.json";
const BAD_TOOLS = "error bad_tools tools.json";
const argument = (argument: string) =>
  printed({ format: "reprise.session_test/1", steps: [{ args: ["run", argument], exit: 0 }] });

/** Edits of a fixture that is a session test too, and the finding. */
const SESSIONS: Readonly<Record<string, readonly [(path: string) => void, ...string[]]>> = {
  "nothing": [() => {}],
  "steps that are no list": [edited("session.json", /"steps": \[[^]*\]/, '"steps": "x"'), BAD_STEP],
  "a step with another fixture": [edited("session.json", '"fixture": "."', '"fixture": "2"'), BAD_STEP],
  "an output that is not there": [(path) => Deno.removeSync(`${path}/tools/0001`), BAD_TOOLS],
  "an output outside of tools/": [edited("tools.json", "tools/0001", "../fixture.json"), BAD_TOOLS],
  "a turn with another sum": [
    edited("expect/s/turns/000001.json", '"turn":1', '"turn":2'),
    "error bad_turn expect/s/turns/000001.json",
  ],
  "an argument that is too long": [
    (path) => write(`${path}/session.json`, argument("é".repeat(65_536))),
    BAD_STEP,
  ],
};

for (const [name, [harm, ...found]] of Object.entries(SESSIONS)) {
  withHome(`lint finds in a session test whose sums fit: ${name}`, async (home) => {
    const path = home.fixture("f", [WHOLE]);
    const call = {
      call_id: "call_1",
      name: "read_file",
      status: "ok",
      output: "4",
      full: { file: "tools/0001" },
    };
    const steps = [{ args: ["run", "Hi"], fixture: ".", exit: 0 }];
    const files = {
      "session.json": printed({ format: "reprise.session_test/1", steps }),
      "tools.json": printed({ format: "reprise.tools/1", calls: [call] }),
      "tools/0001": "4 and more",
      "expect/s/turns/000001.json": turn('{"turn":1,'),
      "expect/s/blobs": "",
      "expect/NOTES.md": "Mine.",
    };
    for (const [file, content] of Object.entries(files)) write(`${path}/${file}`, content);
    harm(path);
    seal(path);
    assert.deepEqual((await home.findings("f")).map((line) => line.split(": ", 1)[0]), found);
  });
}

withHome(
  "lint looks over a session test whose fixtures lie below it, and finds it by its session.json",
  async (home) => {
    home.fixture("test/1", [WHOLE]);
    const PASSPHRASE = "correct horse battery";
    const steps = ["1", "1/x"].map((fixture) => ({ args: ["run", PASSPHRASE], fixture, exit: 0 }));
    home.file("test/session.json", printed({ format: "reprise.session_test/1", steps }));
    const { fixtures } = await home.json(["lint", "."], { codes: [7], env: { PASSPHRASE } });
    const counts = fixtures.map(({ path, exchanges, steps }: Json) => [path, exchanges, steps]);
    assert.deepEqual(counts, [["./test", 0, 2], ["./test/1", 1, null]]);
    assert.deepEqual(fixtures[0].findings.map(({ path, message }: Json) => `${path}: ${message}`), [
      `session.json: Cannot read the fixture file "./test/1/x/fixture.json": nothing is there, and steps[1] names it`,
      "session.json: it holds the value of PASSPHRASE, 2 times",
    ]);
  },
);

withHome("lint finds nothing in the project's own session tests", async (home) => {
  const own = new URL("../../sessions", import.meta.url).pathname;
  const { fixtures } = await home.json(["lint", own]);
  assert.ok(fixtures.length > 85, `${fixtures.length} folders`);
  const findings = fixtures.flatMap(({ findings }: Json) => findings);
  assert.deepEqual(findings.filter(({ severity }: Json) => severity !== "info"), []);
}, test.long);

withHome(
  "a fixture is whole with .gitattributes and without, and where fixture.json lists it",
  async (home) => {
    const path = home.fixture("f", [WHOLE]);
    for (const content of ["* -text\n", "edited\n"]) {
      write(`${path}/.gitattributes`, content);
      assert.deepEqual(await home.findings("f"), []);
    }
    edit(
      `${path}/fixture.json`,
      (text) => text.replace('"files": {', `"files": { ".gitattributes": "${sha256("x")}",`),
    );
    assert.deepEqual(await home.findings("f"), []);
    assert.deepEqual((await home.json(["seal", "f"])).changed, []);
  },
);

Deno.test("docs/fixtures.md names each member of the files of a fixture", () => {
  const docs = new URL("../../../docs/", import.meta.url);
  const page = Deno.readTextFileSync(new URL("fixtures.md", docs));
  const named = new Set([...page.matchAll(/[`"](\w+)[`"]/g)].map(([, name]) => name));
  const unnamed: string[] = [];
  JSON.parse(Deno.readTextFileSync(new URL("fixture.schema.json", docs)), (key, value) => {
    if (key === "properties") unnamed.push(...Object.keys(value).filter((name) => !named.has(name)));
    return value;
  });
  assert.deepEqual(unnamed, []);
});
