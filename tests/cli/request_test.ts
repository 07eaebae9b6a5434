/** Schemas in a request, switches of reasoning replay, and what --dry-run says. */
import { test } from "../support/test.ts";
import assert from "node:assert/strict";
import type { Json } from "../support/files.ts";
import { answer, message } from "../support/scripted_api/responses.ts";
import { assertError, begun, ok, Place, readsThenAnswers } from "./harness.ts";

const NEXT = ["run", "-s", "s", "And now?"];

/** A place with the session `s`, whose run left two reasoning items. */
const one = begun(readsThenAnswers, (place) => place.session("s"));

/** The body of the newest request. */
const body = (place: Place): Json => place.server.requests.at(-1)?.body;

test("--output-schema takes a schema, or a schema with a name", async () => {
  await using place = new Place(() => answer([message("{}")]));
  const schema = { type: "object", properties: {}, required: [], additionalProperties: false };
  const path = `${place.sandbox.workspace}/schema.json`;
  for (
    const [name, content] of [["answer", schema], ["verdict", { name: "verdict", schema, strict: true }]]
  ) {
    Deno.writeTextFileSync(path, JSON.stringify(content));
    await ok(place, ["run", "--output-schema", "schema.json", "Hi"]);
    assert.deepEqual(body(place).text, { format: { type: "json_schema", name, schema, strict: true } });
  }
});

test("--dry-run says what would happen, needs no key, and creates and sends nothing", async () => {
  await using place = new Place([]);
  const said = JSON.parse(await ok(place, ["run", "--dry-run", "--json", "Hi"], { OPENAI_API_KEY: "" }));
  assert.deepEqual([said.new, said.run, said.continues, said.items], [true, 1, false, 1]);
  assert.equal(said.url, `${place.server.baseUrl}/responses`);
  assert.throws(() => Deno.statSync(place.sandbox.home), Deno.errors.NotFound);
  assert.equal(place.server.requests.length, 0);
});

/** Flags and switches of a run, and whether its request has the reasoning of the run before. */
const SWITCHES:
  readonly (readonly [flags: readonly string[], env: Record<string, string>, isSent: boolean])[] = [
    ...["0", "false", "off", "no", "OFF"].map((value) =>
      [[], { REPRISE_REASONING_REPLAY: value }, false] as const
    ),
    ...["1", "true", "yes", ""].map((value) => [[], { REPRISE_REASONING_REPLAY: value }, true] as const),
    [[], { LLM_REASONING_REPLAY: "0" }, false],
    [[], { LLM_REASONING_REPLAY: "0", REPRISE_REASONING_REPLAY: "1" }, true],
    [["--replay", "none"], {}, false],
    [["--replay", "none"], { REPRISE_REASONING_REPLAY: "on" }, false],
    [["--replay", "exact"], { REPRISE_REASONING_REPLAY: "off" }, true],
    [["--replay", "family"], { REPRISE_REASONING_REPLAY: "off" }, true],
    [[], {}, true],
  ];

test("reasoning of a resumed session is sent unless a flag, or else the environment, switches replay off for this call", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  for (const [flags, env, isSent] of SWITCHES) {
    const said = JSON.parse(await ok(place, [...NEXT, ...flags, "--dry-run", "--json"], env));
    assert.equal(said.reasoning_sent, isSent ? 2 : 0, JSON.stringify([flags, env]));
  }
  const called = await place.call([...NEXT, "--json"], { env: { REPRISE_REASONING_REPLAY: "0" } });
  assert.equal(called.code, 0, called.stdout);
  assert.ok(!JSON.stringify(place.server.requests[2]?.input).includes("encrypted_content"));
});

test("a switch in the environment that is neither on nor off is refused before anything is sent", async () => {
  await using place = await one();
  for (const name of ["REPRISE_REASONING_REPLAY", "LLM_REASONING_REPLAY", "REPRISE_STRICT_DRIFT"]) {
    for (const value of ["2", "none", " 0"]) {
      const called = await place.call([...NEXT, "--json"], { env: { [name]: value } });
      const says = new RegExp(`${name}=${JSON.stringify(value)}.*neither on nor off`);
      assertError(called, { code: "usage", exit: 2, says, hint: /1, true, on, yes, 0, false, off, no/ });
    }
  }
  assert.equal((await place.call(["explain", "s"], { env: { LLM_REASONING_REPLAY: "maybe" } })).code, 2);
  assert.deepEqual([place.server.requests.length, place.sandbox.turnNames("s").length], [0, 5]);
});

test("--verbose says on stderr what goes back: one line for each request, in a shape that scripts can match; nothing without it", async () => {
  await using place = new Place(readsThenAnswers);
  await place.session("s");
  const called = await place.call([...NEXT, "--verbose"]);
  const lines = called.stderr.split("\n").filter((line) => line.includes("reasoning replay"));
  assert.deepEqual(lines.map((line) => line.replace(/[0-9a-f]{8}$/, "HASH")), [
    "reasoning replay items=2 fingerprint=openai:gpt-5.6:HASH",
    "reasoning replay items=3 fingerprint=openai:gpt-5.6:HASH",
  ]);
  assert.equal(called.stdout, "Hello.\n");
  assert.ok(!(await place.call(NEXT)).stderr.includes("reasoning replay"));
});
