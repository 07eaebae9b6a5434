import { RepriseError } from "../../domain/errors.ts";
import type { Ports } from "../../domain/ports.ts";

/** Seconds until a server must have begun to answer. */
const RESPONSE_TIMEOUT = 120;
/** Seconds of silence inside a stream: long reasoning is silent. */
const IDLE_TIMEOUT = 300;
/** Bytes of one decoded response body at most. */
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
