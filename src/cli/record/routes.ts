/**
 * Destinations of the requests to `record`, and the key of each: the user's upstream, or the servers that the wrapped
 * command would use without `record`.
 */
import { RepriseError } from "../../domain/errors.ts";
import type { ProviderKind } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Route } from "../../fixture/loopback/route.ts";
import {
  type KeyHome,
  parseUpstream,
  type RecordRoute,
  requirePublicName,
  type RouteKeys,
  type Upstream,
} from "../../fixture/record/upstream.ts";
import { SHORTEST_SECRET } from "../../fixture/secrets/shortest_secret.ts";
import { apiOf } from "../../apis/apis.ts";
import {
  keysOf,
  KNOWN_UPSTREAMS,
  type KnownUpstream,
  knownUpstream,
  UPSTREAM_VARIABLES,
  type UpstreamKey,
  urlInVariable,
} from "../../apis/known_upstreams.ts";
import {
  CLIENT_ROUTES,
  clientPath,
  DEFAULT_PROVIDER,
  OWN_URL_VARIABLE,
  PROVIDERS,
} from "../../apis/providers.ts";
import { isRead, readKey } from "../environment.ts";
import type { RecordFlags } from "./command.ts";

/** Fewest characters of a token: it protects keys that cost money, and must not occur in a request by chance. */
const SHORTEST_TOKEN = 16;

export interface PlannedRoutes {
  readonly routes: readonly RecordRoute[];
  /** The URLs without parts that could be secret. */
  readonly upstreams: readonly string[];
  /** Facts for the user about variables that do not lead to the recorder, and about upstreams without a key. */
  readonly notes: readonly string[];
  /** Variables that a wrapped command must not see: its clients would read them before those of the routes. */
  readonly unset: readonly string[];
  /** Key variables of a wrapped command, which then hold the token. */
  readonly tokenVariables: Readonly<Record<string, string>>;
}

interface RouteOptions {
  readonly wraps: boolean;
  /**
   * False if no request is sent. Only then recorded base URLs replace those that the environment lacks: a fixture must never
   * decide where a key goes.
   */
  readonly sends: boolean;
  /** Base URLs of the fixtures that are played too, by variable. */
  readonly recorded: ReadonlyMap<string, string>;
}

/** Destination of the requests to a port. */
type Target = Omit<RecordRoute, "keys">;
/** Destination of the clients that a variable leads there. */
type NamedTarget = Target & { readonly route: Route & { readonly baseUrl: string } };
type Targets = Pick<PlannedRoutes, "upstreams" | "notes" | "unset"> & { readonly targets: readonly Target[] };

/** Variable that leads clients to an API. */
type AddedUpstream = Upstream & Pick<Route, "variable">;

/**
 * Resolves the routes of a recorder: that of `--upstream URL`; those of the variables of `--env`; for a wrapped command
 * without `--upstream` also those of OpenAI, Anthropic, and each known API with a base URL or a key in the environment.
 * Then it resolves the key that each upstream gets, and those that it must not get.
 *
 * @throws {RepriseError} `usage` for a token that is too short, without an upstream, with `--upstream` and `--env`, and if
 * `REPRISE_BASE_URL` routes a wrapped command elsewhere; `bad_url`, `insecure_url`.
 */
export async function planRoutes(
  ports: Pick<Ports, "env">,
  flags: Pick<RecordFlags, "upstream" | "provider" | "env" | "token">,
  options: RouteOptions,
): Promise<PlannedRoutes> {
  const { upstream, provider, token } = flags;
  const { wraps, sends } = options;
  requireUsableToken(token);
  const added = parseEnvFlags(flags.env);
  for (const base of added) await reached(base, options);
  if (upstream !== undefined && added.length > 0) throw twoWays();
  const { targets, ...others } = upstream === undefined
    ? await namedTargets(ports, added, options)
    : targetsAt(await reached(parseUpstream(upstream, { isLiteral: true }), options), wraps, provider);
  const keyNames = new Set(added.flatMap(({ variable }) => keysOf(variable)).map(({ variable }) => variable));
  const env = (name: string) => ports.env(name) ?? (keyNames.has(name) ? readKey(name) : undefined) ?? "";
  const homes = homesOf(targets, env);
  const routes = targets.map((target): RecordRoute => ({
    ...target,
    keys: routeKeys(target, { homes, provider, token, env }),
  }));
  const keyless = sends ? keylessNote(routes) : null;
  return {
    ...others,
    routes,
    notes: keyless === null ? others.notes : [...others.notes, keyless],
    tokenVariables: wraps && token !== undefined ? tokenVariables(targets, token, env) : {},
  };
}

