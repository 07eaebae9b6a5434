/** Resolves the transport of a run: event streams over HTTP, or one WebSocket; and its timeouts. */
import { apiOf } from "../../apis/apis.ts";
import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";
import type { Fixture } from "../../fixture/read.ts";
import type { Config } from "../config_file.ts";
import { TRANSPORT, type Transport, TRANSPORTS } from "../flags.ts";
import { declaredSources, firstSetting, type Setting } from "../settings.ts";
import type { Endpoint } from "./endpoint.ts";

/**
 * The transport: flag, environment, configuration, `sse`. The last three are `sse` for an API without a WebSocket, and a
 * played fixture needs none.
 *
 * @throws {RepriseError} `usage` for an unknown transport, and for a flag that asks for a WebSocket of such an API.
 */
export function transportSetting(
  { ports, config, fixture, flags }: {
    readonly ports: Ports;
    readonly config: Config;
    readonly fixture: Fixture | null;
    readonly flags: { readonly transport?: Transport | undefined };
  },
  { provider }: Pick<Endpoint, "provider">,
): Setting<Transport> {
  if (fixture !== null) return { value: "sse", source: "fixture" };
  const found = firstSetting(ports, { flag: flags.transport, ...declaredSources(TRANSPORT, config) });
  if (found === null) return { value: "sse", source: "default" };
  const value = TRANSPORTS.find((known) => known === found.value);
  if (value === undefined) {
    throw new RepriseError(
      "usage",
      `Cannot use the transport ${JSON.stringify(found.value)} (${found.source})`,
      {
        hint: `Use one of ${TRANSPORTS.join(", ")}`,
      },
    );
  }
  if (value === "sse" || apiOf(provider).socket !== null) return { value, source: found.source };
  if (found.source !== "flag") return { value: "sse", source: "default" };
  throw new RepriseError(
    "usage",
    `Cannot use --transport ws with the provider ${provider}: its API has no WebSocket`,
    {
      hint: "Leave it out; only the Responses API has one",
    },
  );
}

/** Seconds until a server must have begun to answer. */
const RESPONSE_TIMEOUT = 120;
/** Seconds of silence inside a stream: long reasoning is silent. */
const IDLE_TIMEOUT = 300;
/** Most bytes of one decoded response body. */
const MAX_BODY_BYTES = 2 ** 30;

/** The limits of the live transport; `REPRISE_RESPONSE_TIMEOUT` and `REPRISE_IDLE_TIMEOUT` are in seconds. */
export function liveTimeouts(ports: Ports) {
  return {
    responseTimeoutMs: seconds(ports, "REPRISE_RESPONSE_TIMEOUT", RESPONSE_TIMEOUT) * 1000,
    idleTimeoutMs: seconds(ports, "REPRISE_IDLE_TIMEOUT", IDLE_TIMEOUT) * 1000,
    maxBodyBytes: MAX_BODY_BYTES,
  };
}

function seconds(ports: Ports, variable: string, otherwise: number): number {
  const text = ports.env(variable) ?? "";
  if (text === "") return otherwise;
  const value = Number(text);
  if (Number.isFinite(value) && value > 0 && value <= 86_400) return value;
  throw new RepriseError(
    "bad_configuration",
    `Cannot use ${variable}=${text}: it is not a number of seconds up to 86400`,
    { hint: `Unset it (the default is ${otherwise}), or give a number above 0` },
  );
}
