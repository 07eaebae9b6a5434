/** Ways to send the requests of a call: over the network with its timeouts, or to a played fixture. */
import { apiOf } from "../../apis/apis.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import { type Fixture, playable } from "../../fixture/read.ts";
import type { Send } from "../../transport/http.ts";
import { createLiveSend } from "../../transport/live.ts";
import { createPlayer } from "../../transport/player.ts";
import type { FixtureFlags } from "../flags.ts";
import type { MatchReport, ReportingSend } from "../../fixture/serve/replay_send.ts";
import type { ComparedCall } from "./compared_send.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ResolvedRun } from "./resolve_run.ts";
import type { RunRecording } from "./run_recording.ts";

/** The workspace pin of a played run, in any directory. */
const FIXTURE_WORKSPACE = "/workspace";
/** Milliseconds that each reading of the clock adds to it. */
const TICK_MS = 1000;

/**
 * Ports seeded by a fixture: the same fixture gives the same times, ids and bytes in any directory on any machine.
 * `fetch` refuses, so nothing uses the network.
 */
export function fixturePorts<Live extends Ports>(
  live: Live,
  { created, seed }: Pick<Fixture, "created" | "seed">,
): Live {
  let now = created - TICK_MS;
  return {
    ...live,
    clock: {
      now: () => now += TICK_MS,
      monotonic: () => live.clock.monotonic(),
      sleep: () => Promise.resolve(),
    },
    random: seededRandom(seed),
    fetch: () => Promise.reject(new TypeError("A played fixture opens no connection")),
    workspacePin: () => FIXTURE_WORKSPACE,
  };
}

/** Sends requests to an endpoint, and nowhere else. */
export function liveSend(ports: Ports, { baseUrl }: Pick<Endpoint, "baseUrl">): Send {
  return createLiveSend(ports, { ...liveTimeouts(ports), origin: baseUrl.origin });
}

/** A {@linkcode Send}, and the end of its connection. */
export interface LiveSend {
  readonly send: Send;
  close(): void;
}

/**
 * Sends the requests of a run over its transport, and records them; `onFallback` as in {@linkcode SocketSendOptions}.
 */
export async function transportSend(
  ports: Ports,
  { endpoint, transport }: Pick<ResolvedRun, "endpoint" | "transport">,
  { recording, onFallback }: {
    readonly recording: Pick<RunRecording, "over" | "overSocket"> | null;
    readonly onFallback: (message: string) => void;
  },
): Promise<LiveSend> {
  const plain = liveSend(ports, endpoint);
  const http = recording?.over(plain) ?? plain;
  const { socket } = apiOf(endpoint.provider);
  if (transport.value === "sse" || socket === null) return { send: http, close: () => {} };
  const { createSocketSend } = await import("../../run/socket_send.ts");
  const { origin } = endpoint.baseUrl;
  return createSocketSend({
    ...liveTimeouts(ports),
    origin,
    ports,
    api: socket,
    http,
    onFallback,
    ...(recording === null ? {} : { wrapSocket: recording.overSocket(socket) }),
  });
}

/**
 * Answers requests from a fixture: with the exchanges that mean the same, or with all of them in sequence.
 *
 * @throws {RepriseError} `bad_fixture` for match rules that cannot be used.
 */
export async function fixtureSend(
  call: ComparedCall,
  fixture: Fixture,
  { match = "semantic" }: FixtureFlags,
): Promise<ReportingSend> {
  if (match === "sequence") {
    const { ports: { clock } } = call;
    return () => createPlayer(fixture.exchanges.map(playable), { clock });
  }
  const { comparedSend } = await import("./compared_send.ts");
  return await comparedSend(call, fixture, match);
}

/** Returns what a request needed to match, as a line. */
export function matchNote(
  { request, exchange, tier, rules }: Extract<MatchReport, { kind: "matched" }>,
): string {
  const outputs = tier === "conversation" ? " except for outputs of tools" : "";
  const named = rules.length === 0 ? "" : ` with match rules: ${rules.join(", ")}`;
  return `request ${request} matches exchange ${exchange}${outputs}${named}`;
}

/**
 * Refuses `--match` if no request is compared.
 *
 * @throws {RepriseError} `usage`
 */
export function requireComparison({ fixture, match }: FixtureFlags): void {
  if (fixture !== undefined || match === undefined) return;
  throw new RepriseError("usage", "Cannot use --match without --fixture: no request is compared", {
    hint: "Add --fixture DIR, or leave it out",
  });
}

/** A small generator of numbers in [0, 1) from a 32-bit seed (splitmix32). */
function seededRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = state ^ (state >>> 16);
    mixed = Math.imul(mixed, 0x21f0aaad);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0x735a2d97);
    mixed ^= mixed >>> 15;
    return (mixed >>> 0) / 2 ** 32;
  };
}

/** Seconds until a server must have begun to answer. */
const RESPONSE_TIMEOUT = 120;
/** Seconds of silence inside a stream: long reasoning is silent. */
const IDLE_TIMEOUT = 300;
/** Most bytes of one decoded response body. */
const MAX_BODY_BYTES = 2 ** 30;

/** The limits of the live transport; `REPRISE_RESPONSE_TIMEOUT` and `REPRISE_IDLE_TIMEOUT` are in seconds. */
export function liveTimeouts(ports: Ports) {
  return {
    responseTimeoutMs: seconds(ports, "REPRISE_RESPONSE_TIMEOUT", RESPONSE_TIMEOUT) * 1000,
    idleTimeoutMs: seconds(ports, "REPRISE_IDLE_TIMEOUT", IDLE_TIMEOUT) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

function seconds(ports: Ports, variable: string, otherwise: number): number {
  const text = ports.env(variable) ?? "";
  if (text === "") return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 86_400) return value;
  throw new RepriseError(
    "bad_configuration",
    `Cannot use ${variable}=${text}: it is not a number of seconds up to 86400`,
    { hint: `Unset it (the default is ${otherwise}), or give a number above 0` },
  );
}