/** Refuses a token that clients cannot send, or that could be guessed or occur by chance. */
function requireUsableToken(token: string | undefined): void {
  if (token === undefined || token.length >= SHORTEST_TOKEN && /^[\x21-\x7e]+$/.test(token)) return;
  throw new RepriseError(
    "usage",
    `Cannot use --token: it needs ${SHORTEST_TOKEN} or more ASCII characters, without spaces`,
    { hint: 'Generate one for each recording: --token "$(openssl rand -hex 16)"' },
  );
}

/** Names that POSIX shells can set. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Parses the values of `--env`. Throws `usage` for a name that is no variable, that has another use, or that is given twice. */
function parseEnvFlags(given: readonly string[] = []): readonly AddedUpstream[] {
  const seen = new Set<string>();
  return given.map((text) => {
    const at = text.indexOf("=");
    const variable = at === -1 ? text : text.slice(0, at);
    if (at === -1 || !NAME.test(variable)) {
      // The text may be a URL with a password.
      const named = NAME.test(variable) ? JSON.stringify(variable) : "the value";
      throw refused(`${named} is not NAME=URL`, "Give --env GROQ_BASE_URL=https://api.groq.com");
    }
    if (seen.has(variable)) {
      throw refused(
        `${variable} is given twice`,
        "A variable leads to one API: give another name or one URL",
      );
    }
    if (knownUpstream(variable) === null && (UPSTREAM_VARIABLES.includes(variable) || isRead(variable))) {
      throw refused(`${variable} does not lead clients to an API`, "Name the variable with the base URL");
    }
    seen.add(variable);
    return { variable, ...parseUpstream(text.slice(at + 1), { isLiteral: true }) };
  });
}

function refused(why: string, hint: string): RepriseError {
  return new RepriseError("usage", `Cannot use --env: ${why}`, { hint });
}

function twoWays(): RepriseError {
  return new RepriseError("usage", "Cannot record: --upstream and --env exclude each other", {
    hint: "Name every API with --env, such as --env OPENAI_BASE_URL=https://api.openai.com/v1",
  });
}

/**
 * Returns the targets of `--upstream`. With a command, only one API leads there, so that the key of the other vendor does
 * not: the API of `provider`, otherwise of the host, otherwise of the default provider. The base URLs for a command end in
 * the same path as those upstream, so that paths are forwarded and recorded unchanged.
 */
function targetsAt(base: Upstream, wraps: boolean, provider: ProviderKind | undefined): Targets {
  if (!wraps) return { targets: [{ ...base, route: null }], upstreams: [textOf(base)], notes: [], unset: [] };
  const { origin } = base;
  const prefix = base.prefix.replace(/\/v1$/, "");
  const vendor = CLIENT_ROUTES.map((route) => route.provider).find((provider) =>
    URL.parse(PROVIDERS[provider].defaultUrl ?? "")?.origin === origin
  );
  const api = apiOf(provider ?? vendor ?? DEFAULT_PROVIDER);
  return {
    targets: CLIENT_ROUTES.filter((route) => apiOf(route.provider) === api)
      .map((route) => targetOf(route, { origin, prefix: `${prefix}${route.path}` })),
    upstreams: [`${origin}${prefix}`],
    notes: [],
    unset: [],
  };
}

async function namedTargets(
  ports: Pick<Ports, "env">,
  added: readonly AddedUpstream[],
  options: RouteOptions,
): Promise<Targets> {
  const { wraps } = options;
  if (!wraps && added.length === 0) {
    throw new RepriseError("usage", "Cannot record: no upstream is given", {
      hint: "Give --upstream URL, or the command to record: reprise record --out DIR -- CMD",
    });
  }
  const { known, notes } = wraps ? await knownTargets(ports, added, options) : { known: [], notes: [] };
  const targets = [
    ...known,
    ...added.map(({ variable, ...base }) =>
      targetOf({ variable, provider: knownUpstream(variable)?.provider ?? null }, base)
    ),
  ];
  if (wraps) requireNoWayPast(ports, targets.map(({ route }) => route));
  const open = targets.map(({ route }) => route.variable);
  return {
    targets,
    upstreams: targets.map(({ route }) => route.baseUrl),
    notes,
    unset: !wraps ? [] : open.flatMap((variable) => {
      const hiddenBy = knownUpstream(variable)?.hiddenBy;
      return hiddenBy === undefined || open.includes(hiddenBy) ? [] : [hiddenBy];
    }),
  };
}

