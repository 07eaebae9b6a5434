/** Token counts of other agents' answers: read where the file has them, unknown where not, and counted once. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { bytesOf, ImportHome } from "./transcripts.ts";

const item = (payload: Json, timestamp?: string) => ({ type: "response_item", payload, timestamp });
const user = (text: string, timestamp?: string) =>
  item({ type: "message", role: "user", content: [{ type: "input_text", text }] }, timestamp);
const answer = (text: string, timestamp?: string) =>
  item({ type: "message", role: "assistant", content: [{ type: "output_text", text }] }, timestamp);
const call = item({ type: "function_call", call_id: "c", name: "shell", arguments: "{}" });
const result = item({ type: "function_call_output", call_id: "c", output: "hi" });
const counts = (input: number, more = {}) => ({ input_tokens: input, output_tokens: 1, ...more });
/** A count of tokens: the sum so far, and the last answer. */
const counted = (total: Json, last: Json, timestamp?: string) => ({
  timestamp,
  type: "event_msg",
  payload: { type: "token_count", info: { total_token_usage: total, last_token_usage: last } },
});
const so = (total: number, last: number) =>
  counted({ input_tokens: total, output_tokens: total / 10 }, {
    input_tokens: last,
    output_tokens: last / 10,
  });
const noInfo = { type: "event_msg", payload: { type: "token_count", info: null } };
const record = (input: number) => ({ type: "token_usage_record", payload: { usage: counts(input) } });

/** Lines of a rollout after its prompt, and the input tokens of each answer; `null` if unknown. */
const ROLLOUTS: Readonly<Record<string, readonly [inputs: readonly (number | null)[], ...lines: Json[]]>> = {
  "after the answer": [[100], answer("a"), so(100, 100)],
  "after the results of its calls": [[100, 50], call, result, so(100, 100), answer("a"), so(150, 50)],
  "before the answer": [[100, 50], so(100, 100), call, result, so(150, 50), answer("a")],
  "repeated with new limits": [
    [100, 50],
    answer("a"),
    so(100, 100),
    so(100, 100),
    user("b"),
    so(100, 100),
    answer("b"),
    so(150, 50),
  ],
  "only limits": [[null, 50], noInfo, answer("a"), noInfo, user("b"), answer("b"), so(50, 50)],
  "the sum of a thread that began in another file": [[50], answer("a"), so(1000, 50)],
  "no counts": [[null], answer("a")],
  "no counts of the second answer": [[100, null], answer("a"), so(100, 100), user("b"), answer("b")],
  "of two answers of which one left nothing": [[150], so(100, 100), answer("a"), so(150, 50)],
  "a sum that begins again": [[100, 30], answer("a"), so(100, 100), user("b"), answer("b"), so(30, 30)],
  "no sum": [[7], answer("a"), counted(null, counts(7))],
  "sum only": [[7], answer("a"), counted(counts(7), null)],
  "counts of 0": [[null], answer("a"), so(0, 0)],
  "counts that are none": [[null], answer("a"), counted({ input_tokens: "7" }, { input_tokens: -1 })],
  "records, which are repeated as counts": [
    [100, 50],
    answer("a"),
    record(100),
    so(100, 100),
    user("b"),
    answer("b"),
    record(50),
    so(150, 50),
  ],
};

const inputsOf = (home: ImportHome, session: string) =>
  home.turns(session).filter(({ kind }) => kind === "model").map(({ events }) =>
    events.find(({ type }: Json) => type === "provider_usage")?.usage.input_tokens ?? null
  );

for (const [name, [inputs, ...lines]] of Object.entries(ROLLOUTS)) {
  Deno.test(`token counts of a rollout: ${name}`, async () => {
    await using home = new ImportHome();
    const { session } = await home.import(bytesOf([user("One"), ...lines]));
    assert.deepEqual(inputsOf(home, session), inputs);
  });
}

Deno.test("counts in a rollout have the names of the API, and none that the file lacks", async () => {
  await using home = new ImportHome();
  const whole = { cached_input_tokens: 4, reasoning_output_tokens: 0, total_tokens: 8 };
  const { session } = await home.import(bytesOf([user("One"), answer("a"), counted(counts(7, whole), null)]));
  const [, { events }] = home.turns(session);
  assert.deepEqual(events.at(-1).usage, {
    ...{ input_tokens: 7, input_tokens_details: { cached_tokens: 4 } },
    ...{ output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 8 },
  });
});

/** Answers of other agents that count no tokens. */
const UNCOUNTED: Readonly<Record<string, readonly Json[]>> = {
  codex: [user("One"), answer("a")],
  claude: [
    { type: "user", uuid: "a", sessionId: "s", message: { role: "user", content: "One" } },
    {
      ...{ type: "assistant", uuid: "b", parentUuid: "a", sessionId: "s" },
      message: { id: "m", role: "assistant", content: "a", usage: { input_tokens: 0, output_tokens: 0 } },
    },
  ],
  pi: [
    { type: "session", version: 3, id: "s", cwd: "/w" },
    { type: "message", id: "a", parentId: null, message: { role: "user", content: "One" } },
    { type: "message", id: "b", parentId: "a", message: { role: "assistant", content: "a", usage: {} } },
  ],
};

