/**
 * Where `record` passes requests on to: what the user fixed, or where the wrapped command would have gone without us.
 *
 * @module
 */
import { lookup } from "node:dns/promises";
import { ReprError } from "../domain/errors.ts";
import type { Ports } from "../domain/ports.ts";
import type { Route } from "../fixture/record/recorder.ts";
import { parseUpstream, requirePublicName, type Upstream, urlAt } from "../fixture/record/upstream.ts";
import { PROVIDER_ACCESS } from "./providers.ts";

/** How long a name may take to be looked up, in milliseconds; what takes longer is not held against it. */
const LOOKUP_MS = 3000;

/** Where requests go, in words and as a function. */
export interface Routes {
  readonly route: Route;
  /** For people: the URLs, without anything that could be secret. */
  readonly upstreams: readonly string[];
}

/**
 * The routes of `--upstream URL`, or of a wrapped command without it: what `OPENAI_BASE_URL` and `ANTHROPIC_BASE_URL`
 * say, else the providers' own servers, by the path that is asked for.
 *
 * @throws {ReprError} `usage` where there is neither; `bad_url`, `insecure_url`.
 */
export async function recordRoutes(
  ports: Pick<Ports, "env">,
  upstream: string | undefined,
  { wraps }: { readonly wraps: boolean },
): Promise<Routes> {
  if (upstream !== undefined) {
    const given = await checked(parseUpstream(upstream, { isLiteral: true }));
    // The base URLs of a wrapped command are ours: with its clients, both dialects say the version themselves.
    const fixed = wraps ? withoutVersion(given) : given;
    return { route: (path) => urlAt(fixed, path), upstreams: [textOf(fixed)] };
  }
  if (!wraps) {
    throw new ReprError("usage", "Cannot record: no upstream is given", {
      hint: "Give --upstream URL, or the command to record: reprise record --out DIR -- CMD",
    });
  }
  const openai = await baseOf(ports, "openai");
  // Clients of Anthropic add the version themselves.
  const anthropic = withoutVersion(await baseOf(ports, "anthropic"));
  return {
    route: (path, headers) =>
      asksAnthropic(path, headers) ? urlAt(anthropic, path) : urlAt(openai, withoutOurVersion(path)),
    upstreams: [textOf(openai), textOf(anthropic)],
  };
}

async function baseOf(ports: Pick<Ports, "env">, provider: "openai" | "anthropic"): Promise<Upstream> {
  const { urlVariables, defaultUrl } = PROVIDER_ACCESS[provider];
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

function asksAnthropic(path: string, headers: Readonly<Record<string, string>>): boolean {
  return /^\/v1\/messages(?=[/?]|$)/.test(path) || headers["anthropic-version"] !== undefined;
}

/** The wrapped command was given a base URL that ends in `/v1`; the one that it stands for has an ending of its own. */
function withoutOurVersion(path: string): string {
  return path.replace(/^\/v1(?=[/?]|$)/, "").replace(/^(?!\/)/, "/");
}

function withoutVersion({ origin, prefix }: Upstream): Upstream {
  return { origin, prefix: prefix.replace(/\/v1$/, "") };
}

function textOf({ origin, prefix }: Upstream): string {
  return `${origin}${prefix}`;
}