/** Returns the targets of the known APIs that a wrapped command may use, except those that `--env` replaces. */
async function knownTargets(
  ports: Pick<Ports, "env">,
  added: readonly AddedUpstream[],
  options: RouteOptions,
): Promise<{ readonly known: readonly NamedTarget[]; readonly notes: readonly string[] }> {
  const { recorded, sends } = options;
  const notes: string[] = [];
  const isSet = (variable: string) => (ports.env(variable) ?? "") !== "";
  const open = KNOWN_UPSTREAMS.filter(({ variable, defaultUrl, keys, opens }) => {
    if (added.some((one) => one.variable === variable)) return false;
    if (opens === "always" || isSet(variable)) return true;
    if (recorded.has(variable) && (defaultUrl !== null || !sends)) return true;
    return opens === "key" && defaultUrl !== null && keys.some((key) => isSet(key.variable));
  });
  const used = open.filter(({ variable, keys }) => {
    const hides = [...open, ...added].some((other) => knownUpstream(other.variable)?.hiddenBy === variable);
    const isUsed = isSet(variable) || recorded.has(variable) || keys.some((key) => isSet(key.variable));
    if (hides && isUsed) notes.push(hidingNote(variable));
    return !hides || isUsed;
  });
  const known: NamedTarget[] = [];
  for (const row of used) {
    try {
      known.push(targetOf({ provider: null, ...row }, await baseOf(ports, row, options)));
    } catch (error) {
      // A variable for another program must not stop a recording that does not need it.
      if (row.opens === "always" || !(error instanceof RepriseError)) throw error;
      notes.push(`requests of ${row.variable} are not recorded: ${error.message}`);
    }
  }
  return { known, notes };
}

function hidingNote(variable: string): string {
  const hidden = KNOWN_UPSTREAMS.filter(({ hiddenBy }) => hiddenBy === variable)
    .map((row) => row.variable).join(", ");
  return `${variable} is set for the command: clients that read it before ${hidden} need their base URL in code`;
}

async function baseOf(
  ports: Pick<Ports, "env">,
  { variable, provider, defaultUrl }: KnownUpstream,
  options: RouteOptions,
): Promise<Upstream> {
  const set = ports.env(variable) ?? "";
  const usual = (options.sends ? undefined : options.recorded.get(variable)) ?? defaultUrl ?? "";
  const { origin, prefix } = set === ""
    ? parseUpstream(usual, { isLiteral: false })
    : await reached(parseUpstream(urlInVariable(variable, set), { isLiteral: false }), options);
  return { origin, prefix: provider === undefined ? prefix : clientPath(provider, prefix) };
}

/** Returns an upstream, after a look at its addresses if requests are sent there. */
async function reached(upstream: Upstream, { sends }: Pick<RouteOptions, "sends">): Promise<Upstream> {
  if (sends) await requirePublicName(upstream);
  return upstream;
}

/** Returns the target at a base URL. It checks the origin of a request, not its path. */
function targetOf({ variable, provider }: Pick<Route, "variable" | "provider">, base: Upstream): NamedTarget {
  const route = { variable, provider, path: base.prefix, baseUrl: textOf(base) };
  return { origin: base.origin, prefix: "", route };
}

function textOf({ origin, prefix }: Upstream): string {
  return `${origin}${prefix}`;
}

/** Refuses a base URL that overrides those of the usual routes and differs from them: its API and key are unknown here. */
function requireNoWayPast({ env }: Pick<Ports, "env">, routes: readonly NamedTarget["route"][]): void {
  const url = env(OWN_URL_VARIABLE) ?? "";
  const endpointOf = (text: string) => URL.parse(text)?.href.replace(/\/+$/, "").replace(/\/v1$/, "");
  const endpoint = endpointOf(url);
  const isUsual = (route: Route) => CLIENT_ROUTES.some(({ variable }) => variable === route.variable);
  const leads = (route: NamedTarget["route"]) => isUsual(route) && endpointOf(route.baseUrl) === endpoint;
  if (url === "" || endpoint !== undefined && routes.some(leads)) return;
  throw new RepriseError("usage", `Cannot record: ${OWN_URL_VARIABLE} makes requests bypass the recorder`, {
    hint: `Unset it, or give its URL to --upstream`,
  });
}

