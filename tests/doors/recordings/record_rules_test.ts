/** Match rules and values of the machine that `record` writes into a fixture, at first and when it grows. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { RawUpstream, streaming } from "../../support/raw_upstream.ts";
import { test } from "../../support/test.ts";
import { RecordingHome, withHome } from "./home.ts";
import { headerOf } from "./recording_files.ts";
import { responseStream } from "./shapes.ts";

const UUID = "01a20459-081d-7e33-bfd4-e66f14c754e7";
const CODEX = { originator: "codex_exec", "user-agent": "codex_exec/0.169.0 (Debian)" };
const today = (day: number, text = "Hi") => `Today's date is 2026-11-${day}\n${text}`;
/** A text whose answer is its date. */
const asksDay = (day: number) => `Today's date is 2026-11-${day}`;
const uuid = (digit: string) => `${digit.repeat(8)}-0000-4000-8000-000000000000`;

/** An upstream whose answer repeats the last line of the request. */
const echoing = () =>
  new RawUpstream(async (connection, request) => {
    const { input } = JSON.parse(new TextDecoder().decode(request.body));
    const text = typeof input === "string" ? input.split("\n").at(-1) : "Hi";
    const content = [{ type: "output_text", text }];
    const stream = responseStream({ type: "message", id: "msg_1", role: "assistant", content });
    await streaming(stream.replaceAll("resp_1", `resp_${Math.random()}`))(connection, request);
  });

