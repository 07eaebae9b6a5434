/** Of several exchanges that a request fits: which one answers, how often, and when none is left. */
import type { Json } from "../../support/files.ts";
import { type Answer, outcomeOf, rows, sent } from "./served.ts";
import { ask, call, called, chat, claude, responseStream, talk, user } from "./shapes.ts";

const NONE = { flags: ["--rules", "none"] };
const CLAUDE = { provider: "anthropic", base_url: "https://api.anthropic.com" };
/** A recording with a rule, asked of another directory. */
const RULED = {
  header: { match: { normalize: ["cwd"] }, context: { cwd: "/srv/a" } },
  flags: ["--context", "cwd=/srv/b"],
};
const hi = ask("Hi");
const otherwise = { ...hi, user: "another" };
const poll = ask("Done?");
const step = (cwd: string, ...ids: string[]) =>
  talk(user(`<cwd>${cwd}</cwd>`), ...ids.flatMap((id) => called(id)));
const errors = (status: number) => ({ answer: { error: { message: "No" } }, response: { status } });
const reads = (call_id: string) => ({ answer: responseStream({ id: `fc_${call_id}`, ...call(call_id) }) });

rows("each exchange is played once, in recorded order", {
  "the same request recorded several times": {
    recorded: [sent(hi, errors(429)), ask("Ho"), hi, hi],
    asked: [
      ...[[otherwise, "1 semantic"], [hi, "3 exact"], [otherwise, "4 semantic"], [
        hi,
        "miss 4 none",
      ]] as const,
      [ask("Ho"), "2 exact"],
    ],
  },
  "the one with the same bytes goes first": {
    recorded: [otherwise, hi],
    asked: ["2 exact", "1 semantic", "miss 2 none"].map((outcome) => [hi, outcome]),
  },
  "ids of calls go before the tier": {
    ...RULED,
    recorded: [step("/srv/a", "call_a"), step("/srv/b", "call_b")],
    asked: [[step("/srv/b", "call_a"), "1 rules cwd"], [step("/srv/b", "call_b"), "2 exact"]],
  },
  "a client with ids of its own gets the best fit without them": {
    header: { match: { normalize: ["cwd"] } },
    recorded: [step("/srv/a", "call_a"), step("/srv/b", "call_b")],
    asked: [[step("/srv/b", "mine"), "2 semantic"]],
  },
}, NONE);

rows("exact matching compares bytes", {
  "no rules": {
    header: { match: { normalize: ["cwd"] } },
    recorded: [step("/srv/a")],
    asked: [[step("/srv/b"), "miss 1 input[0].content"]],
  },
  "another cache key": {
    recorded: [ask("Hi", { prompt_cache_key: "a" })],
    asked: [
      [ask("Hi", { prompt_cache_key: "b" }), "miss 1 prompt_cache_key"],
      [ask("Hi", { prompt_cache_key: "a" }), "1 exact"],
    ],
  },
  "the query of beta requests": {
    recorded: [sent(claude([user("Hi")]), { path: "/v1/messages?beta=true" })],
    asked: [[sent(claude([user("Hi")]), { path: "/v1/messages" }), "miss 1 path"]],
  },
}, { flags: [...NONE.flags, "--match", "exact"] });

rows("a sequence plays one exchange after the other", {
  "and says where a body differs": {
    recorded: [hi, sent("", { method: "GET", path: "/v1/models" }), ask("Ho")],
    asked: [
      [hi, "1 exact"],
      [hi, "3 (body_differs)"],
      [ask("Ho"), "miss"],
      [sent("", { method: "GET", path: "/v1/models" }), "2 exact"],
    ],
  },
  "but for what rules explain": {
    ...RULED,
    recorded: [step("/srv/a"), step("/srv/a")],
    asked: [[step("/srv/b"), "1 rules cwd"], [talk(user("<cwd>/srv/b</cwd> x")), "2 (body_differs)"]],
  },
  "of whose request nothing is known": { recorded: [sent(null)], asked: [[hi, "1 (body_differs)"]] },
  "with a query of beta requests": {
    recorded: [sent(claude([user("Hi")]), { path: "/v1/messages?beta=true" })],
    asked: [[sent(claude([user("Hi")]), { path: "/v1/messages" }), "1 semantic"]],
  },
}, {
  flags: [...NONE.flags, "--match", "sequence"],
  outcome: (answer) => outcomeOf(answer).replace(/^miss.*/, "miss"),
});

rows("with --repeat the last exchange of a request is played again", {
  "in recorded order first": {
    recorded: [poll, hi, poll],
    asked: [
      ...["1 exact", "3 exact", "3 exact again 1"].map((outcome) => [poll, outcome] as const),
      [hi, "2 exact"],
      [poll, "3 exact again 2"],
      [hi, "2 exact again 1"],
    ],
  },
  "by its own ids, not by the last conversation that begins alike": {
    recorded: ["a", "b"].flatMap((id) => [sent(step("/x"), reads(id)), step("/x", id)]),
    asked: [
      [step("/x"), "1 exact"],
      [step("/x", "a"), "2 exact"],
      [step("/x"), "3 exact"],
      [step("/x", "b"), "4 exact"],
      [step("/x", "a"), "2 exact again 1"],
    ],
  },
}, { flags: [...NONE.flags, "--repeat"] });

