import { RepriseError } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type Home, listSessions, openHome } from "../store/home.ts";
import type { Context } from "./context.ts";
import { sessionArgument } from "./session_argument.ts";

/**
 * The sessions of a verb that takes one or `--all`.
 *
 * @throws {RepriseError} `usage` when neither or both are given.
 */
export function chosenSessions(
  context: Context,
  selector: string | undefined,
  { all, verb }: { readonly all: boolean; readonly verb: string },
): { readonly home: Home; readonly ids: readonly SessionId[] } {
  if ((selector === undefined) !== all) {
    throw new RepriseError("usage", `Cannot tell what to ${verb}: give a session or --all`, {
      hint: `reprise ${verb} ID, or reprise ${verb} --all`,
    });
  }
  if (selector !== undefined) {
    const { home, id } = sessionArgument(context, selector);
    return { home, ids: [id] };
  }
  const home = openHome(context.ports, context.home.value, { create: false });
  return { home, ids: listSessions(context.ports, home).map(({ id }) => id) };
}
