import type { SessionId } from "../domain/ids.ts";
import { type Home, openHome, resolveSession } from "../store/home.ts";
import type { Context } from "./context.ts";

/**
 * The session that an argument names: id, unambiguous prefix, or `@last` of the working directory.
 */
export function sessionArgument(
  { ports, home: { value } }: Context,
  selector: string,
): { readonly home: Home; readonly id: SessionId } {
  const home = openHome(ports, value, { create: false });
  const workspace = ports.workspacePin(Deno.realPathSync(ports.workingDirectory()));
  const id = resolveSession(ports, home, { selector, workspace });
  return { home, id };
}
