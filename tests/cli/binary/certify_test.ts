/** `certify`: one broken client for each bad verdict, good clients that must not be called bad, and what is around them. */
import assert from "node:assert/strict";
import { type GivenExchange, writeFixture } from "../../doors/recordings/recording_files.ts";
import type { Json } from "../../support/files.ts";
import { type Called, said, Sandbox } from "../../support/reprise.ts";

const CLIENT = new URL("./certify_client.mjs", import.meta.url).pathname;
const CALL = {
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Rome"}' },
};
const TEXT = "In Rome it rains today, and tomorrow the sun shines.";

const chunk = (delta: Json, finish_reason: string | null = null) => ({
  ...{ id: "c1", object: "chat.completion.chunk", created: 1, model: "m" },
  choices: [{ index: 0, delta, finish_reason }],
});

function exchange(messages: readonly Json[], deltas: readonly Json[], reason: string): GivenExchange {
  const chunks = [...deltas.map((delta) => chunk(delta)), chunk({}, reason)];
  return {
    request: { path: "/v1/chat/completions", body: { model: "m", stream: true, messages } },
    body: `${chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`).join("")}data: [DONE]\n\n`,
  };
}

const ASKED = { role: "user", content: "What is the weather in Rome?" };
const ARGUMENTS = ['{"city"', ':"Ro', 'me"}'].map((text) => ({
  tool_calls: [{ index: 0, function: { arguments: text } }],
}));
const EXCHANGES = [
  exchange(
    [ASKED],
    [{ tool_calls: [{ index: 0, ...CALL, function: { name: "get_weather", arguments: "" } }] }, ...ARGUMENTS],
    "tool_calls",
  ),
  exchange(
    [
      ASKED,
      { role: "assistant", content: null, tool_calls: [CALL] },
      { role: "tool", tool_call_id: "call_1", content: "rain" },
    ],
    TEXT.match(/\S+\s*/g)?.map((content) => ({ content })) ?? [],
    "stop",
  ),
];

/** A sandbox with a fixture of a call and an answer. */
class Place extends Sandbox {
  readonly fixture = writeFixture(`${this.directory}/agent`, EXCHANGES, { models: ["m"] });

  certify(flags: readonly string[], words: string): Promise<Called> {
    const command = [
      Deno.execPath(),
      "run",
      "-A",
      "--quiet",
      CLIENT,
      ...words.split(" ").filter((word) => word !== ""),
    ];
    return this.call(["certify", this.fixture, "--max-wait", "2", "--jobs", "3", ...flags, "--", ...command]);
  }

  /** Verdicts by cell. */
  async verdicts(flags: readonly string[], words: string): Promise<Readonly<Record<string, string>>> {
    return verdictsOf(await this.certify(["--json", ...flags], words));
  }
}

function verdictsOf(called: Called): Readonly<Record<string, string>> {
  const { cells = [] } = JSON.parse(called.stdout) as { cells: readonly Json[] };
  return Object.fromEntries(cells.map(({ exchange, fault, verdict }) => [`${exchange}:${fault}`, verdict]));
}

/** Faults, words of the client, and the verdict of all their cells. */
const BROKEN: readonly (readonly [verdict: string, faults: string, words: string])[] = [
  ["acted", "cut-arguments", "trusts"],
  ["repeated", "1:500", "tries=1 repeats"],
  ["repeated", "1:no-end", "tries=1 eager effects=effects"],
  ["hammered", "outage", "tries=12 gap=5"],
  ["hammered", "429-wait", "tries=1"],
  ["looped", "500", "tries=1 loops"],
  ["lied", "cut-text", "trusts"],
  ["lied", "500,no-end,drop,empty", "lies"],
  ["muttered", "500,no-end,drop,empty", "mutters"],
  ["hung", "500,cut-text", "sleeps"],
];

for (const [verdict, faults, words] of BROKEN) {
  Deno.test(`certify calls a client ${verdict.toUpperCase()} that meets ${faults} with "${words}", and nothing else`, async () => {
    await using place = new Place();
    const flags = faults.includes(":") ? ["--cell", faults] : ["--faults", faults];
    const called = await place.certify(
      ["--json", ...flags, ...(words.includes("effects") ? ["--effects", "effects"] : [])],
      words,
    );
    const found = verdictsOf(called);
    assert.deepEqual([...new Set(Object.values(found))], [verdict], said(called));
    assert.equal(called.code, 7);
    assert.equal(JSON.parse(called.stdout).bad, Object.keys(found).length);
  });
}

/** Words of a good client, faults, and the verdicts of the cells of call and answer. */
const GOOD: readonly (readonly [
  client: string,
  words: string,
  verdicts: Readonly<Record<string, string>>,
  flags?: readonly string[],
])[] = [
  ["that fails", "", {
    "500": "failed",
    "cut-text": "failed",
    "cut-arguments": "failed",
    stall: "failed",
    outage: "failed",
  }],
  ["that fails without a word", "mute", { "500": "silent", drop: "silent" }],
  ["with a growing backoff", "tries=4 gap=40 grows", {
    ...{
      "429": "recovered",
      drop: "recovered",
      reset: "recovered",
      "cut-text": "recovered",
      stall: "recovered",
    },
    outage: "failed",
  }],
  ["that obeys retry-after", "tries=1 obeys patience=5000", { "429 retry-after 1": "recovered" }],
  ["that shows a part and then the whole", "tries=1 live", { "cut-text": "garbled", "500": "recovered" }],
  ["with times and colours", "tries=1 clock", {
    "500": "recovered",
    "error-event": "recovered",
    "twice-ended": "unhurt",
  }],
  ["that prints nothing", "tries=1 prints-nothing", { "500": "recovered", "twice-ended": "unhurt" }],
  ["that starts slowly", "tries=1 slow", { "500": "recovered" }, ["--max-wait", "1"]],
  ["whose child outlives it", "tries=1 child", { "500": "recovered" }],
  ["that falls back to one document", "tries=1 falls-back", {
    "cut-text": "resumed",
    "cut-arguments": "resumed",
  }],
  ["that writes its answer to a file", "tries=1 answer=out.txt", {
    "500": "recovered",
    "cut-text": "recovered",
  }, [
    ...["--answer", "out.txt", "--copy", "."],
  ]],
  ["that waits out a silence", "patience=1500", { stall: "waits" }],
  ["whose tools run once", "tries=1 effects=effects", { "500": "recovered", "no-end": "recovered" }, [
    ...["--effects", "effects", "--copy", "."],
  ]],
];

for (const [client, words, verdicts, flags = []] of GOOD) {
  Deno.test(`certify calls no client bad ${client}`, async () => {
    await using place = new Place();
    const called = await place.certify(
      ["--json", "--faults", Object.keys(verdicts).join(","), ...flags],
      words,
    );
    const found = Object.entries(verdictsOf(called)).map(([cell, verdict]) => [cell.slice(2), verdict]);
    assert.deepEqual(Object.fromEntries(found), verdicts, said(called));
    assert.equal(called.code, 0, said(called));
  });
}

Deno.test("certify lists a fault that was not played, a failure of its own, and a cell that ends in two ways, and calls none of them bad", async () => {
  await using place = new Place();
  const log = `${place.directory}/log`;
  const one = async (words: string, flags: readonly string[] = []) => {
    Deno.writeTextFileSync(log, "");
    const called = await place.certify(["--json", "--cell", "1:500", ...flags], words);
    return [called.code, Object.values(verdictsOf(called))];
  };
  assert.deepEqual(await one(`skips=${log}`), [0, ["unmet"]]);
  assert.deepEqual(await one(`flaky=${log}`), [0, ["unstable"]]);
  const report = async (reporter: string) => {
    Deno.writeTextFileSync(log, "");
    return (await place.certify(["--cell", "1:500", "--reporter", reporter], `skips=${log}`)).stdout;
  };
  assert.match(await report("tap"), /^ok 1 - 1:500: call, 500: unmet # SKIP$/m);
  assert.match(await report("junit"), /tests="1" failures="0" errors="0" skipped="1"/);
  const copied = `${place.directory}/copied`;
  Deno.mkdirSync(copied);
  assert.deepEqual(await one(`removes=${copied} log=${log}`, ["--copy", copied]), [1, ["error"]]);
});

Deno.test("certify ends with 2 if the command fails, misses or asks nothing without a fault", async () => {
  await using place = new Place();
  for (
    const [words, why] of [
      ["fails", "the command fails without a fault: exit 4"],
      ["prompt=other", "No recorded exchange matches request 1"],
      ["idle", "it sends no request"],
    ] as const
  ) {
    const called = await place.certify(["--faults", "500"], words);
    assert.equal(called.code, 2, said(called));
    assert(called.stderr.includes(why), called.stderr);
  }
  const called = await place.call(["certify", place.fixture, "--", "no-such-program"]);
  assert.equal(called.code, 2, said(called));
  assert.match(
    called.stderr,
    /^error: Cannot start the command "no-such-program": there is no such program$/m,
  );
});

Deno.test("certify names a bad cell as a command that plays it again, and refuses an empty list of faults", async () => {
  await using place = new Place();
  const flags = ["--cell", "2:cut after 2 events", "--effects", "the effects", "--max-retries", "3"];
  const called = await place.certify(flags, "trusts");
  const [, line = ""] = /One of them again: reprise (certify .*)$/m.exec(called.stderr) ?? [];
  const { code, stdout } = await new Deno.Command("sh", {
    args: ["-c", `printf '%s\\n' ${line}`],
  }).output();
  const words = new TextDecoder().decode(stdout).trimEnd().split("\n");
  assert.deepEqual([code, words.slice(0, words.indexOf("--"))], [0, [
    ...["certify", place.fixture, "--cell", "2:cut after 2 events", "--max-wait", "2", "--max-retries", "3"],
    ...["--effects", "the effects"],
  ]]);
  assert.deepEqual(words.slice(-3), ["--quiet", CLIENT, "trusts"]);
  const again = await place.call(words);
  assert.equal(again.code, 7, said(again));
  const empty = await place.certify(["--faults", " , "], "");
  assert.deepEqual([empty.code, /^error: Cannot certify: --faults names no fault$/m.test(empty.stderr)], [
    2,
    true,
  ]);
});

Deno.test("certify accepts the cells of certify.json, names those that became better, and fails for these with --strict", async () => {
  await using place = new Place();
  const flags = ["--faults", "500,html"];
  const code = async (words: string, more: readonly string[] = []) =>
    (await place.certify([...flags, ...more], words)).code;
  assert.equal(await code("lies"), 7);
  Deno.writeTextFileSync(`${place.directory}/certify.json`, '{"accepted":{"other":{"1:500":"hung"}}}');
  assert.equal(await code("lies", ["--accept"]), 0);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(`${place.directory}/certify.json`)), {
    accepted: {
      other: { "1:500": "hung" },
      agent: { "1:500": "lied", "1:html": "lied", "2:500": "lied", "2:html": "lied" },
    },
  });
  assert.equal(await code("lies"), 0);
  assert.equal((await place.call(["fixture", "lint", place.fixture])).code, 0);
  // Another bad verdict than the accepted one.
  assert.equal(await code("mutters"), 7);
  // Cells that are not run stay accepted.
  assert.equal((await place.certify(["--cell", "2:html", "--accept"], "")).code, 0);
  assert.deepEqual(JSON.parse(Deno.readTextFileSync(`${place.directory}/certify.json`)).accepted.agent, {
    ...{ "1:500": "lied", "1:html": "lied", "2:500": "lied" },
  });
  const better = await place.certify(flags, "");
  assert.equal(better.code, 0);
  assert.match(better.stderr, /^1:500 became better: failed, accepted as lied$/m);
  assert.equal(await code("", ["--strict"]), 7);
});

Deno.test("certify reports its cells as a grid, as TAP, JUnit and Markdown", async () => {
  await using place = new Place();
  const report = async (reporter: string) =>
    (await place.certify(["--faults", "500,cut-text", "--reporter", reporter], "trusts")).stdout;
  assert.equal(
    await report("text"),
    [
      "fault     call (1)  answer (2)  evidence",
      "500       LIED      LIED        exit 0, nothing on stdout",
      'cut-text  -         LIED        exit 0, "In Rome it rains today,"',
      "",
    ].join("\n"),
  );
  assert.match(
    await report("tap"),
    /^TAP version 14\n1\.\.3\nnot ok 1 - 1:500: call, 500: LIED\n {2}---\n {2}message: \|2\n {4}LIED: exit 0, nothing on stdout\n/,
  );
  assert.match(
    await report("junit"),
    /<testsuites tests="3" failures="3" errors="0" skipped="0" time="[\d.]+">/,
  );
  assert.equal(
    await report("markdown"),
    [
      "**3 bad cells** of 3",
      "",
      "| fault | call (1) | answer (2) | evidence |",
      "| --- | --- | --- | --- |",
      "| 500 | **LIED** | **LIED** | exit 0, nothing on stdout |",
      '| cut-text | - | **LIED** | exit 0, "In Rome it rains today," |',
      "",
    ].join("\n"),
  );
});

Deno.test("Ctrl-C ends every process of certify and prints what is known", async () => {
  await using place = new Place();
  const mark = crypto.randomUUID();
  const command = [Deno.execPath(), "run", "-A", "--quiet", CLIENT, "sleeps", "child", mark];
  const started = place.start([
    "certify",
    place.fixture,
    "--faults",
    "twice-ended,500",
    "--json",
    "--",
    ...command,
  ]);
  const running = () =>
    [...Deno.readDirSync("/proc")].filter(({ name }) => {
      try {
        return /^\d+$/.test(name) &&
          Deno.readTextFileSync(`/proc/${name}/cmdline`).includes(`${CLIENT}\0sleeps`) &&
          Deno.readTextFileSync(`/proc/${name}/cmdline`).split("\0")[0] === Deno.execPath();
      } catch {
        return false;
      }
    }).filter(({ name }) => Number(name) !== started.process.pid);
  await new Promise((resolve) => setTimeout(resolve, 4000));
  started.process.kill("SIGINT");
  const called = await started.ended();
  assert.equal(called.code, 130, said(called));
  const { cells, not_run } = JSON.parse(called.stdout);
  assert.equal(cells.length + not_run.length, 4);
  assert(cells.length > 0 && not_run.length > 0, called.stdout);
  assert.deepEqual(running().map(({ name }) => Deno.readTextFileSync(`/proc/${name}/cmdline`)), []);
});
