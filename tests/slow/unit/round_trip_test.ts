import assert from "node:assert/strict";
import { livePorts } from "../../../src/cli/live_ports.ts";
import { isEventStream } from "../../../src/fixture/answer_events.ts";
import { type Fixture, type FixtureExchange, readFixture } from "../../../src/fixture/read.ts";
import { startRecorder } from "../../../src/fixture/record/recorder.ts";
import { FixtureWriter } from "../../../src/fixture/record/writer.ts";
import { createScrubber } from "../../../src/fixture/secrets/scrubber.ts";
import { createReplayer } from "../../../src/fixture/serve/replayer.ts";
import { startReplayServer } from "../../../src/fixture/serve/server.ts";
import { denoFiles } from "../../../src/store/deno_files.ts";
import { oneRecording } from "../../unit/fixture/record/recording.ts";
import { framed, imported, planned, quickFiles, written } from "../../unit/fixture/import/support.ts";
import { recordingBytes, recordingNames, recordingText } from "../../support/recordings.ts";

/** An exchange of a served fixture before and after its round trip through a recorder. */
interface RoundTrip {
  readonly before: FixtureExchange;
  /** The body that the client got. */
  readonly received: Uint8Array;
  readonly after: FixtureExchange;
}

/**
 * Serves all exchanges in order, each to a request with its own method, path and body, through a recorder. `pace` is
 * the server's: 1 keeps the recorded times.
 */
async function roundTrips(
  fixtures: readonly Fixture[],
  { pace }: { readonly pace: number },
): Promise<RoundTrip[]> {
  const ports = livePorts();
  const root = Deno.makeTempDirSync({ prefix: "reprise-round-trip-" });
  const replayer = createReplayer(fixtures, { match: "sequence", rules: "none" });
  const server = startReplayServer({ replayer, pace, clock: ports.clock, port: 0, onEvent: () => {} });
  const writer = FixtureWriter.create(quickFiles, `${root}/fixture`, {
    created: 0,
    producer: "a test",
    provider: "openai",
    baseUrl: server.origin,
    scrubber: createScrubber({ values: [] }),
    keepCut: true,
  });
  const recorder = startRecorder({
    ports,
    recordings: oneRecording({ writer, began: ports.clock.monotonic() }),
    routes: [{ upstream: { origin: server.origin, prefix: "" }, route: null }],
    port: 0,
  });
  const exchanges = fixtures.flatMap(({ exchanges }) => exchanges);
  try {
    const received: Uint8Array[] = [];
    for (const { request } of exchanges) {
      const answer = await fetch(`${recorder.origin}${request.path}`, {
        method: request.method,
        headers: { "content-type": "application/json" },
        ...(request.method === "GET" ? {} : { body: new Uint8Array(request.body ?? []) }),
      });
      received.push(await answer.bytes());
    }
    await recorder.stop();
    await writer.close();
    const after = readFixture(denoFiles, `${root}/fixture`).exchanges;
    assert.equal(after.length, exchanges.length);
    return exchanges.map((before, index) => ({
      before,
      received: received[index] as Uint8Array,
      after: after[index] as FixtureExchange,
    }));
  } finally {
    await recorder.stop();
    await server.stop();
    Deno.removeSync(root, { recursive: true });
  }
}

const CREATED = '{"type":"response.created","response":{"id":"resp_1"}}';
const COMPLETED = '{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[]}}';

/** Streams that are legal, and framed as no encoder of ours would. */
const ODD = {
  "comments and no event lines, with [DONE]":
    `: OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\ndata: ${CREATED}\n\ndata: ${COMPLETED}\n\ndata: [DONE]\n\n`,
  "CRLF": `event: response.created\r\ndata: ${CREATED}\r\n\r\ndata: ${COMPLETED}\r\n\r\n`,
  "CR alone": `data: ${CREATED}\r\rdata: ${COMPLETED}\r\r`,
  "no final blank line": `data: ${CREATED}\n\ndata: ${COMPLETED}`,
  "unknown fields, ids, retries and blank lines":
    `id: 7\nretry: 10\nodd: x\n\n\n\ndata:${CREATED}\n\ndata:  ${COMPLETED}\n\n\n\n`,
  "unknown events": framed(
    { type: "response.created" },
    { type: "keepalive" },
    { type: "response.new.thing" },
    { type: "response.completed" },
  ),
};