/** Request that differs in the output of a tool, and what the warnings say of it. */
const differences = (answer: Answer) => [
  outcomeOf(answer),
  ...answer.events.flatMap(({ difference }: Json) =>
    difference === undefined ? [] : `${difference.path}: ${difference.recorded}, ${difference.received}`
  ),
];
const result = (more: Json) =>
  claude([
    user("Hi"),
    { role: "assistant", content: [{ type: "tool_use", id: "toolu_1", name: "ls", input: {} }] },
    user([{ type: "tool_result", tool_use_id: "toolu_1", content: "a", ...more }, {
      type: "text",
      text: "On",
    }]),
  ]);
const shell = (output: Json) => [
  { type: "shell_call", call_id: "call_1", action: {} },
  { type: "shell_call_output", call_id: "call_1", output },
];
const test = (...more: Json[]) => talk(user("Test it"), ...more);
const twice = test(...called("call_1", "a"), ...called("call_2", "b"));
const responds = (id: string, response: Json, prompt = "Test it", command = "ls") => ({
  contents: [
    { role: "user", parts: [{ text: prompt }] },
    { role: "model", parts: [{ functionCall: { name: "sh", args: { command }, id } }] },
    { role: "user", parts: [{ functionResponse: { name: "sh", response, id } }] },
  ],
});
const DIFFERS = "1 conversation (tool_output_differs)";

rows("in a conversation only the outputs of the client's tools may differ", {
  "the output of a function": {
    recorded: [test(...called("call_1", "1 failed"))],
    asked: [[test(...called("call_1", "2 failed")), [DIFFERS, 'input[2].output: "1 failed", "2 failed"']]],
  },
  "the output of a call of another kind": {
    recorded: [test(...shell("a"))],
    asked: [[test(...shell("b")), [DIFFERS, 'input[2].output: "a", "b"']]],
  },
  "all else counts": {
    recorded: [twice],
    asked: [
      [talk(user("Delete it"), ...twice.input.slice(1)), ["miss 1 input[0].content"]],
      [test(...called("call_1", "x", '{"a":1}'), ...called("call_2", "b")), ["miss 1 input[1].arguments"]],
      [test(...called("call_1", "a")), ["miss 1 input[3]"]],
      [{ ...twice, instructions: "Be short" }, ["miss 1 instructions"]],
      [test(...called("call_1", "c"), ...called("call_2", "b", "[]")), ["miss 1 input[3].arguments"]],
    ],
  },
  "the content of a tool_result, not its failure": {
    path: "/v1/messages",
    header: CLAUDE,
    recorded: [result({})],
    asked: [
      [result({ is_error: true }), ["miss 1 messages[2].content[0].is_error"]],
      [result({ content: [{ type: "text", text: "b" }] }), [
        DIFFERS,
        'messages[2].content[0].content: "a", [{"type":"text","text":"b"}]',
      ]],
    ],
  },
  "the response of a functionResponse of Gemini, not its failure": {
    path: "/v1beta/models/m:generateContent",
    recorded: [responds("1", { output: "a" })],
    asked: [
      [responds("2", { output: "a" }, "Delete it"), ["miss 1 contents[0].parts[0].text"]],
      [responds("2", { output: "a" }, undefined, "rm"), [
        "miss 1 contents[1].parts[0].functionCall.args.command",
      ]],
      [responds("2", { error: "a" }), ["miss 1 contents[2].parts[0].functionResponse.response.error"]],
      [responds("2", { output: "b" }), [
        DIFFERS,
        'contents[2].parts[0].functionResponse.response.output: "a", "b"',
      ]],
    ],
  },
  "an output is reported once, though later requests have it again": {
    recorded: [test(...called("call_1", "a")), twice],
    asked: [
      [test(...called("call_1", "x")), [DIFFERS, 'input[2].output: "a", "x"']],
      [test(...called("call_1", "x"), ...called("call_2", "y")), [
        "2 conversation (tool_output_differs)",
        'input[4].output: "b", "y"',
      ]],
    ],
  },
}, { flags: [...NONE.flags, "--match", "conversation"], outcome: differences });

const OPENAI = { provider: "openai", base_url: "https://api.openai.com/v1" };
const GATEWAY = { provider: "compatible", base_url: "http://127.0.0.1:8080/v1" };
const FORM = { form: "f" };
const azure = (path: string) => ({ provider: "azure", base_url: `https://r.openai.azure.com${path}` });
/** Header of the fixture, path and body of a request, and whether it is one of a model. */
const APIS: readonly (readonly [header: Json, path: string, body: Json, isOfModel: boolean])[] = [
  [GATEWAY, "/api/forms/responses", FORM, false],
  [GATEWAY, "/v1/responses", { ...FORM, model: "m" }, false],
  [GATEWAY, "/v1/responses", { model: "m", input: "Hi" }, true],
  [GATEWAY, "/llm/chat/completions", chat([]), true],
  [OPENAI, "/v1/threads/T/messages", FORM, false],
  [CLAUDE, "/v1/messages", FORM, true],
  [{ ...GATEWAY, base_url: "https://openrouter.ai/api/v1" }, "/api/v1/responses", FORM, true],
  [azure("/openai"), "/openai/deployments/d/chat/completions", FORM, true],
];
rows(
  "members that an API ignores count in a request that is not shown to be of that API",
  Object.fromEntries(APIS.map(([header, path, body, isOfModel]) => {
    const of = (user: string) => ({ ...body, metadata: { user } });
    const asked = { metadata: { user: "eve" }, ...body };
    return [`${header.base_url} ${path} ${JSON.stringify(body)}`, {
      ...{ header, path, recorded: ["bob", "ann"].map(of) },
      asked: [[asked, isOfModel ? "1 semantic" : "miss 1 metadata.user"], [of("ann"), "2 exact"]],
    }];
  })),
  NONE,
);
