/** `fixture redact`: secrets of a fixture go, byte for byte as long, and everything else stays. */
import assert from "node:assert/strict";
import { bytesBelow, type Json, textsBelow } from "../../support/files.ts";
import { PROMPT, responseEvents, socketExchange } from "../../support/socket_fixture.ts";
import { answerEvents, ASKED, exchange, framed } from "./answers.ts";
import { type RecordingHome, withHome } from "./home.ts";
import { exchangesOf, type GivenExchange, headerOf, seal, write } from "./recording_files.ts";

const KEY = "sk-proj-aB3dE5gH7jK9mN1p";
const KNOWN = "correct-horse-battery-7";
const env = { PASSPHRASE: KNOWN };
const LEAKY = exchange(
  { ...ASKED, input: `my key is ${KEY}` },
  answerEvents("one", { words: [`Your key ${KEY} `, `and ${KNOWN}.`] }),
);
const KEYED = {
  path: "/v1/responses?api-key=plain-words-here",
  headers: { authorization: `Bearer ${KNOWN}` },
};
const raw = `{ "model": "gpt-5.6",  "input": "my key is ${KEY}" }`;
const events = (text: string) => [
  ...responseEvents("resp_1", []).slice(0, 1),
  { type: "response.output_text.delta", delta: text },
  ...responseEvents("resp_1", []).slice(1),
];

/** Fixtures with secrets, the files that `redact` changes, and what it says of them. */
const ROWS: Readonly<Record<string, readonly [GivenExchange, Readonly<Record<string, Json>>]>> = {
  "of a request and its answer": [
    { ...LEAKY, response: { chunks: [[0, 1], [400, 9], [1200, 30]] } },
    { "exchanges/0001/body": 8, "exchanges/0001/request.json": 1 },
  ],
  "of a raw body and its readable form": [
    { request: { body: JSON.parse(raw) }, sent: raw, body: framed(answerEvents("one")) },
    { "exchanges/0001/request.body": 1, "exchanges/0001/request.json": 0 },
  ],
  "of kept headers and of the query": [
    { ...LEAKY, request: { ...LEAKY.request, ...KEYED } },
    { "exchanges/0001/body": 8, "exchanges/0001/request.json": 3 },
  ],
  "of the messages of a WebSocket": [
    socketExchange({
      message: { type: "response.create", model: "m", input: [PROMPT], instructions: KEY },
      events: events(KEY),
    }),
    { "exchanges/0001/body": 1, "exchanges/0001/request.json": 1 },
  ],
};

/** Requires no file to hold a secret. */
function requireClean(path: string): void {
  for (const [name, text] of textsBelow(path)) {
    assert.ok(![KEY, KNOWN, "plain-words-here"].some((secret) => text.includes(secret)), `${name}: ${text}`);
  }
}

const redact = (home: RecordingHome, ...flags: readonly string[]) =>
  home.json(["redact", "f", ...flags], { env });

for (const [name, [given, wanted]] of Object.entries(ROWS)) {
  withHome(`redact replaces the secrets ${name} at the same length, and counts them`, async (home) => {
    const path = home.fixture("f", [given], { redactions: { api_key: 2 }, later_member: 1 });
    const [files, [was]] = [bytesBelow(path), exchangesOf(path)];
    const { type: _type, verb: _verb, changes, dry_run, ...foreseen } = await redact(home, "--dry-run");
    assert.deepEqual([bytesBelow(path), dry_run, changes.length], [files, true, Object.keys(wanted).length]);
    const { dry_run: _dry, ...report } = await redact(home);
    assert.deepEqual(report, foreseen);
    requireClean(path);
    const [is] = exchangesOf(path);
    assert.deepEqual([is?.body.length, is?.sent?.length], [was?.body.length, was?.sent?.length]);
    const { headers: _was, ...response } = was?.response ?? {};
    assert.deepEqual({ ...is?.response, headers: undefined }, { ...response, headers: undefined });
    if (given.sent !== undefined) assert.deepEqual(JSON.parse(is?.sent ?? ""), is?.request.body);

    const sum = (counts: readonly Json[]) => counts.reduce((all, count) => all + (count ?? 0), 0);
    assert.deepEqual(report.files.map(({ path }: Json) => path).sort(), Object.keys(wanted).sort());
    for (const { path: file, redactions } of report.files) {
      assert.ok(sum(Object.values(redactions)) >= wanted[file], `${file}: ${JSON.stringify(redactions)}`);
    }
    // Earlier counts and other members stay.
    const found = sum(report.files.map(({ redactions }: Json) => redactions.api_key));
    const { redactions, later_member } = headerOf(path);
    assert.deepEqual([redactions.api_key, later_member], [2 + found, 1]);

    const sealed = bytesBelow(path);
    assert.deepEqual(
      [(await redact(home)).files, bytesBelow(path)],
      [[], sealed],
      "nothing is left to be found",
    );
    const secrets = (await home.findings("f", { env })).filter((line) => line.includes(" secret "));
    assert.deepEqual(secrets, []);
  });
}

