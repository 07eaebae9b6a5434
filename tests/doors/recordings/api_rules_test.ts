/** Rules of the three APIs, as a client of `serve` meets them: each broken once, and requests that break none. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { changed, documented } from "./api_rules.ts";
import { CHAT } from "./chat_rules.ts";
import { MESSAGES } from "./messages_rules.ts";
import { RESPONSES } from "./responses_rules.ts";
import { type Answer, exchangeOf, outcomeOf, type Row, rows, sent, Served } from "./served.ts";
import fc from "fast-check";
import { HOSTILE_OBJECTS, spoilt } from "../../support/hostile_json.ts";
import { test } from "../../support/test.ts";
import { withHome } from "./home.ts";

/** The kind of answer, with what was warned of. */
const kind = (answer: Answer) =>
  outcomeOf(answer).replace(/^\d+ \w+/, "played").replace(/^(\w+) [^(]*/, "$1 ").trim();

for (const api of [RESPONSES, MESSAGES, CHAT]) {
  const { name, path, header, broken, accepted, forms, ignored } = api;
  const valid = [changed(api, {})];
  const does = documented(name);
  const unknown = new Set(
    Object.keys(broken).filter((rule) => broken[rule]?.some(([, text]) => text === null)),
  );

  Deno.test(`${name}: each rule that docs/rules.md checks is shown by a request`, () => {
    const missing = [...does].filter(([rule, does]) =>
      does !== "does not check" && broken[rule] === undefined
    );
    assert.deepEqual(missing, []);
  });

  const breaking = Object.entries(broken).flatMap(([named, changes]) =>
    changes.map(([change, message, more = {}], index): [string, Row] => {
      const { rule = named, param = "input", code = null, status = 400, recorded = valid } = more;
      const type = "invalid_request_error";
      const error = name === "messages" ? { type, message } : { message, type, param, code };
      const warns = more.warns ?? does.get(rule) === "warns";
      const { headers = api.headers ?? {} } = more;
      return [`${named} ${index + 1}`, {
        ...{ path, header: { ...header, ...more.header }, recorded },
        asked: [[
          changed(api, change, { headers }),
          warns ? ["warned", rule, message] : ["refused", rule, status, error],
        ]],
      }];
    })
  );
  rows(
    `${name}: a request that breaks a rule is answered as the API answers it`,
    Object.fromEntries(breaking),
    {
      outcome: ({ status, text, events: [event, ...warnings] }) => {
        if (event.type === "refused") return ["refused", event.rule, status, JSON.parse(text).error];
        const [{ rule, message } = { rule: null, message: null }] = warnings;
        return ["warned", rule, unknown.has(rule) ? null : message];
      },
    },
  );

  const taking = Object.entries(accepted).map(([what, change]): [string, Row] => [what, {
    ...{ path, header, recorded: [changed(api, { [ignored]: "a" })] },
    asked: [[changed(api, change), "miss"]],
  }]);
  rows(`${name}: what the API takes is no mistake`, Object.fromEntries(taking), { outcome: kind });

  const formed = forms.flatMap(([did, other], index): [string, Row][] => {
    const run = (number: string) => changed(api, { ...did, metadata: { run: number } });
    const answer = { answer: { error: { message: "As recorded" } }, response: { status: 400 } };
    const asked = (change: Json, outcome: string) => [changed(api, change), outcome] as const;
    const miss = { ...did, [ignored]: "b" };
    const row = { path, header, recorded: [run("1")] };
    return [
      [`${index} taken`, {
        ...row,
        asked: [asked(other, "refused"), [run("2"), "played"], asked(miss, "miss")],
      }],
      [`${index} in sequence`, { ...row, flags: ["--match", "sequence"], asked: [asked(did, "played")] }],
      [`${index} refused`, {
        ...row,
        recorded: [changed(api, { ...did, metadata: {} }, answer)],
        asked: [asked(miss, "refused")],
      }],
    ];
  });
  rows(`${name}: a form that the API took is refused in no request of the fixture, in any matching`, {
    ...Object.fromEntries(formed),
  }, { outcome: (answer) => kind(answer).split(" ")[0] });
}

for (const api of [RESPONSES, MESSAGES, CHAT]) {
  const { path, header, headers = {}, valid } = api;
  const body = {
    ...valid,
    tools: [{ type: "function", name: "f", function: { name: "f", parameters: {} } }],
  };
  // A request that was recorded breaks no rule, so that the rules see a recording of the good one alone.
  for (const byRules of [false, true]) {
    withHome(
      `${path}: objects with a member toString ${byRules ? "are judged" : "match"} like any other`,
      async (home) => {
        const bodies = HOSTILE_OBJECTS.flatMap((hostile) => [...spoilt(body, hostile)]);
        assert.ok(bodies.length > 50);
        const request = (body: Json) => sent(body, { path, headers });
        home.fixture("a", (byRules ? [body] : bodies).map((each) => exchangeOf(request(each))), header);
        const flags = ["--repeat", ...(byRules ? [] : ["--rules", "none"])];
        await using server = await Served.start(home, ["a"], { cwd: home.directory, flags });
        for (const each of bodies) {
          // Other bytes, so that the canonical form decides.
          const { status, text } = await server.ask(
            request(Object.fromEntries(Object.entries(each).reverse())),
          );
          const known = byRules ? status < 500 && JSON.parse(text).error !== undefined : status === 200;
          assert.ok(known, `${JSON.stringify(each)}: ${text}`);
        }
      },
      test.long,
    );
  }
}

const WORDS =
  "reasoning message function_call function_call_output text thinking tool_use tool_result user " +
  "assistant tool a b";
const MEMBERS =
  "type id call_id role content summary encrypted_content signature tool_use_id tool_calls output";
const json = { weight: 1, arbitrary: fc.jsonValue() };
const word = fc.constantFrom(...WORDS.split(" "));
const value = fc.oneof({ weight: 9, arbitrary: word }, json);
const item = fc.tuple(fc.dictionary(fc.constantFrom(...MEMBERS.split(" ")), value), word)
  .map(([members, type]): Json => ({ ...members, type }));
const said = fc.record({ role: fc.constantFrom("user", "assistant"), content: fc.array(item) });
const list = fc.array(fc.oneof(item, said), { minLength: 1 });
const CHANGES = fc.dictionary(
  fc.constantFrom("input", "messages", "tools"),
  fc.oneof({ weight: 9, arbitrary: list }, json),
  { minKeys: 1 },
);

withHome(
  "no body makes a rule fail, and a request that an API took is played again, whatever it is",
  async (home) => {
    const asking: { readonly request: (body: Json) => Json; readonly bodies: readonly Json[] }[] = [];
    for (
      const [index, { name, path, header, headers = {}, valid }] of [RESPONSES, MESSAGES, CHAT].entries()
    ) {
      const request = (body: Json) => sent(body, { path, headers });
      const bodies = fc.sample(CHANGES, { numRuns: 100, seed: 20261122 + index })
        .map((change) => ({ ...valid, ...change }));
      asking.push({ request, bodies });
      home.fixture(`one/${name}`, [exchangeOf(request(valid))], header);
      home.fixture(`all/${name}`, bodies.map((body) => exchangeOf(request(body))), header);
    }
    await using one = await Served.start(home, ["one"], { cwd: home.directory });
    await using all = await Served.start(home, ["all"], { cwd: home.directory, flags: ["--repeat"] });
    for (const { request, bodies } of asking) {
      for (const body of bodies) {
        const { status, text } = await one.ask(request(body));
        const [says, told] = [JSON.parse(text).error.message, JSON.stringify(body)];
        assert.ok([400, 404].includes(status) && typeof says === "string", `${told}: ${text}`);
        const other = Object.fromEntries(Object.entries(body).reverse());
        assert.match(outcomeOf(await all.ask(request(other))), /^\d+ (exact|semantic)/, told);
      }
    }
  },
  test.long,
);
