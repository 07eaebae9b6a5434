/**
 * Destinations of the requests to `record`: the user's upstream, or the servers that the wrapped command would use
 * without `record`.
 */
import { lookup as lookUpName } from "node:dns/promises";
import { RepriseError } from "../../domain/errors.ts";
import type { ProviderKind } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Route } from "../../fixture/loopback/route.ts";
import type { RecordRoute } from "../../fixture/record/route_keys.ts";
import {
  type Lookup,
  parseUpstream,
  requirePublicName,
  type Upstream,
} from "../../fixture/record/upstream.ts";
import { apiOf } from "../../apis/apis.ts";
import {
  KNOWN_UPSTREAMS,
  type KnownUpstream,
  knownUpstream,
  UPSTREAM_VARIABLES,
  urlInVariable,
} from "../../apis/known_upstreams.ts";
import {
  CLIENT_ROUTES,
  clientPath,
  DEFAULT_PROVIDER,
  OWN_URL_VARIABLE,
  PROVIDERS,
} from "../../apis/providers.ts";
import { isRead } from "../environment.ts";

/** Timeout of a DNS lookup, in milliseconds; a name that takes longer is accepted. */
const LOOKUP_MS = 3000;

/** Routes of requests, for the recorder and for people. */
export interface Routes {
  readonly routes: readonly RecordRoute[];
  /** The URLs without parts that could be secret. */
  readonly upstreams: readonly string[];
  /** Facts for the user about variables that do not lead to the recorder. */
  readonly notes: readonly string[];
  /** Variables that a wrapped command must not see: its clients would read them before those of the routes. */
  readonly unset: readonly string[];
}

/** Inputs of {@linkcode recordRoutes} besides `--upstream`. */
export interface RouteOptions {
  readonly wraps: boolean;
  readonly provider?: ProviderKind | undefined;
  readonly added?: readonly AddedUpstream[] | undefined;
  /** Base URLs of the fixtures that are played too, by variable. @default {none} */
  readonly recorded?: ReadonlyMap<string, string> | undefined;
  /**
   * Looks up the names of upstreams; `null` if nothing is sent to them. Recorded base URLs then replace those that the
   * environment lacks: a fixture must never decide where a key goes.
   *
   * @default {the system's lookup}
   */
  readonly lookup?: Lookup | null | undefined;
}

/**
 * The routes of `--upstream URL`; of the variables of `--env`; of a wrapped command without `--upstream` also those of
 * OpenAI, Anthropic, and each known API with a base URL or a key in the environment. With `--upstream` and a command,
 * only one API is routed to the upstream, so that the key of the other vendor does not go there: the API of `provider`,
 * otherwise of the host, otherwise of the default provider. The base URLs for a command end in the same path as those
 * upstream, so that paths are forwarded and recorded unchanged.
 *
 * @throws {RepriseError} `usage` without an upstream, with `--upstream` and `--env`, and if `REPRISE_BASE_URL` routes a
 * wrapped command elsewhere; `bad_url`, `insecure_url`.
 */
export async function recordRoutes(
  ports: Pick<Ports, "env">,
  upstream: string | undefined,
  { wraps, provider, added = [], recorded = new Map(), lookup = addressesOf }: RouteOptions,
): Promise<Routes> {
  for (const { upstream } of added) await checked(upstream, lookup);
  if (upstream !== undefined) {
    if (added.length > 0) throw twoWays();
    const given = await checked(parseUpstream(upstream, { isLiteral: true }), lookup);
    if (!wraps) {
      return { routes: [{ upstream: given, route: null }], upstreams: [textOf(given)], notes: [], unset: [] };
    }
    const { origin } = given;
    const prefix = given.prefix.replace(/\/v1$/, "");
    const api = apiOf(provider ?? vendorAt(origin) ?? DEFAULT_PROVIDER);
    const usual = CLIENT_ROUTES.filter((route) => apiOf(route.provider) === api);
    return {
      routes: usual.map((one) => routeTo(one, { origin, prefix: `${prefix}${one.path}` })),
      upstreams: [`${origin}${prefix}`],
      notes: [],
      unset: [],
    };
  }
  if (!wraps && added.length === 0) {
    throw new RepriseError("usage", "Cannot record: no upstream is given", {
      hint: "Give --upstream URL, or the command to record: reprise record --out DIR -- CMD",
    });
  }
  const { rows, notes } = wraps
    ? await knownRoutes(ports, { added, recorded, lookup })
    : { rows: [], notes: [] };
  const named = added.map(({ variable, upstream }) =>
    routeTo({ variable, provider: knownUpstream(variable)?.provider ?? null }, upstream)
  );
  const routes = [...rows, ...named];
  const upstreams = routes.map(({ route }) => route.baseUrl);
  const ofRuns = routes.filter(({ route }) =>
    CLIENT_ROUTES.some(({ variable }) => variable === route.variable)
  );
  if (wraps) requireNoWayPast(ports, ofRuns.map(({ route }) => route.baseUrl));
  const hidden = wraps ? hiding(routes) : [];
  return { routes, upstreams, notes, unset: hidden };
}

