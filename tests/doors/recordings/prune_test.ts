/** `fixture prune`: exchanges that no use needed go, and nothing goes because a list is incomplete or another needs it. */
import assert from "node:assert/strict";
import { bytesBelow, type Json } from "../../support/files.ts";
import { withHome } from "./home.ts";
import {
  asking,
  ended,
  fixtureOf,
  inputsOf,
  lists,
  pruned,
  type Use,
  useOf,
  writeEvents,
} from "./prune_lists.ts";
import { exchangesOf, type GivenExchange, HEADER, headerOf, seal, write } from "./recording_files.ts";
import { agentLoop, PROMPT, responseEvents, socketExchange } from "../../support/socket_fixture.ts";
import { answerEvents, ASKED, exchange } from "./answers.ts";

withHome(
  "prune removes the exchanges that no list uses, of every fixture that a list names",
  async (home) => {
    const a = fixtureOf(`${home.directory}/suite/a`, ["one", "two", "three", "four"]);
    const b = fixtureOf(`${home.directory}/suite/b`, ["only"]);
    const flags = lists(home, [[useOf(a, 1, 1), useOf(b, 1)], [useOf(a, 4)]]);
    const { losses, fixtures, removed_fixtures, left_alone } = await pruned(home, "suite", flags);
    assert.deepEqual(losses, { a: [2, 3], b: [] });
    assert.deepEqual(fixtures[0].removed[0], { number: 2, prompt: "two" });
    assert.deepEqual([removed_fixtures, left_alone], [[], []]);
    assert.deepEqual([inputsOf(a), inputsOf(b)], [["one", "four"], ["only"]]);
  },
);

withHome(
  "prune leaves fixtures alone that no request opened or no list names, and removes only the first on demand",
  async (home) => {
    const at = (name: string, ...inputs: string[]) => fixtureOf(`${home.directory}/suite/${name}`, inputs);
    const [used, read] = [at("used", "one", "two"), at("read", "three")];
    for (const name of ["named", "other/named", "unknown"]) at(name, name);
    // A use counts more than the name of the fixture among those that no request opened.
    const flags = lists(home, [[useOf(used, 2), useOf(read)]], { unopened: ["named", "used"] });
    const kept = await pruned(home, "suite", [...flags, "--dry-run"]);
    assert.deepEqual(kept.left_alone, [
      { path: "suite/named", reason: "unopened" },
      { path: "suite/other/named", reason: "not_listed" },
      { path: "suite/read", reason: "unopened" },
      { path: "suite/unknown", reason: "not_listed" },
    ]);
    const removed = await pruned(home, "suite", [...flags, "--unopened"]);
    assert.deepEqual([kept.losses, removed.losses], [{ used: [1] }, { used: [1] }]);
    assert.deepEqual(removed.removed_fixtures.map(({ path }: Json) => path), ["suite/named", "suite/read"]);
    assert.deepEqual(removed.left_alone.map(({ reason }: Json) => reason), ["not_listed", "not_listed"]);
    const names = [...Deno.readDirSync(`${home.directory}/suite`)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["other", "unknown", "used"]);
  },
);

const elsewhere = (use: Use): Use => ({ ...use, path: "/other/chat", seal: "1".repeat(64) });
/** Lists that are refused for the fixtures of a suite, and why. */
const REFUSED: Readonly<Record<string, readonly [(a: string, b: string) => (readonly Use[])[], RegExp]>> = {
  ...Object.fromEntries(["suite/../suite/a", "/nowhere/a"].map((path) => [
    `a list about another state of ${path}`,
    [(a: string, b: string) => {
      const stale = { ...useOf(a, 1), seal: "0".repeat(64), path: a.replace("suite/a", path) };
      return [[useOf(a, 2), useOf(b, 1)], [stale, useOf(b, 1)]];
    }, /"list 2": ".*a" has changed since serve read it$/] as const,
  ])),
  "a list about other fixtures only": [
    (a) => [[useOf(a, 1)], [elsewhere(useOf(a, 1))]],
    /"list 2": serve did not read ".*suite" as it is now$/,
  ],
  "lists without a use": [
    (a, b) => [[useOf(a), useOf(b), elsewhere(useOf(a, 1))]],
    /Cannot prune ".*": the events show no use of it$/,
  ],
};

