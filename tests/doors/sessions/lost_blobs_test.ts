/** Verbs on a session with a lost or damaged blob: they do without it, or say that the session is damaged. */
import assert from "node:assert/strict";
import { bytesBelow, sha256 } from "../../support/files.ts";
import { said } from "../../support/reprise.ts";
import { test } from "../../support/test.ts";
import { writeFixture } from "../recordings/recording_files.ts";
import { answerText, responseStream } from "../wire/streams_answers.ts";
import { ID, SessionHome } from "./home.ts";
import {
  call,
  ended,
  type GivenTurn,
  INSTRUCTIONS,
  message,
  model,
  PINS,
  results,
  type SessionFiles,
  TOOLS,
  user,
  write,
} from "./session_files.ts";

const LONG = "A long answer. ".repeat(400);
const OUTPUT = "a line\n".repeat(10_000);
const NOTES = "notes";

const [result] = results({ call_a: 3 }).events;
const TURNS: readonly GivenTurn[] = [
  {
    kind: "user",
    pins: PINS,
    events: [
      {
        ...{ type: "attachment", name: "notes.txt", media_type: "text/plain" },
        blob: { sha256: sha256(NOTES), bytes: NOTES.length },
      },
      { type: "user_message", content: [{ type: "input_text", text: LONG }] },
    ],
  },
  model([call("call_a")]),
  { kind: "tools", events: [{ ...result, blob: { sha256: sha256(OUTPUT), bytes: OUTPUT.length } }] },
  model([message("msg_1", LONG)]),
  ended(),
  user("Go on", 2),
  model([message("msg_2", LONG)], 2),
  ended(2),
];

/** Uses of a blob, and its content. */
const BLOBS = { result: OUTPUT, attachment: NOTES, instructions: INSTRUCTIONS, tools: TOOLS };

const DAMAGE: Record<string, (path: string) => void> = {
  "is gone": (path) => Deno.removeSync(path),
  "is empty": (path) => write(path, ""),
  "has another content": (path) => write(path, "another"),
};

/** Verbs that read or write a session; `FIXTURE` is an answer. */
const VERBS: readonly string[] = [
  "show ID --full",
  "show ID --html page.html",
  "show ID --markdown",
  "show ID --events",
  "search line",
  "stats ID",
  "ls",
  "explain ID",
  "run -s ID --dry-run -m gpt-5.6 Hi",
  "run -s ID --fixture FIXTURE --match sequence -m gpt-5.6 Hi",
  "compact ID --tail-events 0 --dry-run",
  "compact ID --tail-events 0",
  "compact ID --tail-events 0 --strategy model --dry-run",
  "rename ID Title",
  "omit ID --seq 5",
  "omit ID --seq 1",
  "fork ID",
  "fork ID --to-seq 7 --summarize",
  "export ID copy",
  "export ID copy --redact",
  "export ID --to codex -o codex.jsonl",
  "export ID --to claude -o claude.jsonl",
  "export ID --to pi -o pi.jsonl",
  "fsck ID --requests",
  "repair ID --dry-run",
];

function written(home: SessionHome): SessionFiles {
  const session = home.session(TURNS);
  for (const content of [OUTPUT, NOTES]) session.blob(content);
  session.writeManifest();
  return session;
}

for (const [use, content] of Object.entries(BLOBS)) {
  for (const [how, damage] of Object.entries(DAMAGE)) {
    test.long(`where the blob of ${use} ${how}, each verb does without it or names the damage, and changes nothing then`, async () => {
      for (const verb of VERBS) {
        await using home = new SessionHome();
        const { path } = written(home);
        damage(`${path}/blobs/${sha256(content)}`);
        const before = bytesBelow(path, "lock");
        const body = responseStream([answerText("Done.")]);
        const fixture = writeFixture(`${home.directory}/fixture`, [{ body }, { body }]);
        const args = verb.split(" ").map((word) => word === "ID" ? ID : word === "FIXTURE" ? fixture : word);
        const called = await home.call(args, { env: { OPENAI_API_KEY: "sk-test-1" } });
        if (called.code === 0) continue;
        assert.equal(called.code, 12, `${verb}: ${said(called)}`);
        // Fsck prints its findings.
        if (!verb.startsWith("fsck")) {
          assert.match(called.stderr, /error: .*blobs\/.*\n(?:.*\n)*hint: .*reprise repair/, verb);
        }
        if (!verb.startsWith("run")) assert.deepEqual(bytesBelow(path, "lock"), before, verb);
      }
    });
  }
}

for (const use of ["instructions", "tools"] as const) {
  test(`compact refuses a session whose ${use} are lost, until repair has recorded that`, async () => {
    await using home = new SessionHome();
    const { path } = written(home);
    Deno.removeSync(`${path}/blobs/${sha256(BLOBS[use])}`);
    const compact = ["compact", ID, "--tail-events", "0"];
    for (const args of [compact, [...compact, "--dry-run"]]) {
      const { code, hint } = await home.json(args, 12);
      assert.equal(code, "session_damaged");
      assert.match(hint, /reprise repair fix-ci-7k2m/);
    }
    const { changes } = await home.json(["repair", ID, "--dry-run"]);
    assert.deepEqual(changes, [{ action: "append", what: "turn", name: ID }], "the turn that records it");
    await home.json(["repair", ID]);
    assert.equal((await home.json(compact)).type, "compacted");
    assert.deepEqual(await home.damage(), []);
  });
}

test("repair says that fsck --requests cannot rebuild a request whose blob is lost", async () => {
  await using home = new SessionHome();
  const fields = { model: "gpt-5.6", text: { blob: sha256(NOTES) } };
  const [answered, ...more] = [model([message("msg_1", LONG)]), ended()];
  home.session([
    user(LONG),
    { ...answered, request: { ...answered?.request, fields } } as GivenTurn,
    ...more,
  ]);
  const { lost } = await home.json(["repair", ID]);
  const instead = "fsck --requests cannot rebuild that request";
  assert.deepEqual(lost, [{ sha256: sha256(NOTES), turn: 2, by: "request.fields.text", instead }]);
});

test("a run does not name a blob whose file has another length than its content", async () => {
  await using home = new SessionHome();
  const { path } = written(home);
  write(`${path}/blobs/${sha256("attached")}`, "attache");
  Deno.writeTextFileSync(`${home.workspace}/a.txt`, "attached");
  const fixture = writeFixture(`${home.directory}/fixture`, [{
    body: responseStream([answerText("Done.")]),
  }]);
  const play = ["--fixture", fixture, "--match", "sequence", "-m", "gpt-5.6"];
  const called = await home.call(["run", "-s", ID, ...play, "--attach", "a.txt", "Hi"]);
  assert.equal(called.code, 12, said(called));
  assert.match(called.stderr, /has 7 bytes, but its content has 8/);
});
