/** Variables that lead the clients of a command, or of a process of tests, to our servers, and the keys that they start with. */
import {
  DUMMY_KEY,
  keysOf,
  KNOWN_UPSTREAMS,
  knownUpstream,
  UPSTREAM_VARIABLES,
} from "../../apis/known_upstreams.ts";
import { OWN_URL_VARIABLE, PROVIDERS } from "../../apis/providers.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Route } from "../../fixture/loopback/route.ts";
import { readKey } from "../environment.ts";

/** Variable that tells the program under test that its requests are answered from recordings: it is then `1`. */
export const REPLAY_VARIABLE = "REPRISE_REPLAY";

/** A route, and the origin of its server: `http://127.0.0.1:PORT`. */
export interface ServedRoute {
  readonly route: Route;
  readonly origin: string;
}

/**
 * The variables that would point clients of `serve` to real servers: those of every API without a route, and the
 * variable that overrides those of the routes.
 */
export function bypassingVariables(served: readonly ServedRoute[]): string[] {
  const routed = new Set(served.map(({ route }) => route.variable));
  const variables = [
    ...Object.values(PROVIDERS).flatMap(({ urlVariables }) => urlVariables),
    ...KNOWN_UPSTREAMS.map(({ variable }) => variable),
  ];
  return [OWN_URL_VARIABLE, ...new Set(variables.filter((name) => !routed.has(name)))];
}

/** The variables that point clients to the servers of these routes. */
export function clientEnvironment(served: readonly ServedRoute[]): Record<string, string> {
  return Object.fromEntries(served.map(({ route, origin }) => [route.variable, `${origin}${route.path}`]));
}

/**
 * Dummy keys for the variables that `serve` sets: all key variables that are set, so that no real key reaches the server,
 * and the first of each route, because clients refuse to start without a key.
 */
export function dummyKeys(
  { env }: Pick<Ports, "env">,
  served: readonly ServedRoute[],
  key: string,
): Record<string, string> {
  const known = [
    ...Object.values(PROVIDERS).flatMap(({ keyVariables }) => keyVariables.map(({ name }) => name)),
    ...UPSTREAM_VARIABLES.filter((name) => knownUpstream(name) === null),
    ...served.flatMap(({ route }) => keysOf(route.variable).map(({ variable }) => variable)),
  ];
  const set = known.filter((name) => (env(name) ?? readKey(name) ?? "") !== "");
  const first = served.flatMap(({ route }) => keysOf(route.variable)[0]?.variable ?? []);
  return Object.fromEntries([...first, ...set].map((name) => [name, key]));
}

/**
 * Names the key variables that are not set although requests need them: those of the recorded routes, or of all routes
 * if none of these has a key.
 */
export function unsetKeys(
  ports: Pick<Ports, "env">,
  served: readonly ServedRoute[],
  recorded: ReadonlySet<string>,
): readonly string[] {
  const needed = served.filter(({ route }) => recorded.has(route.variable));
  if (needed.length > 0) return Object.keys(missingKeys(ports, needed));
  const unset = Object.keys(missingKeys(ports, served));
  return unset.length < served.length ? [] : unset;
}

/** Dummy keys for the routes of `record --missing` that have no key: clients refuse to start without one. */
export function missingKeys(
  { env }: Pick<Ports, "env">,
  served: readonly ServedRoute[],
): Record<string, string> {
  const names = served.flatMap(({ route }) => {
    const all = keysOf(route.variable).map(({ variable }) => variable);
    return all.some((name) => (env(name) ?? readKey(name) ?? "") !== "") ? [] : all.slice(0, 1);
  });
  return Object.fromEntries(names.map((name) => [name, DUMMY_KEY]));
}
