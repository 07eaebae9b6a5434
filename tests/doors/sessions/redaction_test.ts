/** `export --redact`: no secret leaves in texts, the rest stays, and what is imported is sound. */
import { type Json, sha256 } from "../../support/files.ts";
import assert from "node:assert/strict";
import { test } from "../../support/test.ts";
import { ID, type SessionHome, withHome } from "./home.ts";
import {
  call,
  checkpoint,
  ended,
  type GivenTurn,
  message,
  model,
  reasoning,
  results,
  user,
  withdrawal,
} from "./session_files.ts";

/** Made up, and shaped like the real thing. */
const SECRET = "sk-made-up-0123456789";
/** Only the provider can read it. */
const OPAQUE = "gAAAA-sk-inside-0123456789-opaque";
/** Secret by the name of its variable alone. */
const VALUE = 'no shape "of" a key';
const ENV = { MY_SECRET: VALUE, POSTGRES_PASSWORD: "postgres" };

const FILLING = "line\n".repeat(80_000);
const LARGE = `${FILLING}API_KEY=${SECRET} ${VALUE} ${btoa(VALUE)}\nline\n`;
const BINARY = Uint8Array.from([0xff, 0xfe, ...new TextEncoder().encode(SECRET)]);

/** The results of two calls, each with its whole output in a blob. */
function withBlobs(): GivenTurn {
  const { events, ...turn } = results({ call_a: 3, call_b: 4 });
  const blobs = [
    { sha256: sha256(LARGE), bytes: LARGE.length },
    { sha256: sha256(BINARY), bytes: BINARY.length, lossy: true },
  ];
  return {
    ...turn,
    kind: "tools",
    events: events.map((event, index) => ({
      ...event,
      output: `found ${index === 0 ? SECRET : "none"}`,
      blob: blobs[index],
    })),
  };
}

const ARGUMENTS = {
  header: `Bearer ${SECRET}`,
  nested: JSON.stringify({ value: VALUE }),
  postgres: "postgres",
};
const TURNS: readonly GivenTurn[] = [
  user(`use ${SECRET}, or ${VALUE}`),
  model([
    reasoning("rs_1", OPAQUE),
    { ...call("call_a"), arguments: JSON.stringify(ARGUMENTS) },
    call("call_b"),
  ]),
  withBlobs(),
  model([message("msg_1", "token=REDACTEDRED, it said")]),
  ended(),
];

/** Exports a session, with secrets in its environment; returns the objects of the lines. */
const redacted = (home: SessionHome, id = ID) => exported(home, id, ENV);

