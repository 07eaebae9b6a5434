/** Transcripts of other agents become sessions: rows for each agent, and transcripts that are damaged. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { Dice } from "../../support/dice.ts";
import { samples } from "../../support/scale.ts";
import { test } from "../../support/test.ts";
import { brokenMessagesRules, brokenResponsesRules } from "../../support/scripted_api/judge.ts";
import { CLAUDE } from "./claude_rows.ts";
import { CODEX, ROLLOUT } from "./codex_rows.ts";
import { damaged } from "./damage.ts";
import { MESSAGES, PI, REASONING, RESPONSES } from "./pi_rows.ts";
import { ID, withHome } from "../sessions/home.ts";
import { ended, message, model, user } from "../sessions/session_files.ts";
import { bytesOf, ImportHome, testRows } from "./transcripts.ts";

testRows("claude", CLAUDE);
testRows("codex", CODEX);
testRows("pi", PI);

const DIRECTORY = new URL("recorded/", import.meta.url);
const TRANSCRIPTS = [...Deno.readDirSync(DIRECTORY)].map(({ name }) => name).sort()
  .map((name) => ({ name, text: Deno.readTextFileSync(new URL(name, DIRECTORY)) }));
const LINES = TRANSCRIPTS.flatMap(({ text }) => text.trimEnd().split("\n"));

Deno.test("items of pi get their ids, reasoning and token counts back", async () => {
  await using home = new ImportHome();
  const responses = home.turns((await home.import(bytesOf(RESPONSES))).session)[1];
  assert.deepEqual(responses.events.map(({ item, usage }: Json) => item ?? usage), [
    REASONING,
    {
      ...{ type: "message", role: "assistant", id: "msg_1", status: "completed" },
      content: [{ type: "output_text", text: "Hm", annotations: [] }],
    },
    { type: "function_call", id: "fc_1", call_id: "call_1", name: "bash", arguments: '{"command":"ls"}' },
    {
      ...{ input_tokens: 108, input_tokens_details: { cached_tokens: 8 } },
      ...{ output_tokens: 40, total_tokens: 148 },
    },
  ]);
  const messages = home.turns((await home.import(bytesOf(MESSAGES))).session)[1];
  assert.equal(messages.fingerprint.provider, "anthropic");
  assert.deepEqual(messages.events.map(({ item, usage }: Json) => item ?? usage), [
    { type: "thinking", thinking: "Hm", signature: "sig" },
    { type: "text", text: "Yes" },
    { type: "tool_use", id: "toolu_1", name: "bash", input: { command: "ls" } },
    { input_tokens: 100, cache_creation_input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 40 },
  ]);
});

Deno.test("a turn names the agent, its version and the line; members without a value are left out", async () => {
  await using home = new ImportHome();
  const [, model] = home.turns((await home.import(bytesOf(ROLLOUT))).session);
  assert.deepEqual(model.request.imported, { agent: "codex", version: "0.169.0", line: 6 });
  assert.doesNotMatch(JSON.stringify(model.events[0]), /null/);
});

Deno.test("a turn has the time of its line, unless that is after the import", async () => {
  await using home = new ImportHome();
  const times = ["2026-01-02T03:04:05.000Z", "2999-01-01T00:00:00.000Z", "2026-01-02T03:04:06.000Z"];
  const lines = times.map((timestamp, index) => ({
    ...{ type: "user", uuid: `${index}`, parentUuid: index === 0 ? null : `${index - 1}`, sessionId: "one" },
    ...{ timestamp, message: { role: "user", content: `${index}` } },
  }));
  const { session } = await home.import(bytesOf(lines));
  const prompts = home.turns(session).filter(({ kind }) => kind === "user");
  assert.deepEqual(prompts.map(({ at }) => at), [times[0], times[0], times[2]]);
});

Deno.test("reasoning has the trusted endpoint only if the file proves provider and model", async () => {
  await using home = new ImportHome();
  const trust = ["--trust-origin", "https://api.openai.com/v1"];
  const endpoints = async (lines: readonly Json[], flags: readonly string[]) => {
    const { session } = await home.import(bytesOf(lines), flags);
    return [
      ...new Set(
        home.turns(session).flatMap(({ kind, fingerprint }) =>
          kind === "model" ? [fingerprint.endpoint] : []
        ),
      ),
    ];
  };
  assert.deepEqual(await endpoints(ROLLOUT, []), ["imported"]);
  assert.deepEqual(await endpoints(ROLLOUT, trust), ["d9617135"]);
  assert.deepEqual(await endpoints(ROLLOUT.toSpliced(1, 1), trust), ["imported"]);
  assert.deepEqual(await endpoints(ROLLOUT.toSpliced(0, 1), trust), ["imported"]);
});

Deno.test("each run has the model of its own answers, and the last one that is known without an answer", async () => {
  await using home = new ImportHome();
  const context = (model: string) => ({ type: "turn_context", payload: { model } });
  const prompt = ROLLOUT[4];
  const answer = (id: string) => ({ type: "response_item", payload: { ...ROLLOUT[12].payload, id } });
  const lines = [ROLLOUT[0], context("a"), prompt, answer("1"), context("b"), prompt, answer("2"), prompt];
  const turns = home.turns((await home.import(bytesOf(lines))).session);
  assert.deepEqual(turns.flatMap(({ kind, pins }) => kind === "user" ? [pins.model] : []), ["a", "b", "b"]);
});

/** Sources, and the agent that wrote them; `null` for a source that no agent wrote. */
const SOURCES: readonly (readonly [agent: string | null, ...lines: Json[]])[] = [
  ["codex", { id: "a", timestamp: "2025-09-10T18:58:38.331Z", instructions: null }, ROLLOUT[4]],
  ["codex", { record_type: "state" }, ROLLOUT[4]],
  ["pi", { type: "message", id: "a", parentId: null, message: { role: "user", content: "One" } }],
  ["pi", {}, 5, { type: "message" }, ...RESPONSES],
  ["claude", { type: "summary", leafUuid: "a" }, ...CLAUDE["a circle of lines ends"]?.lines ?? []],
  [null],
  [null, { type: "message" }, { type: "summary" }, { type: "event_msg" }, { id: "a" }],
];

