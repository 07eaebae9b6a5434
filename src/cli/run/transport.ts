/** Resolves the transport of a run: event streams over HTTP, or one WebSocket. */
import { apiOf } from "../../apis/apis.ts";
import { RepriseError } from "../../domain/errors.ts";
import { TRANSPORT, type Transport, TRANSPORTS } from "../flags.ts";
import { declaredSources, firstSetting, type Setting } from "../settings.ts";
import type { Endpoint } from "./endpoint.ts";
import type { SettingCall } from "./resolve_run.ts";

/**
 * The transport: flag, environment, configuration, `sse`. The last three are `sse` for an API without a WebSocket, and a
 * played fixture needs none.
 *
 * @throws {RepriseError} `usage` for an unknown transport, and for a flag that asks for a WebSocket of such an API.
 */
export function transportSetting(
  { ports, config, fixture, flags }: Pick<SettingCall, "ports" | "config" | "fixture" | "flags">,
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