/** Returns the value of a variable; `""` if it is unset. */
type ReadVariable = (name: string) => string;

/** Returns the keys in the environment, each with the origins of the servers that it belongs to. */
function homesOf(targets: readonly Target[], env: ReadVariable): readonly KeyHome[] {
  const origins = new Map<string, Set<string>>();
  const add = (keys: readonly UpstreamKey[], url: string | null) => {
    const origin = URL.parse(url ?? "")?.origin;
    for (const { variable } of keys) {
      const known = origins.get(variable) ?? new Set();
      origins.set(variable, origin === undefined ? known : known.add(origin));
    }
  };
  for (const { route, origin } of targets) if (route !== null) add(keysOf(route.variable), origin);
  for (const { variable, keys, defaultUrl } of KNOWN_UPSTREAMS) {
    add(keys, urlInVariable(variable, env(variable)));
    add(keys, defaultUrl);
  }
  return [...origins].map(([variable, origins]) => ({ variable, value: env(variable), origins }))
    .filter(({ value }) => value !== "");
}

function routeKeys(
  target: Target,
  { homes, token, ...facts }: {
    readonly homes: readonly KeyHome[];
    readonly env: ReadVariable;
    readonly provider: ProviderKind | undefined;
    readonly token: string | undefined;
  },
): RouteKeys {
  const own = ownKeys(target, facts);
  const values = own.map(({ variable, header }) => ({ header, value: facts.env(variable) }))
    .filter(({ value }) => value !== "");
  const isMine = ({ value, origins }: KeyHome) =>
    origins.has(target.origin) || values.some((key) => key.value === value);
  const mine = new Set(homes.filter(isMine).map(({ value }) => value));
  return {
    // A server of any client has one upstream, which the user named.
    foreign: target.route === null ? [] : homes.filter(({ value }) => !mine.has(value) && isTelling(value)),
    token: token ?? null,
    own: values[0] ?? null,
    variables: own.map(({ variable }) => variable),
  };
}

/** Returns the keys of a target's API. For an upstream that no variable leads to, `provider` decides, or its origin. */
function ownKeys(
  { route, origin }: Target,
  { env, provider }: { readonly env: ReadVariable; readonly provider: ProviderKind | undefined },
): readonly UpstreamKey[] {
  if (route !== null) return keysOf(route.variable);
  const named = provider === undefined ? null : PROVIDERS[provider].keyVariables.map(({ name }) => name);
  return KNOWN_UPSTREAMS.find(({ variable, defaultUrl, keys }) =>
    named === null
      ? [urlInVariable(variable, env(variable)), defaultUrl ?? ""]
        .some((url) => URL.parse(url)?.origin === origin)
      : keys.some(({ variable }) => named.includes(variable))
  )?.keys ?? [];
}

/** False for a value that may occur by chance, such as `placeholder`. */
function isTelling(value: string): boolean {
  return value.length >= SHORTEST_SECRET && !/^[A-Za-z]{1,12}$/.test(value);
}

/** Names the upstreams that requests reach without a key; `null` if each has one, and without a token. */
function keylessNote(routes: readonly RecordRoute[]): string | null {
  const keyless = routes.filter(({ keys }) => keys.token !== null && keys.own === null);
  if (keyless.length === 0) return null;
  return `no key is set for ${
    keyless.map(({ origin }) => origin).join(", ")
  }: requests go there without a key ` +
    "(set its variable, or name the provider with -p)";
}

/** Returns the variables of a wrapped command that hold the token instead of a key. */
function tokenVariables(
  targets: readonly Target[],
  token: string,
  env: ReadVariable,
): Record<string, string> {
  const names = targets.flatMap(({ route }) => {
    const keys = route === null ? [] : keysOf(route.variable).map(({ variable }) => variable);
    const set = keys.filter((variable) => env(variable) !== "");
    return set.length === 0 ? keys.slice(0, 1) : set;
  });
  return Object.fromEntries(names.map((name) => [name, token]));
}
