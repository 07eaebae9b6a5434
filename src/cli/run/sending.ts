/** Ways to send the requests of a call: over the network with its timeouts, or to a played fixture. */
import { apiOf } from "../../apis/apis.ts";
import { RepriseError } from "../../domain/errors.ts";
import { defined } from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import { playable } from "../../fixture/exchange.ts";
import type { Send } from "../../transport/http.ts";
import { createLiveSend } from "../../transport/live.ts";
import { playInOrder } from "../../transport/player.ts";
import type { FixtureFlags } from "../flags.ts";
import type { MatchReport, ReportingSend } from "../../fixture/serve/replay_send.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ResolvedRun, SettingCall, SettingFlags } from "./resolve_run.ts";
import type { RunRecording } from "./run_recording.ts";
import { liveTimeouts } from "./run_settings.ts";

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
  const { SocketSender } = await import("../../run/socket_send.ts");
  return new SocketSender({
    ...liveTimeouts(ports),
    origin: endpoint.baseUrl.origin,
    ports,
    api: socket,
    http,
    onFallback,
    ...defined({ wrapSocket: recording?.overSocket(socket) }),
  });
}

/**
 * Answers requests from the fixture of a call: with the exchanges that mean the same, or with all of them in sequence.
 * `null` without a fixture.
 *
 * @throws {RepriseError} `bad_fixture` for match rules that cannot be used.
 */
export async function fixtureSend(
  { ports, root, fixture, flags: { match = "semantic" } }: SettingCall<SettingFlags & FixtureFlags>,
): Promise<ReportingSend | null> {
  if (fixture === null) return null;
  if (match === "sequence") return () => playInOrder(fixture.exchanges.map(playable), { clock: ports.clock });
  const { comparedSend } = await import("./compared_send.ts");
  return await comparedSend({ ...ports, workingDirectory: () => root }, fixture, match);
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
