/** Runs the command once, against a server of its own, and keeps what the server sees. */
import { DUMMY_KEY } from "../../apis/known_upstreams.ts";
import { sha256Hex } from "../../domain/hash.ts";
import type { JsonValue } from "../../domain/json.ts";
import { parseShallow } from "../../domain/json_depth.ts";
import type { AnsweredEvent, ServeEvent } from "../../fixture/event.ts";
import { TestFaults } from "../../fixture/faults/plan.ts";
import type { ServedRequest } from "../../fixture/serve/answer.ts";
import { ReplayServers } from "../../fixture/serve/server.ts";
import { openSuite } from "../../fixture/serve/suite.ts";
import { recordedRoutes } from "../../fixture/upstreams.ts";
import { runCommand } from "../../tools/shell/run_command.ts";
import { loopbackDirect } from "../../transport/proxy.ts";
import { allVariables, readVariable } from "../environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import { representing } from "../run/endpoint.ts";
import {
  bypassingVariables,
  clientEnvironment,
  dummyKeys,
  REPLAY_VARIABLE,
  type ServedRoute,
} from "../serve/client_environment.ts";
import { replayerFactory } from "../serve/replayer_factory.ts";
import type { ServedFixture } from "../serve/served_fixtures.ts";
import { notStarted } from "../serve/server_run.ts";
import type { CertifyFlags } from "./command.ts";
import { openPlace, type Place } from "./place.ts";

/** A request as the server saw it; times in milliseconds since the command started. */
export interface ObservedRequest {
  /** Equal for the tries of one request. */
  readonly key: string;
  readonly json: JsonValue | undefined;
  readonly atMs: number;
  /** Exchange that it got; `null` for none. */
  readonly exchange: number | null;
  /** Fault of its answer, as written in `--fault`; `null` for none. */
  readonly fault: string | null;
  /** Why no recording answered it; `null` if one did. */
  readonly problem: string | null;
  /** Way in which it continued a broken answer; `null` for none. */
  readonly after: string | null;
  /** Last byte of its answer. */
  lastMs: number;
  /** End of its answer, by the server or the client; `null` while it lasts. */
  endMs: number | null;
  /** True if the client closed the connection before that. */
  hungUp: boolean;
}

/** One run of the command. */
export interface Run {
  readonly requests: readonly ObservedRequest[];
  /** `null` while it runs, and if it was left. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** New content of the answer's file; empty for none. */
  readonly answer: string;
  /** Lines that it added to the file of its effects. */
  readonly effects: number;
  readonly ms: number;
}

/** The command, and how it is served. */
export interface CertifySetup {
  readonly ports: ProgramPorts;
  readonly fixture: ServedFixture;
  readonly command: readonly string[];
  readonly flags: CertifyFlags;
  /** Ends the command early. */
  readonly signal: AbortSignal;
}

const LOOK_MS = 100;
/** Kept of each stream, in characters. */
const KEPT = 4_000_000;
const LEFT = new Error("The verdict is fixed");

/**
 * Runs the command to its end, or until `isOver`, which is asked at each request and ten times a second. `fault` is a line of
 * `--fault`; `null` for none.
 *
 * @throws The reason of `signal`; the system's error if the command cannot be started.
 */
