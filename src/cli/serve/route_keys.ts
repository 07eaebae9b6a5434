/** Keys of the APIs that `record` forwards to, from its own environment. */
import { RepriseError } from "../../domain/errors.ts";
import type { ProviderKind } from "../../domain/fingerprint.ts";
import { keysOf, KNOWN_UPSTREAMS, type UpstreamKey, urlInVariable } from "../../apis/known_upstreams.ts";
import { PROVIDERS } from "../../apis/providers.ts";
import { DUMMY_KEY } from "./wrapped_command.ts";
import type { ForeignKey, OwnKey, RecordRoute, RouteKeys } from "../../fixture/record/route_keys.ts";
import { SHORTEST_SECRET } from "../../fixture/secrets/shortest_secret.ts";
import type { Ports } from "../../domain/ports.ts";
import { readKey } from "../environment.ts";
import type { RecordFlags } from "./command.ts";
import { parseEnvFlags, recordRoutes, type RouteOptions, type Routes } from "./record_routes.ts";

/** Fewest characters of a token: it protects keys that cost money, and must not occur in a request by chance. */
const SHORTEST_TOKEN = 16;

/** Reads a variable; `undefined` if it is unset. */
type ReadVariable = (name: string) => string | undefined;

/** Facts that decide which key belongs to which route. */
export interface KeyFacts {
  readonly env: ReadVariable;
  /** Provider that the user named; it decides for an upstream that no variable leads to. */
  readonly provider: ProviderKind | undefined;
  readonly token: string | undefined;
}

/**
 * Refuses a token that clients cannot send, or that could be guessed or occur by chance.
 *
 * @throws {RepriseError} `usage`.
 */
function requireUsableToken(token: string | undefined): void {
  if (token === undefined || token.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(token)) return;
  throw new RepriseError(
    "usage",
    `Cannot use --token: it needs ${SHORTEST_TOKEN} or more ASCII characters, without spaces`,
    { hint: 'Generate one for each recording: --token "$(openssl rand -hex 16)"' },
  );
}

/** Returns the routes with the keys that each upstream gets, and those that it must not get. */
function withKeys(routes: readonly RecordRoute[], facts: KeyFacts): readonly RecordRoute[] {
  const homes = homesOf(routes, facts.env);
  return routes.map((target): RecordRoute => {
    const { route, upstream: { origin } } = target;
    const own = ownKeys(target, facts).flatMap(({ variable, header }): OwnKey[] => {
      const value = facts.env(variable) ?? "";
      return value === "" ? [] : [{ variable, value, header }];
    });
    const mine = new Set([
      ...own.map(({ value }) => value),
      ...homes.filter(({ origins }) => origins.has(origin)).map(({ value }) => value),
    ]);
    // A server of any client has one upstream, which the user named.
    const foreign = route === null ? [] : homes.filter(({ value }) => !mine.has(value) && isTelling(value))
      .map(({ variable, value, origins }): ForeignKey => ({
        variable,
        value,
        home: [...origins][0] ?? null,
      }));
    const dummy = {
      value: DUMMY_KEY,
      variables: ownKeys(target, facts).map(({ variable }) => variable),
      home: origin,
    };
    const keys: RouteKeys = { foreign, token: facts.token ?? null, own: own[0] ?? null, dummy };
    return { ...target, keys };
  });
}

/** Returns the variables of a wrapped command that hold the token instead of a key. */
export function tokenVariables(
  routes: readonly RecordRoute[],
  { env, token }: Pick<KeyFacts, "env" | "token">,
): Record<string, string> {
  if (token === undefined) return {};
  const names = routes.flatMap(({ route }) => {
    const keys = route === null ? [] : keysOf(route.variable);
    const set = keys.filter(({ variable }) => (env(variable) ?? "") !== "");
    return (set.length === 0 ? keys.slice(0, 1) : set).map(({ variable }) => variable);
  });
  return Object.fromEntries(names.map((name) => [name, token]));
}

