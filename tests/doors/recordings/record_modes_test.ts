/** `record --mode`: what each mode plays, sends, keeps and removes, in the words of the helpers. */
import assert from "node:assert/strict";
import { answering, RawUpstream } from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { edit, exchangesOf, headerOf, seal, write } from "./recording_files.ts";

/** An upstream that echoes, but answers the input "fail" with an error. */
const echoing = () =>
  new RawUpstream(async (connection, request) => {
    const body = new TextDecoder().decode(request.body);
    const status = body.includes("fail") ? "500 No" : "200 OK";
    await answering(`${status}\r\ncontent-type: application/json`, body)(connection, request);
  });

/** A call of `record`: its mode, the inputs that a client sends, and what comes of it. */
interface Step {
  readonly mode: string;
  /** Inputs, each with the path before that of the API. */
  readonly asks: readonly string[];
  readonly statuses: readonly number[];
  readonly code: number;
  /** Number of requests that reach the upstream. */
  readonly sent: number;
  /** Inputs of the recorded exchanges afterwards, by folder. */
  readonly left: Readonly<Record<string, string>>;
  readonly says?: RegExp;
}

async function run(home: RecordingHome, upstream: RawUpstream, step: Step): Promise<void> {
  const before = upstream.requests.length;
  await using recorder = await home.record(upstream.origin, { out: "r", flags: ["--mode", step.mode] });
  const statuses: number[] = [];
  for (const ask of step.asks) {
    const [input = "", test] = ask.split("@");
    const path = `${test === undefined ? "" : `/t/${test}`}/v1/responses`;
    statuses.push((await recorder.ask(path, { model: "m", input })).status);
  }
  const { code, notes, out } = await recorder.end();
  assert.deepEqual([statuses, code], [step.statuses, step.code], `${step.mode}: ${notes}`);
  const errors = recorder.events.filter(({ type }) => type === "error");
  const said = [notes, ...errors.map(({ message, hint }) => `${message}\n${hint}`)].join("");
  if (step.says !== undefined) assert.match(said, step.says);
  if (step.mode === "all") assert.equal(notes.includes("was replaced"), code !== 0, notes);
  assert.equal(out, `${home.directory}/r`);
  assert.equal(upstream.requests.length - before, step.sent, step.mode);
  const left = Object.keys(step.left).map((folder) => [
    folder,
    exchangesOf(`${home.directory}/r${folder}`).map(({ request }) => request.body.input).join(),
  ]);
  assert.deepEqual(Object.fromEntries(left), step.left, step.mode);
  const beside = [...Deno.readDirSync(home.directory)].map(({ name }) => name);
  assert.deepEqual(
    beside.filter((name) => name.includes("recording-")),
    [],
    "something is left of the recording",
  );
}

const ONE: readonly Step[] = [
  { mode: "new", asks: ["a", "b"], statuses: [200, 200], code: 0, sent: 2, left: { "": "a,b" } },
  { mode: "new", asks: ["b", "a"], statuses: [200, 200], code: 0, sent: 0, left: { "": "a,b" } },
  {
    ...{ mode: "new", asks: ["a", "c"], statuses: [200, 400], code: 7, sent: 0, left: { "": "a,b" } },
    says: /--mode new only plays a recording that is there\n.*--mode missing/,
  },
  { mode: "missing", asks: ["a", "c"], statuses: [200, 200], code: 0, sent: 1, left: { "": "a,b,c" } },
  // Without a used exchange nothing is pruned, and after a miss neither.
  { mode: "prune", asks: [], statuses: [], code: 0, sent: 0, left: { "": "a,b,c" } },
  {
    ...{ mode: "prune", asks: ["b", "x"], statuses: [200, 400], code: 7, sent: 0, left: { "": "a,b,c" } },
    says: /--mode prune sends nothing/,
  },
  {
    ...{ mode: "prune", asks: ["b", "c"], statuses: [200, 200], code: 0, sent: 0, left: { "": "b,c" } },
    says: /exchange 1 of ".*r", was removed/,
  },
  { mode: "all", asks: ["b", "fail"], statuses: [200, 500], code: 7, sent: 2, left: { "": "b,c" } },
  { mode: "all", asks: ["d"], statuses: [200], code: 0, sent: 1, left: { "": "d" } },
];

const TESTS: readonly Step[] = [
  {
    mode: "all",
    asks: ["a@x", "b@y"],
    statuses: [200, 200],
    code: 0,
    sent: 2,
    left: { "/x": "a", "/y": "b" },
  },
  {
    mode: "new",
    asks: ["a@x", "c@z"],
    statuses: [200, 200],
    code: 0,
    sent: 1,
    left: { "/y": "b", "/z": "c" },
  },
  // A test that did not run keeps its recording.
  {
    mode: "all",
    asks: ["d@x"],
    statuses: [200],
    code: 0,
    sent: 1,
    left: { "/x": "d", "/y": "b", "/z": "c" },
  },
  { mode: "missing", asks: ["e@y"], statuses: [200], code: 0, sent: 1, left: { "/y": "b,e" } },
  { mode: "prune", asks: ["e@y"], statuses: [200], code: 0, sent: 0, left: { "/x": "d", "/y": "e" } },
  {
    ...{ mode: "all", asks: ["a"], statuses: [200], code: 2, sent: 1, left: { "/x": "d", "/y": "e" } },
    says: /Cannot replace ".*r": it holds no recording/,
  },
];