Deno.test("the first line that an agent writes names the agent; lines before it may be anything", async () => {
  await using home = new ImportHome();
  for (const [agent, ...lines] of SOURCES) {
    const report = await home.import(bytesOf(lines));
    assert.equal(report.from?.agent ?? null, agent, JSON.stringify(report).slice(0, 300));
  }
});

/** Outputs of agents, and the session that has the prompts. */
const OUTPUTS: readonly (readonly [Json, RegExp, RegExp])[] = [
  [{ type: "thread.started", thread_id: "019f-1" }, /"codex exec --json"/, /~\/\.codex\/.*-019f-1\.jsonl/],
  [
    { type: "system", subtype: "init", session_id: "019f-2" },
    /"claude -p --out/,
    /~\/\.claude\/.*\/019f-2\.jsonl/,
  ],
  [
    { type: "system", subtype: "init", session_id: "../x" },
    /"claude -p --out/,
    /~\/\.claude\/projects\/\*\/\*\.jsonl/,
  ],
];

Deno.test("outputs for scripts, which have no prompts, are named with the session that has them", async () => {
  await using home = new ImportHome();
  for (const [first, says, hint] of OUTPUTS) {
    const event = {
      type: "assistant",
      session_id: "a",
      uuid: "b",
      message: { role: "assistant", content: "Hi" },
    };
    const report = await home.import(bytesOf([first, event]));
    assert.match(report.message, says);
    assert.match(report.hint, hint);
  }
});