for (const [name, [uses, says]] of Object.entries(REFUSED)) {
  withHome(`prune refuses ${name}, and changes nothing`, async (home) => {
    const a = fixtureOf(`${home.directory}/suite/a`, ["one", "two"]);
    const b = fixtureOf(`${home.directory}/suite/b`, ["three"]);
    const before = bytesBelow(`${home.directory}/suite`);
    for (const more of [[], ["--unopened"]]) {
      await home.refused(["prune", "suite", ...lists(home, uses(a, b)), ...more], "bad_events", says);
      assert.deepEqual(bytesBelow(`${home.directory}/suite`), before);
    }
  });
}

const USE: Use = { path: "fixtures/a", seal: "0".repeat(64), used: [1, 3] };
const LAST = JSON.stringify(ended([USE]));

const READY = '{"type":"ready"}\n';
const SHAPE = /: serve\.ended has another shape: /;

/** Contents of a list that is refused, and why. */
const LISTS: readonly (readonly [Json | Uint8Array, RegExp])[] = [
  [{ missed: 1, exit_code: 7 }, /: 1 request had no recording$/],
  [{ turned_away: 1, exit_code: 7 }, /: 1 request turned away$/],
  [
    { command_exit_code: 1, exit_code: 1 },
    /: the command ended with exit code 1, so it may not have sent all/,
  ],
  [{ exit_code: 7 }, /: serve ended with exit code 7$/],
  [{ exit_code: 7, tool_outputs_differ: 1 }, /: serve ended with exit code 7$/],
  [{ fixtures: undefined }, new RegExp(`${SHAPE.source}fixtures: it is missing$`)],
  [{ fixtures: [{ ...USE, seal: "abc" }] }, new RegExp(`${SHAPE.source}fixtures\\[0\\]\\.seal`)],
  [`${READY}{"type":"played"}\n`, /: it is cut short: no serve\.ended ends it$/],
  [`${READY}${READY}${LAST}\n`, /: it is cut short/],
  [`${READY}${LAST}\n${READY}${LAST.replace('"missed":0', '"missed":1')}\n`, /1 request had no recording/],
  [`${READY}${LAST.slice(0, -5)}`, /: line 2 is not a JSON object/],
  [new Uint8Array([0xff, 0x0a]), /: line 1 is not a JSON object/],
];

withHome("prune refuses a list that may lack uses, is cut short or damaged", async (home) => {
  const path = fixtureOf(`${home.directory}/f`, ["one"]);
  writeEvents(`${home.directory}/list`, ended([useOf(path, 1, 2)]));
  await home.refused(["prune", "f", "--events", "list"], "bad_events", /use exchange 2, and it has 1$/);
  for (const [content, says] of LISTS) {
    if (typeof content === "string" || content instanceof Uint8Array) {
      write(`${home.directory}/list`, content);
    } else writeEvents(`${home.directory}/list`, ended([USE], content));
    await home.refused(["prune", "f", "--events", "list"], "bad_events", says);
  }
  await home.refused(["prune", "f", "--events", "none"], "bad_events", /: nothing is there$/);
  await home.refused(["prune", "f", "--events", "f"], "bad_events", /: it is a directory$/);
});

withHome(
  "prune takes every call of serve in a list, and a strict run that fails only for unused exchanges",
  async (home) => {
    const path = fixtureOf(`${home.directory}/f`, ["one", "two", "three", "four"]);
    const strict = { exit_code: 7, command_exit_code: 0, unused: [{ fixture: "f", number: 2 }] };
    const second = [{ type: "ready" }, ended([useOf(path, 3)], strict)];
    writeEvents(`${home.directory}/list`, ended([useOf(path, 1)]), ...second);
    assert.deepEqual((await pruned(home, "f", ["--events", "list"])).losses, { f: [2, 4] });
  },
);

/** Damage that new sums would cover up. */
const DAMAGE: Readonly<Record<string, readonly [(path: string) => void, RegExp]>> = {
  "an edited body": [(path) => write(`${path}/exchanges/0001/body`, "{}"), /checksum differs/],
  "a new file": [(path) => write(`${path}/notes.txt`, "new"), /fixture\.json does not list it/],
};

for (const [name, [damage, says]] of Object.entries(DAMAGE)) {
  withHome(`prune refuses a fixture with ${name}, unless nothing of it would go`, async (home) => {
    const path = fixtureOf(`${home.directory}/suite/damaged`, ["one", "two"]);
    const whole = fixtureOf(`${home.directory}/suite/whole`, ["three"]);
    const use = useOf(path, 1);
    damage(path);
    await home.refused(["prune", "suite", ...lists(home, [[use, useOf(whole, 1)]])], "bad_fixture", says);
    const unopened = lists(home, [[{ ...use, used: [] }, useOf(whole, 1)]]);
    await home.refused(["prune", "suite", ...unopened, "--unopened"], "bad_fixture", says);
    assert.deepEqual((await pruned(home, "suite", unopened)).losses, { whole: [] });
  });
}

