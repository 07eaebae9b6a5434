/**
 * Measures how much of a stream a recorder keeps: every recording with a stream goes through `reprise record` and `reprise serve`,
 * and through aimock's recorder and player, and what comes out is compared with what went in.
 *
 * @module
 */
import { join } from "node:path";
import { type TestStream, testStreams } from "../tests/support/streams.ts";
import { messagesApi } from "../src/apis/messages/api.ts";
import { type Aimock, installAimock } from "./aimock.ts";
import { type Bench, type BenchContext, sized } from "./bench.ts";
import { makeBinaries } from "./binaries.ts";
import { compared, type Kept, MEASURES, total } from "./kept_measures.ts";
import type { CountTable, Report } from "./report.ts";
import { type RunningServer, startReprise } from "./servers.ts";

/** Starts a recorder in front of an upstream, or a player of what was recorded. */
interface Candidate {
  record(upstream: string): Promise<RunningServer>;
  play(): Promise<RunningServer>;
}

/** Compares both tools over all streams; a quick bench takes the shortest ones. */
export const keptBench: Bench = async (context) => {
  const streams = testStreams().slice(0, sized(context, { full: Infinity, quick: 8 }));
  const { reprise } = await makeBinaries(context);
  const own = await keptBy(repriseIn(context, reprise), streams);
  const aimock = await installAimock(context);
  const other = typeof aimock === "string" ? aimock : await keptBy(aimockIn(context, aimock), streams);
  return {
    rows: [],
    counts: countTable(streams, own, other, typeof aimock === "string" ? "" : aimock.name),
    notes: [
      ...(typeof other === "string" ? [`aimock: skipped: ${other}`] : []),
      `${streams.length} streams, each recorded and played once. events: as many of each kind as there were; ` +
      "text: all that is visible; items: with every member but the id; blobs: encrypted content and signatures, byte for byte; " +
      "numbers: sequence_number; bytes: the whole body is the same.",
    ],
  } satisfies Report;
};

/** Totals of both, then what aimock kept of each stream, and what reprise kept where that is not all. */
function countTable(
  streams: readonly TestStream[],
  own: readonly Kept[],
  other: readonly Kept[] | string,
  otherName: string,
): CountTable {
  const row = (name: string, kept: Kept) => [
    name,
    ...MEASURES.map((measure) => `${kept[measure].kept}/${kept[measure].all}`),
  ];
  const lossOf = (all: readonly Kept[], tool: string, only: (kept: Kept) => boolean) =>
    streams.flatMap(({ name }, index) => {
      const kept = all[index] as Kept;
      return only(kept) ? [row(`${tool}: ${name}`, kept)] : [];
    });
  const others = typeof other === "string" ? [] : other;
  return {
    headings: ["kept of all", ...MEASURES],
    rows: [
      row("reprise", total(own)),
      ...(others.length === 0 ? [] : [row(otherName, total(others))]),
      ...lossOf(own, "reprise", (kept) => MEASURES.some((measure) => kept[measure].kept < kept[measure].all)),
      ...(others.length === 0 ? [] : lossOf(others, "aimock", () => true)),
    ],
  };
}

function repriseIn({ workDirectory }: BenchContext, binary: string): Candidate {
  const out = join(workDirectory, "kept-reprise");
  return {
    // Some recordings were cut by their publishers: they are kept unchanged.
    record: (upstream) =>
      startReprise(binary, ["record", "--upstream", upstream, "--out", out, "--keep-cut"]),
    play: () => startReprise(binary, ["serve", out]),
  };
}

function aimockIn({ workDirectory }: BenchContext, aimock: Aimock): Candidate {
  const fixtures = join(workDirectory, "kept-aimock");
  Deno.mkdirSync(fixtures, { recursive: true });
  return {
    record: (upstream) =>
      aimock.start([
        "--record",
        "--provider-openai",
        upstream,
        "--provider-anthropic",
        upstream,
        "-f",
        fixtures,
      ]),
    play: () => aimock.start(["-f", join(fixtures, "recorded")]),
  };
}

/** Records every stream, then plays each; the answers in the order of the streams. */
async function keptBy(candidate: Candidate, streams: readonly TestStream[]): Promise<Kept[]> {
  const upstream = serveStreams(streams);
  try {
    const recorder = await candidate.record(upstream.origin);
    try {
      for (const [index, stream] of streams.entries()) await ask(recorder.origin, stream, index);
    } finally {
      await recorder.stop();
    }
  } finally {
    await upstream.stop();
  }
  const player = await candidate.play();
  try {
    const kept: Kept[] = [];
    for (const [index, stream] of streams.entries()) {
      const played = await ask(player.origin, stream, index);
      kept.push(await compared(stream.bytes, played, stream.api));
    }
    return kept;
  } finally {
    await player.stop();
  }
}

/** An upstream that answers the prompt `Recording N` with stream N. */
function serveStreams(streams: readonly TestStream[]): { readonly origin: string; stop(): Promise<void> } {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const number = /Recording (\d+)/.exec(await request.text())?.[1];
    const stream = streams[Number(number)];
    if (stream === undefined) return new Response("No such recording", { status: 404 });
    return new Response(stream.bytes as Uint8Array<ArrayBuffer>, {
      headers: { "content-type": "text/event-stream; charset=utf-8" },
    });
  });
  return { origin: `http://127.0.0.1:${server.addr.port}`, stop: () => server.shutdown() };
}

/** Asks for a stream the way its API is asked, and reads the body to its end. */
async function ask(origin: string, { api }: TestStream, index: number): Promise<Uint8Array> {
  const prompt = `Recording ${index}`;
  const isMessages = api === messagesApi;
  const response = await fetch(`${origin}${isMessages ? "/v1/messages" : "/v1/responses"}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(isMessages
        ? { "x-api-key": "bench", "anthropic-version": "2023-06-01" }
        : { authorization: "Bearer bench" }),
    },
    body: JSON.stringify(
      isMessages
        ? {
          model: "claude-sonnet-5",
          max_tokens: 1024,
          stream: true,
          messages: [{ role: "user", content: prompt }],
        }
        : { model: "gpt-5.6", input: [{ role: "user", content: prompt }], stream: true },
    ),
  });
  return new Uint8Array(await response.arrayBuffer());
}