for (const [agent, lines] of Object.entries(UNCOUNTED)) {
  Deno.test(`tokens that ${agent} did not count are unknown in every view`, async () => {
    await using home = new ImportHome();
    const { session, from } = await home.import(bytesOf(lines));
    assert.deepEqual([from.agent, from.kept.uncounted, from.kept.copied], [agent, 1, 0]);
    const json = async (...args: string[]) => JSON.parse((await home.call([...args, "--json"])).stdout);
    const unknown = { input_tokens: null, cached_tokens: null, output_tokens: null, reasoning_tokens: null };
    assert.deepEqual((await json("ls")).sessions[0].usage, { ...unknown, uncounted: 1 });
    const sum = {
      ...unknown,
      cache_write_tokens: null,
      requests: 1,
      uncounted: 1,
      cost_usd: null,
      known_cost_usd: 0,
      unpriced: 1,
    };
    for (const args of [["stats"], ["stats", session]]) assert.deepEqual((await json(...args)).total, sum);
    assert.deepEqual((await json("show", session)).spending.requests[0].usage, null);
    const texts = [["ls"], ["stats"], ["stats", session], ["show", session]];
    for (const args of texts) {
      const { stdout } = await home.call(args);
      assert.match(stdout, args[0] === "show" ? /^tokens +no token counts$/m : /unknown/, args.join(" "));
      assert.doesNotMatch(stdout, / 0 (?:input|output)|TOKENS.*\n.* 0 +completed/, args.join(" "));
    }
  });
}

Deno.test("a sum says how many answers it lacks", async () => {
  await using home = new ImportHome();
  const { session } = await home.import(
    bytesOf([user("One"), answer("a"), so(100, 100), user("b"), answer("b")]),
  );
  assert.match(
    (await home.call(["stats", session])).stdout,
    /: 2 requests, 1 not counted · 100 input · 10 output · /,
  );
  assert.match((await home.call(["ls"])).stdout, / 110\+ +completed/);
  assert.match(
    (await home.call(["show", session])).stdout,
    /^tokens +100 tokens in, 10 out; 1 answer not counted$/m,
  );
  assert.equal((await home.call(["fsck", "--all"])).code, 0);
});

const at = (time: string) => `2026-06-02T09:00:${time}Z`;
const meta = (id: string, more = {}, timestamp = at("00.000")) => ({
  timestamp,
  type: "session_meta",
  payload: { id, ...more },
});
const parent = (timestamp?: string) => [
  user("One", timestamp),
  answer("a", timestamp),
  counted(counts(1000), counts(1000), timestamp),
  user("Two", timestamp),
  answer("b", timestamp),
  counted({ input_tokens: 3000, output_tokens: 2 }, counts(2000), timestamp),
];
const own = (pause: string) => [
  user("Three", at(pause)),
  answer("c", at(pause)),
  counted({ input_tokens: 3500, output_tokens: 3 }, counts(500), at(pause)),
];
/** A fork: its header, that of its parent, a copy and lines of its own. */
const fork = (pause = "09.000") => [
  meta("fork", { forked_from_id: "parent" }),
  meta("parent", {}, at("00.010")),
  ...parent(at("00.020")),
  ...own(pause),
];

Deno.test("answers that a fork copies from its parent count once, with and without the parent", async () => {
  const sums: [number, number, number][] = [];
  for (
    const [first, second] of [[parent(), fork()], [fork(), parent()], [fork(), []], [fork(), fork()]] as const
  ) {
    await using home = new ImportHome();
    const sessions = [];
    for (const lines of [first, second].filter(({ length }) => length > 0)) {
      const all = lines === first && first.length > 6 || lines.length > 6
        ? lines
        : [meta("parent"), ...lines];
      sessions.push((await home.import(bytesOf(all))).session);
    }
    const { total } = JSON.parse((await home.call(["stats", "--json"])).stdout);
    const forked = sessions[first.length > 6 ? 0 : 1];
    const { total: of, shared } = JSON.parse((await home.call(["stats", forked, "--json"])).stdout);
    assert.deepEqual([of.input_tokens, of.requests, shared.input_tokens, shared.requests], [500, 1, 3000, 2]);
    sums.push([total.input_tokens, total.output_tokens, total.requests]);
  }
  // The same fork twice has its own answer twice.
  assert.deepEqual(sums, [[3500, 3, 3], [3500, 3, 3], [3500, 3, 3], [4000, 4, 4]]);
});

/** Own lines of a fork by their pause, and the input that is its own. */
const PAUSES: readonly (readonly [string, number | null])[] = [
  ["00.270", 500],
  ["00.269", null],
  ["00.000", 500],
];

Deno.test("a copy ends with the first line that was not written with it", async () => {
  for (const [pause, input] of PAUSES) {
    await using home = new ImportHome();
    const { session, from } = await home.import(bytesOf(fork(pause)));
    assert.deepEqual([from.kept.copied, from.kept.uncounted], [input === null ? 3 : 2, 0]);
    const { total, shared } = JSON.parse((await home.call(["stats", session, "--json"])).stdout);
    assert.deepEqual([total.input_tokens, shared.requests], input === null ? [0, 3] : [input, 2], pause);
  }
});

Deno.test("a session that names no parent, or has no copy of it, has copied nothing", async () => {
  for (const second of [[], [meta("another", {}, at("00.010"))]]) {
    await using home = new ImportHome();
    const header = meta("fork", second.length === 0 ? { forked_from_id: "parent" } : {});
    const { session } = await home.import(bytesOf([header, ...second, ...parent(at("00.020"))]));
    const { total } = JSON.parse((await home.call(["stats", session, "--json"])).stdout);
    assert.deepEqual([total.input_tokens, total.requests], [3000, 2]);
  }
});