/** The routes of the table for a wrapped command, except those that `--env` replaces. */
async function knownRoutes(
  ports: Pick<Ports, "env">,
  { added, recorded, lookup }: BaseOptions & { readonly added: readonly AddedUpstream[] },
): Promise<{ readonly rows: readonly NamedRoute[]; readonly notes: readonly string[] }> {
  const notes: string[] = [];
  const isAdded = (variable: string) => added.some((one) => one.variable === variable);
  const isSet = (variable: string) => (ports.env(variable) ?? "") !== "";
  const isRecorded = ({ variable, defaultUrl }: KnownUpstream) =>
    recorded.has(variable) && (defaultUrl !== null || lookup === null);
  const open = KNOWN_UPSTREAMS.filter((row) =>
    !isAdded(row.variable) && (isOpen(row, isSet) || isRecorded(row))
  );
  const kept = open.filter(({ variable, keys }) => {
    const hides = [...open, ...added].some((other) => knownUpstream(other.variable)?.hiddenBy === variable);
    const isUsed = isSet(variable) || recorded.has(variable) || keys.some((key) => isSet(key.variable));
    if (hides && isUsed) notes.push(hidingNote(variable));
    return !hides || isUsed;
  });
  const rows: NamedRoute[] = [];
  for (const row of kept) {
    try {
      rows.push(routeTo({ provider: null, ...row }, await baseOf(ports, row, { recorded, lookup })));
    } catch (error) {
      // A variable for another program must not stop a recording that does not need it.
      if (row.opens === "always" || !(error instanceof RepriseError)) throw error;
      notes.push(`requests of ${row.variable} are not recorded: ${error.message}`);
    }
  }
  return { rows, notes };
}

function isOpen({ variable, keys, defaultUrl, opens }: KnownUpstream, isSet: (name: string) => boolean) {
  if (opens === "always" || isSet(variable)) return true;
  return opens === "key" && defaultUrl !== null && keys.some((key) => isSet(key.variable));
}

/** The variables that the clients of a route would read before its own, and that lead nowhere. */
function hiding(routes: readonly NamedRoute[]): readonly string[] {
  const open = routes.map(({ route }) => route.variable);
  return open.flatMap((variable) => {
    const hiddenBy = knownUpstream(variable)?.hiddenBy;
    return hiddenBy === undefined || open.includes(hiddenBy) ? [] : [hiddenBy];
  });
}

function hidingNote(variable: string): string {
  const hidden = KNOWN_UPSTREAMS.filter(({ hiddenBy }) => hiddenBy === variable)
    .map((row) => row.variable).join(", ");
  return `${variable} is set for the command: clients that read it before ${hidden} need their base URL in code`;
}

function twoWays(): RepriseError {
  return new RepriseError("usage", "Cannot record: --upstream and --env exclude each other", {
    hint: "Name every API with --env, such as --env OPENAI_BASE_URL=https://api.openai.com/v1",
  });
}