export async function runOnce(
  setup: CertifySetup,
  fault: string | null,
  isOver: (run: Run, nowMs: number) => boolean,
): Promise<Run> {
  const { ports, fixture, command, flags, signal } = setup;
  using place = openPlace(ports, flags);
  const here: ProgramPorts = {
    ...ports,
    env: (name) => name in place.variables ? place.variables[name] : ports.env(name),
    workingDirectory: () => place.directory,
  };
  const suite = await openSuite({
    files: ports.files,
    fixtures: [fixture],
    folders: [],
    createReplayer: await replayerFactory(here, {
      flags: fault === null ? flags : { ...flags, repeat: true },
      output: null,
    }),
  });
  const began = ports.clock.monotonic();
  const now = () => ports.clock.monotonic() - began;
  const seen = observed(now);
  const texts = ["", ""];
  const left = new AbortController();
  const run = (code: number | null): Run => ({
    requests: seen.requests,
    code,
    stdout: texts[0] ?? "",
    stderr: texts[1] ?? "",
    ...(code === null ? { answer: "", effects: 0 } : place.results()),
    ms: now(),
  });
  const look = () => {
    if (isOver(run(null), now())) left.abort(LEFT);
  };
  const { routes } = recordedRoutes([fixture]);
  const servers = new ReplayServers({
    suite,
    pace: Infinity,
    faults: fault === null ? null : new TestFaults([fault]),
    clock: ports.clock,
    port: 0,
    afterFault: true,
    onRequest: seen.onRequest,
    onAnswered: seen.onAnswered,
    onEvent(event) {
      seen.onEvent(event);
      look();
    },
  }, routes);
  const timer = setInterval(look, LOOK_MS);
  try {
    const served = servers.servers.flatMap(({ route, origin }) => route === null ? [] : [{ route, origin }]);
    const decoders = texts.map(() => new TextDecoder());
    const { end } = await runCommand(command, {
      directory: place.directory,
      env: commandEnvironment(ports, served, place),
      timeoutMs: 2 ** 31 - 1,
      signal: AbortSignal.any([signal, left.signal]),
      onOutput(stream, chunk) {
        const text = decoders[stream]?.decode(chunk, { stream: true }) ?? "";
        texts[stream] = `${texts[stream]}${text}`.slice(-KEPT);
      },
    });
    return run(end.kind === "exited" ? end.code : 1);
  } catch (error) {
    const isUnknown = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied;
    if (isUnknown) throw notStarted(command[0] ?? "", error);
    if (error !== LEFT) throw error;
    return run(null);
  } finally {
    clearInterval(timer);
    await servers.stop();
  }
}

/** Variables of the command: its clients are led to the servers, with keys that no API takes. */
function commandEnvironment(
  ports: ProgramPorts,
  served: readonly ServedRoute[],
  place: Place,
): Record<string, string> {
  const env: Record<string, string> = {
    ...allVariables(),
    ...loopbackDirect(readVariable),
    ...clientEnvironment(served),
    ...representing(ports, served),
    ...dummyKeys(ports, served, DUMMY_KEY),
    ...place.variables,
    [REPLAY_VARIABLE]: "1",
  };
  for (const name of [...bypassingVariables(served), ...place.without]) delete env[name];
  return env;
}

/** Collects requests from the events about them. */
function observed(now: () => number) {
  const requests: ObservedRequest[] = [];
  const arrived = new Map<number, Pick<ObservedRequest, "json" | "key" | "atMs">>();
  const answering = new Map<number, ObservedRequest>();
  return {
    requests,
    onRequest({ number, method, path, body }: ServedRequest): void {
      const json = parseShallow(body)?.json;
      arrived.set(number, { json, key: `${method} ${path} ${sha256Hex(body)}`, atMs: now() });
    },
    onEvent(event: ServeEvent): void {
      const isMissed = event.type === "miss" || event.type === "refused";
      if (!isMissed && event.type !== "played" && event.type !== "faulted") return;
      const asked = arrived.get(event.request);
      if (asked === undefined) return;
      arrived.delete(event.request);
      const exchange = "number" in event ? event.number ?? null : null;
      const request: ObservedRequest = {
        ...asked,
        key: exchange === null ? asked.key : `exchange ${exchange}`,
        exchange,
        fault: "fault" in event ? event.fault ?? null : null,
        problem: isMissed ? event.message : null,
        after: "after_fault" in event ? event.after_fault ?? null : null,
        lastMs: now(),
        endMs: null,
        hungUp: false,
      };
      requests.push(request);
      answering.set(event.request, request);
    },
    onAnswered({ request: number, at_ms, last_byte_at_ms, hung_up }: AnsweredEvent): void {
      const request = answering.get(number);
      if (request === undefined) return;
      request.lastMs = request.atMs + ((last_byte_at_ms ?? at_ms) - at_ms);
      request.endMs = now();
      request.hungUp = hung_up === true;
    },
  };
}
