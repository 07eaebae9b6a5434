/** doctor --live: two turns with a tool call, and what the API says to the second with its reasoning and without. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { said } from "../support/reprise.ts";
import {
  answer,
  functionCall,
  httpError,
  message,
  rateLimited,
  reasoning,
  type Script,
} from "../support/scripted_api/responses.ts";
import {
  invalidRequest,
  type MessagesScript,
  says,
  startMessagesServer,
  text,
  thinking,
  toolUse,
} from "../support/scripted_api/messages.ts";
import { HELLO, KEY, ok, Place } from "./harness.ts";

const CALL = functionCall("add_numbers", { a: 17, b: 25 });
const THINKS = answer([reasoning("Adding"), CALL]);
const REFUSED = httpError(400, {
  message: "The encrypted content could not be verified.",
  code: "invalid_encrypted_content",
});
const NO_OUTPUT = httpError(400, { message: "Bad input.", code: "invalid_value" });

/** Levels and details of the checks of `--live`, by their names. */
interface Row {
  readonly script: Script;
  readonly env?: Readonly<Record<string, string>>;
  readonly exit: number;
  readonly checks: Readonly<Record<string, readonly [level: string, detail: RegExp]>>;
  /** Types of the items of each request. */
  readonly sent: readonly string[];
}

const hasReasoning = (input: readonly Json[]) => input.some(({ type }) => type === "reasoning");
const afterwards =
  (next: (input: readonly Json[]) => ReturnType<typeof answer> | typeof REFUSED): Script =>
  ({ number, input }) => number === 1 ? THINKS : next(input);
const OK = /^gpt-5\.6 answered \(completed\) with 1 reasoning item and 1 call, account named$/;
const ACCEPTED = /^a second turn with 1 reasoning item was accepted$/;
const WITHOUT = /^a second turn without reasoning was accepted$/;
const NO_CALL = /^not checked: the model did not call the tool/;
const TWICE = [
  "message",
  "message reasoning function_call function_call_output",
  "message function_call function_call_output",
];