withHome("prune leaves the fixtures of session tests alone, and refuses one that is named", async (home) => {
  const at = (name: string, header = {}) =>
    fixtureOf(`${home.directory}/suite/${name}`, ["one", "two"], header);
  const all = [at("plain"), at("own"), at("run", { tools: "recorded" }), at("test/fixtures/step")];
  for (const name of ["own", "test"]) write(`${home.directory}/suite/${name}/session.json`, "{}");
  const flags = lists(home, [all.map((path) => useOf(path, 1))]);
  const { losses, left_alone } = await pruned(home, "suite", [...flags, "--unopened"]);
  assert.deepEqual(losses, { plain: [2] });
  const tests = ["suite/own", "suite/run", "suite/test/fixtures/step"];
  assert.deepEqual(left_alone, tests.map((path) => ({ path, reason: "session_test" })));
  for (const path of tests) {
    await home.refused(["prune", path, ...flags], "usage", /it is part of a session test/);
  }
});

withHome("prune finishes the work of a killed recorder first", async (home) => {
  const path = fixtureOf(`${home.directory}/a`, ["one", "two"]);
  const flags = lists(home, [[useOf(path, 2)]]);
  write(`${path}/.recording/3/body`, "");
  write(`${path}/exchanges/0003/body`, "{}");
  assert.deepEqual((await pruned(home, "a", flags)).losses, { a: [1] });
  assert.deepEqual([...Deno.readDirSync(path)].map(({ name }) => name).sort(), ["exchanges", "fixture.json"]);
  write(`${path}/exchanges/0003/body`, "{}");
  const again = ["prune", "a", ...lists(home, [[useOf(path, 1)]])];
  await home.refused(again, "bad_fixture", /nothing is there|does not list/);
});

const created = "2026-11-21T20:18:00.000Z";
const KEPT = {
  ...{ created, note: "a note", match: { normalize: ["cwd"] }, context: { cwd: "/srv/project" } },
  ...{ redactions: { header: 2 }, not_secret: ["A_TOKEN"], later_member: { of: "x" } },
  base_urls: { OPENAI_BASE_URL: "https://api.openai.com/v1" },
};
withHome(
  "a pruned fixture keeps the bytes of its exchanges in their folders, and everything else that is not theirs",
  async (home) => {
    const header = { ...KEPT, models: ["m-imported", "m-gone", "m-kept"] };
    const models = ["m-gone", "m-kept", "m-kept", "m-gone"];
    const path = home.fixture("f", models.map((model, index) => asking(`${index}`, model)), header);
    write(`${path}/notes.txt`, "seen");
    write(`${path}/.gitattributes`, "* -text\n");
    seal(path);
    const before = bytesBelow(path);
    await pruned(home, "f", lists(home, [[useOf(path, 3, 2)]]));
    assert.deepEqual(inputsOf(path), ["1", "2"]);
    const after = bytesBelow(path);
    after.delete("fixture.json");
    assert.deepEqual(after, new Map([...before].filter(([name]) => !/fixture\.json|0001|0004/.test(name))));
    const { files: _files, ...rest } = headerOf(path);
    assert.deepEqual(rest, { ...HEADER, ...KEPT, models: ["m-imported", "m-kept"] });
  },
);

const [FIRST, SECOND, THIRD] = [
  { created, producer: "one", exchanges: [1, 2] },
  { created: "2026-11-22T08:00:00.000Z", exchanges: [3, 4], context: { cwd: "/other" } },
  { created: "2026-11-23T08:00:00.000Z", exchanges: [5, 6], later: 1 },
] as const;
const over = (recording: Json, ...exchanges: readonly number[]) => ({ ...recording, exchanges });

/** Used exchanges of a grown fixture, and its recordings after it is pruned. */
const GROWN: readonly (readonly [readonly number[], Json])[] = [
  [[1, 4, 5, 6], [over(FIRST, 1, 1), over(SECOND, 2, 2), over(THIRD, 3, 4)]],
  // The fixture's own members are those of the first recording, also if nothing of it is left.
  [[3, 5], [over(SECOND, 1, 1), over(THIRD, 2, 2)]],
];

