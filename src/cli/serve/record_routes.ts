/**
 * Destinations of the requests to `record`: the user's upstream, or the servers that the wrapped command would use
 * without `record`.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { RepriseError } from "../../domain/errors.ts";
import type { ProviderKind } from "../../domain/fingerprint.ts";
import type { Ports } from "../../domain/ports.ts";
import type { RecordRoute } from "../../fixture/record/recorder.ts";
import { parseUpstream, requirePublicName, type Upstream } from "../../fixture/record/upstream.ts";
import { apiOf } from "../../apis/apis.ts";
import {
  CLIENT_ROUTES,
  clientPath,
  type ClientRoute,
  DEFAULT_PROVIDER,
  OWN_URL_VARIABLE,
  PROVIDERS,
} from "../../apis/providers.ts";

/** Timeout of a DNS lookup, in milliseconds; a name that takes longer is accepted. */
const LOOKUP_MS = 3000;

/** Routes of requests, for the recorder and for people. */
export interface Routes {
  readonly routes: readonly RecordRoute[];
  /** The URLs without parts that could be secret. */
  readonly upstreams: readonly string[];
}

/**
 * The routes of `--upstream URL`, or of a wrapped command without it: `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`, else
 * the providers' own servers. With both, only one API is routed to the upstream, so that the key of the other vendor
 * does not go there: the API of `provider`, otherwise of the host, otherwise of the default provider. The base URLs for
 * a command end in the same path as those upstream, so that paths are forwarded and recorded unchanged.
 *
 * @throws {RepriseError} `usage` without both, and if `REPRISE_BASE_URL` routes a wrapped command elsewhere;
 * `bad_url`, `insecure_url`.
 */
export async function recordRoutes(
  ports: Pick<Ports, "env">,
  upstream: string | undefined,
  { wraps, provider }: { readonly wraps: boolean; readonly provider?: ProviderKind | undefined },
): Promise<Routes> {
  if (upstream !== undefined) {
    const given = await checked(parseUpstream(upstream, { isLiteral: true }));
    if (!wraps) return { routes: [{ upstream: given, route: null }], upstreams: [textOf(given)] };
    const { origin } = given;
    const prefix = given.prefix.replace(/\/v1$/, "");
    const api = apiOf(provider ?? vendorAt(origin) ?? DEFAULT_PROVIDER);
    const usual = CLIENT_ROUTES.filter((route) => apiOf(route.provider) === api);
    return {
      routes: usual.map((one) => routeTo(one, { origin, prefix: `${prefix}${one.path}` })),
      upstreams: [`${origin}${prefix}`],
    };
  }
  if (!wraps) {
    throw new RepriseError("usage", "Cannot record: no upstream is given", {
      hint: "Give --upstream URL, or the command to record: reprise record --out DIR -- CMD",
    });
  }
  const routes = await Promise.all(CLIENT_ROUTES.map(async (usual) => {
    const { origin, prefix } = await baseOf(ports, usual.provider);
    return routeTo(usual, { origin, prefix: clientPath(usual.provider, prefix) });
  }));
  const upstreams = routes.map(({ route }) => route.baseUrl);
  requireNoWayPast(ports, upstreams);
  return { routes, upstreams };
}

/** Refuses a base URL that overrides those of the routes and differs from them: its API and key are unknown here. */
function requireNoWayPast({ env }: Pick<Ports, "env">, upstreams: readonly string[]): void {
  const url = env(OWN_URL_VARIABLE) ?? "";
  const endpointOf = (text: string) => URL.parse(text)?.href.replace(/\/+$/, "").replace(/\/v1$/, "");
  const endpoint = endpointOf(url);
  if (url === "" || endpoint !== undefined && upstreams.some((known) => endpointOf(known) === endpoint)) {
    return;
  }
  throw new RepriseError("usage", `Cannot record: ${OWN_URL_VARIABLE} leads past the recorder`, {
    hint: `Unset it, or name the API that it leads to with --upstream`,
  });
}

/** The provider whose own server is at `origin`; `undefined` for any other server. */
function vendorAt(origin: string): ProviderKind | undefined {
  return CLIENT_ROUTES.map(({ provider }) => provider).find((provider) =>
    URL.parse(PROVIDERS[provider].defaultUrl ?? "")?.origin === origin
  );
}

/** The route to an API at this base URL. It checks the origin of a request, not its path. */
function routeTo({ variable, provider }: ClientRoute, base: Upstream) {
  const route = { variable, provider, path: base.prefix, baseUrl: textOf(base) };
  return { upstream: { origin: base.origin, prefix: "" }, route };
}

async function baseOf(ports: Pick<Ports, "env">, provider: ProviderKind): Promise<Upstream> {
  const { urlVariables, defaultUrl } = PROVIDERS[provider];
  const set = urlVariables.map((name) => ports.env(name)).find((value) =>
    value !== undefined && value !== ""
  );
  return set === undefined
    ? parseUpstream(defaultUrl as string, { isLiteral: false })
    : await checked(parseUpstream(set, { isLiteral: false }));
}

async function checked(upstream: Upstream): Promise<Upstream> {
  await requirePublicName(upstream, addressesOf);
  return upstream;
}

async function addressesOf(hostname: string): Promise<string[]> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("The lookup takes too long")), LOOKUP_MS);
  });
  try {
    const found = await Promise.race([lookup(hostname, { all: true }), late]);
    return found.map(({ address }) => address);
  } finally {
    clearTimeout(timer);
  }
}

function textOf({ origin, prefix }: Upstream): string {
  return `${origin}${prefix}`;
}
