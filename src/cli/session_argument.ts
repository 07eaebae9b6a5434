import type { SessionId } from "../domain/ids.ts";
import { type Home, openHome, resolveSession } from "../store/home.ts";
import type { Context } from "./context.ts";

/** The session that an argument names: id, unambiguous prefix, or `@last` of the working directory. */
export function sessionArgument(
  context: Context,
  selector: string,
): { readonly home: Home; readonly id: SessionId } {
  const home = openHome(context.ports, context.home.value, { create: false });
  const id = resolveSession(context.ports, home, { selector, workspace: Deno.realPathSync(".") });
  return { home, id };
}
