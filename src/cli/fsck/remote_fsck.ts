/** `fsck --remote`: checks copies on a remote as a home that fetches them would. */
import { parseSessionId } from "../../domain/ids.ts";
import { RepriseError } from "../../domain/errors.ts";
import { fetchTurns } from "../../remote/fetch.ts";
import { noRemoteSession } from "../../remote/session_remote.ts";
import { openHome } from "../../store/home.ts";
import type { Context } from "../context.ts";
import type { FsckFlags } from "./command.ts";
import type { CheckedPlace } from "./fsck.ts";
import { makeScratchDirectory } from "../test/scratch.ts";
import { givenRemote } from "../remote/given_remote.ts";
import { remoteSessions } from "../remote/remote_sessions.ts";

/** The sessions of a remote; each is checked in a temporary home, so nothing of it comes into this home. */
export async function checkedOnRemote(
  context: Context,
  selector: string | undefined,
  flags: Pick<FsckFlags, "remote" | "timeout">,
): Promise<CheckedPlace> {
  const { ports } = context;
  const id = selector === undefined ? null : parseSessionId(selector);
  const store = await givenRemote(context, flags, null);
  const there = await remoteSessions(context, store);
  const sessions = new Map(there.map((session) => [session.id, session.turns]));
  if (id !== null && !sessions.has(id)) throw noRemoteSession(id, store.name);
  return {
    ids: id === null ? [...sessions.keys()] : [id],
    strays: [],
    remote: store.name,
    check: async (id, check) => {
      const root = makeScratchDirectory(ports);
      try {
        const home = openHome(ports, root, { create: true });
        await fetchTurns(ports, home, store, { id, last: sessions.get(id) ?? 0 });
        return await check(home);
      } catch (error) {
        if (!(error instanceof RepriseError && error.code === "session_damaged")) throw error;
        const { message, details: { turn } } = error;
        const damage = { severity: "error", code: "remote_damage", path: ".", message } as const;
        const findings = [typeof turn === "number" ? { ...damage, turn } : damage];
        return { id, turns: sessions.get(id) ?? 0, in_use: false, findings };
      } finally {
        Deno.removeSync(root, { recursive: true });
      }
    },
  };
}
