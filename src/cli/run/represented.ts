/**
 * `REPRISE_REPRESENTS`: which endpoints the loopback servers of `serve` and `record` represent.
 *
 * Their ports are random, and reasoning is bound to its endpoint: without the variable each run would meet another
 * one. It decides fingerprints and nothing else. Requests and keys go to the base URL in force, and the variable counts
 * only where that is a loopback URL that it names.
 *
 * @module
 */
import { RepriseError } from "../../domain/errors.ts";
import { isLoopback, parseBaseUrl } from "../../domain/fingerprint.ts";
import { isJsonObject, type JsonValue } from "../../domain/json.ts";
import type { Ports } from "../../domain/ports.ts";
import type { ServedRoute } from "../serve/wrapped_command.ts";

/** The variable: a JSON object with the base URL that each loopback base URL represents. */
const REPRESENTS = "REPRISE_REPRESENTS";

/**
 * The variable for clients that these routes lead to our servers. An API whose base URL is not known is at a host that
 * cannot exist. Where our own upstream is such a server, the endpoint that this one represents counts.
 */
export function representing(
  ports: Pick<Ports, "env">,
  served: readonly ServedRoute[],
): Record<string, string> {
  const pairs = served.map(({ route: { path, baseUrl }, origin }) => {
    // The query of Azure is in no fingerprint.
    const [upstream = ""] = (baseUrl ?? `http://recorded.invalid${path}`).split("?", 1);
    const url = URL.parse(upstream);
    return [`${origin}${path}`, (url === null ? null : representedUrl(ports, url)) ?? upstream] as const;
  });
  return { [REPRESENTS]: JSON.stringify(Object.fromEntries(pairs)) };
}

/**
 * The base URL that the server at `baseUrl` represents; `null` where the variable does not name it, or it is not on
 * loopback.
 *
 * @throws {RepriseError} `bad_configuration` when the variable is not an object of base URLs.
 */
export function representedUrl(ports: Pick<Ports, "env">, baseUrl: URL): string | null {
  const text = ports.env(REPRESENTS) ?? "";
  if (text === "" || !isLoopback(baseUrl)) return null;
  const hrefOf = (url: string) => parseBaseUrl(url, HINT).href;
  const found = entriesOf(text).find(([ours]) => hrefOf(ours) === hrefOf(baseUrl.href));
  return found?.[1] ?? null;
}

const HINT = `Unset ${REPRESENTS}: serve and record set it for the commands that they start`;

function entriesOf(text: string): [string, string][] {
  let value: JsonValue | undefined;
  try {
    value = JSON.parse(text);
  } catch {
    throw unusable();
  }
  if (!isJsonObject(value)) throw unusable();
  return Object.entries(value).map(([ours, represented]) => {
    if (!URL.canParse(ours) || typeof represented !== "string") throw unusable();
    return [ours, represented];
  });
}

function unusable(): RepriseError {
  return new RepriseError(
    "bad_configuration",
    `Cannot use ${REPRESENTS}: it is not a JSON object of base URLs`,
    { hint: HINT },
  );
}
