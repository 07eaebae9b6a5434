/** Rules that hold by what a fixture shows: its issued items, what its API took, and the provider. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { framed, message } from "./answers.ts";
import { HEADERS } from "./messages_rules.ts";
import { withHome } from "./home.ts";
import { exchangeOf, outcomeOf, type Row, rows, sent, Served } from "./served.ts";
import { ask, call, claude, output, responseStream, says, talk, user } from "./shapes.ts";

const CLAUDE = { provider: "anthropic", base_url: "https://api.anthropic.com" };
const ERROR = { answer: { error: { message: "As recorded" } }, response: { status: 400 } };
const kind = (answer: Parameters<typeof outcomeOf>[0]) =>
  outcomeOf(answer).replace(/^\d.*/, "played").split(" ")[0];

const thought = (n: number, copy = "done") => ({
  ...{ id: `rs_${n}`, type: "reasoning", summary: [], encrypted_content: `gAAAA-${copy}-${n}` },
});
const copies = (n: number) => ({
  added: thought(n, "added"),
  done: thought(n),
  completed: thought(n, "completed"),
});
const ls = (n: number) => call(`call_${n}`, { id: `fc_${n}`, name: "ls" });
const body = (...input: Json[]) => ({ ...talk(...input), store: false, stream: true });
const ONE = [user("List files")];
const TWO = [...ONE, thought(1), ls(1), output("call_1")];
const THREE = [...TWO, thought(2), ls(2), output("call_2")];
const LOOP = [
  sent(body(...ONE), { answer: responseStream(copies(1), ls(1)) }),
  sent(body(...TWO), { answer: responseStream(copies(2), ls(2)) }),
  sent(body(...THREE), { answer: responseStream() }),
];
const FORGOT = body(...TWO.slice(0, 3));
const mistake = (outcome: string, ...input: Json[]): Row => ({
  recorded: LOOP,
  // What should have been sent is still answered.
  asked: [[body(...input), outcome], [body(...TWO), "2 exact"]],
});

rows("a client that changes what a loop issued gets the API's own error, and nothing is used up", {
  "drops a reasoning item": mistake("refused reasoning_required", ...TWO.toSpliced(1, 1)),
  "alters a blob": mistake("refused encrypted_content", ...TWO.with(1, thought(1, "x"))),
  "sends the blob of another item": mistake(
    "refused encrypted_content",
    ...THREE.with(4, { ...thought(2), encrypted_content: "gAAAA-done-1" }),
  ),
  "sends reasoning in another order": mistake(
    "refused reasoning_following",
    ...THREE.with(1, thought(2)).with(4, thought(1)),
  ),
  "leaves a blob out": mistake(
    "miss 2 input[1].encrypted_content (reasoning_not_stored)",
    ...TWO.with(1, { ...thought(1), encrypted_content: null }),
  ),
});

rows("issued items are good in any copy, and evidence outweighs rules", {
  ...Object.fromEntries(
    ["added", "done", "completed"].map((copy) => [`the ${copy} copy, without the id of a call`, {
      recorded: LOOP,
      asked: [[
        body(...ONE, thought(1, copy), call("call_1", { name: "ls" }), output("call_1")),
        "2 semantic",
      ]],
    }]),
  ),
  "a recording from the middle of a conversation": {
    recorded: LOOP.slice(2),
    asked: [[{ ...body(...THREE), instructions: "Other" }, "miss 1 instructions"]],
  },
  "a request that the API refused is no evidence": {
    recorded: [sent(body(...TWO), ERROR)],
    asked: [[{ ...body(...TWO), instructions: "Other" }, "refused encrypted_content"]],
  },
  "a recorded error plays, in another way of writing": {
    recorded: [sent(FORGOT, ERROR)],
    asked: [[{ ...FORGOT, prompt_cache_key: "another" }, "1 semantic"]],
  },
  "an error inside the stream counts as one": {
    recorded: [sent(FORGOT, { answer: framed([{ type: "response.failed", response: { error: {} } }]) })],
    asked: [[{ ...FORGOT, prompt_cache_key: "another" }, "1 semantic"]],
  },
  "a request that the API accepted plays with a warning, once": {
    recorded: [FORGOT],
    asked: [[FORGOT, "1 exact (call_without_output)"], [FORGOT, "miss 1 none (call_without_output)"]],
  },
  "a rule that is only derived warns": {
    recorded: [ask("Hi")],
    asked: [[ask("Hi", { stream_options: { include_obfuscation: false } }), "1 semantic (stream_options)"]],
  },
  "rules hold in a sequence too": {
    recorded: LOOP,
    flags: ["--match", "sequence"],
    asked: [[FORGOT, "refused call_without_output"], [body(...ONE), "1 exact"]],
  },
  "an error that comes next in a sequence was the answer to another request": {
    recorded: [LOOP[0], LOOP[1], sent(body(...THREE), ERROR)],
    flags: ["--match", "sequence"],
    asked: [
      ...[[body(...ONE), "1 exact"], [body(...TWO), "2 exact"]] as const,
      [body(...THREE.slice(0, 6)), "refused call_without_output"],
      [body(...THREE), "3 exact"],
    ],
  },
  "match rules do not hide a changed blob": {
    header: { match: { ignore: ["$..output"] } },
    recorded: LOOP,
    asked: [[body(...TWO.with(1, thought(1, "x"))), "refused encrypted_content"]],
  },
});