async function exported(
  home: SessionHome,
  id: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Json[]> {
  const called = await home.call(["export", id, "--redact"], { env });
  assert.equal(called.code, 0, called.stderr);
  Deno.writeTextFileSync(`${home.directory}/file`, called.stdout);
  return called.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
}

function written(home: SessionHome): void {
  const session = home.session(TURNS);
  session.blob(LARGE);
  Deno.writeFileSync(`${session.path}/blobs/${sha256(BINARY)}`, BINARY, { mode: 0o600 });
  session.writeManifest();
}

withHome(
  "a redacted export holds no secret outside opaque items, and says what it replaced, per kind and turn",
  async (home) => {
    written(home);
    const lines = await redacted(home);
    const texts = lines.map(({ text, base64 }) => text ?? (base64 === undefined ? "" : atob(base64)))
      .filter((text) => !text.startsWith("\u00ff\u00fe")).join("\n");
    assert.ok(texts.includes(OPAQUE));
    const secrets = [/sk-made-up/, /no shape/, new RegExp(btoa(VALUE).slice(2, -4))];
    for (const secret of secrets) assert.doesNotMatch(texts.replaceAll(OPAQUE, ""), secret);
    const { kinds, turns, replaced } = lines[0].redacted;
    assert.deepEqual(turns.map(({ turn }: Json) => turn), [1, 2, 3]);
    assert.deepEqual(turns[0].kinds, { api_key: 1, known: 1 });
    assert.equal(kinds.known, 4);
    assert.equal(Object.values(kinds).reduce((sum: number, count) => sum + Number(count), 0), replaced);
    const views = [["--markdown"], ["--full"], ["--events"], ["--json"], ["--html", "-"]];
    for (const flags of views) {
      const { code, stdout } = await home.call(["show", `${home.directory}/file`, ...flags]);
      assert.equal(code, 0, stdout);
      assert.match(stdout, /\[redacted api_key\]/, flags.join(" "));
      for (const secret of secrets) assert.doesNotMatch(stdout.replaceAll(OPAQUE, ""), secret);
    }
  },
  test.long,
);

withHome(
  "a redacted session is imported sound, with its marks, its calls still JSON and its blobs whole",
  async (home) => {
    written(home);
    const before = home.turns(ID);
    await redacted(home);
    await home.json(["rm", ID, "--yes"]);
    await home.json(["import", `${home.directory}/file`]);
    assert.deepEqual(await home.findings(), []);
    const after = home.turns(ID);
    assert.deepEqual(after.map(({ redacted }) => redacted?.sum ?? null), [
      before[0].sum,
      before[1].sum,
      before[2].sum,
      null,
      null,
    ]);
    assert.match((await home.listed()).title, /^use \[redacted api_key\], or /);
    const made = JSON.parse(after[1].events[1].item.arguments);
    assert.equal(made.header, "Bearer [redacted api_key]");
    assert.equal(made.postgres, "postgres", "a password that is an ordinary word");
    assert.deepEqual(Object.keys(JSON.parse(made.nested)), ["value"]);
    const [{ blob }, binary] = after[2].events;
    const content = Deno.readTextFileSync(`${home.home}/sessions/${ID}/blobs/${blob.sha256}`);
    assert.equal(content.length, blob.bytes);
    assert.match(content.slice(FILLING.length), /^API_KEY=\[redacted [a-z_]+\]/);
    assert.deepEqual(binary, before[2].events[1], "bytes that are no text are kept");
    // Once more: nothing is left to find, and the marks stay.
    const [again, ...lines] = await redacted(home);
    assert.equal(again.redacted.replaced, 0);
    assert.equal(lines.filter(({ text }) => text?.includes('"redacted":{')).length, 3);
  },
  test.long,
);

withHome("a redacted fork names the new sums of its parent's turns", async (home) => {
  written(home);
  const { session } = await home.json(["fork", ID]);
  await redacted(home, session);
  await home.json(["rm", session, "--yes"]);
  await home.json(["import", `${home.directory}/file`]);
  assert.deepEqual(await home.findings(session), []);
}, test.long);

withHome("without secrets a redacted export restores the same files as a plain one", async (home) => {
  home.session();
  const [plain, { stdout }] = [await home.call(["export", ID]), await home.call(["export", ID, "--redact"])];
  const lines = (text: string) => text.split("\n").slice(1, -2);
  assert.deepEqual(lines(stdout), lines(plain.stdout));
});

/** Length at which the text of a blob is cut for redaction, in UTF-16 units. */
const WINDOW = 256 * 1024;
const PEM = [
  "-----BEGIN RSA PRIVATE KEY-----",
  ...Array.from({ length: 25 }, (_, line) => `MIIEabcd${String(line).padStart(2, "0")}`.padEnd(64, "x")),
  "-----END RSA PRIVATE KEY-----",
].join("\n");
/** Secrets in one piece; a key has several lines. */
const PIECES: Readonly<Record<string, string>> = {
  "a private key": PEM,
  "a line with a key": `API_KEY=${SECRET}`,
};
/** Units of the secret that are before the cut: one, half of it, all but one, all. */
const BEFORE: readonly ((length: number) => number)[] = [
  () => 1,
  (length) => Math.floor(length / 2),
  (length) => length - 1,
  (length) => length,
];

for (const [what, secret] of Object.entries(PIECES)) {
  withHome(`a redacted export holds nothing of ${what}, wherever the text of a blob is cut`, async (home) => {
    for (const [index, before] of BEFORE.entries()) {
      const start = WINDOW - before(secret.length);
      const text = `${"line\n".repeat(start).slice(0, start - 1)}\n${secret}\nthe end\n`;
      const [result] = results({ call_a: 2 }).events;
      const blob = { sha256: sha256(text), bytes: text.length };
      const id = `cut-${index}`;
      home.session([
        user("Look"),
        model([call("call_a")]),
        { kind: "tools", events: [{ ...result, output: "found", blob }] },
        model([message("msg_1", "Done.")]),
        ended(),
      ], id).blob(text);
      const whole = (await exported(home, id)).map(({ text = "", base64 = "" }) => text + atob(base64)).join(
        "",
      );
      const left = whole.slice(whole.indexOf("line\n")).match(/MIIE|PRIVATE KEY|sk-made-up/);
      assert.equal(left, null, `cut after ${before(secret.length)} units`);
      assert.ok(/\n(?:API_KEY=)?\[redacted [a-z_]+\]\nthe end\n/.test(whole), "the rest stays");
    }
  }, test.long);
}

withHome(
  "--redact drops the summary of a checkpoint up to an omitted item, also if it was withdrawn",
  async (home) => {
    home.session([
      user("hunter2"),
      checkpoint({ turn: 1, seq: 1 }, null, { run: 1, summary: "The password is hunter2." }),
      withdrawal(2, null, 1),
      model([message("msg_1", "Done.")]),
      ended(),
      { kind: "harness", events: [{ type: "items_omitted", seqs: [1], reason: "user_request" }] },
    ]);
    assert.deepEqual(await home.damage(), []);
    assert.doesNotMatch(JSON.stringify(await exported(home, ID)), /hunter2/);
  },
);