withHome(
  "redact leaves an ordinary word where people write, and the values that are no secrets",
  async (home) => {
    const input = "Use postgres with demo-token-1234";
    const prompt = { model: "gpt-5.6", input, tools: [{ password: "postgres" }] };
    const values = { POSTGRES_PASSWORD: "postgres", DEMO_TOKEN: "demo-token-1234" };
    const masked = { input: "Use postgres with REDACTEDREDACTE", tools: [{ password: "REDACTED" }] };
    const rows = [["all", {}, { ...prompt, ...masked }], [
      "open",
      { not_secret: Object.keys(values) },
      prompt,
    ]] as const;
    for (const [name, header, request] of rows) {
      const path = home.fixture(name, [exchange(prompt, answerEvents("postgres it is"))], header);
      await home.json(["redact", name], { env: values });
      assert.deepEqual(exchangesOf(path)[0]?.request.body, request);
      assert.deepEqual(await home.findings(name, { env: values }), []);
    }
  },
);

withHome("redact names the variables, and the session test that does not fit any more", async (home) => {
  const path = home.fixture("f/1", [LEAKY]);
  const dry = () => home.json(["redact", "f/1", "--dry-run"], { env });
  assert.equal((await dry()).session_test, null);
  const held = (await dry()).files.flatMap(({ held }: Json) => held);
  assert.ok(held.some((what: string) => /^the value of PASSPHRASE, \d+ times$/.test(what)), held.join("\n"));
  home.file("f/session.json", "{}");
  assert.equal((await dry()).session_test, "f");
  write(`${path}/session.json`, "{}");
  seal(path);
  assert.equal((await dry()).session_test, "f/1");
  home.fixture("f/2", [exchange(ASKED, answerEvents("one"))]);
  assert.equal((await home.json(["redact", "f/2"], { env })).session_test, null, "nothing to redact");
});

withHome(
  "redact refuses a fixture that was edited since it was sealed, and a secret in start/: it writes nothing",
  async (home) => {
    const path = home.fixture("f", [LEAKY]);
    write(`${path}/notes.txt`, "mine");
    await home.refused(["redact", "f"], "bad_fixture", /notes\.txt/);
    Deno.removeSync(`${path}/notes.txt`);
    write(`${path}/exchanges/0001/body`, "data: {}\n\n");
    await home.refused(["redact", "f"], "bad_fixture", /0001\/body/);
    write(`${path}/exchanges/0001/body`, String(LEAKY.body).replaceAll("\n", "\r\n"));
    await home.refused(["redact", "f"], "bad_fixture", /only its line ends/);

    write(`${path}/exchanges/0001/body`, LEAKY.body);
    write(`${path}/start/turns/000001.json`, JSON.stringify({ text: KEY }));
    seal(path);
    const before = bytesBelow(path);
    const error = await home.json(["redact", "f"], { codes: [7], env });
    assert.equal(error.code, "secret_left");
    assert.match(
      error.message,
      /start\/turns\/000001\.json": it holds what looks like a secret \(api_key\), once/,
    );
    assert.deepEqual(bytesBelow(path), before);
  },
);

withHome("the count of replaced passwords is no password", async (home) => {
  for (const count of [1, 2, 1234]) {
    const redactions = { url_password: count };
    const asked = { ...ASKED, input: "postgres://me:REDACTED@db" };
    const path = home.fixture(`f${count}`, [exchange(asked, answerEvents("one"))], { redactions });
    assert.deepEqual(await home.findings(`f${count}`), []);
    const { files } = await home.json(["redact", `f${count}`]);
    assert.deepEqual([files, headerOf(path).redactions], [[], redactions]);
  }
});
