/** Recorded traffic of many tools: imported, compared with itself, served, and recorded again. */
import type { Json } from "../../support/files.ts";
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { HereRun } from "../../support/in_process.ts";
import {
  areOwnRecordings,
  type Interaction,
  interactionsIn,
  recordingBytes,
  recordingNames,
  recordingText,
} from "../../support/recordings.ts";
import { test } from "../../support/test.ts";
import { framed } from "./answers.ts";
import { RecordingHome, withHome } from "./home.ts";
import { edit, exchangesOf, headerOf, type ReadExchange, seal } from "./recording_files.ts";

/** The first line of it lacks its last brace. */
const DAMAGED = "responses/broken_json.chunks.txt";
/** Its deltas and its end were taken out by those who published it. */
const CUT = "responses/abridged.chunks.txt";
const NAMES = recordingNames("chat", "messages", "responses").filter((name) => name !== DAMAGED);

interface Imported {
  readonly path: string;
  readonly header: Json;
  readonly exchanges: readonly ReadExchange[];
}

/** Imports a recording into a home; returns the report and the fixtures. */
async function imported(
  home: RecordingHome,
  name: string,
): Promise<{ report: Json; fixtures: readonly Imported[] }> {
  const file = name.slice(name.lastIndexOf("/") + 1);
  home.file(`${file}`, recordingBytes(name));
  const { imported: [report] } = await home.json(["import", file, "to", "--keep-cut"]);
  const fixtures = report.fixtures.map(({ path }: Json) => {
    const at = `${home.directory}/${path}`;
    return { path, header: headerOf(at), exchanges: exchangesOf(at) };
  });
  return { report, fixtures };
}