Deno.test("subagents beside a transcript of Claude Code become sessions too", async () => {
  await using home = new ImportHome();
  const message = (uuid: string, parentUuid: string | null, role: string, content: string, day: number) => ({
    ...{
      type: role,
      uuid,
      parentUuid,
      sessionId: "s",
      isSidechain: day > 1,
      timestamp: `2026-02-0${day}T00:00:00.000Z`,
    },
    message: {
      role,
      content,
      ...role === "assistant" && { id: `msg_${uuid}`, usage: { input_tokens: day } },
    },
  });
  const talk = (id: string, day: number) => [
    message(`${id}1`, null, "user", `Ask ${id}`, day),
    message(`${id}2`, `${id}1`, "assistant", `Tell ${id}`, day),
  ];
  const folder = `${home.directory}/1/subagents`;
  Deno.mkdirSync(folder, { recursive: true });
  for (
    const [name, lines] of Object.entries({ "agent-x": talk("x", 2), "agent-y": talk("y", 3), "agent-z": [] })
  ) {
    Deno.writeFileSync(`${folder}/${name}.jsonl`, bytesOf(lines));
  }
  Deno.writeTextFileSync(`${folder}/agent-x.meta.json`, "{}");
  Deno.symlinkSync(`${folder}/agent-x.jsonl`, `${folder}/agent-link.jsonl`);
  const { session, from } = await home.import(bytesOf(talk("m", 1)));
  assert.deepEqual(home.told(session), ["user Ask m", "response msg_m2 text"]);
  assert.deepEqual(from.forks.map(({ branch }: Json) => branch), ["subagent agent-x", "subagent agent-y"]);
  assert.deepEqual(from.lost.map(({ what }: Json) => what), ["subagent agent-z"]);
  const [x, y] = from.forks.map((fork: Json) => home.turns(fork.session));
  assert.deepEqual([x[1].at, y[1].at], ["2026-02-02T00:00:00.000Z", "2026-02-03T00:00:00.000Z"]);
  assert.deepEqual(home.told(from.forks[1].session), ["user Ask y", "response msg_y2 text"]);
  assert.equal((await home.call(["fsck", "--all"])).code, 0);
});

/** A conversation with a checkpoint, a call id that occurs twice, a call without a result, and odd arguments. */
const SPOKEN: readonly Json[] = [
  ...ROLLOUT.slice(0, 2),
  ROLLOUT[4],
  ROLLOUT[12],
  ROLLOUT[15],
  ...["c", "c"].flatMap((call_id, index) => [
    {
      type: "response_item",
      payload: { ...ROLLOUT[4].payload, content: [{ type: "input_text", text: "Look" }] },
    },
    { type: "response_item", payload: { ...ROLLOUT[5].payload, id: `rs${index}` } },
    {
      type: "response_item",
      payload: { ...ROLLOUT[6].payload, id: `fc${index}`, call_id, arguments: ["[1]", "{torn"][index] },
    },
    { type: "response_item", payload: { type: "function_call_output", call_id, output: `${index}` } },
    { type: "response_item", payload: { ...ROLLOUT[12].payload, id: `m${index}` } },
  ]),
  ...ROLLOUT.slice(16),
];
/** Outcome of an import of the export. */
const TOLD = [
  "user This is a summary of the conversation so far:\n\nThe test is fixed.",
  ...["user Look", "response", "result c 0", "response", "user Look", "response", "result c-2 1", "response"],
  ...["user And now?", "response", "no result c3"],
];

Deno.test("export --to begins with the summary of the checkpoint, numbers repeated call ids, and answers every call", async () => {
  await using home = new ImportHome();
  const { session } = await home.import(bytesOf(SPOKEN));
  for (const to of ["codex", "claude", "pi"]) {
    const path = `${home.directory}/${to}.jsonl`;
    await home.call(["export", session, "--to", to, "-o", path]);
    const text = Deno.readTextFileSync(path);
    const again = await home.import(Deno.readFileSync(path));
    assert.deepEqual(home.told(again.session).map((turn) => turn.replace(/^(response) .*/, "$1")), TOLD, to);
    assert.deepEqual([again.from.lost, again.from.forks], [[], []], to);
    const args = to === "codex"
      ? ['"arguments":"[1]"', '"arguments":"{torn"', '"arguments":"{}"']
      : ['{"arguments":[1]}', '{"arguments":"{torn"}', ":{}"];
    for (const each of [...args, "has no result of this call"]) {
      assert.ok(text.includes(each), `${to}: ${each}`);
    }
    assert.doesNotMatch(text, /gAAAA/);
  }
});

withHome("export --to has the summary of another branch as a message", async (home) => {
  const summary = { type: "branch_summary", session: "other", from_seq: 1, to_seq: 2, summary: "It failed." };
  home.session([user("Look"), model([message("msg_1", "Done.")]), ended(), {
    kind: "harness",
    events: [summary],
  }]);
  const path = `${home.directory}/x.jsonl`;
  await home.json(["export", ID, "--to", "claude", "-o", path]);
  const last = JSON.parse(Deno.readTextFileSync(path).trim().split("\n").at(-1) ?? "");
  assert.match(JSON.stringify(last.message), /This is a summary of another branch:\\n\\nIt failed\./);
});

