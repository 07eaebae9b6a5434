/** `fixture seal` after manual edits: what it fits, what it refuses, and the fixture after it. */
import assert from "node:assert/strict";
import { bytesBelow, type Json, sha256 } from "../../support/files.ts";
import { agentLoop } from "../../support/socket_fixture.ts";
import { withHome } from "./home.ts";
import { edit, exchangesOf, type GivenExchange, headerOf, seal, write } from "./recording_files.ts";

const BODY = { model: "gpt-5.6", input: "hello" };
const RAW = '{"model": "gpt-5.6", "input": "hello"}';
const ASKED: GivenExchange = {
  request: { body: BODY, body_sha256: sha256(JSON.stringify(BODY)) },
  response: { chunks: [[0, 0], [4, 10]] },
  body: "data: {}\n\n",
};
/** The exchange with its raw body in a file, as a recorder writes it where JSON would not restore it. */
const WITH_RAW: GivenExchange = { ...ASKED, sent: RAW };
const REQUEST = "exchanges/0001/request.json";
const RESPONSE = "exchanges/0001/response.json";
const RAW_FILE = "exchanges/0001/request.body";
const ANSWER = "exchanges/0001/body";

/** An edit, what `seal` reports, and the exchange after it. */
interface Sealed {
  /** @default {the exchange without a raw body} */
  readonly given?: readonly GivenExchange[];
  readonly edits: Readonly<Record<string, (text: string) => string>>;
  readonly report: Json;
  readonly after?: (path: string) => void;
}

const goodBye = (text: string) => text.replace("hello", "good-bye");
const sent = (text: string) => (path: string) => assert.equal(exchangesOf(path)[0]?.sent, text);
const socketBody = (text: string) => {
  const [first, , last] = text.split("\n");
  return `${first}\n{"type":"keepalive","é":"😀"}\n{"type":"keepalive"}\n${last}\n`;
};

const NEW_SUM = { path: REQUEST, why: "body_sha256 is that of the edited body" };

const ROWS: Readonly<Record<string, Sealed>> = {
  "nothing": { edits: {}, report: {} },
  "a readable body gets a new sum": {
    edits: { [REQUEST]: goodBye },
    report: { changed: [REQUEST], refitted: [NEW_SUM] },
    after: sent(JSON.stringify({ ...BODY, input: "good-bye" })),
  },
  "a readable body without a sum stays without one": {
    given: [{ ...ASKED, request: { body: BODY } }],
    edits: { [REQUEST]: goodBye },
    report: { changed: [REQUEST] },
    after: (path) => assert.equal("body_sha256" in (exchangesOf(path)[0]?.request ?? {}), false),
  },
  "a readable body wins over a raw one that was not edited": {
    given: [WITH_RAW],
    edits: { [REQUEST]: goodBye },
    report: {
      changed: [REQUEST],
      removed: [RAW_FILE],
      refitted: [NEW_SUM, { path: RAW_FILE, why: "the body in request.json was edited" }],
    },
    after: sent(JSON.stringify({ ...BODY, input: "good-bye" })),
  },
  "a raw body wins over a readable one that was not edited": {
    given: [WITH_RAW],
    edits: { [RAW_FILE]: goodBye },
    report: { changed: [RAW_FILE, REQUEST], refitted: [{ path: REQUEST, why: "request.body was edited" }] },
    after(path) {
      sent(RAW.replace("hello", "good-bye"))(path);
      assert.equal(exchangesOf(path)[0]?.request.body.input, "good-bye");
    },
  },
  "chunks beyond the end of an edited body go": {
    edits: { [ANSWER]: () => "abcd" },
    report: {
      changed: [ANSWER, RESPONSE],
      refitted: [{ path: RESPONSE, why: "chunks began beyond the end of the edited body" }],
    },
    after: (path) => assert.deepEqual(exchangesOf(path)[0]?.response.chunks, [[0, 0]]),
  },
  "the lines of an edited body over a WebSocket are its messages": {
    given: agentLoop(),
    edits: { "exchanges/0003/body": socketBody },
    report: {
      changed: ["exchanges/0003/body", "exchanges/0003/response.json"],
      refitted: [{ path: "exchanges/0003/response.json", why: "messages are the lines of the edited body" }],
    },
    after(path) {
      const { response, body } = exchangesOf(path)[2] ?? assert.fail();
      assert.deepEqual(response.messages.map(([, ms]: number[]) => ms), [10, 20, 30, 30]);
      assert.equal(
        response.messages.map(([offset]: number[]) => String.fromCharCode(body[Number(offset)] ?? 0)).join(
          "",
        ),
        "{{{{",
      );
    },
  },
};