for (const [name, steps] of Object.entries({ "one recording": ONE, "a recording for each test": TESTS })) {
  withHome(`each mode of record plays, sends, keeps and removes what it says: ${name}`, async (home) => {
    await using upstream = echoing();
    for (const step of steps) await run(home, upstream, step);
  });
}

withHome("modes that exclude each other, or could send nothing, are refused", async (home) => {
  const record = ["record", "--upstream", "http://127.0.0.1:9", "--out", `${home.directory}/r`];
  const rows: readonly (readonly [flags: readonly string[], says: RegExp, env?: Record<string, string>])[] = [
    [["--mode", "some"], /new, missing, all, prune/],
    [["--mode", "all", "--append"], /--mode/],
    [["--mode", "all", "--missing"], /--mode/],
    [["--mode", "prune", "--suite"], /Cannot use --suite with --mode prune/],
    [["--mode", "all"], /CI is set, so nothing is sent/, { CI: "true" }],
  ];
  for (const [flags, says, env = {}] of rows) {
    const { code, stderr } = await home.call([...record, ...flags], { env });
    assert.equal(code, 2, stderr);
    assert.match(stderr, says);
  }
}, test.long);

withHome(
  "all keeps the match rules and the open variables of what it replaces, and the files beside",
  async (home) => {
    await using upstream = echoing();
    const ask = async (out: string, flags: readonly string[], test = "") => {
      await using recorder = await home.record(upstream.origin, { out, flags });
      await recorder.ask(`${test}/v1/responses`, { model: "m", input: "a" });
      await recorder.end(0);
    };
    for (const [out, test, inner] of [["r", "", "r"], ["s", "/t/x", "s/x"]] as const) {
      await ask(out, ["--ignore", "$..metadata", "--not-secret", "OPEN_KEY"], test);
      const path = `${home.directory}/${inner}`;
      edit(`${path}/fixture.json`, (text) => {
        const header = JSON.parse(text);
        header.match.replace = [{ pattern: "took \\d+", with: "took N" }];
        return JSON.stringify(header);
      });
      seal(path);
      write(`${path}/notes.txt`, "mine");
      // No part of the recording, and nothing that may stay among its exchanges.
      write(`${path}/exchanges/.DS_Store`, "");
      await ask(out, ["--mode", "all", "--ignore", "$.user"], test);
      const { match, not_secret } = headerOf(path);
      assert.deepEqual(match, {
        ignore: ["$..metadata", "$.user"],
        replace: [{ pattern: "took \\d+", with: "took N" }],
      });
      assert.deepEqual(not_secret, ["OPEN_KEY"]);
      assert.equal(Deno.readTextFileSync(`${path}/notes.txt`), "mine");
      Deno.removeSync(`${path}/notes.txt`);
      assert.equal(exchangesOf(path).length, 1);
    }
  },
);

withHome("all replaces nothing but recordings, and says so before the command starts", async (home) => {
  await using upstream = echoing();
  write(`${home.directory}/file`, "mine");
  write(`${home.directory}/folder/notes.txt`, "mine");
  write(`${home.directory}/job/session.json`, "{}");
  write(`${home.directory}/job/fixture.json`, "{}");
  const record = ["record", "--upstream", upstream.origin, "--mode", "all", "--out"];
  for (
    const [out, says] of [
      ["file", /Cannot record into ".*file": it is a file/],
      ["file/below", /Cannot record into ".*below": it is a file, or below one/],
      ["folder", /Cannot record into ".*folder": it is not empty/],
      ["job", /job/],
    ] as const
  ) {
    const { code, stderr } = await home.call([
      ...record,
      `${home.directory}/${out}`,
      "--",
      "touch",
      "started",
    ], {
      cwd: home.directory,
    });
    assert.notEqual(code, 0, out);
    assert.match(stderr, says);
    assert.doesNotMatch(stderr, /Unexpected/);
  }
  assert.deepEqual([...Deno.readDirSync(home.directory)].filter(({ name }) => name === "started"), []);
  assert.equal(Deno.readTextFileSync(`${home.directory}/file`), "mine");
}, test.long);

withHome("no mode records into a file or below one", async (home) => {
  write(`${home.directory}/file`, "mine");
  for (
    const mode of [
      [],
      ["--suite", "--missing"],
      ...["new", "missing", "all", "prune"].map((each) => ["--mode", each]),
    ]
  ) {
    for (const out of ["file", "file/below"]) {
      const args = [
        "record",
        "--upstream",
        "http://127.0.0.1:9",
        ...mode,
        "--out",
        `${home.directory}/${out}`,
        "--json",
      ];
      const { code, stdout } = await home.call(args);
      assert.equal(code, 2, stdout);
      assert.match(stdout, /"usage".*Cannot record into .*: it is a file, or below one/);
    }
  }
  assert.equal(Deno.readTextFileSync(`${home.directory}/file`), "mine");
}, test.long);