test.long("long chains end, and of many branches the first hundred are kept", async () => {
  await using home = new ImportHome();
  const line = (uuid: string, parentUuid: string | null) => ({
    ...{ type: "user", uuid, parentUuid, sessionId: "one", message: { role: "user", content: uuid } },
  });
  const chain = Array.from(
    { length: 3000 },
    (_, index) => line(`${index}`, index === 0 ? null : `${index - 1}`),
  );
  assert.equal((await home.import(bytesOf(chain))).from.kept.messages, 3000);
  const wide = [line("r", null), ...Array.from({ length: 300 }, (_, index) => line(`${index}`, "r"))];
  const { from } = await home.import(bytesOf(wide));
  assert.deepEqual([from.forks.length, from.lost.length], [100, 199], "the main branch is the 300th");
});

/** Damage of the line at `at` that changes no record. */
const DAMAGE: Readonly<Record<string, (lines: readonly string[], at: number) => readonly string[]>> = {
  "NULs after it": (lines, at) => lines.with(at, `${lines[at]}${"\0".repeat(600)}`),
  "a torn record before it": (lines, at) => lines.with(at, `${lines[0]?.slice(0, 60)}${lines[at]}`),
  "a torn record after it": (lines, at) => lines.with(at, `${lines[at]}{"type":"user","message":{"a":"b"}`),
  "no line end after it": (lines, at) => lines.toSpliced(at, 2, lines.slice(at, at + 2).join("")),
  "NULs for its line end": (lines, at) => lines.toSpliced(at, 2, lines.slice(at, at + 2).join("\0\0")),
};

for (const [damage, change] of Object.entries(DAMAGE)) {
  test.long(`a whole record is kept with ${damage}`, async () => {
    await using home = new ImportHome();
    for (const { name, text } of TRANSCRIPTS) {
      const lines = text.trimEnd().split("\n");
      const told = async (from: readonly string[]) =>
        home.told((await home.import(new TextEncoder().encode(`${from.join("\n")}\n`))).session);
      const whole = await told(lines);
      for (const at of [0, 3, lines.length >> 1, lines.length - 2]) {
        assert.deepEqual(await told(change(lines, at)), whole, `${name}, line ${at + 1}`);
      }
    }
  });
}

test.long("every prefix of a rollout becomes a sound session or is refused, also inside a character", async () => {
  await using home = new ImportHome();
  const whole = bytesOf(ROLLOUT);
  const first = bytesOf(ROLLOUT.slice(0, 5)).length - 1;
  const step = Math.max(1, Math.floor(whole.length / samples(150)));
  for (let length = first - 3; length <= whole.length; length += length < first + 3 ? 1 : step) {
    const report = await home.import(whole.subarray(0, length));
    assert.equal(report.code === "bad_import", length < first, `${length} bytes: ${JSON.stringify(report)}`);
  }
  const { code, stdout } = await home.call(["fsck", "--all"]);
  assert.equal(code, 0, stdout);
});

for (const { name, text } of TRANSCRIPTS) {
  test.long(`the transcript ${name} is imported, and a damaged one is refused or sound`, async () => {
    await using home = new ImportHome();
    const all = samples(30);
    let kept = 0;
    for (let seed = 0; seed < all; seed++) {
      const { session } = await home.import(damaged(text, new Dice(seed), LINES));
      if (session === undefined) continue;
      kept++;
      assert.deepEqual(await refusals(home, session), [], `seed ${seed}`);
    }
    assert.ok(kept > all / 3, `only ${kept} of ${all} were imported`);
    const { code, stdout } = await home.call(["fsck", "--all"]);
    assert.equal(code, 0, stdout);
  });
}

/** Refusals by the APIs of the request that continues a session. */
async function refusals(home: ImportHome, session: string): Promise<string[]> {
  const found: string[] = [];
  for (const [provider, model] of [["openai", "gpt-5.6"], ["anthropic", "claude-opus-4-8"]] as const) {
    const args = ["run", "--dry-run", "--body", "-s", session, "--provider", provider, "-m", model, "Go on"];
    const { code, stdout, stderr } = await home.call(args, {
      env: { OPENAI_API_KEY: "k", ANTHROPIC_API_KEY: "k" },
    });
    assert.equal(code, 0, stdout + stderr);
    const body = JSON.parse(stdout);
    found.push(...provider === "anthropic" ? brokenMessagesRules(body) : brokenResponsesRules(body));
  }
  return found;
}