/** Names the upstreams that requests reach without a key; `null` if each has one, and without a token. */
function keylessNote(routes: readonly RecordRoute[]): string | null {
  const without = routes.filter(({ keys }) => keys !== undefined && keys.token !== null && keys.own === null)
    .map(({ upstream: { origin } }) => origin);
  if (without.length === 0) return null;
  return `no key is set for ${without.join(", ")}: requests go there without a key ` +
    "(set its variable, or name the provider with -p)";
}

/** Key in the environment, and the origins of the servers that it belongs to. */
interface KeyHome {
  readonly variable: string;
  readonly value: string;
  readonly origins: ReadonlySet<string>;
}

function homesOf(routes: readonly RecordRoute[], env: ReadVariable): readonly KeyHome[] {
  const origins = new Map<string, Set<string>>();
  const add = (keys: readonly UpstreamKey[], url: string | null) => {
    const origin = URL.parse(url ?? "")?.origin;
    for (const { variable } of keys) {
      const known = origins.get(variable) ?? new Set();
      origins.set(variable, origin === undefined ? known : known.add(origin));
    }
  };
  for (const { route, upstream } of routes) {
    if (route !== null) add(keysOf(route.variable), upstream.origin);
  }
  for (const { variable, keys, defaultUrl } of KNOWN_UPSTREAMS) {
    add(keys, urlInVariable(variable, env(variable) ?? ""));
    add(keys, defaultUrl);
  }
  return [...origins].flatMap(([variable, found]) => {
    const value = env(variable) ?? "";
    return value === "" ? [] : [{ variable, value, origins: found }];
  });
}

function ownKeys(
  { route, upstream: { origin } }: RecordRoute,
  { env, provider }: KeyFacts,
): readonly UpstreamKey[] {
  if (route !== null) return keysOf(route.variable);
  const urlsOf = ({ variable, defaultUrl }: typeof KNOWN_UPSTREAMS[number]) => [
    urlInVariable(variable, env(variable) ?? ""),
    defaultUrl ?? "",
  ];
  const named = provider === undefined ? null : PROVIDERS[provider].keyVariables.map(({ name }) => name);
  return KNOWN_UPSTREAMS.find((row) =>
    named === null
      ? urlsOf(row).some((url) => URL.parse(url)?.origin === origin)
      : row.keys.some(({ variable }) => named.includes(variable))
  )?.keys ?? [];
}

/** False for a value that may occur by chance, such as `placeholder`. */
function isTelling(value: string): boolean {
  return value.length >= SHORTEST_SECRET && !/^[A-Za-z]{1,12}$/.test(value);
}

/** Routes with their keys. */
export interface PlannedRoutes extends Routes {
  /** Key variables of a wrapped command, which then hold the token. */
  readonly tokenVariables: Readonly<Record<string, string>>;
}

/**
 * Resolves the routes of a recorder, and the keys of each.
 *
 * @throws {RepriseError} as `recordRoutes` and `parseEnvFlags`; `usage` for a token that is too short.
 */
export async function planRoutes(
  ports: Pick<Ports, "env">,
  { upstream, provider, env: given, token }: Pick<RecordFlags, "upstream" | "provider" | "env" | "token">,
  options: Pick<RouteOptions, "wraps" | "recorded" | "lookup">,
): Promise<PlannedRoutes> {
  requireUsableToken(token);
  const added = parseEnvFlags(given);
  const planned = await recordRoutes(ports, upstream, { ...options, provider, added });
  const keyNames = new Set(added.flatMap(({ variable }) => keysOf(variable)).map(({ variable }) => variable));
  const env = (name: string) => ports.env(name) ?? (keyNames.has(name) ? readKey(name) : undefined);
  const routes = withKeys(planned.routes, { env, provider, token });
  const sendsNothing = options.lookup === null;
  const keyless = sendsNothing ? null : keylessNote(routes);
  return {
    ...planned,
    routes,
    notes: keyless === null ? planned.notes : [...planned.notes, keyless],
    tokenVariables: options.wraps ? tokenVariables(routes, { env, token }) : {},
  };
}