for (const [what, stream] of Object.entries(ODD)) {
  Deno.test(`imported, served and recorded again, a stream stays byte for byte: ${what}`, async () => {
    const [trip] = await roundTrips([await imported("odd.sse", stream)], { pace: Infinity });
    assert.equal(new TextDecoder().decode(trip?.received), stream);
    sameBytes(trip ?? assert.fail());
  });
}

Deno.test("at its recorded pace a stream keeps its chunks, also those that end inside a character", async () => {
  const stream = framed({ type: "response.created" }, { type: "response.completed" }).replace(
    "}",
    ',"x":"ä€😀"}',
  );
  const bytes = new TextEncoder().encode(stream);
  const cut = stream.indexOf("ä");
  const offsets = [0, 5, cut + 1, cut + 3, cut + 6, bytes.length - 3];
  const fixture = await imported(
    "a.json",
    JSON.stringify({
      request: {
        method: "POST",
        url: "https://api.openai.com/v1/responses",
        body: { b64: btoa('{"model":"m"}') },
      },
      response: { status: 200, headers: { "content-type": "text/event-stream" }, body: null },
      chunks: offsets.map((offset, index) => ({
        b64: btoa(String.fromCharCode(...bytes.subarray(offset, offsets[index + 1]))),
      })),
    }),
  );
  const [trip] = await roundTrips([apart(fixture, 40)], { pace: 1 });
  sameBytes(trip ?? assert.fail());
  assert.deepEqual(trip?.after.response.chunks.map(({ offset }) => offset), offsets);
});

for (const name of streamed()) {
  Deno.test(`${name}, imported, served and recorded again, stays byte for byte`, async () => {
    const fixtures = written(await planned(name, recordingBytes(name), { keepCut: true }));
    const streams = fixtures.map((fixture) => ({
      ...fixture,
      exchanges: fixture.exchanges.filter(({ response }) => isEventStream(response.headers)),
    })).filter(({ exchanges }) => exchanges.length > 0);
    for (const trip of streams.length === 0 ? [] : await roundTrips(streams, { pace: Infinity })) {
      sameBytes(trip);
    }
  });
}

Deno.test("recorded network chunks keep their boundaries through serving and recording", async () => {
  const fixture = await imported("a.json", recordingBytes("responses/network_chunks.json"));
  const [trip] = await roundTrips([apart(fixture, 40)], { pace: 1 });
  sameBytes(trip ?? assert.fail());
  assert.deepEqual(offsetsOf(trip?.after ?? assert.fail()), offsetsOf(trip?.before ?? assert.fail()));
  assert.equal(offsetsOf(trip?.after ?? assert.fail()).length, 9);
});

/** Recordings with streams; the text of one is not JSON. */
function streamed(): string[] {
  return recordingNames("messages", "responses").filter((name) =>
    name !== "responses/broken_json.chunks.txt" &&
    (!/\.(?:yaml|json)$/.test(name) || /text\/event-stream|"chunks":/.test(recordingText(name)))
  );
}

function sameBytes({ before, received, after }: RoundTrip): void {
  assert.deepEqual(received, before.response.body, before.request.path);
  assert.deepEqual(after.response.body, before.response.body, before.request.path);
  assert.deepEqual(after.request.body ?? new Uint8Array(), before.request.body ?? new Uint8Array());
  assert.equal(after.response.status, before.response.status);
  assert.equal(after.response.headers["content-type"], before.response.headers["content-type"]);
  assert.equal(after.response.ended, "complete");
  assert.equal(after.response.terminal, before.response.terminal);
}

/** Returns the fixture with a given time between its chunks, in milliseconds; no source has kept their times. */
function apart(fixture: Fixture, milliseconds: number): Fixture {
  return {
    ...fixture,
    exchanges: fixture.exchanges.map((exchange) => ({
      ...exchange,
      response: {
        ...exchange.response,
        chunks: exchange.response.chunks.map(({ offset }, index) => ({ offset, ms: index * milliseconds })),
      },
    })),
  };
}

function offsetsOf({ response }: FixtureExchange): number[] {
  return response.chunks.map(({ offset }) => offset);
}