/** Text unchanged, bytes without gzip, and parsed bodies by value. */
function sameAsInteraction(exchange: ReadExchange | undefined, { request, response }: Interaction): void {
  assert.equal(exchange?.request.method, request.method);
  assert.ok(request.uri.replace(/#.*/, "").endsWith(exchange?.request.path));
  assert.equal(exchange?.response.status, response.status?.code);
  if (typeof request.body === "string" && request.body !== "") assert.equal(exchange?.sent, request.body);
  const recorded = response.body?.string;
  const text = exchange?.text ?? "";
  if (response.parsed_body !== undefined) assert.deepEqual(JSON.parse(text), response.parsed_body);
  else if (typeof recorded === "string") assert.equal(text, recorded);
  else if (recorded !== undefined) assert.equal(text, new TextDecoder().decode(gunzipSync(recorded)));
  else assert.equal(typeof JSON.parse(text), "object");
}

/** Requires the bodies of a recording, read by the code of this test, to be those of its fixtures. */
function requireBodies(name: string, { format }: Json, fixtures: readonly Imported[]): void {
  const all = fixtures.flatMap(({ exchanges }) => exchanges);
  const source = recordingText(name);
  if (name.endsWith(".yaml")) {
    // The exchanges of one host keep their order.
    const waiting = new Map(
      fixtures.map(({ header, exchanges }) => [new URL(header.base_url).origin, [...exchanges]]),
    );
    const interactions = interactionsIn(name);
    assert.equal(all.length, interactions.length);
    for (const each of interactions) {
      sameAsInteraction(waiting.get(new URL(each.request.uri).origin)?.shift(), each);
    }
  } else if (name.endsWith(".chunks.txt")) {
    const body = all.map(({ text }) => text).join("");
    const data = body.split("\n").flatMap((line) => line.startsWith("data: ") ? [line.slice(6)] : []);
    assert.deepEqual(data, source.split("\n").filter((line) => line !== ""));
    const events = body.matchAll(/event: (.+)\ndata: (\{.*\})\n\n/g);
    for (const [, type, json = ""] of events) assert.equal(JSON.parse(json).type, type);
  } else if (format === "body" || format === "sse") {
    assert.deepEqual(all.map(({ text }) => text), [source]);
  } else if (!name.endsWith(".yml")) {
    const pieces = (JSON.parse(source).chunks ?? []).map(({ b64 }: Json) => atob(b64));
    if (pieces.length === 0) return;
    assert.equal(String.fromCharCode(...all[0]?.body ?? []), pieces.join(""));
    const offsets = pieces.map((_: string, index: number) => pieces.slice(0, index).join("").length);
    assert.deepEqual(all[0]?.response.chunks.map(([offset]: number[]) => offset), offsets);
  }
}

/** A running `serve`, in order of recording. */
async function serving(
  home: RecordingHome,
  paths: readonly string[],
  pace: string,
): Promise<{ origin: string; stop(): Promise<unknown> }> {
  const args = ["serve", "--json", "--match", "sequence", "--rules", "none", "--pace", pace, ...paths];
  const run = new HereRun({ args, cwd: home.directory, env: home.environment(), stdin: new Uint8Array(0) });
  await run.printed((stdout) => stdout.includes('"type":"ready"'));
  const stop = () => {
    run.stop();
    return run.ended;
  };
  return { origin: JSON.parse(run.stdout.split("\n")[0] ?? "").origin, stop };
}

/** Serves all exchanges, each to a request of its own, through a recorder; the bodies stay byte for byte. */
async function roundTrip(
  home: RecordingHome,
  fixtures: readonly Imported[],
  pace = "fast",
): Promise<ReadExchange[]> {
  const server = await serving(home, fixtures.map(({ path }) => path), pace);
  try {
    await using recorder = await home.record(server.origin, { out: "again", flags: ["--keep-cut"] });
    const before = fixtures.flatMap(({ exchanges }) => exchanges);
    for (const { request, sent, body } of before) {
      const init = request.method === "GET" ? {} : { body: sent ?? "" };
      const answer = await recorder.fetch(request.path, {
        method: request.method,
        headers: { "content-type": "application/json" },
        ...init,
      });
      assert.deepEqual(await answer.bytes(), body, request.path);
    }
    const { exchanges: after } = await recorder.fixture();
    for (const [index, { request, response, sent, body }] of before.entries()) {
      const again = after[index] ?? assert.fail();
      assert.deepEqual(again.body, body, request.path);
      assert.equal(again.sent ?? "", sent ?? "");
      assert.deepEqual(
        [again.response.status, again.response.ended, again.response.headers["content-type"]],
        [response.status, undefined, response.headers["content-type"]],
      );
    }
    return after;
  } finally {
    await server.stop();
  }
}

for (const name of NAMES) {
  withHome(
    `${name}: imported with the bodies of its source, identical to itself, served and recorded again`,
    async (home) => {
      const { report, fixtures } = await imported(home, name);
      // Ids of accounts are the only values that are replaced: nothing else is taken for a secret.
      const replaced = fixtures.flatMap(({ header }) => Object.keys(header.redactions ?? {}));
      assert.deepEqual(replaced.filter((kind) => kind !== "account"), []);
      requireBodies(name, report, fixtures);
      for (const { path } of fixtures) {
        assert.equal((await home.json(["diff", path, path])).verdict, "identical");
      }
      const whole = fixtures.every(({ exchanges }) =>
        exchanges.every(({ response }) => response.terminal !== false)
      );
      if (whole) await roundTrip(home, fixtures);
    },
    test.long,
  );
}

/** Streams that are legal, and framed as no encoder of ours would. */
const [CREATED, COMPLETED] = ["created", "completed"].map((type) =>
  `{"type":"response.${type}","response":{"id":"resp_1"}}`
);
const ODD = [
  `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: ${CREATED}\n\ndata: ${COMPLETED}\n\ndata: [DONE]\n\n`,
  `event: response.created\r\ndata: ${CREATED}\r\n\r\ndata: ${COMPLETED}\r\n\r\n`,
  `data: ${CREATED}\r\rdata: ${COMPLETED}\r\r`,
  `data: ${CREATED}\n\ndata: ${COMPLETED}`,
  `id: 7\nretry: 10\nodd: x\n\n\n\ndata:${CREATED}\n\ndata:  ${COMPLETED}\n\n\n\n`,
  framed(
    ["response.created", "keepalive", "response.new.thing", "response.completed"].map((type) => ({ type })),
  ),
];

for (const stream of ODD) {
  withHome(
    `imported, served and recorded again, a stream stays byte for byte: ${
      JSON.stringify(stream.slice(0, 40))
    }`,
    async (home) => {
      home.file("odd.sse", stream);
      await home.json(["import", "odd.sse", "to"]);
      const path = `${home.directory}/to`;
      assert.equal(exchangesOf(path)[0]?.text, stream);
      await roundTrip(home, [{ path: "to", header: headerOf(path), exchanges: exchangesOf(path) }]);
    },
    test.long,
  );
}

withHome(
  "recorded network chunks keep their boundaries through serving at the recorded pace and recording",
  async (home) => {
    const { fixtures: [fixture = assert.fail()] } = await imported(home, "responses/network_chunks.json");
    const path = `${home.directory}/${fixture.path}`;
    const chunks = fixture.exchanges[0]?.response.chunks.map((
      [offset]: number[],
      index: number,
    ) => [offset, index * 40]);
    edit(`${path}/exchanges/0001/response.json`, (text) => JSON.stringify({ ...JSON.parse(text), chunks }));
    seal(path);
    const [after] = await roundTrip(home, [fixture], "1");
    assert.deepEqual(
      after?.response.chunks.map(([offset]: number[]) => offset),
      chunks.map(([offset]: number[]) => offset),
    );
  },
  test.long,
);

/** The server that each recording is known to come from. */
const SERVERS = {
  "responses/azure.yaml": /^azure https:\/\/[a-z-]+\.openai\.azure\.com\/openai\/v1$/,
  "responses/deepseek_loop.yaml": /^compatible https:\/\/api\.deepseek\.com$/,
  "responses/rate_limited.yaml": /^compatible https:\/\/openrouter\.ai\/api\/v1$/,
  "responses/azure_call.chunks.txt": /^azure https:\/\/unknown\.invalid\/v1$/,
  "chat/azure_filters.chunks.txt": /^azure https:\/\/unknown\.invalid\/v1$/,
  "chat/deepseek_call.chunks.txt": /^compatible https:\/\/unknown\.invalid\/v1$/,
  "messages/refusal.chunks.txt": /^anthropic https:\/\/api\.anthropic\.com$/,
  "responses/xai.chunks.txt": /^compatible https:\/\/unknown\.invalid\/v1$/,
  "messages/other_model.yaml":
    /^openai https:\/\/api\.openai\.com\/v1, anthropic https:\/\/api\.anthropic\.com$/,
};
/** The facts that each recording lacks. */
const LOST = {
  "responses/plain_stream.yaml": ["timing", "chunk_boundaries"],
  "responses/network_chunks.json": ["timing"],
  "responses/tool_loop.yaml": [
    "request_bytes",
    "request_headers",
    "response_headers",
    "response_bytes",
    "timing",
    "chunk_boundaries",
  ],
  "responses/phase_gap.chunks.txt": [
    "requests",
    "status",
    "host",
    "timing",
    "chunk_boundaries",
    "event_lines",
    "events",
  ],
};
/** The number of exchanges of each fixture of a recording. */
const COUNTS = { "responses/four_responses.chunks.txt": [4], "messages/spliced.chunks.txt": [1] };

withHome(
  "recordings are known by their hosts, their losses are named, and one file may hold several responses",
  async (home) => {
    const of = async (name: string) => {
      const { report, fixtures } = await imported(home, name);
      Deno.removeSync(`${home.directory}/to`, { recursive: true });
      return { lost: report.lost.map(({ what }: Json) => what), fixtures };
    };
    for (const [name, server] of Object.entries(SERVERS)) {
      assert.match(
        (await of(name)).fixtures.map(({ header }) => `${header.provider} ${header.base_url}`).join(", "),
        server,
      );
    }
    for (const [name, lost] of Object.entries(LOST)) assert.deepEqual((await of(name)).lost, lost, name);
    for (const [name, counts] of Object.entries(COUNTS)) {
      assert.deepEqual((await of(name)).fixtures.map(({ exchanges }) => exchanges.length), counts);
    }
    assert.ok((await of(CUT)).lost.includes("terminal"));
    for (
      const [name, says] of [[DAMAGED, /line 1 is not JSON$/], [
        CUT,
        /the stream of exchange 1 has no terminal event$/,
      ]] as const
    ) {
      home.file("a.chunks.txt", recordingBytes(name));
      await home.refused(["import", "a.chunks.txt", "to"], "bad_import", says);
    }
  },
  test.long,
);

/** Recordings of the same request made twice, and the members that the second answer has. */
const SAME: Readonly<Record<string, readonly string[]>> = {
  same_reasoning: [
    "billing",
    "completed_at",
    "frequency_penalty",
    "presence_penalty",
    "prompt_cache_retention",
  ],
  same_calls: [
    ...[
      "billing",
      "completed_at",
      "frequency_penalty",
      "presence_penalty",
      "prompt_cache_key",
      "prompt_cache_retention",
    ],
    ...["safety_identifier", "text.verbosity", "tools[function].parameters[object].additionalProperties"],
  ],
  same_stream: ["response.completed_at", "response.frequency_penalty", "response.presence_penalty"],
};

for (const [name, added] of Object.entries(SAME)) {
  withHome(`fixture diff: ${name} is benign`, async (home) => {
    await imported(home, `responses/${name}.yaml`);
    const { verdict, pairs: [{ changes }] } = await home.json(["diff", "to", "--exchange", "1:2"]);
    assert.equal(verdict, "benign");
    if (areOwnRecordings()) {
      assert.deepEqual(
        changes.map(({ kind, where }: Json) => `${kind} ${where}`),
        added.map((path) => `added ${path}`),
      );
    }
  }, test.long);
}