/** Refuses a base URL that overrides those of the routes and differs from them: its API and key are unknown here. */
function requireNoWayPast({ env }: Pick<Ports, "env">, upstreams: readonly string[]): void {
  const url = env(OWN_URL_VARIABLE) ?? "";
  const endpointOf = (text: string) => URL.parse(text)?.href.replace(/\/+$/, "").replace(/\/v1$/, "");
  const endpoint = endpointOf(url);
  if (url === "" || endpoint !== undefined && upstreams.some((known) => endpointOf(known) === endpoint)) {
    return;
  }
  throw new RepriseError("usage", `Cannot record: ${OWN_URL_VARIABLE} makes requests bypass the recorder`, {
    hint: `Unset it, or give its URL to --upstream`,
  });
}

/** The provider whose own server is at `origin`; `undefined` for any other server. */
function vendorAt(origin: string): ProviderKind | undefined {
  return CLIENT_ROUTES.map(({ provider }) => provider).find((provider) =>
    URL.parse(PROVIDERS[provider].defaultUrl ?? "")?.origin === origin
  );
}

/** A route that a variable leads to. */
type NamedRoute = RecordRoute & { readonly route: Route & { readonly baseUrl: string } };

/** The route to an API at this base URL. It checks the origin of a request, not its path. */
function routeTo({ variable, provider }: Pick<Route, "variable" | "provider">, base: Upstream): NamedRoute {
  const route = { variable, provider, path: base.prefix, baseUrl: textOf(base) };
  return { upstream: { origin: base.origin, prefix: "" }, route };
}

/** Options of {@linkcode RouteOptions}, without defaults. */
interface BaseOptions {
  readonly recorded: ReadonlyMap<string, string>;
  readonly lookup: Lookup | null;
}

async function baseOf(
  ports: Pick<Ports, "env">,
  { variable, provider, defaultUrl }: KnownUpstream,
  { recorded, lookup }: BaseOptions,
): Promise<Upstream> {
  const set = ports.env(variable) ?? "";
  const usual = (lookup === null ? recorded.get(variable) : undefined) ?? defaultUrl ?? "";
  const { origin, prefix } = set === ""
    ? parseUpstream(usual, { isLiteral: false })
    : await checked(parseUpstream(urlInVariable(variable, set), { isLiteral: false }), lookup);
  return { origin, prefix: provider === undefined ? prefix : clientPath(provider, prefix) };
}

async function checked(upstream: Upstream, lookup: Lookup | null): Promise<Upstream> {
  if (lookup !== null) await requirePublicName(upstream, lookup);
  return upstream;
}

async function addressesOf(hostname: string): Promise<string[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The lookup takes too long")), LOOKUP_MS);
  });
  try {
    const found = await Promise.race([lookUpName(hostname, { all: true }), late]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

function textOf({ origin, prefix }: Upstream): string {
  return `${origin}${prefix}`;
}

/** Variable that leads clients to an API. */
export interface AddedUpstream {
  readonly variable: string;
  readonly upstream: Upstream;
}

/** Names that POSIX shells can set. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Parses the values of the flag.
 *
 * @throws {RepriseError} `usage` for a name that is no variable, that has another use, or that is given twice; `bad_url`
 * and `insecure_url` as `parseUpstream`.
 */
export function parseEnvFlags(given: readonly string[] = []): readonly AddedUpstream[] {
  const seen = new Set<string>();
  return given.map((text) => {
    const at = text.indexOf("=");
    const variable = at === -1 ? text : text.slice(0, at);
    if (at === -1 || !NAME.test(variable)) {
      throw refused(`${nameOf(variable)} is not NAME=URL`, "Give --env GROQ_BASE_URL=https://api.groq.com");
    }
    if (seen.has(variable)) {
      throw refused(
        `${variable} is given twice`,
        "A variable leads to one API: give another name or one URL",
      );
    }
    const isKey = UPSTREAM_VARIABLES.includes(variable) && knownUpstream(variable) === null;
    if (isKey || isRead(variable) && knownUpstream(variable) === null) {
      throw refused(`${variable} does not lead clients to an API`, "Name the variable with the base URL");
    }
    seen.add(variable);
    return { variable, upstream: parseUpstream(text.slice(at + 1), { isLiteral: true }) };
  });
}

/** Returns the text for a message, unless it may be a URL with a password. */
function nameOf(text: string): string {
  return NAME.test(text) ? JSON.stringify(text) : "the value";
}

function refused(why: string, hint: string): RepriseError {
  return new RepriseError("usage", `Cannot use --env: ${why}`, { hint });
}
