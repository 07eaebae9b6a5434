import type { SessionId } from "../domain/ids.ts";
import { type Home, openHome, resolveSession } from "../store/home.ts";
import type { Context } from "./context.ts";
import { FIXTURE_WORKSPACE } from "./fixture_ports.ts";
import { playRoot } from "./play_root.ts";

/**
 * The session that an argument names: id, unambiguous prefix, or `@last` of the working directory; in a step of a
 * session test, of the test's own workspace.
 */
export function sessionArgument(
  context: Context,
  selector: string,
): { readonly home: Home; readonly id: SessionId } {
  const home = openHome(context.ports, context.home.value, { create: false });
  const isPlayed = playRoot(context.ports).playRoot !== undefined;
  const workspace = isPlayed ? FIXTURE_WORKSPACE : Deno.realPathSync(".");
  const id = resolveSession(context.ports, home, { selector, workspace });
  return { home, id };
}