/** One recording: its requests, as texts or bodies. */
interface Part {
  readonly inputs: readonly Json[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  /** Working directory, below that of the home. @default {a folder that no request names} */
  readonly cwd?: string;
}

/** Records parts into one fixture; returns the end of the last one, and the header after it. */
async function recorded(home: RecordingHome, parts: readonly Part[]): Promise<{ end: Json; header: Json }> {
  await using upstream = echoing();
  let end: Json;
  for (const { inputs, headers = {}, flags = [], cwd = "work" } of parts) {
    Deno.mkdirSync(`${home.directory}/${cwd}`, { recursive: true });
    const options = { flags: ["--append", ...flags], cwd: `${home.directory}/${cwd}` };
    await using recorder = await home.record(upstream.origin, options);
    for (const input of inputs) {
      const text = typeof input === "string" ? input.replaceAll("CWD", `${home.directory}/${cwd}`) : input;
      await recorder.ask("/v1/responses", { model: "m", input: text, ...input?.body }, { headers });
    }
    end = await recorder.end(0);
  }
  return { end, header: headerOf(`${home.directory}/recorded`) };
}

const call = {
  ...{ type: "function_call_output", call_id: "call_1" },
  output: "Chunk ID: acd2cb\nWall time: 0.0000 seconds\nProcess exited with code 0\nOutput:\na.txt\n",
  internal_chat_message_metadata_passthrough: { turn_id: UUID },
};
const CODEX_RULES = {
  ignore: ["$.input[*].internal_chat_message_metadata_passthrough"],
  replace: [
    { pattern: "(?m)^Chunk ID: [0-9a-f]+$", with: "Chunk ID: <id>" },
    { pattern: "(?m)^Wall time: [0-9.]+ seconds$", with: "Wall time: <time> seconds" },
  ],
};

/** Recordings of one fixture, the rules that it has then, and those that the last one withheld. */
const ROWS: Readonly<Record<string, readonly [readonly Part[], Json, ...string[]]>> = {
  "named rules that the requests need, in their usual order": [[{
    inputs: [today(22), "<cwd>/srv/app</cwd>"],
  }], { normalize: ["cwd", "date"] }],
  "the rule uuid not for a UUID of the question": [[{ inputs: [`see ${UUID}`] }], undefined],
  "the rule uuid for a UUID of the client's own field": [[{ inputs: [`Session ID: ${UUID}`] }], {
    normalize: ["uuid"],
  }],
  "the rules of a client's profile where they applied": [[{ inputs: [[call]], headers: CODEX }], CODEX_RULES],
  "declared rules first, and each rule once": [
    [{
      inputs: ["<cwd>/srv/app</cwd>", today(22)],
      flags: ["--normalize", "codex", "--normalize", "date", "--ignore", "$.metadata", "--replace", "a=b"],
    }],
    { normalize: ["codex", "cwd", "date"], ignore: ["$.metadata"], replace: [{ pattern: "a", with: "b" }] },
  ],
  "not a rule that makes requests with different answers equal": [
    [{ inputs: [22, 23].map((day) => `<cwd>/srv/a</cwd>\n${asksDay(day)}`) }],
    { normalize: ["cwd"] },
    "date",
  ],
  "a rule although the answers of several recordings differ": [
    [22, 23, 24].map((day) => ({ inputs: [asksDay(day)] })),
    { normalize: ["date"] },
  ],
  "not a rule of the fixture that hides a difference in the new recording": [
    [{ inputs: [`<cwd>/srv/a</cwd>\n${today(21)}`] }, {
      inputs: [21, 22].map((day) => `Hi\n${asksDay(day)}`),
    }],
    { normalize: ["cwd"] },
    "date",
  ],
};

for (const [name, [parts, match, ...withheld]] of Object.entries(ROWS)) {
  withHome(`a recording keeps ${name}`, async (home) => {
    const { end, header } = await recorded(home, parts);
    assert.deepEqual(header.match, match);
    assert.deepEqual(end.withheld_rules, withheld);
    assert.deepEqual(end.notes.includes("left out"), withheld.length > 0, end.notes);
  });
}

withHome(
  "a profile of the fixture loses the rule that hides a difference, and keeps its others",
  async (home) => {
    const parts = [{ inputs: ["Hi"], flags: ["--normalize", "codex"] }, { inputs: [21, 22].map(asksDay) }];
    const { end, header } = await recorded(home, parts);
    assert.deepEqual(end.withheld_rules, ["date"]);
    assert.deepEqual(header.match.normalize, ["cwd", "home", "os", "timezone"]);
    assert.deepEqual([header.match.ignore, header.match.replace.length], [CODEX_RULES.ignore, 4]);
  },
);

withHome("each recording of a fixture has its own time and machine, and plays under it", async (home) => {
  const parts = ["one", "two"].map((cwd) => ({ inputs: [`${cwd} in CWD`], cwd }));
  const { header } = await recorded(home, [...parts, { inputs: ["in /srv/three"] }]);
  const [first, second, third] = header.recordings;
  assert.deepEqual(header.context, { cwd: `${home.directory}/one` });
  const cwd = `${home.directory}/two`;
  assert.deepEqual([first.context, second.context, third.context], [undefined, { cwd }, {}]);
  assert.deepEqual(header.recordings.map(({ exchanges }: Json) => exchanges), [[1, 1], [2, 2], [3, 3]]);
  assert.deepEqual([first.created, header.match], [header.created, { normalize: ["cwd"] }]);
  await using upstream = echoing();
  Deno.mkdirSync(`${home.directory}/three`);
  const options = { flags: ["--missing"], cwd: `${home.directory}/three` };
  await using recorder = await home.record(upstream.origin, options);
  // The third recording names no directory, so its path is a text like any other.
  for (const text of ["one in", "two in", "in"]) {
    await recorder.ask("/v1/responses", { model: "m", input: `${text} ${home.directory}/three` });
  }
  const { published } = await recorder.end();
  assert.deepEqual([recorder.events.filter(({ type }) => type === "played").length, published], [2, 1]);
});

withHome(
  "until a growing recording ends, fixture.json has no rule that could hide a difference",
  async (home) => {
    const inputs = [today(21)];
    await recorded(home, [{ inputs }]);
    await using upstream = echoing();
    await using recorder = await home.record(upstream.origin, { flags: ["--append"] });
    for (const [index, input] of [asksDay(21), asksDay(22), "<cwd>/srv/a</cwd>"].entries()) {
      await recorder.ask("/v1/responses", { model: "m", input });
      await recorder.reported(index + 1);
      assert.deepEqual(headerOf(recorder.out).match?.normalize?.includes("cwd") ?? false, false);
      assert.deepEqual((await home.findings("recorded")).filter((line) => line.startsWith("error")), []);
    }
    await recorder.end(0);
    assert.deepEqual(headerOf(recorder.out).match, { normalize: ["cwd"] });
  },
);

/** Lines that rules make equal, in groups. */
const LINES = [
  ["<cwd>/srv/a</cwd>", "<cwd>/srv/b</cwd>", "in /srv/a", "in /srv/c"],
  [asksDay(21), asksDay(22)],
  [`Session ID: ${uuid("1")}`, `Session ID: ${uuid("2")}`],
  ["Wall time: 0.1 seconds", "Wall time: 2.5 seconds"],
  ["Hi", "Ho"],
];
const text = fc.shuffledSubarray(LINES, { minLength: 1, maxLength: 2 })
  .chain((groups) => fc.tuple(...groups.map((lines) => fc.constantFrom(...lines)))).map((lines) =>
    lines.join("\n")
  );
const part = fc.record({
  inputs: fc.array(text, { minLength: 1, maxLength: 7 }),
  headers: fc.constantFrom({}, { originator: "codex_cli" }),
});

test.long("random recordings leave a fixture whose rules hide no difference within one recording", async () => {
  const seen = { withheld: 0, grown: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 2, maxLength: 4 }), async (parts) => {
      await using home = new RecordingHome();
      for (const each of parts) {
        const { end, header } = await recorded(home, [each]);
        assert.deepEqual((await home.findings("recorded")).filter((line) => line.startsWith("error")), []);
        seen.withheld += end.withheld_rules.length;
        seen.grown += header.recordings === undefined ? 0 : 1;
      }
    }),
    { numRuns: 20, seed: 20261121 },
  );
  assert.ok(Math.min(seen.withheld, seen.grown) > 1, JSON.stringify(seen));
});