const STATUS = body(...TWO.with(1, { ...thought(1), status: "completed" }));
const provided = (provider: string, asked: Json, outcome: string, rules?: string): Row => ({
  ...{ header: { provider }, recorded: LOOP, asked: [[asked, outcome]] },
  ...(rules === undefined ? {} : { flags: ["--rules", rules] }),
});
rows("the provider of the fixture decides which rules apply, or --rules does", {
  "Azure refuses status": provided("azure", STATUS, "refused"),
  "OpenAI ignores it": provided("openai", STATUS, "played"),
  "--rules azure": provided("openai", STATUS, "refused", "azure"),
  "a compatible server has no rules": provided("compatible", FORGOT, "miss"),
  "unless --rules names some": provided("compatible", FORGOT, "refused", "openai"),
  "--rules none": provided("openai", FORGOT, "miss", "none"),
  "another path of the API": {
    recorded: LOOP,
    path: "/v1/responses/compact",
    asked: [[FORGOT, "miss"]],
  },
}, { outcome: kind });

const use = { type: "tool_use", id: "toolu_EqQB", name: "weather", input: { city: "Oslo" } };
const thinking = (signature: string, thinking = "It is Oslo.") => ({ type: "thinking", thinking, signature });
const place = { path: "/v1/messages", headers: HEADERS };
const asked = (
  content: Json,
  next: Json = [{ type: "tool_result", tool_use_id: use.id, content: "a.txt" }],
) => sent(claude([user("List files"), says(content), user(next)]), place);
const STREAMED = String(message("Oslo", "EqQB").body);
const held = framed([{ type: "message_start", message: { id: "msg_1", content: [thinking("EqQB"), use] } }]);
const first = (answer: string) => sent(claude([user("List files")]), { ...place, answer });
const thinks = (answer: string): Row => ({
  recorded: [first(answer)],
  asked: [
    [asked([thinking("EqQB"), use]), "miss"],
    [asked([thinking("EqQC"), use]), "refused"],
    [asked([thinking("EqQB", "Look!"), use]), "refused"],
  ],
});
rows("thinking goes back as it came, in pieces or whole", {
  "thinking that came in pieces": thinks(STREAMED),
  "thinking that came at the start": thinks(held),
}, { header: CLAUDE, outcome: kind });

rows(
  "a client of both APIs in one recording is held to the rules of both",
  Object.fromEntries(["openai", "anthropic"].map((provider) => [provider, {
    header: { provider },
    recorded: [...LOOP, first(STREAMED)],
    asked: [
      [FORGOT, "refused call_without_output"],
      [asked([use], "And?"), "refused tool_use_without_result"],
    ],
  }])),
);

withHome("the blob of another fixture is foreign, though both are served", async (home) => {
  const other = sent(body(user("Another task")), { answer: responseStream(copies(3)) });
  home.fixture("a", LOOP.map((one) => exchangeOf(one)));
  home.fixture("b", [exchangeOf(other)]);
  await using server = await Served.start(home, ["b", "a"], { cwd: home.directory });
  const answer = await server.ask(body(...TWO.with(1, thought(3))));
  assert.equal(outcomeOf(answer), "refused encrypted_content");
});