for (const [used, recordings] of GROWN) {
  withHome(
    `a grown fixture of which ${used} are used has recordings with the ranges of their exchanges`,
    async (home) => {
      const own = { created, producer: "one", context: { cwd: "/srv/project" } };
      const inputs = ["a", "b", "c", "d", "e", "f"];
      const path = fixtureOf(`${home.directory}/f`, inputs, { ...own, recordings: [FIRST, SECOND, THIRD] });
      await pruned(home, "f", lists(home, [[useOf(path, ...used)]]));
      const header = headerOf(path);
      assert.deepEqual(header.recordings, recordings);
      assert.deepEqual([header.created, header.producer, header.context], Object.values(own));
      assert.deepEqual(inputsOf(path), used.map((number) => inputs[number - 1]));
    },
  );
}

/** A request that continues the conversation after an answer, with this copy of its reasoning. */
function continuing(mark: string, copy: string): Json {
  const items = answerEvents(mark).filter(({ type }) => type === "response.output_item.done")
    .map(({ item }) =>
      item.type === "reasoning" ? { ...item, encrypted_content: `gAAAA${copy}${mark}` } : item
    );
  const output = { type: "function_call_output", call_id: `call_${mark}`, output: "Rain" };
  return { ...ASKED, input: [...ASKED.input, ...items, output] };
}

const single = answerEvents("one").map((event) =>
  JSON.parse(JSON.stringify(event).replaceAll(/gAAAA(?:added|completed)/g, "gAAAAdone"))
);
const others = exchange({ ...ASKED, instructions: "Be long." }, answerEvents("zero"));
const asked = (message: Json, events: readonly Json[], connection = 1) =>
  socketExchange({
    message: { type: "response.create", model: "m", input: [PROMPT], ...message },
    events,
    request: { connection },
  });
const again = { previous_response_id: "resp_1", input: [] };
const FAILURE = {
  type: "error",
  status: 500,
  error: { type: "server_error", code: null, message: "no", param: null },
};
const [warmUp, ...steps] = agentLoop() as [GivenExchange, ...GivenExchange[]];

/** Exchanges, those that are used, and those that stay beside them: number, by which it is needed, and the reason. */
const NEEDED: Readonly<
  Record<string, readonly [readonly GivenExchange[], number[], ...(readonly [number, number, string])[]]>
> = {
  "a blob of which it issued several copies": [
    [others, exchange(ASKED, answerEvents("one")), exchange(continuing("one", "done"), answerEvents("two"))],
    [3],
    [2, 3, "blob"],
  ],
  "a blob of one copy": [
    [exchange(ASKED, single), exchange(continuing("one", "done"), answerEvents("two"))],
    [2],
  ],
  "a response that it continues over a WebSocket, over several steps": [
    [asked({}, responseEvents("resp_9", [])), warmUp, ...steps],
    [4],
    [2, 3, "continued"],
    [3, 4, "continued"],
  ],
  "a failure after which a response was forgotten": [
    [asked({}, responseEvents("resp_1", [])), asked(again, [FAILURE]), asked(again, [FAILURE])],
    [1, 3],
    [2, 3, "continued"],
  ],
  "a response of its own connection alone": [
    [{ ...warmUp, request: { ...warmUp.request, connection: 2 } }, warmUp, ...steps],
    [4],
    [2, 3, "continued"],
    [3, 4, "continued"],
  ],
};

for (const [name, [exchanges, used, ...issuers]] of Object.entries(NEEDED)) {
  withHome(`an unused exchange stays if a used one needs it: ${name}`, async (home) => {
    const path = home.fixture("f", exchanges);
    const before = exchangesOf(path);
    const items = async () =>
      (await home.json(["show", "f"])).exchanges.map(({ request }: Json) => request.items.length);
    const counts = await items();
    const { fixtures: [{ needed_issuers }] } = await pruned(home, "f", lists(home, [[useOf(path, ...used)]]));
    assert.deepEqual(
      needed_issuers.map(({ number, needed_by, reason }: Json) => [number, needed_by, reason]),
      issuers,
    );
    const kept = [...used, ...issuers.map(([number]) => number)].sort();
    assert.deepEqual(exchangesOf(path), kept.map((number) => before[number - 1]));
    // What a request over a WebSocket means depends on the exchanges before it.
    assert.deepEqual(await items(), kept.map((number) => counts[number - 1]));
  });
}