for (const [name, { given = [ASKED], edits, report, after }] of Object.entries(ROWS)) {
  withHome(`seal after an edit: ${name}`, async (home) => {
    const path = home.fixture("f", given);
    for (const [file, change] of Object.entries(edits)) edit(`${path}/${file}`, change);
    const before = bytesBelow(path);
    const wanted = { path: "f", added: [], changed: [], removed: [], refitted: [], merged: null, ...report };
    const { refitted, changes } = await home.json(["seal", "f", "--dry-run"]);
    assert.deepEqual(refitted, wanted.refitted);
    assert.equal(changes.length, Object.keys(edits).length === 0 ? 0 : 1);
    assert.deepEqual(bytesBelow(path), before, "a dry run wrote something");
    assert.deepEqual(await home.json(["seal", "f"]), { ...wanted, dry_run: false });
    if (Object.keys(edits).length === 0) assert.deepEqual(bytesBelow(path), before);
    exchangesOf(path);
    after?.(path);
    assert.deepEqual((await home.json(["seal", "f"])).changed, [], "a second seal finds something");
  });
}

const crlf = (text: string) => text.replaceAll("\n", "\r\n");
/** Edits that are refused, and why. */
const REFUSED: Readonly<Record<string, readonly [GivenExchange, Sealed["edits"], RegExp, RegExp?]>> = {
  "two edits that contradict each other": [
    WITH_RAW,
    { [RAW_FILE]: goodBye, [REQUEST]: (text) => text.replace('"hello"', '"welcome"') },
    /it was edited, and so was the body in request\.json/,
  ],
  "line ends that alone have changed": [ASKED, { [ANSWER]: crlf }, /only its line ends .* CRLF now/, /-text/],
};

for (const [name, [given, edits, says, hint]] of Object.entries(REFUSED)) {
  withHome(`seal refuses ${name}, and writes nothing`, async (home) => {
    const path = home.fixture("f", [given]);
    for (const [file, change] of Object.entries(edits)) edit(`${path}/${file}`, change);
    const before = bytesBelow(path);
    for (const flags of [["--dry-run"], []]) {
      await home.refused(["seal", "f", ...flags], "bad_fixture", says, hint);
      assert.deepEqual(bytesBelow(path), before);
    }
  });
}

withHome(
  "seal takes line ends that changed beside another edit, and names files that are new or gone",
  async (home) => {
    const path = home.fixture("f", [ASKED]);
    edit(`${path}/${ANSWER}`, (text) => `${text.replaceAll("\n", "\r\n")}: a remark\r\n`);
    assert.deepEqual((await home.json(["seal", "f"])).changed, [ANSWER]);
    home.file("f/notes.txt", "why this was recorded\n");
    assert.deepEqual((await home.json(["seal", "f"])).added, ["notes.txt"]);
    Deno.removeSync(`${path}/notes.txt`);
    assert.deepEqual((await home.json(["seal", "f"])).removed, ["notes.txt"]);
    Deno.removeSync(`${path}/${ANSWER}`);
    await home.refused(["seal", "f"], "bad_fixture", /nothing is there/);
  },
);

const RECORDINGS = [
  { created: "2026-11-01T00:00:00.000Z", producer: "reprise 0.1.0", exchanges: [1, 2] },
  { created: "2026-11-11T00:00:00.000Z", exchanges: [3, 3], context: { cwd: "/srv/b" } },
];
const UPSTREAMS = { GROQ_BASE_URL: { base_url: "https://api.groq.com/openai/v1", provider: "compatible" } };

withHome(
  "seal keeps what it does not know of a grown fixture, and refuses an exchange that no recording accounts for",
  async (home) => {
    const more = { recordings: RECORDINGS, upstreams: UPSTREAMS, later_member: { of: "another version" } };
    const path = home.fixture("f", [ASKED, ASKED, ASKED], more);
    const { files: _files, ...before } = headerOf(path);
    edit(`${path}/exchanges/0003/body`, () => "data: 1\n\n");
    assert.deepEqual((await home.json(["seal", "f"])).changed, ["exchanges/0003/body"]);
    const { files: _sums, ...after } = headerOf(path);
    assert.deepEqual(after, before);
    Deno.removeSync(`${path}/exchanges/0003`, { recursive: true });
    const header = Deno.readTextFileSync(`${path}/fixture.json`);
    const says = /they end with exchange 3, and the fixture has 2 exchanges/;
    await home.refused(["seal", "f"], "bad_fixture", says, /correct the numbers/);
    assert.equal(Deno.readTextFileSync(`${path}/fixture.json`), header);
    // The hint works.
    const corrected = { ...JSON.parse(header), recordings: RECORDINGS.slice(0, 1) };
    write(`${path}/fixture.json`, JSON.stringify(corrected));
    await home.json(["seal", "f"]);
    assert.equal(exchangesOf(path).length, 2);
  },
);

withHome("seal closes the numbers of an exchange that was removed manually", async (home) => {
  const path = home.fixture("f", [ASKED, ASKED, ASKED]);
  Deno.renameSync(`${path}/exchanges/0002`, `${home.directory}/0002`);
  await home.json(["seal", "f"]);
  const { exchanges } = await home.json(["show", "f"]);
  assert.deepEqual(exchanges.map(({ number }: Json) => number), [1, 2]);
  assert.deepEqual(exchangesOf(path).map(({ folder }) => folder), ["exchanges/0001", "exchanges/0003"]);
  seal(path);
});
