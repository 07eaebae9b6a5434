/**
 * `serve --suite` without a folder: the gateway that a process of tests starts before any client exists. Its environment
 * leads the clients of every known API to it.
 */
import { DUMMY_KEY, KNOWN_UPSTREAMS, knownUpstream, urlInVariable } from "../../apis/known_upstreams.ts";
import { CLIENT_ROUTES } from "../../apis/providers.ts";
import { RepriseError } from "../../domain/errors.ts";
import { isLoopback } from "../../domain/fingerprint.ts";
import { parsedObject } from "../../domain/json.ts";
import type { Route } from "../../fixture/loopback/route.ts";
import { Gateway } from "../../fixture/serve/gateway.ts";
import { basePath } from "../../fixture/upstreams.ts";
import { loopbackDirect } from "../../transport/proxy.ts";
import { readVariable, setVariables } from "../environment.ts";
import type { ProgramPorts } from "../live_ports.ts";
import type { Output } from "../output.ts";
import { refusedLine } from "./event_view.ts";
import { type EventFlags, type ServerPlan, ServerRun } from "./server_run.ts";
import { NO_RECORDING, TestEvents, testReport } from "./test_process.ts";
import {
  bypassingVariables,
  clientEnvironment,
  dummyKeys,
  missingKeys,
  REPLAY_VARIABLE,
  type ServedRoute,
} from "./client_environment.ts";

/** Values of `REPRISE_RECORD`, by which a process of tests records or plays; unset, it plays. */
const MODES = ["new", "missing", "all", "prune"];
/** Those that may send requests to APIs. */
const RECORDING_MODES = MODES.slice(0, 3);

/**
 * Variable with the values that a gateway replaced, for the recorders and gateways below it: an object with the value of
 * the gateway and the one before, by variable. A replay has none, and so no real key.
 */
const BEFORE_VARIABLE = "REPRISE_BEFORE";

/** Runs the gateway until stdin ends. */
export async function gatewayVerb(
  ports: ProgramPorts,
  { plan, output, flags }: {
    readonly plan: ServerPlan;
    readonly output: Output;
    readonly flags: EventFlags;
  },
): Promise<number> {
  const mode = ports.env("REPRISE_RECORD") ?? "";
  if (mode !== "" && !MODES.includes(mode)) {
    throw new RepriseError("usage", `Cannot use REPRISE_RECORD=${JSON.stringify(mode)}`, {
      hint: `It is one of ${MODES.join(", ")}, or not set`,
    });
  }
  restoreVariables(ports);
  using run = new ServerRun<"serve-event">(ports, plan, { output, flags });
  const tests = new TestEvents();
  const strays: string[] = [];
  const gateway = new Gateway({
    ports,
    routes: knownRoutes(ports),
    onRefused(event, request) {
      if (event.test !== undefined) return tests.add(event);
      output.note(refusedLine(event));
      if (strays.length < MAX_STRAYS) strays.push(requestLine(request));
    },
  });
  const environment = environmentOf(ports, gateway, RECORDING_MODES.includes(mode));
  return await run.untilEnd(gateway, {
    onReady(base) {
      const ready = { ...base, environment, upstreams: knownBaseUrls(ports, gateway) };
      run.events.write(ready);
      if (!run.events.onStdout) output.json<"serve-event">(ready);
    },
    begin: (test, environment) => gateway.begin(test, environment),
    strays: () => strays.splice(0),
    end(request) {
      gateway.end(request.test);
      const counts = tests.take(request.test);
      return Promise.resolve(
        testReport({ ...request, allowUnused: true }, counts, NO_RECORDING),
      );
    },
    environment: {},
    unset: [],
  });
}

/** Most requests without a test that are listed. */
const MAX_STRAYS = 100;

/** Request as messages name it. */
function requestLine(request: Pick<Request, "method" | "url"> | null): string {
  const url = request === null ? null : URL.parse(request.url);
  return request === null || url === null
    ? "a request that cannot be read"
    : `${request.method} ${url.pathname}`;
}

/**
 * Returns the base URLs of the APIs of the gateway, for helpers that lead requests there: those that the variables of this
 * process name, and the usual ones of other machines.
 */
function knownBaseUrls(
  { env }: Pick<ProgramPorts, "env">,
  { servers }: Gateway,
): { readonly variable: string; readonly url: string }[] {
  return servers.flatMap(({ route }) => {
    const variable = route?.variable ?? "";
    const usual = URL.parse(knownUpstream(variable)?.defaultUrl ?? "");
    const urls = [
      URL.parse(urlInVariable(variable, env(variable) ?? "")),
      usual !== null && isLoopback(usual) ? null : usual,
    ];
    return urls.flatMap((url) => url === null ? [] : [{ variable, url: url.href }]);
  });
}

/** Restores the variables of this process that a gateway replaced. */
export function restoreVariables({ env }: Pick<ProgramPorts, "env">): void {
  const before = parsedObject(env(BEFORE_VARIABLE) ?? "") ?? {};
  for (const [name, values] of Object.entries(before)) {
    if (!Array.isArray(values) || values[0] !== env(name)) continue;
    setVariables({ [name]: String(values[1]) });
  }
}

/** Returns the variables that lead all clients of a process of tests to the gateway. */
function environmentOf(ports: ProgramPorts, { servers }: Gateway, records: boolean): Record<string, string> {
  const served = servers.map(({ route, origin }): ServedRoute => ({ route: route as Route, origin }));
  // Clients of these do not start without a key.
  const usual = served.filter(({ route }) =>
    CLIENT_ROUTES.some(({ variable }) => variable === route.variable)
  );
  const replaced = {
    ...clientEnvironment(served),
    ...Object.fromEntries(bypassingVariables(served).map((name) => [name, ""])),
    ...(records ? missingKeys(ports, usual) : dummyKeys(ports, usual, DUMMY_KEY)),
  };
  const before = Object.entries(replaced).map(([name, ours]) => [name, [ours, ports.env(name) ?? ""]]);
  return {
    ...replaced,
    ...loopbackDirect(readVariable),
    ...(records
      ? { [BEFORE_VARIABLE]: JSON.stringify(Object.fromEntries(before)) }
      : { [REPLAY_VARIABLE]: "1" }),
  };
}

/** Routes of all known APIs; without a variable that hides the one in use from its clients, and is not in use itself. */
function knownRoutes({ env }: Pick<ProgramPorts, "env">): Route[] {
  const isUsed = ({ variable, keys }: typeof KNOWN_UPSTREAMS[number]) =>
    [variable, ...keys.map((key) => key.variable)].some((name) => (env(name) ?? "") !== "");
  return KNOWN_UPSTREAMS.flatMap((row): Route[] => {
    const hides = KNOWN_UPSTREAMS.some((other) => other.hiddenBy === row.variable && isUsed(other));
    if (hides && !isUsed(row)) return [];
    const { variable, provider = null, defaultUrl } = row;
    return [{ variable, provider, path: basePath(defaultUrl ?? ""), baseUrl: null }];
  });
}