const ROWS: Readonly<Record<string, Row>> = {
  "an API that accepts both": {
    script: afterwards(() => HELLO),
    exit: 0,
    checks: { "live": ["ok", OK], "live replay": ["ok", ACCEPTED], "live replay none": ["ok", WITHOUT] },
    sent: TWICE,
  },
  "an API that refuses reasoning": {
    script: afterwards((input) => hasReasoning(input) ? REFUSED : HELLO),
    exit: 13,
    checks: {
      "live": ["ok", OK],
      "live replay": ["failed", /^a second turn with 1 reasoning item: .*could not be verified/],
      "live replay none": ["ok", /was accepted: run with --replay none$/],
    },
    sent: TWICE,
  },
  "an API that refuses both": {
    script: afterwards(() => NO_OUTPUT),
    exit: 13,
    checks: {
      "live replay": ["failed", /reasoning item: .*Bad input/],
      "live replay none": ["failed", /^a second turn without reasoning: .*Bad input/],
    },
    sent: TWICE,
  },
  "an API that refuses only a turn without reasoning": {
    script: afterwards((input) => hasReasoning(input) ? HELLO : NO_OUTPUT),
    exit: 13,
    checks: { "live replay": ["ok", ACCEPTED], "live replay none": ["failed", /Bad input/] },
    sent: TWICE,
  },
  "a model that returns no reasoning": {
    script: ({ number }) => number === 1 ? answer([CALL]) : HELLO,
    exit: 0,
    checks: {
      "live": ["ok", /with 0 reasoning items and 1 call/],
      "live replay": ["unknown", /^not checked: the model returned no reasoning/],
      "live replay none": ["ok", WITHOUT],
    },
    sent: ["message", "message function_call function_call_output"],
  },
  "a model that calls no tool": {
    script: [answer([reasoning(), message("42")])],
    exit: 0,
    checks: {
      "live": ["ok", /and 0 calls/],
      "live replay": ["unknown", NO_CALL],
      "live replay none": ["unknown", NO_CALL],
    },
    sent: ["message"],
  },
  "a model that calls twice": {
    script: ({ number }) => number === 1 ? answer([reasoning("Hm"), CALL, CALL]) : HELLO,
    exit: 0,
    checks: { "live": ["ok", /1 reasoning item and 2 calls/], "live replay": ["ok", ACCEPTED] },
    sent: [
      "message",
      "message reasoning function_call function_call function_call_output function_call_output",
      "message function_call function_call function_call_output function_call_output",
    ],
  },
  "a wrong key": {
    script: [],
    env: { OPENAI_API_KEY: "sk-other" },
    exit: 8,
    checks: { "live": ["failed", /refused the key/] },
    sent: ["message"],
  },
  "no key": {
    script: [],
    env: { OPENAI_API_KEY: "" },
    exit: 2,
    checks: { "live": ["failed", /no key is set \(Set OPENAI_API_KEY/] },
    sent: [],
  },
  "a model that does not exist": {
    script: [httpError(404, { message: "No such model.", code: "model_not_found" })],
    exit: 13,
    checks: { "live": ["failed", /No such model/] },
    sent: ["message"],
  },
};

for (const [name, { script, env = {}, exit, checks, sent }] of Object.entries(ROWS)) {
  test(`doctor --live tells how two turns go at ${name}, and keeps nothing`, async () => {
    await using place = new Place(script);
    const called = await place.call(["doctor", "--live", "--json"], { env });
    assert.equal(called.code, exit, said(called));
    assert.ok(!said(called).includes(KEY));
    const report = JSON.parse(called.stdout);
    assert.deepEqual([report.exit_code, report.ok], [exit, exit === 0]);
    const live = report.checks.filter((check: Json) => check.name.startsWith("live"));
    for (const [name, [level, detail]] of Object.entries(checks)) {
      const check = live.find((each: Json) => each.name === name);
      assert.equal(check?.level, level, `${name}: ${JSON.stringify(live)}`);
      assert.match(check.detail, detail);
      assert.deepEqual(
        [typeof check.code, typeof check.exit_code],
        level === "failed" ? ["string", "number"] : ["undefined", "undefined"],
      );
    }
    const others = live.filter(({ name }: Json) => !(name in checks)).map(({ level }: Json) => level);
    assert.deepEqual(others.filter((level: string) => level === "failed"), []);
    assert.deepEqual(
      place.server.requests.map(({ input }) => (input ?? []).map(({ type }) => type).join(" ")),
      sent,
    );
    assert.ok(place.server.requests.every(({ text }) => text.length < 3000), "each request is short");
    assert.throws(() => Deno.statSync(`${place.sandbox.home}/sessions`), Deno.errors.NotFound);
  });
}

test.long("doctor --live ends with 9 at a rate limit, also in the second turn, and asks no more", async () => {
  for (const first of [true, false]) {
    await using place = new Place(({ number }) =>
      !first && number === 1 ? THINKS : rateLimited({ retryAfter: "0" })
    );
    const called = await place.call(["doctor", "--live"]);
    assert.equal(called.code, 9, said(called));
    // Three attempts.
    assert.equal(place.server.requests.length, first ? 3 : 4);
    assert.match(
      called.stdout,
      first ? /^failed +live: /m : /^failed +live replay: .*\nunknown +live replay none: not checked after/m,
    );
    assert.match(
      called.stdout,
      first
        ? /\nA run could not start: live\n/
        : /could not start: live replay; not checked: live replay none\n/,
    );
  }
});

test("doctor --live names the tokens and the cost; without --live nothing is sent", async () => {
  await using place = new Place(afterwards(() => HELLO));
  await ok(place, ["doctor"]);
  assert.equal(place.server.requests.length, 0);
  const called = await ok(place, ["doctor", "--live"]);
  assert.match(
    called,
    /^ok +live cost: 3 requests · \d+ input .* · \d+ output .* · (\$[\d.]+|cost unknown) · \d+\.\d s$/m,
  );
  assert.match(called, /\nA run could start\n$/);
  await using silent = new Place([HELLO]);
  assert.match(
    await ok(silent, ["doctor", "--live"]),
    /A run could start; not checked: live replay, live replay none\n$/,
  );
});

/** Answers of the Messages API to a second turn, by whether it has thinking. */
const MESSAGES: Readonly<
  Record<string, readonly [refuses: (thinks: boolean) => boolean, exit: number, levels: readonly string[]]>
> = {
  "accepts both": [() => false, 0, ["ok", "ok"]],
  "refuses thinking": [(thinks) => thinks, 13, ["failed", "ok"]],
  "refuses both": [() => true, 13, ["failed", "failed"]],
};

for (const [name, [refuses, exit, levels]] of Object.entries(MESSAGES)) {
  test(`doctor --live checks thinking at a Messages API that ${name}`, async () => {
    const seen: boolean[] = [];
    const script: MessagesScript = ({ number, text: sent }) => {
      if (number === 1) return says([thinking("Adding"), toolUse("add_numbers", { a: 17, b: 25 })]);
      const thinks = JSON.parse(sent).messages.some(({ content }: Json) =>
        JSON.stringify(content).includes('"thinking"')
      );
      seen.push(thinks);
      return refuses(thinks)
        ? invalidRequest("messages.1.content.0: Invalid signature in thinking block")
        : says([text("42")]);
    };
    await using server = startMessagesServer({ script, key: KEY });
    await using place = new Place([]);
    const env = {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: server.baseUrl,
      REPRISE_PROVIDER: "anthropic",
      REPRISE_MODEL: "claude-sonnet-4-5",
    };
    const called = await place.call(["doctor", "--live", "--json"], {
      env: { ...env, REPRISE_EFFORT: "medium" },
    });
    assert.equal(called.code, exit, said(called));
    const checks: Json[] = JSON.parse(called.stdout).checks;
    const found = ["live replay", "live replay none"].map((name) =>
      checks.find((check) => check.name === name)?.level
    );
    assert.deepEqual([found, seen], [levels, [true, false]], said(called));
  });
}
