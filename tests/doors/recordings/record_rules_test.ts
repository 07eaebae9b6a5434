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
const TODAY = new Date().toLocaleDateString("sv");
const today = (text = "Hi") => `Today's date is ${TODAY}\n${text}`;
/** Texts whose answers are their moments, or the notation of their day. */
const asksTime = (second: number) => `It is MOMENT+${second}`;
const DAYS = [TODAY, new Date().toLocaleDateString("en-US")].map((day) => `It is ${day}`);

/** Writes moments as they are when the text is sent: they belong to the run of a recorder. */
function timed(text: string): string {
  return text.replace(
    /MOMENT\+(\d)/g,
    (_, second) => new Date(Date.now() + Number(second) * 1000).toISOString(),
  );
}

/** An upstream whose answer repeats the last line of the instructions. */
const echoing = () =>
  new RawUpstream(async (connection, request) => {
    const { instructions } = JSON.parse(new TextDecoder().decode(request.body));
    const text = instructions?.split("\n").at(-1) ?? "Hi";
    const content = [{ type: "output_text", text }];
    const stream = responseStream({ type: "message", id: "msg_1", role: "assistant", content });
    await streaming(stream.replaceAll("resp_1", `resp_${Math.random()}`))(connection, request);
  });

/** One recording: its requests, as instructions or members of bodies. */
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
      const own = typeof input === "string"
        ? { instructions: timed(input).replaceAll("CWD", `${home.directory}/${cwd}`) }
        : input;
      await recorder.ask("/v1/responses", { model: "m", input: "Hi", ...own }, { headers });
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
    { pattern: "^Chunk ID: [0-9a-f]+\\n", with: "Chunk ID: <id>\n" },
    {
      pattern:
        "^((?:(?:Chunk ID|Exit code): [^\\n]*\\n)?)Wall time: [0-9.]+ seconds\\n(Process|Original|Total|Output)",
      with: "$1Wall time: <time> seconds\n$2",
    },
  ],
};

/** Recordings of one fixture, the rules that it has then, and those that the last one withheld. */
const ROWS: Readonly<Record<string, readonly [readonly Part[], Json, ...string[]]>> = {
  "named rules that the requests need, in their usual order": [[{
    inputs: [today(), "in CWD"],
  }], { normalize: ["cwd", "date"] }],
  "no rule for what is in questions alone": [
    [{ inputs: [{ input: `see ${UUID} of ${TODAY}`, prompt_cache_key: UUID }] }],
    undefined,
  ],
  "no rule for labels of other values": [
    [{ inputs: [`Username: alice\nOS: Windows 11\n<cwd>/srv/app</cwd>\nSession ID: ${UUID}`] }],
    undefined,
  ],
  "the rule uuid for the client's session": [
    [{ inputs: [{ instructions: `Session ID: ${UUID}`, prompt_cache_key: UUID }] }],
    { normalize: ["uuid"] },
  ],
  "the rule uuid for the session of a header": [
    [{ inputs: [`Session ID: ${UUID}`], headers: { session_id: UUID } }],
    { normalize: ["uuid"] },
  ],
  "the rule of a declared directory, also if a question alone names it": [
    [{ inputs: [{ input: "Read /app/src/a.ts" }], flags: ["--context", "cwd=/app/src"] }],
    { normalize: ["cwd"] },
  ],
  "the rules of a client's profile where they applied": [
    [{ inputs: [{ input: [call] }], headers: CODEX }],
    CODEX_RULES,
  ],
  "declared rules first, and each rule once": [
    [{
      inputs: ["in CWD", today()],
      flags: ["--normalize", "codex", "--normalize", "date", "--ignore", "$.metadata", "--replace", "a=b"],
    }],
    { normalize: ["codex", "cwd", "date"], ignore: ["$.metadata"], replace: [{ pattern: "a", with: "b" }] },
  ],
  "not a rule that makes requests with different answers equal": [
    [{ inputs: [0, 1].map((second) => `in CWD\n${asksTime(second)}`) }],
    { normalize: ["cwd"] },
    "time",
  ],
  "a rule although the answers of several recordings differ": [
    [0, 1, 2].map((second) => ({ inputs: [asksTime(second)] })),
    { normalize: ["time"] },
  ],
  "not a rule of the fixture that hides a difference in the new recording": [
    [{ inputs: [`in CWD\n${asksTime(0)}`] }, {
      inputs: [1, 2].map((second) => `Hi\n${asksTime(second)}`),
    }],
    { normalize: ["cwd"] },
    "time",
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
    const parts = [{ inputs: ["Hi"], flags: ["--normalize", "codex"] }, { inputs: DAYS }];
    const { end, header } = await recorded(home, parts);
    assert.deepEqual(end.withheld_rules, ["date"]);
    assert.deepEqual(header.match.normalize, ["cwd", "home", "os", "shell", "timezone"]);
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
    const instructions = `${text} ${home.directory}/three`;
    await recorder.ask("/v1/responses", { model: "m", input: "Hi", instructions });
  }
  const { published } = await recorder.end();
  assert.deepEqual([recorder.events.filter(({ type }) => type === "played").length, published], [2, 1]);
});

withHome(
  "until a growing recording ends, fixture.json has no rule that could hide a difference",
  async (home) => {
    const inputs = [asksTime(0)];
    await recorded(home, [{ inputs }]);
    await using upstream = echoing();
    await using recorder = await home.record(upstream.origin, { flags: ["--append"] });
    for (const [index, instructions] of [asksTime(1), asksTime(2), `in ${home.workspace}`].entries()) {
      await recorder.ask("/v1/responses", { model: "m", input: "Hi", instructions: timed(instructions) });
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
  ["in CWD", "in /srv/a"],
  DAYS,
  [asksTime(0), asksTime(1)],
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
