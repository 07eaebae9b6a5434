/** Routes and keys of a recorder, from the flags of `record` and the environment. */
import type { Ports } from "../../domain/ports.ts";
import { keysOf } from "../../apis/known_upstreams.ts";
import { readKey } from "../environment.ts";
import type { RecordFlags } from "./command.ts";
import { parseEnvFlags } from "./env_flag.ts";
import { recordRoutes, type RouteOptions, type Routes } from "./record_routes.ts";
import { keylessNote, requireUsableToken, tokenVariables, withKeys } from "./route_keys.ts";

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
